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
}
