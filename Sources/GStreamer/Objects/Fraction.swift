// SPDX-License-Identifier: MPL-2.0

/// A ratio of two 32-bit numbers, as in frame rates and pixel aspect ratios (`GST_TYPE_FRACTION`).
public struct Fraction: Hashable, Sendable {
  /// Above the line.
  public var numerator: Int32
  /// Below the line.
  public var denominator: Int32

  /// A ratio, not reduced.
  public init(_ numerator: Int32, _ denominator: Int32) {
    self.numerator = numerator
    self.denominator = denominator
  }
}
