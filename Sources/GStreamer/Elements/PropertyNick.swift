// SPDX-License-Identifier: MPL-2.0

/// The name of a value of an enumeration or flags property.
public struct PropertyNick: Sendable {
  /// The name that users type.
  public var nick: StaticString
  /// The description in `gst-inspect-1.0`.
  public var summary: StaticString

  /// A name with its description.
  public init(_ nick: StaticString, _ summary: StaticString) {
    self.nick = nick
    self.summary = summary
  }
}
