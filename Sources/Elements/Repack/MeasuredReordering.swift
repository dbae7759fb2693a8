// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// Stage: the reorder depth of a stream so far, which `latency=measured` writes into its headers, and a number as
/// `latency` if it proves too small.
struct MeasuredReordering<Codec: RepackCodec> {
  private var pictures = Codec.PictureReader()
  private var depth = ReorderDepth()
  private var hasPicture = false
  /// The depth in the headers of the current sequence; nil if it was not written, or was reported as too small.
  private var written: Int?

  /// The edit for a sequence that begins now; nil if nothing is known yet.
  func edit(_ sets: RepackParameterSets<Codec>) -> StreamEdit? {
    guard hasPicture || sets.followsDecodingOrder else { return nil }
    return edit(atLeast: 0)
  }

  /// The edit for a sequence that begins now, if a number is requested.
  func edit(atLeast least: UInt8) -> StreamEdit {
    .reordering(max(least, UInt8(clamping: depth.pictures)), buffer: nil)
  }

  /// A sequence begins.
  ///
  /// - Parameter edit: the edit in its headers; nil if they have none.
  mutating func beginSequence(_ edit: StreamEdit?) {
    if case .reordering(let depth, _)? = edit { written = Int(depth) } else { written = nil }
  }

  /// The stream continues elsewhere, with a random access point.
  mutating func flush() {
    pictures.endSequence()
    depth.beginSequence()
  }

  /// Takes the picture of an access unit.
  ///
  /// - Returns: the depth that the picture needs if the headers announce less; once a sequence.
  mutating func take(
    _ pieces: [RepackPiece<Codec>], _ sets: RepackParameterSets<Codec>, endsSequence: Bool
  ) throws(FlowError) -> Int? {
    defer { if endsSequence { pictures.endSequence() } }
    // Orders are compared only between discontinuities: the orders of lost pictures may have wrapped around.
    if pieces.first?.isDiscontinuous == true { depth.beginSequence() }
    for piece in pieces {
      guard let slice = piece.firstSlice else { continue }
      let picture = try piece.withBytes { read($0.extracting(slice), sets.store) }
      return picture.flatMap { take($0) }
    }
    return nil
  }

  private mutating func read(_ slice: Span<UInt8>, _ sets: Codec.ParameterSets) -> TimestampGenerator.Picture? {
    do throws(BitstreamError) {
      let header = try Codec.SliceHeader(nalUnit: slice, parameterSets: sets, depth: .referenceMarking)
      return sets.sequenceParameterSet(header.sequenceParameterSetID).map { pictures.picture(header, $0) }
    } catch {
      return nil
    }
  }

  private mutating func take(_ picture: TimestampGenerator.Picture) -> Int? {
    guard !picture.isSecondField else { return nil }
    hasPicture = true
    if picture.resetsPOC { depth.beginSequence() }
    guard depth.add(picture.order), let written, depth.pictures > written else { return nil }
    self.written = nil
    return depth.pictures
  }
}

extension RepackParameterSets {
  /// Whether no stream with these SPS reorders pictures.
  fileprivate var followsDecodingOrder: Bool {
    var hasSPS = false
    for nalUnit in nalUnits {
      guard let id = Codec.ParameterSets.sequenceParameterSetID(of: nalUnit.span),
        let sps = store.sequenceParameterSet(id)
      else { continue }
      guard sps.followsDecodingOrder else { return false }
      hasSPS = true
    }
    return hasSPS
  }
}
