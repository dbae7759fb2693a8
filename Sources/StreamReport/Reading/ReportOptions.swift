// SPDX-License-Identifier: MPL-2.0

/// What a report contains.
public struct ReportOptions: Sendable {
  /// Whether each NAL unit has its syntax elements. Those of a ``ParameterSetRecord`` are always there.
  public var includesFields = false
  /// How many of its first bytes each NAL unit has. A ``ParameterSetRecord`` always has all.
  public var byteCount = 0

  /// Creates options for neither fields nor bytes.
  public init() {}
}
