// SPDX-License-Identifier: MPL-2.0

import H26x

extension H264 {
  /// The partitions of inter macroblock types (Tables 7-13, 7-14, 7-17 and 7-18). A set of lists is 1 for list 0, 2 for
  /// list 1, 3 for both.
  enum InterTypes {
    /// The lists of the two halves of `mb_type` 4 to 21 of B slices, by half of the number: first, and second × 4.
    private static let halves: InlineArray<9, UInt8> = [5, 10, 9, 6, 13, 14, 7, 11, 15]

    /// The lists of the first and second part of an `mb_type` of B slices, 1 to 21.
    @inline(__always)
    static func lists(_ type: Int) -> (first: Int, second: Int) {
      if type < 4 { return (type, type) }
      let lists = Int(halves[(type &- 4) &>> 1])
      return (lists & 3, lists &>> 2)
    }

    /// `sub_mb_type` of B slices: its lists, 4 × columns, 16 × rows.
    static let sub: InlineArray<13, UInt8> = [
      0x00, 0x15, 0x16, 0x17, 0x25, 0x19, 0x26, 0x1A, 0x27, 0x1B, 0x29, 0x2A, 0x2B,
    ]

    /// `sub_mb_type` of P slices.
    static let predictedSub: InlineArray<4, UInt8> = [0x15, 0x25, 0x19, 0x29]
  }
}
