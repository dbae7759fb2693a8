// SPDX-License-Identifier: MPL-2.0
import H26x

/// A syntax element with its value and its position.
public struct SyntaxField: Sendable {
  /// Its name in the specification.
  public var name: StaticString
  /// Its value.
  public var value: Int64
  /// Bits from the start of the NAL unit, not counting emulation prevention bytes.
  public var bitOffset: Int
  /// Its length in bits.
  public var bitCount: Int

  /// Creates a field.
  package init(_ name: StaticString, _ value: Int64, at bitOffset: Int, count: Int) {
    (self.name, self.value, self.bitOffset, self.bitCount) = (name, value, bitOffset, count)
  }

  init(_ element: SyntaxTrace.Element) {
    self.init(element.name, element.value, at: element.bitOffset, count: element.bitCount)
  }

  /// The meaning of a code of aspect ratio or colour; nil for other elements and codes.
  public var meaning: ReportText? {
    // The names' lengths rule out nearly all elements.
    switch name.utf8CodeUnitCount {
    case 13 where isNamed("matrix_coeffs"), 19 where isNamed("matrix_coefficients"):
      ColourNames.matrix(value).map { "\($0)" }
    case 16 where isNamed("colour_primaries"): ColourNames.primaries(value).map { "\($0)" }
    case 16 where isNamed("aspect_ratio_idc"):
      UInt8(exactly: value).flatMap(SampleAspectRatios.ratio).map { "\($0.numerator):\($0.denominator)" }
    case 24 where isNamed("transfer_characteristics"), 34 where isNamed("preferred_transfer_characteristics"):
      ColourNames.transfer(value).map { "\($0)" }
    default: nil
    }
  }

  func isNamed(_ other: StaticString) -> Bool {
    name.withUTF8Buffer { name in other.withUTF8Buffer { other in unsafe name.elementsEqual(other) } }
  }
}
