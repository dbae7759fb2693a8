// SPDX-License-Identifier: MPL-2.0

public import H26x

extension H265 {
  /// A coding unit (7.3.8.5), as its slice data say.
  public struct CodingUnit: Sendable {
    /// `CuPredMode`, with skipped units apart.
    public enum Mode: UInt8, Sendable {
      /// Predicted from the same picture.
      case intra = 0
      /// Predicted from other pictures.
      case inter = 1
      /// Predicted from other pictures, without differences (`cu_skip_flag`).
      case skip = 2
    }

    /// `PartMode` (Table 7-10).
    public enum Partition: UInt8, Sendable {
      /// `PART_2Nx2N`: one partition.
      case whole = 0
      /// `PART_2NxN`: upper and lower half.
      case rows = 1
      /// `PART_Nx2N`: left and right half.
      case columns = 2
      /// `PART_NxN`: four quarters.
      case quarters = 3
      /// `PART_2NxnU`: a quarter above three.
      case upperQuarter = 4
      /// `PART_2NxnD`: three quarters above one.
      case lowerQuarter = 5
      /// `PART_nLx2N`: a quarter left of three.
      case leftQuarter = 6
      /// `PART_nRx2N`: three quarters left of one.
      case rightQuarter = 7
    }

    /// A prediction unit (7.3.8.6).
    public struct Prediction: Sendable {
      /// `merge_flag`.
      public var isMerged = false
      /// `merge_idx`.
      public var mergeIndex: UInt8 = 0
      /// `ref_idx_l0` and `ref_idx_l1`; −1 for a list that is not used or, if merged, not known.
      public var references: (Int8, Int8) = (-1, -1)
      /// `MvdL0`, horizontal and vertical, in quarter samples.
      public var difference0: (Int32, Int32) = (0, 0)
      /// `MvdL1`.
      public var difference1: (Int32, Int32) = (0, 0)
    }

    /// The luma sample at the top left.
    public var x = 0
    /// The luma sample at the top left.
    public var y = 0
    /// The base 2 logarithm of the size in luma samples, 3 to 6.
    public var log2Size = 3
    /// The mode.
    public var mode = Mode.intra
    /// The partitions.
    public var partition = Partition.whole
    /// `cu_transquant_bypass_flag`: lossless.
    public var isLossless = false
    /// `pcm_flag`.
    public var isPCM = false
    /// `palette_mode_flag`.
    public var isPalette = false
    /// `rqt_root_cbf`: whether there is a transform tree.
    public var hasTransformTree = false
    /// The prediction units; the first 1, 2 or 4 count, by ``partition``.
    public var predictions: [4 of Prediction] = .init(repeating: Prediction())
    /// `IntraPredModeY` of the partitions, 0 to 34; of intra units.
    public var intraModes: [4 of UInt8] = .init(repeating: 1)
    /// `IntraPredModeC` of the partitions; only the first one counts but with 4:4:4.
    public var chromaModes: [4 of UInt8] = .init(repeating: 1)
    /// `QpY`.
    public var qpY = 0
    /// `qPCb`: the QP of Cb without the offset by bit depth; that of luma without chroma.
    public var qpCb = 0
    /// `qPCr`.
    public var qpCr = 0
    /// `CuQpDeltaVal`, as it is in the unit's end.
    public var qpDelta = 0
    /// Transform blocks of luma with coefficients, by base 2 logarithm of their size minus 2.
    public var codedBlocks: [4 of UInt16] = .init(repeating: 0)
    /// Transform units, by base 2 logarithm of their luma size minus 2.
    public var transformUnits: [4 of UInt16] = .init(repeating: 0)
    /// Coefficients that are not 0, of all planes.
    public var coefficientCount: UInt32 = 0
    /// The sum of their magnitudes; counted if the visitor wants bits.
    public var coefficientSum: UInt32 = 0
    /// The first bit, from the start of the NAL unit, without emulation prevention bytes.
    public var firstBit = 0
    /// Bits by kind; counted if the visitor wants them.
    public var bits = BlockBits()

    /// Creates a unit without content.
    public init() {}

    /// The size in luma samples, 8 to 64.
    public var size: Int { 1 &<< log2Size }
  }

  /// Receives the coding units of slices in decoding order.
  public protocol CodingUnitVisitor {
    /// Whether ``CodingUnit/bits`` and ``CodingUnit/coefficientSum`` are wanted.
    static var wantsBits: Bool { get }

    /// The SPS of a slice segment, in front of its coding units. Does nothing by default.
    mutating func beginSlice(_ sequence: borrowing SequenceParameterSet)
    /// A coding unit that has been read.
    mutating func visit(_ unit: borrowing CodingUnit)
    /// The end of a coding tree unit. Does nothing by default.
    ///
    /// - Parameters:
    ///   - address: of the coding tree block in raster scan.
    ///   - firstBit: its first bit, from the start of the NAL unit, without emulation prevention bytes.
    ///   - bitCount: the bits that the arithmetic decoder read for it; with PCM units, their samples and the start of
    ///     the decoder behind them, too.
    mutating func endTreeUnit(at address: Int, firstBit: Int, bitCount: Int)
  }
}

extension H265.CodingUnitVisitor {
  /// Does nothing.
  public mutating func beginSlice(_ sequence: borrowing H265.SequenceParameterSet) {}
  /// Does nothing.
  public mutating func endTreeUnit(at address: Int, firstBit: Int, bitCount: Int) {}
}

/// Ignores everything.
struct UnitIgnorer: H265.CodingUnitVisitor {
  static var wantsBits: Bool { false }

  mutating func visit(_ unit: borrowing H265.CodingUnit) {}
}
