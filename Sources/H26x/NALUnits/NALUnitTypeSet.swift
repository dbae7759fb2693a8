// SPDX-License-Identifier: MPL-2.0

/// A set of NAL unit types, 0 to 63: H.264's five bits and H.265's six.
public struct NALUnitTypeSet: Sendable, Hashable {
  private var bits: UInt64 = 0

  /// Creates a set.
  public init(_ types: some Sequence<UInt8> = []) {
    for type in types where type < 64 { bits |= 1 << UInt64(type) }
  }

  /// Creates a set of a codec's types.
  public init<NALUnitType: NALUnitTypeSyntax>(_ types: [NALUnitType]) {
    for type in types { insert(type.rawValue) }
  }

  /// Whether the set is empty.
  public var isEmpty: Bool { bits == 0 }

  /// Whether the set has the type.
  public func contains(_ type: UInt8) -> Bool { type < 64 && bits & (1 << UInt64(type)) != 0 }

  /// Adds a type.
  public mutating func insert(_ type: UInt8) {
    if type < 64 { bits |= 1 << UInt64(type) }
  }

  /// The types of both sets.
  public func union(_ other: NALUnitTypeSet) -> NALUnitTypeSet {
    var result = self
    result.bits |= other.bits
    return result
  }
}
