// SPDX-License-Identifier: MPL-2.0
import H26x

/// What a decoder needs of a codec beside its syntax.
protocol DecoderCodec: ElementCodecSyntax {
  /// The element's name, which its messages and statistics begin with.
  static var decoderName: String { get }
  /// Two fields make one decoded picture; else each comes out as a picture of its own.
  static var pairsFields: Bool { get }
  /// libavcodec gives monochrome of 8 bits chroma planes.
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
