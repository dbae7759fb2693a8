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

/// The sample aspect ratios that have a code (H.264 table E-1, H.265 table E.1).
package enum SampleAspectRatios {
  /// The ratio of an `aspect_ratio_idc`; nil if it is unspecified, reserved or sent by itself.
  package static func ratio(_ idc: UInt8) -> Ratio? {
    let table: [(UInt32, UInt32)] = [
      (1, 1), (12, 11), (10, 11), (16, 11), (40, 33), (24, 11), (20, 11), (32, 11), (80, 33), (18, 11), (15, 11),
      (64, 33), (160, 99), (4, 3), (3, 2), (2, 1),
    ]
    guard 1...16 ~= idc else { return nil }
    let (width, height) = table[Int(idc) - 1]
    return Ratio(width, height)
  }

  /// The `aspect_ratio_idc` of a ratio; nil if it has none.
  static func code(of ratio: Ratio) -> UInt8? { (1...16).first { self.ratio($0) == ratio } }
}
