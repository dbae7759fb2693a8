// SPDX-License-Identifier: MPL-2.0
import H26x

/// UTF-8 text of literals and numbers. Unlike `String`, it needs no Unicode tables in Embedded Swift.
public struct ReportText: Sendable, ExpressibleByStringInterpolation {
  /// The UTF-8.
  public private(set) var bytes: [UInt8]

  /// Creates a text of literals and interpolated numbers.
  public init(stringInterpolation: StringInterpolation) { bytes = stringInterpolation.bytes }

  /// Creates a text of one literal.
  public init(stringLiteral value: StaticString) {
    var interpolation = StringInterpolation(literalCapacity: 0, interpolationCount: 0)
    interpolation.appendLiteral(value)
    bytes = interpolation.bytes
  }

  /// Creates a text of UTF-8.
  package init(bytes: [UInt8]) { self.bytes = bytes }

  /// The parts of a literal with interpolated values.
  public struct StringInterpolation: StringInterpolationProtocol {
    var bytes: [UInt8] = []

    /// Begins an empty text.
    public init(literalCapacity: Int, interpolationCount: Int) {}

    /// Adds a literal part.
    public mutating func appendLiteral(_ literal: StaticString) { bytes.append(literal) }
    /// Adds a number in decimal digits, clamped to the range of `Int64`.
    public mutating func appendInterpolation(_ number: some BinaryInteger) {
      bytes.append(decimal: Int64(clamping: number))
    }
    /// Adds another text.
    public mutating func appendInterpolation(_ text: ReportText) { bytes += text.bytes }
    /// Adds a constant string.
    public mutating func appendInterpolation(_ name: StaticString) { bytes.append(name) }
    /// Adds a string.
    public mutating func appendInterpolation(_ name: String) { for byte in name.utf8 { bytes.append(byte) } }
  }
}

extension [UInt8] {
  /// Appends a literal.
  mutating func append(_ literal: StaticString) {
    append(addingCapacity: literal.byteCount) { output in output.append(literal) }
  }

  /// Appends a number in decimal digits.
  mutating func append(decimal number: Int64) {
    append(addingCapacity: 20) { output in output.append(decimal: number) }
  }

  /// Appends a number in thousandths as a decimal fraction with three places.
  mutating func append(thousandths number: Int) {
    if number < 0 { append(0x2D) }
    let magnitude = UInt64(number.magnitude)
    append(decimal: Int64(clamping: magnitude / 1000))
    append(0x2E)
    for unit: UInt64 in [100, 10, 1] { append(0x30 + UInt8(truncatingIfNeeded: magnitude / unit % 10)) }
  }
}

extension StaticString {
  /// Bytes of UTF-8. A literal of one character may have no pointer; those here are ASCII.
  var byteCount: Int { hasPointerRepresentation ? utf8CodeUnitCount : 1 }
}

extension OutputSpan<UInt8> {
  /// Appends a literal, for which there must be room.
  mutating func append(_ literal: StaticString) {
    if literal.hasPointerRepresentation {
      literal.withUTF8Buffer { literal in
        unsafe withUnsafeMutableBufferPointer { buffer, count in
          let room = buffer.extracting(count...).extracting(..<literal.count)
          _ = unsafe room.initialize(fromContentsOf: literal)
          count += literal.count
        }
      }
    } else {
      append(UInt8(truncatingIfNeeded: literal.unicodeScalar.value))
    }
  }

  /// Appends a number in decimal digits, for which there must be room: 20 bytes at most.
  mutating func append(decimal number: Int64) {
    if number < 0 { append(0x2D) }
    let magnitude = number.magnitude
    var digits = 1
    var limit: UInt64 = 10
    while magnitude >= limit {
      digits += 1
      // 20 digits: the limit would be beyond the type.
      guard digits < 20 else { break }
      limit *= 10
    }
    append(repeating: 0x30, count: digits)
    var left = magnitude
    for place in 1...digits {
      self[count - place] = 0x30 + UInt8(truncatingIfNeeded: left % 10)
      left /= 10
    }
  }
}

extension ReportText {
  /// The reason of an error, its syntax element and its bit offset.
  init(_ error: BitstreamError) {
    let reason: StaticString =
      switch error.reason {
      case .truncated: "cut off"
      case .valueOutOfRange: "value out of range"
      case .codeTooLong: "code too long"
      case .badTrailingBits: "wrong bits at the end"
      case .forbiddenBitSet: "forbidden bit set"
      case .wrongNALUnitType: "wrong NAL unit type"
      case .missingParameterSet: "missing parameter set"
      case .lengthOutOfBounds: "length beyond the end"
      case .lengthNotRepresentable: "length too large"
      case .outputTooSmall: "output too small"
      case .unsupported: "not supported"
      }
    self = "\(reason): \(error.element) at bit \(error.bitOffset)"
  }
}
