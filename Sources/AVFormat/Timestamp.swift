// SPDX-License-Identifier: MPL-2.0
import CAVFormat

/// The duration of a tick in seconds, as a fraction (`AVRational`).
package struct TimeBase: Sendable, Hashable {
  package let numerator: Int32
  package let denominator: Int32

  /// - Returns: nil unless both numbers are above 0.
  package init?(_ numerator: Int32, _ denominator: Int32) {
    guard numerator > 0, denominator > 0 else { return nil }
    (self.numerator, self.denominator) = (numerator, denominator)
  }

  /// Nanoseconds.
  package static let nanoseconds = TimeBase(unchecked: 1, 1_000_000_000)

  private init(unchecked numerator: Int32, _ denominator: Int32) {
    (self.numerator, self.denominator) = (numerator, denominator)
  }

  /// A time in ticks of another base, the nearest one; ties go away from zero. Times beyond 2⁶³ are clamped.
  package func rescaled(_ ticks: Int64, from other: TimeBase) -> Int64 {
    // |ticks| < 2⁶³ and each factor < 2³¹, so that nothing exceeds 2¹²⁵.
    let product = Int128(ticks) * Int128(other.numerator) * Int128(denominator)
    let divisor = Int128(other.denominator) * Int128(numerator)
    let half = product < 0 ? -(divisor / 2) : divisor / 2
    return Int64(clamping: (product + half) / divisor)
  }

  init?(_ rational: AVRational) { self.init(rational.num, rational.den) }
  var rational: AVRational { AVRational(num: numerator, den: denominator) }
}

extension Int64 {
  /// A timestamp of libavformat; nil if it has none (`AV_NOPTS_VALUE`).
  static func timestamp(_ value: Int64) -> Int64? { value == CAV_NO_TIMESTAMP ? nil : value }
}
