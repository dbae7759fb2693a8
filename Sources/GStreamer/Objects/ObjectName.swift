// SPDX-License-Identifier: MPL-2.0

/// The names that GObject and GStreamer accept.
enum ObjectName {
  /// Whether GObject takes the name of a type.
  static func isType(_ name: String) -> Bool {
    guard name.utf8.count >= 3, let first = name.utf8.first else { return false }
    let signs = Array("-_+".utf8)
    return (isLetter(first) || first == UInt8(ascii: "_"))
      && name.utf8.allSatisfy { isLetter($0) || isDigit($0) || signs.contains($0) }
  }

  /// Whether GObject takes the name of a property or a signal.
  static func isMember(_ name: String) -> Bool {
    guard let first = name.utf8.first, isLetter(first) else { return false }
    return name.utf8.allSatisfy { isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
  }

  /// Whether the description of a pipeline can have the name of an element.
  static func isElement(_ name: String) -> Bool {
    guard let first = name.utf8.first, isLetter(first) || isDigit(first) else { return false }
    return name.utf8.allSatisfy { isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
  }

  /// GObject takes a hyphen and an underscore in a name for the same.
  static func canonical(_ name: String) -> String {
    String(decoding: name.utf8.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }, as: UTF8.self)
  }

  private static func isLetter(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 }
  private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
}
