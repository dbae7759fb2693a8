// SPDX-License-Identifier: MPL-2.0

import H26x

extension H264 {
  /// The values of parameter sets and slice header that slice data depend on.
  struct SliceTraits {
    var sliceType: SliceHeader.SliceType = .i
    /// `PicWidthInMbs`.
    var width = 0
    /// `PicSizeInMbs`: of the field if it is one.
    var size = 0
    /// `MbaffFrameFlag`.
    var isMbaff = false
    /// `field_pic_flag`.
    var isField = false
    /// `ChromaArrayType`.
    var chroma: ChromaFormat = .yuv420
    var lumaBitDepth = 8
    var chromaBitDepth = 8
    /// `QpBdOffsetY`.
    var lumaQPOffset = 0
    /// `QpBdOffsetC`.
    var chromaQPOffset = 0
    var cbQPIndexOffset = 0
    var crQPIndexOffset = 0
    /// `SliceQPY`.
    var qp = 0
    var allows8x8Transform = false
    var infers8x8Direct = false
    /// `num_ref_idx_l0_active_minus1` + 1, and of list 1.
    var referenceCounts = InlineArray<2, Int>(repeating: 0)
    /// In data partitions with constrained intra prediction, intra macroblocks count no coefficients of inter neighbors
    /// (9.2.1).
    var ignoresInterCounts = false
    /// The longest `level_prefix` of the profile (A.2).
    var longestLevelPrefix = 15
    /// The magnitude of a coefficient that a bit depth allows at most: 2^(7 + bit depth) (7.4.5.3.1).
    var largestCoefficient = 1 << 15

    var isB: Bool { sliceType == .b }
    var isIntra: Bool { sliceType.isIntra }
    /// Whether chroma is coded apart from luma, in 4:2:0 and 4:2:2.
    var hasSubsampledChroma: Bool { chroma == .yuv420 || chroma == .yuv422 }
    /// Rows of 4×4 blocks of a chroma plane.
    var chromaRows: Int { chroma == .yuv420 ? 2 : 4 }
  }
}
