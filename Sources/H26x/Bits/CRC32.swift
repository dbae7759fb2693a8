// SPDX-License-Identifier: MPL-2.0

/// Cyclic redundancy checks of 32 bits.
package enum CRC32 {
  /// The check of ISO/IEC 13818-1, annex A: polynomial 0x04C11DB7, most significant bit first, from 0xFFFFFFFF on.
  package static func mpeg2(_ bytes: some Sequence<UInt8>) -> UInt32 {
    var sum = UInt32.max
    for byte in bytes {
      sum ^= UInt32(byte) << 24
      for _ in 0..<8 { sum = sum >> 31 == 0 ? sum << 1 : sum << 1 ^ 0x04C1_1DB7 }
    }
    return sum
  }
}
