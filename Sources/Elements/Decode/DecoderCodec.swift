// SPDX-License-Identifier: MPL-2.0
import H26x
import VideoDecoding

/// The requirements of a decoder on a codec, besides its syntax.
protocol DecoderCodec: DecodableCodec {
  /// The element's name, with which its messages and statistics begin.
  static var decoderName: String { get }
  /// Whether libavcodec decodes 8-bit monochrome to 4:2:0.
  static var completesMonochrome: Bool { get }
  /// Whether libavcodec fails in an access unit without a slice whose last NAL unit is this one.
  static func failsWithoutSlice(_ nalUnit: Span<UInt8>) -> Bool
}

extension H264: DecoderCodec {
  static var decoderName: String { "swifth264dec" }
  static var completesMonochrome: Bool { true }
  static func failsWithoutSlice(_ nalUnit: Span<UInt8>) -> Bool {
    NALUnitType(headerByte: nalUnit[0]) != .endOfSequence
  }
}

extension H265: DecoderCodec {
  static var decoderName: String { "swifth265dec" }
  static var completesMonochrome: Bool { false }
  static func failsWithoutSlice(_ nalUnit: Span<UInt8>) -> Bool { false }
}
