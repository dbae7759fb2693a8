// SPDX-License-Identifier: MPL-2.0
import H26x

/// Reads the output order of pictures from the NAL units of a stream in decoding order.
struct DecodedPictures<Codec: RepackCodec> {
  /// The parameter sets so far.
  private(set) var parameterSets = Codec.ParameterSets()
  private var reader = Codec.PictureReader()
  private var found = Found()

  /// The findings in an access unit.
  struct Found {
    /// There is a slice.
    var hasPicture = false
    /// The picture; nil if its first slice cannot be read.
    var picture: TimestampGenerator.Picture?
    /// The most pictures that precede one in decoding order and follow it in output order, by its SPS.
    var depth = 0
    fileprivate var endsSequence = false
  }

  /// Takes the parameter sets of new caps. If there are none, the known ones stay: they are in the stream.
  mutating func adopt(_ caps: CompressedCaps<Codec>) {
    guard RepackParameterSets<Codec>.carriesParameterSets(caps) else { return }
    parameterSets.removeAll()
    for nalUnit in caps.record?.inOrder.nalUnits ?? [] { insert(nalUnit.span) }
  }

  /// Takes the next NAL unit of an access unit.
  mutating func take(_ nalUnit: Span<UInt8>) {
    switch Codec.role(of: nalUnit) {
    case .videoParameterSet, .sequenceParameterSet, .sequenceParameterSetExtension, .pictureParameterSet:
      insert(nalUnit)
    case .slice where !found.hasPicture:
      found.hasPicture = true
      read(nalUnit)
    case .end: found.endsSequence = true
    default: break
    }
  }

  private mutating func insert(_ nalUnit: Span<UInt8>) {
    do throws(BitstreamError) { try parameterSets.insert(nalUnit) } catch {
      // Slices that refer to it cannot be read.
    }
  }

  private mutating func read(_ slice: Span<UInt8>) {
    do throws(BitstreamError) {
      var header = try Codec.SliceHeader(nalUnit: slice, parameterSets: parameterSets, depth: .pictureIdentity)
      if header.mayResetPOC { header = whole(slice) ?? header }
      guard let sps = parameterSets.sequenceParameterSet(header.sequenceParameterSetID) else { return }
      found.picture = reader.picture(header, sps)
      let frames = sps.followsDecodingOrder ? 0 : sps.maximumReorderFrames
      found.depth = min(frames, FormatDescription.deepestReordering) * sps.picturesPerFrame
    } catch {
      // It has no place.
    }
  }

  private func whole(_ slice: Span<UInt8>) -> Codec.SliceHeader? {
    do throws(BitstreamError) {
      return try Codec.SliceHeader(nalUnit: slice, parameterSets: parameterSets, depth: .referenceMarking)
    } catch {
      return nil
    }
  }

  /// Ends the access unit.
  mutating func takeFound() -> Found {
    defer { found = Found() }
    if found.endsSequence { reader.endSequence() }
    return found
  }

  /// The stream continues elsewhere, with a random access point.
  mutating func flush() {
    found = Found()
    reader.endSequence()
  }
}
