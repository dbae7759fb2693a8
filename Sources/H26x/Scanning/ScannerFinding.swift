// SPDX-License-Identifier: MPL-2.0

/// The finding of a scanner at the start of the data.
public enum ScannerFinding: Sendable, Hashable {
  /// A piece, with its size in bytes, trailing zeros included. ``AccessUnitScanning/takeAccessUnit()`` has it.
  case accessUnit(Int)
  /// Bytes that cannot be part of a NAL unit.
  case garbage(Int)
  /// Bytes of NAL units that cannot be used, such as pictures before the first parameter sets.
  case unusable(Int)
  /// The piece does not end in the data.
  case needsMoreData

  /// Bytes consumed.
  public var size: Int {
    switch self {
    case .accessUnit(let size), .garbage(let size), .unusable(let size): size
    case .needsMoreData: 0
    }
  }
}
