// SPDX-License-Identifier: MPL-2.0

import H26x

extension H264 {
  /// The mapping of `coded_block_pattern` (Table 9-4): intra macroblocks first, then inter macroblocks.
  enum CodedBlockPatterns {
    /// `ChromaArrayType` 1 and 2.
    static let withChroma: InlineArray<96, UInt8> = [
      47, 31, 15, 0, 23, 27, 29, 30, 7, 11, 13, 14, 39, 43, 45, 46, 16, 3, 5, 10, 12, 19, 21, 26, 28, 35, 37, 42, 44, 1,
      2, 4, 8, 17, 18, 20, 24, 6, 9, 22, 25, 32, 33, 34, 36, 40, 38, 41, 0, 16, 1, 2, 4, 8, 32, 3, 5, 10, 12, 15, 47, 7,
      11, 13, 14, 6, 9, 31, 35, 37, 42, 44, 33, 34, 36, 40, 39, 43, 45, 46, 17, 18, 20, 24, 19, 21, 26, 28, 23, 27, 29,
      30, 22, 25, 38, 41,
    ]

    /// `ChromaArrayType` 0 and 3.
    static let lumaOnly: InlineArray<32, UInt8> = [
      15, 0, 7, 11, 13, 14, 3, 5, 10, 12, 1, 2, 4, 8, 6, 9, 0, 1, 2, 4, 8, 3, 5, 10, 12, 15, 7, 11, 13, 14, 6, 9,
    ]
  }
}
