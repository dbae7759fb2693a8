// SPDX-License-Identifier: MPL-2.0

/// The partitions of a block for prediction.
public enum BlockPartition: UInt8, Sendable, CaseIterable {
  /// One partition (`PART_2Nx2N`).
  case whole
  /// Upper and lower half.
  case rows
  /// Left and right half.
  case columns
  /// Four quarters. Those of a macroblock may be divided further.
  case quarters
  /// A quarter above three (`PART_2NxnU`).
  case upperQuarter
  /// Three quarters above one (`PART_2NxnD`).
  case lowerQuarter
  /// A quarter left of three (`PART_nLx2N`).
  case leftQuarter
  /// Three quarters left of one (`PART_nRx2N`).
  case rightQuarter
  /// Sixteen parts: intra prediction of 4×4 samples in a macroblock.
  case sixteenths

  /// Its name in documents: that of H.265 with N for half the block's size.
  public var name: StaticString {
    switch self {
    case .whole: "2Nx2N"
    case .rows: "2NxN"
    case .columns: "Nx2N"
    case .quarters: "NxN"
    case .upperQuarter: "2NxnU"
    case .lowerQuarter: "2NxnD"
    case .leftQuarter: "nLx2N"
    case .rightQuarter: "nRx2N"
    case .sixteenths: "N/2xN/2"
    }
  }
}
