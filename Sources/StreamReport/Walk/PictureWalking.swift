// SPDX-License-Identifier: MPL-2.0
import H26x
import Slices

/// Follows the pictures of a stream: their order, their references and the stored pictures.
protocol PictureWalking: Sendable {
  associatedtype Codec: ReportedCodec
  /// The findings in a slice.
  associatedtype Slice

  init()
  /// The SPS of the current picture.
  var sps: Codec.SequenceParameterSet? { get }
  /// The current picture.
  var picture: PictureRecord { get }
  /// The pictures that the last slice may refer to; none if they are not known.
  var references: SliceReferences { get }
  /// The SEI messages of the current access unit.
  var messages: AccessUnitSEI { get }
  /// The greatest reorder depth in frames.
  var reorderDepth: Int { get }
  /// The coded picture buffer by HRD parameters; nil without them.
  var signalledBuffer: SignalledBuffer? { get }
  /// The limits of the level; nil before the first picture, and for an unknown level.
  var limits: LevelLimits? { get }
  /// Macroblocks of a frame (H.264) or luma samples of a picture (H.265); 0 before the first picture.
  var pictureSize: UInt64 { get }
  /// The duration of a picture by the VUI or VPS in seconds; nil without timing.
  var period: Double? { get }
  /// Frames a second, if the stream signals that they do not vary; nil else.
  var fixedFrameRate: Ratio? { get }

  mutating func beginAccessUnit()
  /// Takes a slice of the base layer into the record. `startsPicture`: it is the first of its picture.
  mutating func slice(
    _ slice: Codec.WholeSliceHeader, _ record: inout NALUnitRecord, sets: borrowing Codec.ParameterSets,
    startsPicture: Bool
  ) -> Slice
  /// Reads an SEI message of the base layer.
  mutating func read(_ message: borrowing SEIMessages.Message, sets: borrowing Codec.ParameterSets)
    throws(BitstreamError)
  /// Notes the end of a sequence or stream, by the type of its NAL unit.
  mutating func endSequence(_ type: Codec.NALUnitType)
  /// Ends the access unit: marks and stores its picture. Nil without one.
  mutating func endAccessUnit() -> EndedPicture?
}

extension PictureWalking {
  /// The first SPS in the store, for SEI messages before the first slice, which would refer to one.
  static func first(in sets: borrowing Codec.ParameterSets) -> Codec.SequenceParameterSet? {
    for id in UInt8(0)..<32 {
      if let sps = sets.sequenceParameterSet(.init(id)) { return sps }
    }
    return nil
  }

  /// Reads the messages of an SEI NAL unit.
  mutating func read(
    messages nalUnit: Span<UInt8>, _ record: inout NALUnitRecord, sets: borrowing Codec.ParameterSets,
    trace: SyntaxTrace?
  ) throws(BitstreamError) {
    var messages = SEIMessages(nalUnit, headerLength: Codec.nalUnitHeaderLength, trace: trace)
    while let message = try messages.next() {
      if record.messages.count < 64 { record.messages.append(message.type.rawValue) }
      // Messages of other layers refer to parameter sets of these layers.
      if record.layerID ?? 0 == 0 { try read(message, sets: sets) }
    }
  }
}

/// An SPS that became active with a picture that begins no coded video sequence.
struct LateActivation: Sendable {
  var id: SequenceParameterSetID
  /// The SPS of the picture before.
  var active: SequenceParameterSetID

  /// Nil if both pictures have the same SPS, or one of them has none.
  init?<SPS: SequenceParameterSetSyntax & Equatable>(_ sps: SPS?, after active: SPS?) {
    guard let sps, let active, sps != active else { return nil }
    (id, self.active) = (sps.id, active.id)
  }
}

/// The findings about a picture that was marked and stored.
struct EndedPicture: Sendable {
  /// Memory management control operations of H.264 that name a picture that is missing, and the picture.
  var missing: [(operation: UInt32, name: StaticString, number: Int64)] = []
  /// Reference frames after such operations, and the most that the SPS allows; nil without operations.
  var references: (count: Int, limit: Int)?
  /// The error in storing it; nil while pictures before it may be missing.
  var trouble: StorageTrouble?
  /// Pictures that the decoded picture buffer holds.
  var capacity: Int
}

/// The errors in storing a picture.
struct StorageTrouble: Sendable {
  /// A picture was output after one of a higher POC.
  var late: (order: Int32, behind: Int32)?
  /// Every picture of the buffer is a reference.
  var isFull = false
}
