// SPDX-License-Identifier: MPL-2.0
import H26x

/// Reads JSON (RFC 8259) from beginning to end, value by value: one document, or any number of values that follow one
/// another. It holds only a piece of the file.
package struct JSONReader {
  /// A JSON value, as far as files of metadata have them.
  package enum Token: Sendable, Equatable {
    case object, array
    /// The end of the object or array that is open.
    case close
    /// The name of a member, whose value follows.
    case key([UInt8])
    case string([UInt8])
    /// nil for a number that is not whole, or has more than 64 bits.
    case number(Int64?)
    case truth(Bool)
    case null
    /// The end of the file.
    case end
  }

  /// What may come next.
  private enum Expectation {
    case value, keyOrClose, key, valueOrClose, commaOrClose
  }

  private let source: FileBytes
  private var bytes: [UInt8] = []
  private var index = 0
  private var position: UInt64 = 0
  /// The brackets that are open.
  private var brackets: [UInt8] = []
  private var expectation = Expectation.value
  /// The line of the last token, from 1.
  package private(set) var line = 1
  private var nextLine = 1
  /// The picture that is read, for errors; nil for none.
  package var picture: Int?

  private static let pieceSize = 1 << 16
  /// The most brackets that are open. Files of metadata have seven.
  private static let depthLimit = 32
  /// The most bytes of a string, and digits of a number.
  private static let lengthLimit = 1 << 20

  package init(_ source: consuming some ByteSource) { self.source = FileBytes(source) }

  // MARK: Tokens

  /// The next token.
  ///
  /// - Throws: for text that is not JSON.
  package mutating func next() throws(MetadataFileError) -> Token {
    skipSpace()
    if expectation == .commaOrClose, peek() == 0x2C {
      index += 1
      expectation = brackets.last == 0x7B ? .key : .value
      skipSpace()
    }
    line = nextLine
    guard let byte = peek() else {
      guard brackets.isEmpty else { throw error("the end of the file", expected: "the rest of a JSON document") }
      return .end
    }
    switch (byte, expectation) {
    case (0x7D, .keyOrClose), (0x5D, .valueOrClose), (0x7D, .commaOrClose), (0x5D, .commaOrClose):
      guard brackets.last == byte - 2 else { throw error(byte) }
      index += 1
      brackets.removeLast()
      endValue()
      return .close
    case (0x22, .key), (0x22, .keyOrClose):
      let name = try string()
      skipSpace()
      guard peek() == 0x3A else { throw error("a member without a colon", expected: "JSON") }
      index += 1
      expectation = .value
      return .key(name)
    case (_, .value), (_, .valueOrClose): return try value(byte)
    default: throw error(byte)
    }
  }

  private mutating func value(_ byte: UInt8) throws(MetadataFileError) -> Token {
    switch byte {
    case 0x7B, 0x5B:
      guard brackets.count < Self.depthLimit else {
        throw error("more than \(Self.depthLimit) brackets in one another", expected: "fewer")
      }
      index += 1
      brackets.append(byte)
      expectation = byte == 0x7B ? .keyOrClose : .valueOrClose
      return byte == 0x7B ? .object : .array
    case 0x22:
      let text = try string()
      endValue()
      return .string(text)
    case 0x2D, 0x30...0x39: return .number(try number())
    case 0x61...0x7A:
      var word: [UInt8] = []
      while let byte = peek(), 0x61...0x7A ~= byte, word.count < 6 {
        word.append(byte)
        index += 1
      }
      endValue()
      if EditText.isEqual(word[...], "true") { return .truth(true) }
      if EditText.isEqual(word[...], "false") { return .truth(false) }
      if EditText.isEqual(word[...], "null") { return .null }
      throw error("a word", expected: "true, false or null")
    default: throw error(byte)
    }
  }

  private mutating func endValue() { expectation = brackets.isEmpty ? .value : .commaOrClose }

  private mutating func number() throws(MetadataFileError) -> Int64? {
    var (magnitude, isNegative, isWhole) = (UInt64?.none, false, true)
    var count = 0
    while let byte = peek() {
      switch byte {
      case 0x30...0x39:
        let before = magnitude ?? 0
        isWhole = isWhole && before < .max / 20
        if isWhole { magnitude = before * 10 + UInt64(byte - 0x30) }
      case 0x2D where count == 0: isNegative = true
      case 0x2B, 0x2D, 0x2E, 0x45, 0x65: isWhole = false
      default:
        endValue()
        return finished(magnitude, isNegative, isWhole)
      }
      index += 1
      count += 1
      guard count < Self.lengthLimit else { throw error("a number without an end", expected: "JSON") }
    }
    endValue()
    return finished(magnitude, isNegative, isWhole)
  }

  private func finished(_ magnitude: UInt64?, _ isNegative: Bool, _ isWhole: Bool) -> Int64? {
    guard isWhole, let magnitude, let number = Int64(exactly: magnitude) else { return nil }
    return isNegative ? -number : number
  }

  /// Reads a string behind its quotation mark. Escaped characters beyond ASCII become question marks: no name or value
  /// has any.
  private mutating func string() throws(MetadataFileError) -> [UInt8] {
    index += 1
    var text: [UInt8] = []
    while let byte = peek() {
      index += 1
      switch byte {
      case 0x22: return text
      case 0x5C: text.append(try escape())
      case 0..<0x20: throw error("a control character in a string", expected: "JSON")
      default: text.append(byte)
      }
      guard text.count < Self.lengthLimit else { throw error("a string without an end", expected: "JSON") }
    }
    throw error("the end of the file in a string", expected: "JSON")
  }

  private mutating func escape() throws(MetadataFileError) -> UInt8 {
    let byte = peek()
    index += 1
    switch byte {
    case 0x22, 0x5C, 0x2F: return byte ?? 0x3F
    case 0x62: return 0x08
    case 0x66: return 0x0C
    case 0x6E: return 0x0A
    case 0x72: return 0x0D
    case 0x74: return 0x09
    case 0x75:
      var digits: [UInt8] = []
      while digits.count < 4, let digit = peek() {
        digits.append(digit)
        index += 1
      }
      guard digits.count == 4, let code = EditText.hexadecimal(digits[...]) else { break }
      return code[0] == 0 && code[1] < 0x80 ? code[1] : 0x3F
    default: break
    }
    throw error("an unknown escape in a string", expected: "JSON")
  }

  // MARK: Bytes

  private mutating func peek() -> UInt8? {
    if index == bytes.count {
      bytes.removeAll(keepingCapacity: true)
      index = 0
      source.read(at: position, count: Self.pieceSize, appendingTo: &bytes)
      position += UInt64(bytes.count)
    }
    return index < bytes.count ? bytes[index] : nil
  }

  private mutating func skipSpace() {
    while let byte = peek(), byte == 0x20 || 0x09...0x0A ~= byte || byte == 0x0D || isMark(byte) {
      if byte == 0x0A { nextLine += 1 }
      index += 1
    }
  }

  /// Whether a byte is of the byte order mark with which some editors begin a file.
  private func isMark(_ byte: UInt8) -> Bool {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    return byte >= 0x80 && position == UInt64(bytes.count) && index < mark.count && mark[index] == byte
  }

  // MARK: Values of known form

  /// Whether no value follows.
  package mutating func isAtEnd() -> Bool {
    skipSpace()
    return brackets.isEmpty && peek() == nil
  }

  /// Reads the members of an object.
  ///
  /// - Parameters:
  ///   - names: the members that it may have once, as for hdr10plus_tool. All others are skipped.
  ///   - read: reads the value of a member by the index of its name, or calls ``skip()``.
  package mutating func object(
    _ names: [StaticString], _ read: (inout JSONReader, Int) throws(MetadataFileError) -> Void
  ) throws(MetadataFileError) {
    guard try objectOrNull(names, read) else { throw error("null", expected: "an object") }
  }

  /// Reads the members of an object; see ``object(_:_:)``.
  ///
  /// - Returns: false for null.
  package mutating func objectOrNull(
    _ names: [StaticString], _ read: (inout JSONReader, Int) throws(MetadataFileError) -> Void
  ) throws(MetadataFileError) -> Bool {
    let token = try next()
    guard token == .object else {
      guard token == .null else { throw error("no object", expected: "{") }
      return false
    }
    var isKnown = [Bool](repeating: false, count: names.count)
    while case .key(let name) = try next() {
      guard let index = EditText.index(name[...], among: names) else {
        try skip()
        continue
      }
      guard !isKnown[index] else { throw error("a second \(names[index])", expected: "one") }
      isKnown[index] = true
      try read(&self, index)
    }
    return true
  }

  /// Reads the elements of an array.
  ///
  /// - Parameter read: reads an element.
  package mutating func array(
    _ name: StaticString, _ read: (inout JSONReader) throws(MetadataFileError) -> Void
  ) throws(MetadataFileError) {
    guard try next() == .array else { throw error("\(name) is no array", expected: "[") }
    while true {
      skipSpace()
      guard !(peek() == 0x5D && (expectation == .valueOrClose || expectation == .commaOrClose)) else { break }
      try read(&self)
    }
    _ = try next()
  }

  /// Reads a whole number.
  package mutating func number(
    _ name: StaticString, in range: ClosedRange<Int64>
  ) throws(MetadataFileError) -> Int64 {
    guard case .number(let number?) = try next(), range.contains(number) else {
      throw error("\(name)", expected: "a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// Reads an array of whole numbers.
  ///
  /// - Parameter limit: the most numbers.
  package mutating func numbers(
    _ name: StaticString, in range: ClosedRange<Int64>, limit: Int
  ) throws(MetadataFileError) -> [Int64] {
    var numbers: [Int64] = []
    try array(name) { reader throws(MetadataFileError) in
      guard numbers.count < limit else {
        throw reader.error("more than \(limit) numbers in \(name)", expected: "fewer")
      }
      numbers.append(try reader.number(name, in: range))
    }
    return numbers
  }

  /// Reads a string.
  package mutating func string(_ name: StaticString) throws(MetadataFileError) -> [UInt8] {
    guard case .string(let text) = try next() else { throw error("\(name)", expected: "a string") }
    return text
  }

  /// Reads a value, whatever it is.
  package mutating func skip() throws(MetadataFileError) {
    let depth = brackets.count
    repeat {
      guard try next() != .end else { throw error("the end of the file", expected: "a value") }
    } while brackets.count > depth
  }

  /// An error at the last token.
  package func error(_ found: ReportText, expected: ReportText) -> MetadataFileError {
    MetadataFileError(.line(line), picture: picture, found, expected: expected)
  }

  private func error(_ byte: UInt8) -> MetadataFileError {
    guard 0x21..<0x7F ~= byte else { return error("byte \(byte)", expected: "JSON") }
    return error("\(ReportText(bytes: [byte]))", expected: "JSON")
  }
}
