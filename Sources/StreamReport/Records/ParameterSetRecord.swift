// SPDX-License-Identifier: MPL-2.0

/// A parameter set and its syntax elements.
public struct ParameterSetRecord: Sendable {
  /// The number of the access unit that it is in; for one from the container, of the first that it holds for.
  public var accessUnit: UInt64 = 0
  /// Whether it comes from the container's configuration record.
  public var isOutOfBand = false
  /// Whether it replaces one of the same type and id.
  public var isReplacement = false
  /// The NAL unit, with fields and all bytes.
  public var nalUnit = NALUnitRecord()
  /// The format by an SPS; nil for another parameter set.
  public var format: FormatRecord?
}
