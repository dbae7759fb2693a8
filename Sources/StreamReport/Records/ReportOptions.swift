// SPDX-License-Identifier: MPL-2.0

/// The contents of a report.
public struct ReportOptions: Sendable {
  /// Whether each NAL unit has its syntax elements. A ``ParameterSetRecord`` always has them.
  public var includesFields = false
  /// How many of its first bytes each NAL unit has. A ``ParameterSetRecord`` always has all.
  public var byteCount = 0

  /// Whether the payload of slices in MP4 is read, to find missing emulation prevention bytes in it. Without it only
  /// their first bytes, which hold the header, and the last are read. Other streams are always read whole.
  public var readsPayload = true

  /// Creates options for neither fields nor bytes.
  public init() {}
}
