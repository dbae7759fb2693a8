// SPDX-License-Identifier: MPL-2.0

/// The syntax elements of a structure in the order in which they were read: name, value and place.
///
/// Pass it to an initializer that reads a structure, such as `H264.SequenceParameterSet(nalUnit:trace:)`. After an
/// error it contains the elements read so far, including one that is out of range.
public final class SyntaxTrace {
  /// A syntax element.
  public struct Element: Sendable {
    /// Its name in the Recommendation.
    public let name: StaticString
    /// Its value; flags are 0 and 1.
    public let value: Int64
    /// The start of the element, in bits from the start of the NAL unit or record, without emulation prevention
    /// bytes.
    public let bitOffset: Int
    /// Its length in bits.
    public let bitCount: Int
  }

  /// The elements read so far, ``limit`` at most.
  public private(set) var elements: [Element] = []

  /// Elements recorded at most: more than any sensible structure has.
  public static var limit: Int { 65_536 }

  /// Creates an empty trace.
  public init() {}

  @inline(never)
  func append(_ name: StaticString, _ value: Int64, at bitOffset: Int, count: Int) {
    guard elements.count < Self.limit else { return }
    elements.append(Element(name: name, value: value, bitOffset: bitOffset, bitCount: count))
  }
}
