// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// Why caps are refused.
enum SinkCapsRefusal: String, Error {
  case missingCodecData = "there is no codec_data, which length-prefixed streams need"
  case unreadableCodecData = "codec_data cannot be read, and downstream takes nothing that could go without"
  case wrongAlignment = "length-prefixed streams need alignment=au"
  case unexpectedCodecData = "a byte stream has its parameter sets in the stream, not in codec_data"
}

/// Stage: what upstream's caps say of the stream.
struct ParserInputFormat<Codec: ElementCodecSyntax>: Sendable {
  /// How NAL units are packed; nil before caps or data tell.
  private(set) var streamFormat: StreamFormat<Codec>?
  /// What a buffer holds; nil when it is not aligned to anything.
  private(set) var alignment: StreamAlignment?
  /// Of packets that come in; of those that go out as well, unless the input is a byte stream.
  private(set) var lengthSize = NALLengthSize.four

  /// Whether NAL units have lengths in front.
  var isLengthPrefixed: Bool { streamFormat?.isLengthPrefixed == true }

  /// Whether start codes are in front of NAL units.
  var isByteStream: Bool { streamFormat == .byteStream }

  /// What the scanner is to expect.
  var packaging: NALPackaging { isLengthPrefixed ? .lengthPrefixed(lengthSize) : .annexB }

  /// How NAL units are packed in the output.
  func outputPackaging(_ packaging: OutputPackaging<Codec>) -> NALPackaging {
    guard packaging.format.isLengthPrefixed else { return .annexB }
    // NAL units one by one go without codec_data, which would tell the size: then it is what everyone takes it for.
    return .lengthPrefixed(isLengthPrefixed && packaging.alignment == .accessUnit ? lengthSize : .four)
  }

  /// Takes what caps say.
  ///
  /// - Returns: whether `codec_data` can be read, if the stream needs any.
  mutating func take(_ caps: CompressedCaps<Codec>) throws(SinkCapsRefusal) -> Bool {
    if caps.streamFormat.isLengthPrefixed, caps.alignment == .nalUnit { throw .wrongAlignment }
    var isReadable = true
    for problem in caps.problems {
      switch problem {
      case .missingCodecData: throw .missingCodecData
      case .unexpectedCodecData: throw .unexpectedCodecData
      case .unreadableCodecData:
        // Lengths of three bytes are not legal: nobody should get them passed on as if they were.
        let offset = Codec.ConfigurationRecord.lengthSizeOffset
        if caps.codecData.count > offset, caps.codecData[offset] & 3 == 2 { throw .unreadableCodecData }
        isReadable = false
      case .otherMediaType, .unknownStreamFormat, .unknownAlignment: break
      }
    }
    streamFormat = caps.streamFormat
    alignment = caps.streamFormat.isLengthPrefixed ? .accessUnit : caps.alignment
    lengthSize = caps.record?.nalLengthSize ?? .four
    return isReadable
  }

  /// Whether parameter sets of `codec_data` are to go in-band in this output, where the first access unit does not have
  /// them anyway: its own `codec_data` has none if they may stand in-band. They may not in every file of avc and hvc1,
  /// whose packets stay as they are.
  func hasSets(lackedBy output: OutputPackaging<Codec>) -> Bool {
    isLengthPrefixed
      && (streamFormat != .outOfBand || output.format != .outOfBand || output.alignment != .accessUnit)
  }

  /// Data came without caps.
  mutating func assumeByteStream() { streamFormat = .byteStream }
}

/// What the base class says of the data in hand, read once a buffer.
struct ParserSituation: Sendable {
  /// What the element is to do.
  var settings = ParserSettings()
  /// The element reads the stream itself, rather than being pushed to.
  var isPulling = false
  /// What is there is all that comes.
  var isDraining = false
  /// The base class has not shown this data before.
  var isNew = false
  /// Where the data begins in the input, in bytes; nil when unknown.
  var offset: UInt64?
  /// Timestamps and flags of the input.
  var attributes = Buffer.Attributes()
  /// How the stream is played.
  var playback = Playback()
}

/// How a segment is played.
struct Playback: Sendable {
  /// From its start to its end.
  var isForward = true
  /// At normal speed from the start of the stream on.
  var isNormalFromStart = true
  /// All of the stream at normal speed, so that nothing is to be cut off or left out.
  var isWhole = true
  /// Where it ends in time; nil when it does not.
  var stop: ClockTime?
  /// Pictures that nothing refers to may be left out.
  var isForwardPredictedOnly = false

  init() {}

  init(_ segment: Segment) {
    isForward = segment.rate > 0
    isNormalFromStart = segment.start == 0 && segment.rate == 1 && segment.appliedRate == 1
    isWhole = segment.isWhole
    stop = segment.stop
    isForwardPredictedOnly = segment.forwardPredictedOnly
  }

  /// Whether what is shown then is not shown any more.
  func isOver(at time: ClockTime?) -> Bool {
    guard let time, let stop else { return false }
    return time >= stop
  }
}

/// Stage: where in the input the next data should be.
struct InputPosition: Sendable {
  private var expected: UInt64?

  /// Whether data at this place does not follow on what came before: the element seeks, and no event tells.
  func isJump(to offset: UInt64?) -> Bool {
    guard let expected, let offset else { return false }
    return offset != expected
  }

  /// So many bytes from there are done with.
  mutating func advance(by count: Int, from offset: UInt64?) {
    if count > 0 { expected = offset.map { $0 &+ UInt64(count) } }
  }

  /// The data from there is to come again, unless the element seeks meanwhile.
  mutating func expectAgain(_ offset: UInt64?) { expected = offset }
}
