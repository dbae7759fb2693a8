// SPDX-License-Identifier: MPL-2.0

/// Writes JSON: numbers, names and escaped strings, no floating point.
struct JSONText {
  /// The UTF-8 that was written.
  var bytes: [UInt8] = []
  private var needsComma = false

  mutating func open(_ bracket: UInt8 = 0x7B) {
    separate()
    bytes.append(bracket)
    needsComma = false
  }

  mutating func close(_ bracket: UInt8 = 0x7D) {
    bytes.append(bracket)
    needsComma = true
  }

  mutating func openArray(_ name: StaticString) {
    key(name)
    open(0x5B)
  }

  mutating func closeArray() { close(0x5D) }

  mutating func endLine() {
    bytes.append(0x0A)
    needsComma = false
  }

  mutating func key(_ name: StaticString) {
    let isFirst = !separates()
    bytes.append(addingCapacity: name.byteCount + 4) { output in output.append(key: name, isFirst: isFirst) }
    needsComma = false
  }

  mutating func value(_ number: Int64) {
    separate()
    bytes.append(decimal: number)
  }

  mutating func value(_ name: StaticString) {
    let isFirst = !separates()
    bytes.append(addingCapacity: name.byteCount + 3) { output in
      if !isFirst { output.append(0x2C) }
      output.append(quoted: name)
    }
  }

  mutating func member(_ name: StaticString, _ number: some BinaryInteger) {
    // Reserves capacity once a member: most of a document is numbers.
    let (isFirst, number) = (!separates(), Int64(clamping: number))
    bytes.append(addingCapacity: name.byteCount + 24) { output in
      output.append(key: name, isFirst: isFirst)
      output.append(decimal: number)
    }
  }

  /// A number; no member for nil.
  mutating func member(_ name: StaticString, _ number: (some BinaryInteger)?) {
    if let number { member(name, number) }
  }

  mutating func member(_ name: StaticString, _ isTrue: Bool) {
    key(name)
    bytes.append(isTrue ? "true" : "false")
    needsComma = true
  }

  mutating func member(_ name: StaticString, _ text: StaticString) {
    let isFirst = !separates()
    bytes.append(addingCapacity: name.byteCount + text.byteCount + 6) { output in
      output.append(key: name, isFirst: isFirst)
      output.append(quoted: text)
    }
  }

  mutating func member(_ name: StaticString, string text: String) {
    key(name)
    quote { output in for byte in text.utf8 { output.appendEscaped(byte) } }
  }

  mutating func member(_ name: StaticString, text: ReportText) {
    key(name)
    value(text: text)
  }

  mutating func value(text: ReportText) {
    quote { output in for byte in text.bytes { output.appendEscaped(byte) } }
  }

  /// Bytes as hexadecimal digits.
  mutating func member(_ name: StaticString, hex data: [UInt8]) {
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

  private mutating func separate() { if separates() { bytes.append(0x2C) } }

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
    case 0..<0x20, 0x3C, 0x7F:
      append("\\u00")
      append(hexDigit(byte >> 4))
      append(hexDigit(byte & 15))
    default: append(byte)
    }
  }
}
