// SPDX-License-Identifier: MPL-2.0

/// The refusal of an edit: the syntax element, the requirement on it, and the clause that requires it.
public struct StreamEditError: Error, Sendable {
  /// The kind of refusal.
  public enum Reason: UInt8, Sendable {
    /// The codec has no such syntax element.
    case notInCodec
    /// The value is reserved, or outside the syntax element's range.
    case valueOutOfRange
    /// The value is legal, but not together with other properties of the stream.
    case forbiddenCombination
    /// The stream does not keep the limits of the level.
    case exceedsLevel
    /// The NAL unit would be too long for its length prefix, or for a configuration record.
    case lengthNotRepresentable
  }

  /// The kind of refusal.
  public let reason: Reason
  /// The syntax element, by its name in the Recommendation.
  public let element: StaticString
  /// The value that was requested; nil if it is no number.
  public let value: Int64?
  /// The requirement, for people.
  public let requirement: StaticString
  /// The Recommendation and its clause: "H.264 E.2.1".
  public let clause: StaticString

  /// Creates an error.
  public init(
    _ reason: Reason, _ element: StaticString, _ value: Int64? = nil, _ requirement: StaticString,
    clause: StaticString
  ) {
    self.reason = reason
    self.element = element
    self.value = value
    self.requirement = requirement
    self.clause = clause
  }
}

extension StreamEditError {
  /// HRD parameters describe when a buffer receives the bits of pictures of the old rate.
  static func rateOfHRD(_ rate: Ratio, clause: StaticString) -> StreamEditError {
    StreamEditError(
      .forbiddenCombination, "time_scale", Int64(rate.numerator),
      "HRD parameters describe the buffer at the old rate: remove them, too", clause: clause)
  }

  /// Checks that a NAL unit fits into a configuration record.
  static func checkRecordLength(_ nalUnit: [UInt8]) throws(StreamEditError) {
    guard nalUnit.count <= 0xFFFF else {
      throw StreamEditError(
        .lengthNotRepresentable, "nalUnitLength", Int64(nalUnit.count),
        "a configuration record holds 65,535 bytes of each",
        clause: "ISO/IEC 14496-15 5.3.3, 8.3.3")
    }
  }
}

extension StreamEditError: CustomStringConvertible {
  /// For people: "matrix_coefficients 0: needs 4:4:4 and equal bit depths (H.264 E.2.1)".
  public var description: String {
    let subject = value.map { "\(element) \($0)" } ?? "\(element)"
    return "\(subject): \(requirement) (\(clause))"
  }
}
