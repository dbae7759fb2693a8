// SPDX-License-Identifier: MPL-2.0

package import H26x

extension H264 {
  /// A set of the 4×4 blocks of a macroblock, by their place: 16 of luma, Cb and Cr each, and the DC blocks of
  /// subsampled chroma.
  package struct CodedBlocks: Sendable, Hashable {
    /// A bit a block: 16 × plane + 4 × row + column. From bit 48 on, DC of Cb and of Cr.
    private var bits: UInt64 = 0

    /// An empty set.
    package init() {}

    /// Whether it is empty.
    package var isEmpty: Bool { bits == 0 }

    /// Whether a block is in both sets.
    package func overlaps(_ other: CodedBlocks) -> Bool { bits & other.bits != 0 }

    /// Adds the blocks of another set.
    package mutating func formUnion(_ other: CodedBlocks) { bits |= other.bits }

    /// Takes out the blocks of another set.
    package mutating func subtract(_ other: CodedBlocks) { bits &= ~other.bits }

    /// Adds a block. A chroma block has a share of its plane's DC block.
    mutating func insert(plane: Int, place: Int) {
      bits |= 1 &<< UInt64(truncatingIfNeeded: 16 &* plane &+ place)
      if plane > 0 { insertDC(plane: plane) }
    }

    /// Adds the DC block of a chroma plane.
    mutating func insertDC(plane: Int) { bits |= 1 &<< UInt64(truncatingIfNeeded: 47 &+ plane) }

    /// Adds all luma blocks: the DC coefficients of Intra_16x16 are part of each.
    mutating func insertLuma() { bits |= 0xFFFF }

    /// Adds the blocks that share an 8×8 block with one of the set.
    mutating func extendTo8x8() {
      for plane in 0..<3 {
        for quarter in [0, 2, 8, 10] {
          let mask: UInt64 = 0x33 &<< UInt64(truncatingIfNeeded: 16 &* plane &+ quarter)
          if bits & mask != 0 { bits |= mask }
        }
      }
    }
  }
}
