// SPDX-License-Identifier: MPL-2.0
import H26x

/// What a report needs to know of a codec, beyond its syntax.
protocol ReportedCodec: VideoCodecSyntax {
  /// Looks at pictures.
  associatedtype Checker: PictureChecking where Checker.Codec == Self

  /// What a NAL unit type is called, in short.
  static func shortName(_ type: UInt8) -> StaticString
  /// Reads the header, checks it, and enters it into the record.
  static func readHeader(
    _ nalUnit: Span<UInt8>, _ record: inout NALUnitRecord, wantsFields: Bool, log: inout FindingLog)
  /// Reads a parameter set once more for its syntax elements and what is wrong with it.
  static func readParameterSet(
    _ nalUnit: Span<UInt8>, _ record: inout NALUnitRecord, sets: borrowing ParameterSets, trace: SyntaxTrace?,
    log: inout FindingLog
  )
  /// What the SPS of this NAL unit comes to; nil when it is none or cannot be read.
  static func format(_ nalUnit: Span<UInt8>) -> FormatRecord?
}

/// Looks at the pictures of a stream one by one.
protocol PictureChecking: Sendable {
  associatedtype Codec: ReportedCodec

  init()
  /// What both codecs have in common.
  var common: CommonChecks { get set }
  /// Reads a slice. `startsPicture` says that it is the first of its picture.
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
  /// What the level allows; nil before the first picture, or with a level that is none.
  var limits: LevelLimits? { get }
  /// How long an access unit lasts by what the stream says, in seconds.
  var period: Double? { get }
}

extension PictureChecking {
  /// Reads SEI.
  mutating func messages(
    _ nalUnit: Span<UInt8>, _ record: inout NALUnitRecord, sets: borrowing Codec.ParameterSets, trace: SyntaxTrace?,
    log: inout FindingLog
  ) {
    var messages = SEIMessages(nalUnit, headerLength: Codec.nalUnitHeaderLength, trace: trace)
    do throws(BitstreamError) {
      while let message = try messages.next() {
        if record.messages.count < 64 { record.messages.append(message.type.rawValue) }
        // Other layers have parameter sets of their own.
        if record.layerID ?? 0 == 0 { try read(message, sets: sets) }
      }
    } catch {
      record.error = error
      log.report(.unreadableSEI, ReportText(error), expected: "an SEI message as Annex D has it")
    }
  }

  /// Ends the access unit. Answers bits in the coded picture buffer and its size, where they can be told.
  ///
  /// - Parameter duration: in seconds, where the container says it.
  mutating func endAccessUnit(
    bytes: UInt64, codedBytes: UInt64, duration: Double?, log: inout FindingLog
  ) -> (fullness: Int64?, size: Int64?) {
    let (signalled, limits, period) = (signalledBuffer, limits, period)
    return common.remove(
      bytes: bytes, codedBytes: codedBytes, from: signalled, limits: limits, duration: duration ?? period, log: &log)
  }
}

/// What is known of a picture.
struct PictureFacts: Sendable {
  var exists = false
  var letter: UInt8?
  var keyframe = AccessUnitRecord.Keyframe.none
  var isReference = false
  var isField = false
  var isSecondField = false
  var sequence: UInt64 = 0
  var order: Int32?
  var quantizationParameter: Int?
  var references: [Int32] = []
  var decodedPictures: Int?

  /// Adds a slice: a picture is B with one B slice, P with one P slice.
  mutating func add(_ slice: UInt8) {
    switch (letter, slice) {
    case (nil, _), (0x49, _), (_, 0x42): letter = slice
    default: break
    }
  }

  /// Adds pictures that a slice may refer to; each is listed once.
  mutating func add(references orders: [Int32]) {
    for order in orders where references.count < 32 && !references.contains(order) { references.append(order) }
  }
}
