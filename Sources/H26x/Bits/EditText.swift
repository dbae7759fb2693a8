// SPDX-License-Identifier: MPL-2.0

/// The values of edits in text, as people write them. Bytes, so that no table of Unicode is needed.
package enum EditText {
  static let (comma, colon, slash, equals, point): (UInt8, UInt8, UInt8, UInt8, UInt8) = (44, 58, 47, 61, 46)

  /// Decimal digits, and nothing else.
  static func number(_ bytes: ArraySlice<UInt8>, upTo maximum: UInt32) -> UInt32? {
    guard !bytes.isEmpty, bytes.count <= 10 else { return nil }
    var number: UInt64 = 0
    for byte in bytes {
      guard 48...57 ~= byte else { return nil }
      number = number * 10 + UInt64(byte - 48)
    }
    return number <= UInt64(maximum) ? UInt32(number) : nil
  }

  /// This many numbers with separators between them.
  static func numbers(
    _ bytes: ArraySlice<UInt8>, count: Int, upTo maximum: UInt32, where isSeparator: (UInt8) -> Bool
  ) -> [UInt32]? {
    var numbers: [UInt32] = []
    for part in bytes.split(omittingEmptySubsequences: false, whereSeparator: isSeparator) {
      guard let number = number(part, upTo: maximum) else { return nil }
      numbers.append(number)
    }
    return numbers.count == count ? numbers : nil
  }

  package static func isEqual(_ bytes: ArraySlice<UInt8>, _ text: StaticString) -> Bool {
    text.withUTF8Buffer { unsafe $0.elementsEqual(bytes) }
  }

  /// The index of the name that the bytes are.
  package static func index(_ bytes: ArraySlice<UInt8>, among names: [StaticString]) -> Int? {
    names.firstIndex { isEqual(bytes, $0) }
  }

  /// Two hexadecimal digits a byte; at most 512 KiB.
  package static func hexadecimal(_ digits: ArraySlice<UInt8>) -> [UInt8]? {
    func value(_ digit: UInt8) -> UInt8? {
      switch digit {
      case 48...57: digit - 48
      case 65...70: digit - 55
      case 97...102: digit - 87
      default: nil
      }
    }
    guard digits.count.isMultiple(of: 2), digits.count <= 1 << 20 else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: digits.startIndex, to: digits.endIndex, by: 2) {
      guard let high = value(digits[index]), let low = value(digits[index + 1]) else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }
}
