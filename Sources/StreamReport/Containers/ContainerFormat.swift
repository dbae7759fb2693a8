// SPDX-License-Identifier: MPL-2.0
import H26x

/// Container formats, recognized by the first bytes of a file, regardless of its name.
package enum ContainerFormat: Sendable {
  /// MP4 or MOV.
  case mp4
  /// Matroska or WebM.
  case matroska
  /// FLV.
  case flv
  /// AVI.
  case avi
  /// MPEG transport stream, with packets of 188 bytes, of 192 with a timestamp in front, or of 204 with parity bytes.
  case mpegTS
  /// MPEG program stream, also behind a header of its writer's or cut off at its beginning.
  case mpegPS

  /// Recognises a container; nil for none of these, such as a byte stream.
  package init?(_ bytes: Span<UInt8>) {
    switch (bytes.uint32(at: 0), bytes.uint32(at: 8)) {
    case (0x1A45_DFA3, _): self = .matroska
    case (0x464C_5601, _): self = .flv
    case (0x5249_4646, 0x4156_4920): self = .avi
    case (0x0000_01BA, _): self = .mpegPS
    default:
      if Self.beginsWithBox(bytes) {
        self = .mp4
      } else if Self.hasPackets(bytes) {
        self = .mpegTS
      } else if OtherFormat.signedName(of: bytes) == nil, Self.hasProgramPackets(bytes) {
        self = .mpegPS
      } else {
        return nil
      }
    }
  }

  /// Whether the bytes begin with a box that an MP4 file may begin with.
  private static func beginsWithBox(_ bytes: Span<UInt8>) -> Bool {
    guard let size = bytes.uint32(at: 0), let code = bytes.uint32(at: 4) else { return false }
    guard size == 0 || size == 1 || size >= 8 else { return false }
    switch FourCharacterCode(rawValue: code) {
    case "ftyp", "moov", "mdat", "moof", "styp", "free", "skip", "wide", "sidx", "uuid", "pnot": return true
    default: return false
    }
  }

  /// Whether there are sync bytes at the distance of packets. The first may have lost its beginning.
  private static func hasPackets(_ bytes: Span<UInt8>) -> Bool {
    for size in [188, 192, 204] {
      // The fewer packets are at hand, the less a sync byte off the beginning means.
      let needed = 5
      for first in 0..<min(size, bytes.count) where bytes[first] == 0x47 {
        let packets = min(needed, (bytes.count - first - 1) / size + 1)
        let isAtFront = first == 0 || first == 4
        guard packets == needed || packets >= 2 && isAtFront else { continue }
        if (1..<packets).allSatisfy({ bytes[first + $0 * size] == 0x47 }) { return true }
      }
    }
    return false
  }

  /// Start codes that are looked at.
  private static let startCodeLimit = 256

  /// Whether a pack header or PES packet is followed by another one at its end (ISO/IEC 13818-1, 2.5.3). No NAL unit
  /// has their start codes.
  private static func hasProgramPackets(_ bytes: Span<UInt8>) -> Bool {
    var place = 0
    for _ in 0..<startCodeLimit {
      guard let start = AnnexB.startCode(in: bytes, from: place) else { return false }
      if let end = packetEnd(bytes, from: start), let next = bytes.uint32(at: end), isProgramCode(next) { return true }
      place = start + 3
    }
    return false
  }

  /// Whether four bytes are the start code of a pack, a PES packet or the end.
  private static func isProgramCode(_ code: UInt32) -> Bool { (0x1B9...0x1FF).contains(code) }

  /// Returns the end of a pack header or PES packet; nil for something else.
  private static func packetEnd(_ bytes: Span<UInt8>, from start: Int) -> Int? {
    guard let code = bytes.uint32(at: start), isProgramCode(code) else { return nil }
    switch code {
    case 0x1B9: return nil
    case 0x1BA:
      guard let first = bytes.uint8(at: start + 4) else { return nil }
      // MPEG-1's is shorter.
      if first >> 4 == 2 { return start + 12 }
      return first >> 6 == 1 ? bytes.uint8(at: start + 13).map { start + 14 + Int($0 & 7) } : nil
    default: return bytes.uint16(at: start + 4).flatMap { $0 > 0 ? start + 6 + Int($0) : nil }
    }
  }
}
