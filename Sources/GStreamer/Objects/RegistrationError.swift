// SPDX-License-Identifier: MPL-2.0

/// The reason an element class cannot be registered: a wrong declaration or a wrong name.
public enum RegistrationError: Error, Hashable, Sendable {
  /// The name of the GObject type is none: three characters or more of letters, digits, `-`, `_` and `+`, of which the
  /// first is a letter or `_`.
  case invalidTypeName(String)
  /// The element's name cannot stand in the description of a pipeline. Letters, digits, `-` and `_` are allowed, and
  /// the first must be a letter or a digit.
  case invalidElementName(String)
  /// Another type of the process has this name.
  case typeNameTaken(String)
  /// A pad template cannot be.
  case padTemplate(String, reason: String)
  /// A property cannot be.
  case property(String, reason: String)
  /// A signal cannot be.
  case signal(String, reason: String)
  /// A protocol of the URIs that the element handles cannot be.
  case uriProtocol(String, reason: String)
  /// GStreamer does not take the element under this name.
  case refused(String)
}

extension RegistrationError: CustomStringConvertible {
  /// The fault, with the name that it concerns.
  public var description: String {
    switch self {
    case .invalidTypeName(let name): "“\(name)” is not a valid type name"
    case .invalidElementName(let name): "“\(name)” is not a valid element name"
    case .typeNameTaken(let name): "another type is called “\(name)”"
    case .padTemplate(let name, let reason): "the pad template “\(name)”: \(reason)"
    case .property(let name, let reason): "the property “\(name)”: \(reason)"
    case .signal(let name, let reason): "the signal “\(name)”: \(reason)"
    case .uriProtocol(let name, let reason): "the URI protocol “\(name)”: \(reason)"
    case .refused(let name): "GStreamer rejected the element “\(name)”"
    }
  }
}

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
