// SPDX-License-Identifier: MPL-2.0
import Glibc

/// Names of files, whose bytes need not be UTF-8, as strings.
///
/// A byte that belongs to no valid character is a character for private use in the string, U+10FE80 to U+10FEFF. So are
/// the bytes of these characters themselves: each name has its own string, and each string its own name.
enum FileName {
  private static let raw: ClosedRange<UInt32> = 0x10FE80...0x10FEFF

  /// The string of a name.
  static func string(_ bytes: some Sequence<UInt8>) -> String {
    let bytes = Array(bytes)
    var text = String.UnicodeScalarView()
    var parser = Unicode.UTF8.ForwardParser()
    var input = bytes.makeIterator()
    var place = 0
    func appendRaw(_ count: Int) {
      for byte in bytes[place..<place + count] {
        text.append(Unicode.Scalar(UInt32(byte) + raw.lowerBound - 0x80) ?? "\u{FFFD}")
      }
      place += count
    }
    while true {
      switch parser.parseScalar(from: &input) {
      case .valid(let encoded):
        let scalar = Unicode.UTF8.decode(encoded)
        guard !raw.contains(scalar.value) else {
          appendRaw(encoded.count)
          continue
        }
        text.append(scalar)
        place += encoded.count
      case .error(let length): appendRaw(length)
      case .emptyInput: return String(text)
      }
    }
  }

  /// The bytes of the name that a string stands for, with a zero behind them, as the system wants it.
  static func path(_ text: String) -> [CChar] {
    var bytes: [CChar] = []
    for scalar in text.unicodeScalars {
      if raw.contains(scalar.value) {
        bytes.append(CChar(truncatingIfNeeded: scalar.value - raw.lowerBound + 0x80))
      } else {
        for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { bytes.append(CChar(bitPattern: byte)) }
      }
    }
    return bytes + [0]
  }

  /// Whether the name is UTF-8, as libraries want it.
  static func isText(_ text: String) -> Bool { !text.unicodeScalars.contains { raw.contains($0.value) } }

  /// The character to show: the replacement character for a raw byte.
  static func shown(_ scalar: Unicode.Scalar) -> Unicode.Scalar { raw.contains(scalar.value) ? "\u{FFFD}" : scalar }

  /// The text to show.
  static func shown(_ text: String) -> String {
    isText(text) ? text : String(String.UnicodeScalarView(text.unicodeScalars.map(shown)))
  }

  /// The program's arguments.
  static var arguments: [String] {
    (1..<max(1, Int(CommandLine.argc))).compactMap { index in
      guard let argument = unsafe CommandLine.unsafeArgv[index] else { return nil }
      return unsafe string(UnsafeBufferPointer(start: argument, count: strlen(argument)).map { UInt8(bitPattern: $0) })
    }
  }

  /// The folder that a name begins with, up to its last slash; empty for the current one. A slash counts even where a
  /// combining character follows it.
  static func folder(of name: String) -> String {
    name.unicodeScalars.lastIndex(of: "/").map { String(name.unicodeScalars[...$0]) } ?? ""
  }
}
