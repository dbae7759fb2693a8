// SPDX-License-Identifier: MPL-2.0

import H26x

extension H264 {
  /// The macroblocks left of and above the current one (6.4.11), and the blocks at its edges (6.4.12).
  ///
  /// Counts and motion lie in grids of 4×4 blocks, 8 to a row, with the row above and the column to the left: see
  /// ``Grid``.
  struct Surroundings {
    /// The macroblock left of the current one's first row of samples; empty if it is not available.
    var left = MacroblockInfo()
    /// The one above its first column.
    var above = MacroblockInfo()
    var hasLeft = false
    var hasAbove = false

    /// The addresses of the macroblocks beside the upper and the lower half; -1 if they are not available. They differ
    /// beside a pair of frame macroblocks if the current one is a field macroblock.
    var upperLeft = -1
    var lowerLeft = -1
    /// The one beside the lower half; equal to `left` if both are the same.
    var leftOfLowerHalf = MacroblockInfo()
    /// The rows of 4×4 blocks beside the four rows of the current macroblock, a byte each.
    var leftRows: UInt32 = Rows.same
    /// The address of the macroblock above; -1 if it is not available.
    var aboveAddress = -1
    /// Factors of vertical vector differences in half units: 2 for a neighbor of the same kind, 4 from a field to a
    /// frame macroblock, 1 from a frame to a field macroblock.
    var leftFactor: UInt16 = 2
    var aboveFactor: UInt16 = 2
    /// Whether the current macroblock is a frame macroblock and its neighbor a field macroblock.
    var isLeftFieldOfFrame = false
    var isAboveFieldOfFrame = false

    /// Coefficient counts of three planes.
    var counts = InlineArray<120, UInt8>(repeating: 0)
    /// |mvd| of two lists, the horizontal component in the low byte.
    var motion = InlineArray<80, UInt16>(repeating: 0)
    /// Whether `ref_idx` is above 0, or above 1 from a frame to a field macroblock, of two lists: 3 × 4 8×8 blocks.
    var indices = InlineArray<24, UInt8>(repeating: 0)

    enum Rows {
      static let same: UInt32 = 0x0302_0100
      /// Of a frame macroblock at the top of its pair, beside a pair of field macroblocks.
      static let upperHalf: UInt32 = 0x0101_0000
      static let lowerHalf: UInt32 = 0x0303_0202
      /// Of a field macroblock beside a pair of frame macroblocks.
      static let everySecond: UInt32 = 0x0200_0200
    }

    @inline(__always)
    func leftRow(_ row: Int) -> Int { Int((leftRows &>> UInt32(truncatingIfNeeded: 8 &* row)) & 3) }

    @inline(__always)
    func leftAddress(_ row: Int) -> Int { row < 2 ? upperLeft : lowerLeft }

    @inline(__always)
    func leftInfo(_ row: Int) -> MacroblockInfo { row < 2 ? left : leftOfLowerHalf }

    /// Which 8×8 blocks beside the current macroblock's upper (1) and lower (2) half have no coefficients, by
    /// `CodedBlockPatternLuma`. Neighbors that are not available have some.
    @inline(__always)
    var uncodedLeft: Int {
      guard hasLeft else { return 0 }
      let upper = (left.codedBlockPattern &>> UInt8(truncatingIfNeeded: leftRow(0) & 2 | 1)) & 1
      let lower = (leftOfLowerHalf.codedBlockPattern &>> UInt8(truncatingIfNeeded: leftRow(2) & 2 | 1)) & 1
      return Int(upper ^ 1 | (lower ^ 1) &<< 1)
    }

    /// Which 8×8 blocks above the current macroblock's left (1) and right (2) half have no coefficients.
    @inline(__always)
    var uncodedAbove: Int {
      hasAbove ? Int(~above.codedBlockPattern &>> 2 & 3) : 0
    }

    /// The number of neighbors, of left and above, that have a flag.
    @inline(__always)
    func count(_ flag: UInt16) -> Int { (left.has(flag) ? 1 : 0) &+ (above.has(flag) ? 1 : 0) }

    /// The number of available neighbors without a flag.
    @inline(__always)
    func countWithout(_ flag: UInt16) -> Int {
      (hasLeft && !left.has(flag) ? 1 : 0) &+ (hasAbove && !above.has(flag) ? 1 : 0)
    }
  }

  /// Places in the grids of ``Surroundings``.
  enum Grid {
    /// A row of the grid.
    static let row = 8
    /// A plane's grid.
    static let plane = 40

    /// The place of a block by its column and row.
    @inline(__always)
    static func place(_ column: Int, _ row: Int) -> Int { 12 &+ column &+ 8 &* row }

    /// The place of a 4×4 luma block by its number in the order of 6.4.3.
    @inline(__always)
    static func place(ofBlock block: Int) -> Int {
      12 &+ (block & 1) &+ (block & 4) &>> 1 &+ 4 &* (block & 2) &+ 2 &* (block & 8)
    }
  }
}
