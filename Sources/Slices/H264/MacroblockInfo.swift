// SPDX-License-Identifier: MPL-2.0

import H26x

extension H264 {
  /// The part of a macroblock that later macroblocks of its slice need.
  struct MacroblockInfo {
    /// The slice that covers it. Numbers grow, so nothing is cleared between slices.
    var slice: UInt32 = 0
    /// A set of ``Flag``s.
    var flags: UInt16 = 0
    /// `CodedBlockPatternLuma`, and `CodedBlockPatternChroma` × 16.
    var codedBlockPattern: UInt8 = 0
    /// `coded_block_flag` of DC blocks: 1 of luma, 2 of Cb, 4 of Cr.
    var dcFlags: UInt8 = 0
    /// A bit for each `ref_idx` above 0: 1 << (4 × list + 8×8 block).
    var indicesAbove0: UInt8 = 0
    /// A bit for each `ref_idx` above 1.
    var indicesAbove1: UInt8 = 0

    enum Flag {
      /// Predicted from the picture itself, or PCM.
      static let intra: UInt16 = 1
      static let pcm: UInt16 = 2
      static let intra16x16: UInt16 = 4
      /// I_NxN: Intra_4x4 or Intra_8x8.
      static let intraNxN: UInt16 = 8
      /// The macroblock type SI.
      static let switching: UInt16 = 0x10
      /// P_Skip or B_Skip.
      static let skipped: UInt16 = 0x20
      /// B_Skip or B_Direct_16x16.
      static let direct: UInt16 = 0x40
      /// A field macroblock of an MBAFF frame.
      static let field: UInt16 = 0x80
      static let transform8x8: UInt16 = 0x100
      /// `intra_chroma_pred_mode` is not 0.
      static let chromaPrediction: UInt16 = 0x200
      /// Its coefficient counts are stored; else they are 0.
      static let counts: UInt16 = 0x400
      /// Its vector differences are stored; else they are 0.
      static let motion: UInt16 = 0x800
    }

    @inline(__always)
    func has(_ flag: UInt16) -> Bool { flags & flag != 0 }

    var isInter: Bool { !has(Flag.intra) }
  }

  /// Coefficient counts of the 4×4 blocks at the bottom and at the right of a macroblock, of each plane: the bottom
  /// row's four in the low bytes, from left to right, and the right column's four above, from top to bottom.
  struct EdgeCounts {
    var luma: UInt64 = 0
    var cb: UInt64 = 0
    var cr: UInt64 = 0

    static let pcm = EdgeCounts(
      luma: 0x1010_1010_1010_1010, cb: 0x1010_1010_1010_1010, cr: 0x1010_1010_1010_1010)
  }

  /// |mvd| at the bottom and at the right of a macroblock, of each list: 16 bits a block, the low byte for the
  /// horizontal component. The first in the low bits.
  struct EdgeMotion {
    var bottom0: UInt64 = 0
    var right0: UInt64 = 0
    var bottom1: UInt64 = 0
    var right1: UInt64 = 0
  }
}
