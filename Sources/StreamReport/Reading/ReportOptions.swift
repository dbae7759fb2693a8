// SPDX-License-Identifier: MPL-2.0

/// What a report is to contain.
public struct ReportOptions: Sendable {
  /// Whether each NAL unit comes with its syntax elements. Parameter sets always do where they are listed by themselves.
  public var includesFields = false
  /// So many first bytes of each NAL unit; those of parameter sets always come where they are listed by themselves.
  public var byteCount = 0

  /// Neither fields nor bytes.
  public init() {}
}
