// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// Stage: the input's packaging, by upstream's caps.
struct ParserInputFormat<Codec: ElementCodecSyntax>: Sendable {
  /// The packing of NAL units; nil until caps or data show it.
  private(set) var streamFormat: StreamFormat<Codec>?
  /// The content of a buffer; nil if it is not aligned to anything.
  private(set) var alignment: StreamAlignment?
  /// The size of the input's length prefixes, and of the output's unless the input is a byte stream.
  private(set) var lengthSize = NALLengthSize.four

  /// Whether NAL units have length prefixes.
  var isLengthPrefixed: Bool { streamFormat?.isLengthPrefixed == true }

  /// Whether start codes are in front of NAL units.
  var isByteStream: Bool { streamFormat == .byteStream }

  /// The packaging that the scanner expects.
  var packaging: NALPackaging { isLengthPrefixed ? .lengthPrefixed(lengthSize) : .annexB }

  /// The packing of NAL units in the output.
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
    var format = caps.streamFormat
    for problem in caps.problems {
      switch problem {
      // The stream has the parameter sets, and everybody assumes lengths of 4 bytes. The scanner finds start codes
      // where they stand in place of lengths, as in MP4 files without avcC.
      case .missingCodecData: format = .inBand
      case .unexpectedCodecData: throw .unexpectedCodecData
      case .unreadableCodecData:
        // Lengths of three bytes are illegal: such a stream is not passed through.
        let offset = Codec.ConfigurationRecord.lengthSizeOffset
        if caps.codecData.count > offset, caps.codecData[offset] & 3 == 2 { throw .unreadableCodecData }
        isReadable = false
      case .otherMediaType, .unknownStreamFormat, .unknownAlignment: break
      }
    }
    streamFormat = format
    alignment = caps.streamFormat.isLengthPrefixed ? .accessUnit : caps.alignment
    lengthSize = caps.record?.nalLengthSize ?? .four
    return isReadable
  }

  /// Whether this output needs the parameter sets of `codec_data` in-band, unless the first access unit has them. The
  /// output's own `codec_data` has none if they may be in-band. avc and hvc1 that stay as they are may not have them
  /// there.
  func hasSets(lackedBy output: OutputPackaging<Codec>) -> Bool {
    isLengthPrefixed
      && (streamFormat != .outOfBand || output.format != .outOfBand || output.alignment != .accessUnit)
  }

  /// Data came without caps.
  mutating func assumeByteStream() { streamFormat = .byteStream }
}

/// The reason caps are refused.
enum SinkCapsRefusal: String, Error {
  case unreadableCodecData = "codec_data cannot be read, and downstream accepts no packaging without it"
  case wrongAlignment = "length-prefixed streams need alignment=au"
  case unexpectedCodecData = "a byte stream has parameter sets in the stream, not in codec_data"
}
