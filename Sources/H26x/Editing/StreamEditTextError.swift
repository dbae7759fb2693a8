// SPDX-License-Identifier: MPL-2.0

/// The reason that a list of edits cannot be read.
public struct StreamEditTextError: Error, Sendable, Hashable {
  /// The field, as it is in the text.
  public let field: String
  /// Its value, as it is in the text; empty for none.
  public let value: String
  /// The error, or the value expected in its place.
  public let requirement: String

  init(_ field: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>, _ requirement: StaticString) {
    self.field = String(decoding: field, as: UTF8.self)
    self.value = String(decoding: value, as: UTF8.self)
    self.requirement = requirement.description
  }

  init(_ field: StreamEditField, _ value: ArraySlice<UInt8>) {
    self.field = field.name.description
    self.value = String(decoding: value, as: UTF8.self)
    requirement = "expected " + field.expected
  }
}

extension StreamEditTextError: CustomStringConvertible {
  /// For people: "level=9x: expected auto, or a level such as 4.1".
  public var description: String {
    (value.isEmpty ? field : field + "=" + value) + ": " + requirement
  }
}
