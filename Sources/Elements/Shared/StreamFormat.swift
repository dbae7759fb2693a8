// SPDX-License-Identifier: MPL-2.0
import H26x

/// The caps field `stream-format` of a codec: where parameter sets are and how NAL units are packed.
///
/// Not `RawRepresentable`: its `!=` would compare strings for every buffer.
enum StreamFormat<Codec: ElementCodecSyntax>: Sendable, Hashable {
  /// Length prefixes, parameter sets in `codec_data`: avc, hvc1.
  case outOfBand
  /// Length prefixes, parameter sets in the stream: avc3, hev1.
  case inBand
  /// Start codes, parameter sets in the stream.
  case byteStream

  /// The format of this name in caps; nil for one that the codec does not have.
  init?(rawValue: String) {
    switch rawValue {
    case Codec.outOfBandStreamFormat: self = .outOfBand
    case Codec.inBandStreamFormat: self = .inBand
    case Codec.byteStreamFormat: self = .byteStream
    default: return nil
    }
  }

  /// The name in caps.
  var rawValue: String {
    switch self {
    case .outOfBand: Codec.outOfBandStreamFormat
    case .inBand: Codec.inBandStreamFormat
    case .byteStream: Codec.byteStreamFormat
    }
  }

  /// Whether NAL units have length prefixes.
  var isLengthPrefixed: Bool { self != .byteStream }
}

/// The caps field `alignment`: what a buffer holds.
enum StreamAlignment: String, Sendable {
  /// One access unit.
  case accessUnit = "au"
  /// One NAL unit.
  case nalUnit = "nal"
}
