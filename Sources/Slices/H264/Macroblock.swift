// SPDX-License-Identifier: MPL-2.0

public import H26x

extension H264 {
  /// A macroblock as slice data describe it (7.3.5).
  public struct Macroblock: Sendable {
    /// `CurrMbAddr`: its number in its frame or field, in pairs from top to bottom in MBAFF frames.
    public var address = 0
    /// The column, in macroblocks.
    public var column = 0
    /// The row, in macroblocks. In a pair of field macroblocks the upper row is the top field's.
    public var row = 0
    /// Its prediction.
    public var kind = Kind.intra4x4
    /// `mb_type`: the number in the table of its kind (7-11 to 7-14), without the offset of intra macroblocks in P and B
    /// slices; 0 for skipped macroblocks.
    public var typeNumber: UInt8 = 0
    /// `mb_field_decoding_flag`, read or inferred; true in fields.
    public var isField = false
    /// `transform_size_8x8_flag`.
    public var uses8x8Transform = false
    /// `coded_block_pattern`: a bit for each 8×8 luma block, and 16 × `CodedBlockPatternChroma`.
    public var codedBlockPattern: UInt8 = 0
    /// Of 16×16 macroblocks: `Intra16x16PredMode`, 0 to 3.
    public var intra16x16Mode: UInt8 = 0
    /// `intra_chroma_pred_mode`, 0 to 3.
    public var intraChromaMode: UInt8 = 0
    /// `ref_idx` by 4 × list + 8×8 block; -1 without prediction from the list, and in direct and skipped blocks.
    public var referenceIndices = InlineArray<8, Int8>(repeating: -1)
    /// `sub_mb_type` of the 8×8 blocks of 8×8 macroblocks.
    public var subTypes = InlineArray<4, UInt8>(repeating: 0)
    /// Sum of the magnitudes of the vector differences, in quarter samples.
    public var vectorDifferenceSum: UInt32 = 0
    /// Number of vector differences, 0 to 32.
    public var vectorDifferenceCount: UInt8 = 0
    /// `mvd_l0` of all partitions, then `mvd_l1`, in decoding order: horizontal and vertical component of each, in
    /// quarter samples.
    public var vectorDifferences = InlineArray<64, Int16>(repeating: 0)
    /// `QPY`, −`QpBdOffsetY` to 51; 0 for PCM.
    public var lumaQP: Int8 = 0
    /// `QPC` of Cb (8.5.8), −`QpBdOffsetC` to 51; as luma for PCM and without chroma.
    public var cbQP: Int8 = 0
    /// `QPC` of Cr.
    public var crQP: Int8 = 0
    /// Coefficients that are not 0.
    public var coefficientCount: UInt16 = 0
    /// Sum of the coefficients' magnitudes.
    public var coefficientSum: UInt32 = 0
    /// The first bit, from the start of the NAL unit, without emulation prevention bytes.
    public var firstBit = 0
    /// The bits by kind, in all data partitions; 0 unless the visitor asks for them.
    public var bits = BlockBits()
    /// The bits of `macroblock_layer()` (A.3.1), without those of PCM samples with arithmetic coding and of data
    /// partitions B and C; 0 for skipped macroblocks.
    var layerBits = 0

    /// The prediction of a macroblock.
    public enum Kind: UInt8, Sendable {
      /// I_NxN with `transform_size_8x8_flag` 0.
      case intra4x4
      /// I_NxN with `transform_size_8x8_flag` 1.
      case intra8x8
      /// Intra_16x16.
      case intra16x16
      /// I_PCM: samples without prediction.
      case pcm
      /// SI.
      case switchingIntra
      /// P_Skip.
      case predictedSkip
      /// B_Skip.
      case directSkip
      /// B_Direct_16x16.
      case direct
      /// One vector a list for the macroblock.
      case inter16x16
      /// Two halves, one above the other.
      case inter16x8
      /// Two halves side by side.
      case inter8x16
      /// Four quarters.
      case inter8x8

      /// Whether no other picture is referred to.
      public var isIntra: Bool { rawValue <= Kind.switchingIntra.rawValue }
      /// Whether the macroblock is skipped.
      public var isSkipped: Bool { self == .predictedSkip || self == .directSkip }
    }

    /// Creates a macroblock without content.
    public init() {}
  }

  /// Receives the macroblocks of a slice in decoding order.
  public protocol MacroblockVisitor {
    /// Whether ``visit(_:)`` needs the macroblock's values. The reader spends no time on them otherwise.
    static var wantsValues: Bool { get }
    /// Whether ``visit(_:)`` needs ``Macroblock/bits``.
    static var wantsBits: Bool { get }
    /// Receives the SPS of a slice, in front of its macroblocks. Does nothing by default.
    mutating func beginSlice(_ sequence: borrowing SequenceParameterSet)
    /// Receives a macroblock.
    mutating func visit(_ macroblock: borrowing Macroblock)
  }

  /// A visitor that ignores everything.
  struct NoVisitor: MacroblockVisitor {
    static var wantsValues: Bool { false }
    static var wantsBits: Bool { false }
    func visit(_ macroblock: borrowing Macroblock) {}
  }
}

extension H264.MacroblockVisitor {
  /// Does nothing.
  public mutating func beginSlice(_ sequence: borrowing H264.SequenceParameterSet) {}
}
