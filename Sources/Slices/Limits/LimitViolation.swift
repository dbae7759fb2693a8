// SPDX-License-Identifier: MPL-2.0

/// Blocks of a slice that break a limit of the standard. They can be read, but hardware may not decode them.
public struct LimitViolation: Sendable {
  /// A limit of the standard.
  public enum Limit: UInt8, Sendable, CaseIterable {
    /// The range of a motion vector difference.
    case vectorDifference
    /// The smallest parts that are predicted from two pictures (H.264).
    case bipredictionSize
    /// The bits of a macroblock or coding tree unit.
    case blockBits
  }

  /// The limit.
  public let limit: Limit
  /// The address of the first block: a macroblock, or a coding tree block in raster scan.
  public let block: Int
  /// The first bit of that macroblock, coding unit or coding tree unit, from the start of the NAL unit, without
  /// emulation prevention bytes.
  public let bitOffset: Int
  /// The value that breaks the limit: a component in quarter luma samples, `sub_mb_type`, or the bits.
  public let value: Int
  /// The least value that the limit allows; 0 for ``Limit/bipredictionSize``.
  public let least: Int
  /// The largest value that the limit allows; 0 for ``Limit/bipredictionSize``.
  public let most: Int
  /// The macroblocks, coding units or coding tree units of the slice that break the limit.
  public internal(set) var count = 1
}
