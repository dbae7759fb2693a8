// SPDX-License-Identifier: MPL-2.0

/// The syntax elements of a structure in the order in which they were read: name, value and place.
///
/// Give it to an initialiser that reads a structure, such as `H264.SequenceParameterSet(nalUnit:trace:)`. After an error
/// it holds what was read up to there, the element that is out of range included.
public final class SyntaxTrace {
  /// A syntax element.
  public struct Element: Sendable {
    /// Its name in the Recommendation.
    public let name: StaticString
    /// Its value; flags are 0 and 1.
    public let value: Int64
    /// Where it begins, in bits from the start of the NAL unit or record, emulation prevention bytes left out.
    public let bitOffset: Int
    /// How many bits it has.
    public let bitCount: Int
  }

  /// What was read so far, ``limit`` elements at most.
  public private(set) var elements: [Element] = []

  /// Elements that are kept: more than any sensible structure has.
  public static var limit: Int { 65_536 }

  /// Creates an empty trace.
  public init() {}

  @inline(never)
  func append(_ name: StaticString, _ value: Int64, at bitOffset: Int, count: Int) {
    guard elements.count < Self.limit else { return }
    elements.append(Element(name: name, value: value, bitOffset: bitOffset, bitCount: count))
  }
}
