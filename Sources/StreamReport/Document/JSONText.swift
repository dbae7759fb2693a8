// SPDX-License-Identifier: MPL-2.0

/// Writes JSON (RFC 8259).
package struct JSONText {
  /// The UTF-8 that was written.
  package var bytes: [UInt8] = []
  /// A line for each value, with two spaces for each bracket that is open.
  private let isIndented: Bool
  private var depth = 0
  private var needsComma = false
  private var followsKey = false

  package init(isIndented: Bool = false) { self.isIndented = isIndented }

  package mutating func open(_ bracket: UInt8 = 0x7B) {
    separate()
    bytes.append(bracket)
    depth += 1
    needsComma = false
  }

  package mutating func close(_ bracket: UInt8 = 0x7D) {
    depth -= 1
    if isIndented, needsComma { beginLine() }
    bytes.append(bracket)
    needsComma = true
  }

  package mutating func openArray(_ name: StaticString) {
    key(name)
    open(0x5B)
  }

  package mutating func closeArray() { close(0x5D) }

  package mutating func endLine() {
    bytes.append(0x0A)
    needsComma = false
  }

  package mutating func key(_ name: StaticString) {
    guard !isIndented else {
      value(name)
      return endKey()
    }
    let isFirst = !separates()
    bytes.append(addingCapacity: name.byteCount + 4) { output in output.append(key: name, isFirst: isFirst) }
    needsComma = false
  }

  /// A key that is not known when the program is compiled.
  package mutating func key(string name: String) {
    value(string: name)
    endKey()
  }

  /// A number as a key.
  package mutating func key(number: Int64) {
    quote { $0.append(decimal: number) }
    endKey()
  }

  private mutating func endKey() {
    bytes.append(0x3A)
    if isIndented { bytes.append(0x20) }
    (needsComma, followsKey) = (false, true)
  }

  package mutating func value(_ number: Int64) {
    separate()
    bytes.append(decimal: number)
  }

  /// `null`, a truth value, or a number that is given as text.
  package mutating func value(literal text: String) {
    separate()
    bytes.append(contentsOf: text.utf8)
  }

  package mutating func value(_ name: StaticString) {
    guard !isIndented else { return quote { $0.append(name) } }
    let isFirst = !separates()
    bytes.append(addingCapacity: name.byteCount + 3) { output in
      if !isFirst { output.append(0x2C) }
      output.append(quoted: name)
    }
  }

  package mutating func member(_ name: StaticString, _ number: some BinaryInteger) {
    guard !isIndented else {
      key(name)
      return value(Int64(clamping: number))
    }
    // Reserves capacity once a member: most of a document is numbers.
    let (isFirst, number) = (!separates(), Int64(clamping: number))
    bytes.append(addingCapacity: name.byteCount + 24) { output in
      output.append(key: name, isFirst: isFirst)
      output.append(decimal: number)
    }
  }

  /// A number in thousandths, as a decimal fraction.
  package mutating func member(_ name: StaticString, thousandths number: Int) {
    key(name)
    separate()
    bytes.append(thousandths: number)
  }

  /// A number; no member for nil.
  package mutating func member(_ name: StaticString, _ number: (some BinaryInteger)?) {
    if let number { member(name, number) }
  }

  package mutating func member(_ name: StaticString, _ isTrue: Bool) {
    key(name)
    separate()
    bytes.append(isTrue ? "true" : "false")
  }

  package mutating func member(_ name: StaticString, _ text: StaticString) {
    guard !isIndented else {
      key(name)
      return value(text)
    }
    let isFirst = !separates()
    bytes.append(addingCapacity: name.byteCount + text.byteCount + 6) { output in
      output.append(key: name, isFirst: isFirst)
      output.append(quoted: text)
    }
  }

  package mutating func member(_ name: StaticString, string text: String) {
    key(name)
    value(string: text)
  }

  package mutating func value(string text: String) {
    quote { output in
      var before: UInt8 = 0
      for byte in text.utf8 {
        // U+0080 to U+009F, which some terminals obey, are C2 and the code in UTF-8.
        if before == 0xC2, byte < 0xA0 {
          output.removeLast()
          output.appendEscape(byte)
        } else {
          output.appendEscaped(byte)
        }
        before = byte
      }
    }
  }

  package mutating func member(_ name: StaticString, text: ReportText) {
    key(name)
    value(text: text)
  }

  package mutating func value(text: ReportText) {
    quote { output in for byte in text.bytes { output.appendEscaped(byte) } }
  }

  /// Bytes as hexadecimal digits.
  package mutating func member(_ name: StaticString, hex data: [UInt8]) {
    key(name)
    quote { output in
      for byte in data {
        output.append(hexDigit(byte >> 4))
        output.append(hexDigit(byte & 15))
      }
    }
  }

  private mutating func quote(_ body: (inout [UInt8]) -> Void) {
    separate()
    bytes.append(0x22)
    body(&bytes)
    bytes.append(0x22)
  }

  private mutating func separate() {
    if separates() { bytes.append(0x2C) }
    if isIndented, depth > 0, !followsKey { beginLine() }
    followsKey = false
  }

  private mutating func beginLine() {
    bytes.append(0x0A)
    for _ in 0..<2 * depth { bytes.append(0x20) }
  }

  /// Whether the next value needs a comma before it. Those after it will, until a bracket opens or a line ends.
  private mutating func separates() -> Bool {
    defer { needsComma = true }
    return needsComma
  }
}

extension OutputSpan<UInt8> {
  fileprivate mutating func append(key name: StaticString, isFirst: Bool) {
    if !isFirst { append(0x2C) }
    append(quoted: name)
    append(0x3A)
  }

  fileprivate mutating func append(quoted name: StaticString) {
    append(0x22)
    append(name)
    append(0x22)
  }
}

/// A digit of 0 to 15, in lower case.
private func hexDigit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }

extension [UInt8] {
  /// Appends a byte of a JSON string (RFC 8259, 7).
  fileprivate mutating func appendEscaped(_ byte: UInt8) {
    switch byte {
    case 0x22, 0x5C:
      append(0x5C)
      append(byte)
    // < too, so that no text can end the script element that holds the document in a report page.
    case 0..<0x20, 0x3C, 0x7F: appendEscape(byte)
    default: append(byte)
    }
  }

  fileprivate mutating func appendEscape(_ scalar: UInt8) {
    append("\\u00")
    append(hexDigit(scalar >> 4))
    append(hexDigit(scalar & 15))
  }
}
