// SPDX-License-Identifier: MPL-2.0

/// Objects that C lends to a method for a change.
@usableFromInline enum LentObject {
  /// The message that stops a program whose method put another object in the place of a lent object, which C would
  /// release again.
  @usableFromInline static let replaced: String =
    "an object that was lent for a change was replaced; one that has other owners, as in passthrough, can only be read"
}
