// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The stream as upstream's caps declare it.
struct DecoderInput<Codec: DecoderCodec> {
  /// Upstream's caps.
  let caps: CompressedCaps<Codec>
  /// Their geometry and color.
  let info: VideoInfo
  /// Upstream is live (latency query).
  let isLive: Bool
}

/// A decoder's view of its sink caps.
extension CompressedCaps {
  /// Each buffer holds NAL units instead of an access unit.
  var isNALAligned: Bool { alignment == .nalUnit }

  /// Size of length prefixes; `nil` for start codes.
  var nalLengthSize: NALLengthSize? {
    switch packaging {
    case .annexB: nil
    case .lengthPrefixed(let size): size
    }
  }

  /// NAL units of `codec_data`: its parameter sets, and in hvcC perhaps SEI. None for a byte stream.
  var parameterSets: [[UInt8]] {
    guard let record else { return [] }
    return record.nalUnits
  }

  /// Whether NAL units are packed and aligned as under other caps.
  func isPackaged(like other: CompressedCaps) -> Bool {
    packaging == other.packaging && isNALAligned == other.isNALAligned
  }

  /// The error that prevents decoding; `nil` for none.
  var obstacle: ElementError? {
    for problem in problems {
      switch problem {
      // Parameter sets may be in the stream, whatever the caps contain: h264parse sends such caps for damaged streams.
      case .otherMediaType, .unknownStreamFormat, .unknownAlignment, .unexpectedCodecData, .missingCodecData: continue
      case .unreadableCodecData(_, nil):
        return Self.undecodable("codec_data is not a readable buffer")
      case .unreadableCodecData(let byteCount, let error?):
        return Self.undecodable(
          "codec_data is not an \(Codec.ConfigurationRecord.name): \(error.reason) at \(error.element), bit "
            + "\(error.bitOffset) of \(byteCount * 8)")
      }
    }
    return nil
  }

  private static func undecodable(_ debug: String) -> ElementError {
    ElementError(.stream(.format), "The stream's format cannot be decoded.", debug: debug)
  }
}
