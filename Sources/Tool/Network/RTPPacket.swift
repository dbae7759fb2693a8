// SPDX-License-Identifier: MPL-2.0
import Containers
import H26x

/// The header of an RTP packet and the place of its payload (RFC 3550, 5.1).
struct RTPPacket {
  let payloadType: UInt8
  let timestamp: UInt32
  let source: UInt32
  /// The bytes behind the header and in front of the padding.
  let payload: Range<Int>

  /// `nil` for bytes that are no RTP packet.
  init?(_ bytes: Span<UInt8>) {
    guard bytes.count >= 12, bytes[0] >> 6 == 2 else { return nil }
    func word(_ place: Int) -> UInt32 { (0..<4).reduce(0) { $0 << 8 | UInt32(bytes[place + $1]) } }
    payloadType = bytes[1] & 0x7F
    timestamp = word(4)
    source = word(8)
    var start = 12 + 4 * Int(bytes[0] & 0x0F)
    if bytes[0] & 0x10 != 0 {
      guard bytes.count >= start + 4 else { return nil }
      start += 4 + 4 * (Int(bytes[start + 2]) << 8 | Int(bytes[start + 3]))
    }
    let padding = bytes[0] & 0x20 != 0 ? Int(bytes[bytes.count - 1]) : 0
    guard start + padding <= bytes.count else { return nil }
    payload = start..<bytes.count - padding
  }

  /// Whether GStreamer's depayloader takes the payload, by its first two bytes (RFC 6184, 5.2; RFC 7798, 4.4). If it is
  /// too short, or its type is unassigned or not supported, depayloaders crash or post an error.
  func isSound(_ bytes: Span<UInt8>, _ codec: FormatDescription.Codec) -> Bool {
    guard payload.count >= 2 else { return false }
    let first = bytes[payload.lowerBound]
    guard codec == .h264 else {
      let type = H265.NALUnitType(headerByte: first)
      // RFC 7798 has no name for those of Dolby Vision. Senders and depayloaders take them as any other NAL unit.
      let isDolbyVision = type == .dolbyVisionRPU || type == .dolbyVisionEnhancementLayer
      return payload.count > 2 && (type.rawValue < 50 || isDolbyVision)
    }
    return switch first & 0x1F {
    case 1...25: true
    // A fragmentation unit has a header of two bytes.
    case 28, 29: payload.count > 2
    default: false
    }
  }

  /// The codec that the first two bytes of the payload look like; `nil` if they look like neither.
  func likelyCodec(_ bytes: Span<UInt8>) -> FormatDescription.Codec? {
    guard payload.count > 2 else { return nil }
    let (first, second) = (bytes[payload.lowerBound], bytes[payload.lowerBound + 1])
    // Layer 0 and temporal sublayer 0, and a type that streams consist of; of H.264 it would be a data partition or
    // unspecified.
    if first & 0x81 == 0, second == 1, [0, 1, 2, 3, 16, 19, 20, 21].contains(first >> 1) || first >> 1 >= 32 {
      return .h265
    }
    return first & 0x80 == 0 && [1, 5, 6, 7, 8, 9, 24, 28].contains(first & 0x1F) ? .h264 : nil
  }
}
