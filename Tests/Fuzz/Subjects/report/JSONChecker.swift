// SPDX-License-Identifier: MPL-2.0

/// Checks that bytes are a JSON object (RFC 8259), without code of the writer.
struct JSONChecker {
  private let bytes: ArraySlice<UInt8>
  private var place: Int

  init(_ bytes: ArraySlice<UInt8>) { (self.bytes, place) = (bytes, bytes.startIndex) }

  mutating func isObject() -> Bool { peek == UInt8(ascii: "{") && value(depth: 0) && place == bytes.endIndex }

  private var peek: UInt8? { place < bytes.endIndex ? bytes[place] : nil }

  private mutating func take(_ text: StaticString) -> Bool {
    let wanted = Array(text.description.utf8)
    guard bytes[place...].starts(with: wanted) else { return false }
    place += wanted.count
    return true
  }

  private mutating func value(depth: Int) -> Bool {
    guard depth < 8 else { return false }
    switch peek {
    case UInt8(ascii: "{"): return list("{", "}") { $0.string() && $0.take(":") && $0.value(depth: depth + 1) }
    case UInt8(ascii: "["): return list("[", "]") { $0.value(depth: depth + 1) }
    case UInt8(ascii: "\""): return string()
    case UInt8(ascii: "t"): return take("true")
    case UInt8(ascii: "f"): return take("false")
    default: return number()
    }
  }

  private mutating func list(_ open: StaticString, _ close: StaticString, _ item: (inout Self) -> Bool) -> Bool {
    guard take(open) else { return false }
    if take(close) { return true }
    repeat {
      guard item(&self) else { return false }
    } while take(",")
    return take(close)
  }

  private mutating func string() -> Bool {
    guard take("\"") else { return false }
    while let byte = peek {
      place += 1
      switch byte {
      case UInt8(ascii: "\""): return true
      case 0..<0x20: return false
      case UInt8(ascii: "\\"):
        guard let escaped = peek else { return false }
        place += 1
        guard escaped == UInt8(ascii: "u") else {
          guard #""\/bfnrt"#.utf8.contains(escaped) else { return false }
          continue
        }
        for _ in 0..<4 {
          guard let digit = peek, "0123456789abcdef".utf8.contains(digit) else { return false }
          place += 1
        }
      default: break
      }
    }
    return false
  }

  private mutating func number() -> Bool {
    _ = take("-")
    guard let first = peek, ("0"..."9").contains(Character(Unicode.Scalar(first))) else { return false }
    place += 1
    if first == UInt8(ascii: "0") { return true }
    while let digit = peek, (0x30...0x39).contains(digit) { place += 1 }
    return true
  }
}
