// SPDX-License-Identifier: MPL-2.0

/// An error or a warning that an element posted.
public struct ElementFailure: Error, Sendable {
  /// The error.
  public var error: ElementError
  /// The name of the element.
  public var source: String
  /// The name of the element's factory, such as `filesrc`; `bin` for a bin made from a description.
  public var kind = ""
  /// Details for programs.
  public var details: Fields?
}

extension ElementFailure: CustomStringConvertible {
  /// The element's name and the message for users.
  public var description: String { "\(source): \(error.message)" }
}
