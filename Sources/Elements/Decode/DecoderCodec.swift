// SPDX-License-Identifier: MPL-2.0
import H26x
import VideoDecoding

/// What a decoder needs of a codec beside its syntax.
protocol DecoderCodec: DecodableCodec {
  /// The element's name, with which its messages and statistics begin.
  static var decoderName: String { get }
  /// Whether two fields make one decoded picture; else each field is a picture of its own.
  static var pairsFields: Bool { get }
  /// Whether libavcodec decodes 8-bit monochrome to 4:2:0.
  static var completesMonochrome: Bool { get }
}

extension H264: DecoderCodec {
  static var decoderName: String { "swifth264dec" }
  static var pairsFields: Bool { true }
  static var completesMonochrome: Bool { true }
}

extension H265: DecoderCodec {
  static var decoderName: String { "swifth265dec" }
  static var pairsFields: Bool { false }
  static var completesMonochrome: Bool { false }
}
