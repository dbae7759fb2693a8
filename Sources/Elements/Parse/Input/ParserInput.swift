// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// Why caps are refused.
enum SinkCapsRefusal: String, Error {
  case missingCodecData = "there is no codec_data, which streams need whose parameter sets are not in-band"
  case unreadableCodecData = "codec_data cannot be read, and downstream takes nothing that could go without"
  case wrongAlignment = "length-prefixed streams need alignment=au"
  case unexpectedCodecData = "a byte stream has its parameter sets in the stream, not in codec_data"
}

/// Stage: the input's packaging, by upstream's caps.
struct ParserInputFormat<Codec: ElementCodecSyntax>: Sendable {
  /// How NAL units are packed; nil until caps or data show it.
  private(set) var streamFormat: StreamFormat<Codec>?
  /// What a buffer holds; nil when it is not aligned to anything.
  private(set) var alignment: StreamAlignment?
  /// Of the input's length prefixes, and the output's unless the input is a byte stream.
  private(set) var lengthSize = NALLengthSize.four

  /// Whether NAL units have length prefixes.
  var isLengthPrefixed: Bool { streamFormat?.isLengthPrefixed == true }

  /// Whether start codes are in front of NAL units.
  var isByteStream: Bool { streamFormat == .byteStream }

  /// What the scanner is to expect.
  var packaging: NALPackaging { isLengthPrefixed ? .lengthPrefixed(lengthSize) : .annexB }

  /// How NAL units are packed in the output.
  func outputPackaging(_ packaging: OutputPackaging<Codec>) -> NALPackaging {
    guard packaging.format.isLengthPrefixed else { return .annexB }
    // alignment=nal comes without codec_data, which gives the size: everybody assumes 4 bytes.
    return .lengthPrefixed(isLengthPrefixed && packaging.alignment == .accessUnit ? lengthSize : .four)
  }

  /// Takes upstream's caps.
  ///
  /// - Returns: whether `codec_data` can be read, if the stream needs any.
  mutating func take(_ caps: CompressedCaps<Codec>) throws(SinkCapsRefusal) -> Bool {
    if caps.streamFormat.isLengthPrefixed, caps.alignment == .nalUnit { throw .wrongAlignment }
    var isReadable = true
    for problem in caps.problems {
      switch problem {
      // The stream has the parameter sets, and everybody assumes lengths of 4 bytes.
      case .missingCodecData where caps.streamFormat == .inBand: break
      case .missingCodecData: throw .missingCodecData
      case .unexpectedCodecData: throw .unexpectedCodecData
      case .unreadableCodecData:
        // Lengths of three bytes are illegal: such a stream is not passed through.
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

  /// Whether this output needs the parameter sets of `codec_data` in-band, unless the first access unit has them: its
  /// own `codec_data` has none where they may be in-band. avc and hvc1 that stay as they are may not have them there.
  func hasSets(lackedBy output: OutputPackaging<Codec>) -> Bool {
    isLengthPrefixed
      && (streamFormat != .outOfBand || output.format != .outOfBand || output.alignment != .accessUnit)
  }

  /// Data came without caps.
  mutating func assumeByteStream() { streamFormat = .byteStream }
}

/// The base class's information about the current data, read once a buffer.
struct ParserSituation: Sendable {
  /// The properties.
  var settings = ParserSettings()
  /// Pull mode.
  var isPulling = false
  /// No more data comes: what is there has to be used up.
  var isDraining = false
  /// The base class has not shown this data before.
  var isNew = false
  /// Where the data begins in the input, in bytes; nil when unknown.
  var offset: UInt64?
  /// Timestamps and flags of the input.
  var attributes = Buffer.Attributes()
  /// How the stream is played.
  var playback = Playback()
  /// The target of an accurate seek whose data has not come yet.
  var target: ClockTime?
}

/// How a segment is played.
struct Playback: Sendable {
  /// Forwards, at any speed.
  var isForward = true
  /// At normal speed, from the start of the stream.
  var isNormalFromStart = true
  /// All of the stream at normal speed, so that nothing is clipped or dropped.
  var isWhole = true
  /// Where it ends in time; nil when it does not.
  var stop: ClockTime?
  /// Trick mode: B-frames may be dropped (TRICKMODE_FORWARD_PREDICTED).
  var isForwardPredictedOnly = false

  init() {}

  init(_ segment: Segment) {
    isForward = segment.rate > 0
    isNormalFromStart = segment.start == 0 && segment.rate == 1 && segment.appliedRate == 1
    isWhole = segment.isWhole
    stop = segment.stop
    isForwardPredictedOnly = segment.forwardPredictedOnly
  }

  /// Whether a time is at or after the segment's stop.
  func isOver(at time: ClockTime?) -> Bool {
    guard let time, let stop else { return false }
    return time >= stop
  }
}

/// Stage: where in the input the next data should be.
struct InputPosition: Sendable {
  /// Where data begins that continues the last; nil before any came.
  private var expected: UInt64?
  /// Whether nothing was consumed yet.
  private(set) var isFresh = true

  /// Whether data at this offset does not continue what came before: the base class has sought, without an event.
  func isJump(to offset: UInt64?) -> Bool {
    guard let expected, let offset else { return false }
    return offset != expected
  }

  /// Data at this offset was handed over. It comes again, unless it is consumed or the base class seeks.
  mutating func notice(_ offset: UInt64?) { expected = expected ?? offset }

  /// `count` bytes at this offset are consumed.
  mutating func advance(by count: Int, from offset: UInt64?) {
    guard count > 0 else { return }
    (expected, isFresh) = (offset.map { $0 &+ UInt64(count) }, false)
  }

  /// The data at this offset will come again, unless the base class seeks meanwhile.
  mutating func expectAgain(_ offset: UInt64?) { (expected, isFresh) = (offset, false) }
}
