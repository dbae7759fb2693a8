// SPDX-License-Identifier: MPL-2.0

/// Looks for byte sequences that a NAL unit must not hold (H.264 7.4.1, H.265 7.4.2).
enum EmulationPrevention {
  /// Where the first sequence begins that must not be there: 00 00 00, 00 00 01, 00 00 02, or 00 00 03 in front of
  /// a byte above 3. `cabac_zero_words` (00 00 03 at the end) are fine.
  static func firstViolation(_ bytes: Span<UInt8>) -> Int? {
    let count = bytes.count
    guard count >= 3 else { return nil }
    // Of two zero bytes one stands at an odd place: every second byte is looked at.
    var index = 1
    while index < count {
      guard bytes[index] == 0 else {
        index += 2
        continue
      }
      let first = bytes[index - 1] == 0 ? index - 1 : index
      guard first + 2 < count, bytes[first + 1] == 0 else {
        index += 2
        continue
      }
      let third = bytes[first + 2]
      if third < 3 { return first }
      if third == 3, first + 3 < count, bytes[first + 3] > 3 { return first }
      // Behind the pair there is a byte that is not zero.
      index = first + 3
      if index & 1 == 0 { index += 1 }
    }
    return nil
  }
}
