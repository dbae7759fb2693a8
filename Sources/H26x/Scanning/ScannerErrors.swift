// SPDX-License-Identifier: MPL-2.0

/// NAL units that a scanner could not read, by kind.
public struct ScannerErrors: Sendable, Hashable {
  /// Parameter sets that cannot be read.
  public var parameterSets: UInt64 = 0
  /// Slices whose headers cannot be read.
  public var slices: UInt64 = 0
  /// Pieces with slices before the parameter sets that they need.
  public var missingParameterSets: UInt64 = 0
  /// NAL units of types that only RTP has, or truncated after their header.
  public var nalUnits: UInt64 = 0
  /// Lengths that point past the end of a packet.
  public var lengths: UInt64 = 0

  /// Creates counts of 0.
  public init() {}
}
