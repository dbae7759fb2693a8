// SPDX-License-Identifier: MPL-2.0
import H26x

/// What a report needs of a codec, beyond its syntax.
protocol ReportedCodec: VideoCodecSyntax {
  /// The rules of pictures.
  associatedtype Checker: PictureChecking where Checker.Codec == Self

  /// The short name of a NAL unit type.
  static func shortName(_ type: UInt8) -> StaticString
  /// Reads the header into the record, and checks it.
  static func readHeader(
    _ nalUnit: Span<UInt8>, _ record: inout NALUnitRecord, wantsFields: Bool, log: inout FindingLog)
  /// Reads a parameter set for its syntax elements, and checks it.
  static func readParameterSet(
    _ nalUnit: Span<UInt8>, _ record: inout NALUnitRecord, sets: borrowing ParameterSets, trace: SyntaxTrace?,
    log: inout FindingLog
  )
  /// Bytes in which any slice header with these parameter sets ends.
  static func longestSliceHeader(_ sets: borrowing ParameterSets) -> Int
  /// The names of a configuration record's fields.
  static var recordNames: RecordNames { get }
  /// What a configuration record says of its SPS.
  static func facts(_ record: borrowing ConfigurationRecord) -> RecordFacts
  /// The same of an SPS.
  static func facts(_ sps: SequenceParameterSet) -> RecordFacts
  /// The format of an SPS.
  static func format(_ sps: SequenceParameterSet) -> FormatRecord
}

/// Checks the pictures of a stream one by one.
protocol PictureChecking: Sendable {
  associatedtype Codec: ReportedCodec

  init()
  /// The state that both codecs have.
  var common: CommonChecks { get set }
  /// Reads a slice header into the record, and checks it. `startsPicture`: it is the first of its picture.
  mutating func slice(
    _ nalUnit: Span<UInt8>, _ record: inout NALUnitRecord, sets: borrowing Codec.ParameterSets, startsPicture: Bool,
    trace: SyntaxTrace?, log: inout FindingLog)
  /// Reads an SEI message of the base layer.
  mutating func read(_ message: borrowing SEIMessages.Message, sets: borrowing Codec.ParameterSets)
    throws(BitstreamError)
  /// Notes the end of a sequence or stream.
  mutating func endSequence()
  /// Ends the current picture: marks and stores it.
  mutating func endPicture(log: inout FindingLog)
  /// The coded picture buffer by HRD parameters; nil without them.
  var signalledBuffer: CommonChecks.SignalledBuffer? { get }
  /// The limits of the level; nil before the first picture, and for an unknown level.
  var limits: LevelLimits? { get }
  /// Macroblocks of a frame (H.264) or luma samples of a picture (H.265); 0 before the first picture.
  var pictureSize: UInt64 { get }
  /// The duration of a picture by the VUI or VPS in seconds; nil without timing.
  var period: Double? { get }
}

extension PictureChecking {
  /// Reads the messages of an SEI NAL unit.
  mutating func messages(
    _ nalUnit: Span<UInt8>, _ record: inout NALUnitRecord, sets: borrowing Codec.ParameterSets, trace: SyntaxTrace?,
    log: inout FindingLog
  ) {
    var messages = SEIMessages(nalUnit, headerLength: Codec.nalUnitHeaderLength, trace: trace)
    do throws(BitstreamError) {
      while let message = try messages.next() {
        if record.messages.count < 64 { record.messages.append(message.type.rawValue) }
        // Messages of other layers refer to parameter sets of these layers.
        if record.layerID ?? 0 == 0 { try read(message, sets: sets) }
      }
    } catch {
      record.error = error
      log.report(.unreadableSEI, ReportText(error), expected: "an SEI message as Annex D has it")
    }
  }

  /// Removes the access unit from the coded picture buffer.
  ///
  /// - Parameters:
  ///   - bytes: its size.
  ///   - codedBytes: the size of its VCL NAL units and filler data.
  ///   - interval: seconds since the access unit before by the container; nil when that does not tell.
  /// - Returns: the bits in the buffer just before, and its size in bits; nil when not known.
  mutating func endAccessUnit(
    bytes: UInt64, codedBytes: UInt64, interval: Double?, log: inout FindingLog
  ) -> (fullness: Int64?, size: Int64?) {
    let (signalled, limits, period) = (signalledBuffer, limits, period)
    common.checkMessages(hasBuffer: signalled != nil, log: &log)
    return common.remove(
      bytes: bytes, codedBytes: codedBytes, from: signalled, limits: limits, duration: interval ?? period, log: &log)
  }
}

/// What is known of the current picture; see the properties of the same names in ``AccessUnitRecord``.
struct PictureFacts: Sendable {
  var exists = false
  var letter: UInt8?
  var keyframe = AccessUnitRecord.Keyframe.none
  var isReference = false
  var isField = false
  var isSecondField = false
  /// Whether the first field is in the same access unit, as both of a frame are in a sample of MP4.
  var isFieldPair = false
  /// Whether the access unit only has the second field of the frame before.
  var onlyCompletes: Bool { isSecondField && !isFieldPair }
  var sequence: UInt64 = 0
  var order: Int32?
  var quantizationParameter: Int?
  var references: [Int32] = []
  var decodedPictures: Int?

  /// Adds a slice: a picture with a B slice is B, else one with a P slice is P.
  mutating func add(_ slice: UInt8) {
    switch (letter, slice) {
    case (nil, _), (0x49, _), (_, 0x42): letter = slice
    default: break
    }
  }

  /// Adds POCs of pictures that a slice may refer to; each is listed once, 32 at most.
  mutating func add(reference order: Int32) {
    if references.count < 32, !references.contains(order) { references.append(order) }
  }
}
