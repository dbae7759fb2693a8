// SPDX-License-Identifier: MPL-2.0

/// A JSON value. Objects keep the order of their members.
enum JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
  case null
  case boolean(Bool)
  case integer(Int)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([(String, JSON)])

  init(stringLiteral value: String) { self = .string(value) }
  init(integerLiteral value: Int) { self = .integer(value) }

  /// A string; `null` for `nil`.
  init(_ text: String?) { self = text.map(JSON.string) ?? .null }
  /// An integer; `null` for `nil`.
  init(_ number: Int?) { self = number.map(JSON.integer) ?? .null }
  /// A number; `null` for `nil`.
  init(_ number: Double?) { self = number.map(JSON.number) ?? .null }

  /// The document, with `indent` spaces before each line but the first; on one line without spaces for `nil`. A number that is not
  /// finite is `null`.
  func text(indent: Int? = 0) -> String {
    let (open, close, comma) =
      indent.map { indent in
        let lead = "\n" + String(repeating: " ", count: indent)
        return ("\(lead)  ", lead, ",\(lead)  ")
      } ?? ("", "", ",")
    let inner = indent.map { $0 + 2 }
    switch self {
    case .null: return "null"
    case .boolean(let truth): return truth ? "true" : "false"
    case .integer(let number): return "\(number)"
    case .number(let number): return number.isFinite ? "\(number)" : "null"
    case .string(let text): return Self.quoted(text)
    case .array(let items):
      if items.isEmpty { return "[]" }
      return "[\(open)\(items.map { $0.text(indent: inner) }.joined(separator: comma))\(close)]"
    case .object(let members):
      if members.isEmpty { return "{}" }
      let colon = indent == nil ? ":" : ": "
      let lines = members.map { "\(Self.quoted($0))\(colon)\($1.text(indent: inner))" }
      return "{\(open)\(lines.joined(separator: comma))\(close)}"
    }
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      // C1 control characters too, which some terminals obey.
      case _ where scalar.value < 32 || (127..<160).contains(scalar.value):
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(FileName.shown(scalar))
      }
    }
    return result + "\""
  }
}
