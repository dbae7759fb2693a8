// SPDX-License-Identifier: MPL-2.0
import H26x

/// Looks for byte sequences that a NAL unit must not contain (H.264 7.4.1, H.265 7.4.2).
enum EmulationPrevention {
  /// The offset of the first forbidden sequence: 00 00 00, 00 00 01, 00 00 02, or 00 00 03 before a byte above 3.
  /// `cabac_zero_words` (00 00 03 at the end) are allowed.
  static func firstViolation(_ bytes: Span<UInt8>) -> Int? {
    var next = 0
    while let first = AnnexB.zeroPair(in: bytes, from: next), first + 2 < bytes.count {
      let third = bytes[first + 2]
      if third < 3 { return first }
      if third == 3, first + 3 < bytes.count, bytes[first + 3] > 3 { return first }
      // The third byte is not zero, so that no pair begins before the fourth.
      next = first + 3
    }
    return nil
  }
}
