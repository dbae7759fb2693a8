// SPDX-License-Identifier: MPL-2.0

import H26x

extension H264 {
  /// The contexts of coefficients by `ctxBlockCat`: `ctxIdxOffset` + `ctxBlockCatOffset` (Tables 9-34 and 9-40).
  enum ResidualContexts {
    static let codedBlockFlags: InlineArray<14, UInt16> = [
      85, 89, 93, 97, 101, 1012, 460, 464, 468, 1016, 472, 476, 480, 1020,
    ]

    /// `significant_coeff_flag` in frames, then in fields.
    static let significant: InlineArray<28, UInt16> = [
      105, 120, 134, 149, 152, 402, 484, 499, 513, 660, 528, 543, 557, 718,
      277, 292, 306, 321, 324, 436, 776, 791, 805, 675, 820, 835, 849, 733,
    ]

    /// `last_significant_coeff_flag` in frames, then in fields.
    static let last: InlineArray<28, UInt16> = [
      166, 181, 195, 210, 213, 417, 572, 587, 601, 690, 616, 631, 645, 748,
      338, 353, 367, 382, 385, 451, 864, 879, 893, 699, 908, 923, 937, 757,
    ]

    /// `coeff_abs_level_minus1`.
    static let levels: InlineArray<14, UInt16> = [
      227, 237, 247, 257, 266, 426, 952, 962, 972, 708, 982, 992, 1002, 766,
    ]

    /// Contexts of `significant_coeff_flag` in 8×8 blocks (Table 9-43) in frames, then in fields.
    static let significant8x8: InlineArray<126, UInt8> = [
      0, 1, 2, 3, 4, 5, 5, 4, 4, 3, 3, 4, 4, 4, 5, 5, 4, 4, 4, 4, 3, 3, 6, 7, 7, 7, 8, 9, 10, 9, 8, 7, 7, 6, 11, 12, 13,
      11, 6, 7, 8, 9, 14, 10, 9, 8, 6, 11, 12, 13, 11, 6, 9, 14, 10, 9, 11, 12, 13, 11, 14, 10, 12,
      0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 7, 7, 8, 4, 5, 6, 9, 10, 10, 8, 11, 12, 11, 9, 9, 10, 10, 8, 11, 12, 11, 9, 9,
      10,
      10, 8, 11, 12, 11, 9, 9, 10, 10, 8, 13, 13, 9, 9, 10, 10, 8, 13, 13, 9, 9, 10, 10, 14, 14, 14, 14, 14,
    ]

    /// Contexts of `last_significant_coeff_flag` in 8×8 blocks.
    static let last8x8: InlineArray<63, UInt8> = [
      0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3,
      3,
      3, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 8, 8, 8,
    ]

    /// Contexts of Cb and Cr in 4:4:4 that begin with the values of luma's: to, from, count.
    static let chromaCopies: InlineArray<22, UInt16> = [
      460, 472, 484, 528, 572, 616, 776, 820, 864, 908, 952, 982, 660, 718, 690, 748, 675, 733, 699, 757, 708, 766,
    ]

    /// Of an entry of ``chromaCopies``: the first context, luma's first context, and the number of contexts.
    static func chromaCopy(_ index: Int) -> (to: Int, from: Int, count: Int) {
      let (from, count) =
        switch index / 2 {
        case 0: (85, 12)
        case 1: (105, 44)
        case 2: (166, 44)
        case 3: (277, 44)
        case 4: (338, 44)
        case 5: (227, 30)
        case 6: (402, 15)
        case 7: (417, 9)
        case 8: (436, 15)
        case 9: (451, 9)
        default: (426, 10)
        }
      return (Int(chromaCopies[index]), from, count)
    }
  }
}
