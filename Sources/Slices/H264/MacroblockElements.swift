// SPDX-License-Identifier: MPL-2.0

import H26x

extension H264 {
  /// A syntax element that cannot be read.
  struct ElementFault {
    let reason: SliceDamage.Reason
    let element: StaticString
    let clause: StaticString
    let bitOffset: Int
  }

  /// Reads the syntax elements of macroblocks (7.3.5) in one of the entropy codings.
  ///
  /// No method throws: the first fault is kept, and the reader of slice data looks for it after each macroblock. Until
  /// then every value is within the range that its method states.
  protocol MacroblockElements: ~Escapable {
    /// Whether the neighbors matter, apart from their coefficient counts.
    static var isArithmetic: Bool { get }
    /// The first fault.
    var fault: ElementFault? { get set }
    /// The place of the next bit.
    var bitOffset: Int { get }
    /// Whether more was read than there is.
    var isOverrun: Bool { get }
    /// Coefficients of the macroblock that are not 0.
    var coefficientCount: Int { get set }
    /// Sum of their magnitudes.
    var coefficientSum: Int { get set }

    /// `mb_field_decoding_flag`.
    ///
    /// - Parameter fieldNeighbors: how many of the pairs to the left and above are field macroblocks.
    mutating func fieldFlag(fieldNeighbors: Int) -> Bool
    /// `mb_type` as a number of Tables 7-11 to 7-14: 0 to 26 in I and SI slices, 0 to 30 in P and SP slices, 0 to 48 in
    /// B slices.
    mutating func macroblockType(_ slice: SliceHeader.SliceType, _ around: inout Surroundings) -> Int
    /// `sub_mb_type`: 0 to 3, in B slices 0 to 12.
    mutating func subMacroblockType(isB: Bool) -> Int
    /// `transform_size_8x8_flag`.
    mutating func transformSize8x8Flag(_ around: inout Surroundings) -> Bool
    /// `prev_intra4x4_pred_mode_flag` and `rem_intra4x4_pred_mode`, or those of 8×8 blocks.
    mutating func intraPredictionMode()
    /// `intra_chroma_pred_mode`, 0 to 3.
    mutating func intraChromaMode(_ around: inout Surroundings) -> Int
    /// `ref_idx_l0` or `ref_idx_l1`, 0 to `count` − 1.
    ///
    /// - Parameters:
    ///   - count: the number of reference indices, 2 or more.
    ///   - list: 0 or 1.
    ///   - place: of the 8×8 block in the grid of ``Surroundings/indices``.
    mutating func referenceIndex(count: Int, list: Int, place: Int, _ around: inout Surroundings) -> Int
    /// A component of `mvd_l0` or `mvd_l1`.
    ///
    /// - Parameters:
    ///   - list: 0 or 1.
    ///   - component: 0 for the horizontal one.
    ///   - sum: of the neighbors' magnitudes.
    mutating func vectorDifference(list: Int, component: Int, sum: Int) -> Int
    /// `coded_block_pattern`, 0 to 47.
    mutating func codedBlockPattern(isIntra: Bool, hasChroma: Bool, _ around: inout Surroundings) -> Int
    /// `mb_qp_delta`, in −52 to 52 at least.
    ///
    /// - Parameters:
    ///   - isAfterChange: whether that of the macroblock before is not 0.
    ///   - limit: −(26 + `QpBdOffsetY` ÷ 2) is the least value, and one less than its magnitude is the largest.
    mutating func qpDelta(isAfterChange: Bool, limit: Int) -> Int
    /// The samples of I_PCM (7.3.5) with the zero bits in front.
    mutating func pcmSamples(bits: Int)

    /// Reads what comes before the first block of coefficients of a macroblock.
    mutating func beginResidual(isIntra: Bool, isField: Bool)
    /// Goes back to the other syntax elements.
    mutating func endResidual()
    /// `residual_block()` (7.3.5.3.2 and 7.3.5.3.3).
    ///
    /// - Parameters:
    ///   - category: `ctxBlockCat` (Table 9-42).
    ///   - coefficients: the most that there can be: 4, 8, 15, 16 or 64.
    ///   - place: of the block in the grid of ``Surroundings/counts``; for DC, of the first one.
    /// - Returns: the number of coefficients that are not 0.
    mutating func block(_ category: Int, coefficients: Int, place: Int, _ around: inout Surroundings) -> Int
  }
}

extension H264.MacroblockElements where Self: ~Escapable {
  /// Keeps a fault, unless there is one already.
  @inline(never)
  mutating func fail(_ reason: SliceDamage.Reason, _ element: StaticString, _ clause: StaticString) {
    guard fault == nil else { return }
    fault = H264.ElementFault(reason: reason, element: element, clause: clause, bitOffset: bitOffset)
  }
}
