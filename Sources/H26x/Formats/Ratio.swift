// SPDX-License-Identifier: MPL-2.0

/// A positive ratio in lowest terms: a frame rate or a pixel aspect ratio.
public struct Ratio: Sendable, Hashable {
  /// At least 1.
  public let numerator: UInt32
  /// At least 1.
  public let denominator: UInt32

  /// Creates a ratio, reduced to lowest terms; nil if either term is zero, or above 2³¹ − 1 once reduced.
  public init?(_ numerator: UInt32, _ denominator: UInt32) {
    self.init(wide: UInt64(numerator), UInt64(denominator))
  }

  /// Creates a ratio; nil if a term is zero, or once reduced too large for GStreamer's `gint`.
  init?(wide numerator: UInt64, _ denominator: UInt64) {
    guard numerator > 0, denominator > 0 else { return nil }
    let divisor = greatestCommonDivisor(numerator, denominator)
    guard numerator / divisor <= UInt64(Int32.max), denominator / divisor <= UInt64(Int32.max) else { return nil }
    self.numerator = UInt32(truncatingIfNeeded: numerator / divisor)
    self.denominator = UInt32(truncatingIfNeeded: denominator / divisor)
  }
}

/// The greatest common divisor of two numbers that are not negative; for 0 and a number it is the number.
@inline(__always) func greatestCommonDivisor<Number: BinaryInteger>(_ first: Number, _ second: Number) -> Number {
  var (larger, divisor) = (first, second)
  while divisor != 0 { (larger, divisor) = (divisor, larger % divisor) }
  return larger
}

extension Ratio: CustomStringConvertible {
  /// "30000/1001".
  public var description: String { "\(numerator)/\(denominator)" }
}
