// SPDX-License-Identifier: MPL-2.0

/// Container formats, recognised by the first bytes of a file, whatever its name is.
package enum FileFormat: Sendable {
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
  /// MPEG program stream.
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
}
