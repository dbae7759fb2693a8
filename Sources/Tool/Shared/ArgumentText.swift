// SPDX-License-Identifier: MPL-2.0
import Glibc
import SystemPackage

/// The arguments of the program as strings, which the argument parser requires, although the bytes of a file's name
/// need not be UTF-8.
///
/// In an argument that is not UTF-8, a NUL, which no argument contains, comes before each byte above 127, which is the
/// character of its number. These strings are never shown, but as `shown`.
enum ArgumentText {
  /// The program's arguments, without its name.
  static var all: [String] {
    (1..<max(1, Int(CommandLine.argc))).compactMap { index in
      guard let argument = unsafe CommandLine.unsafeArgv[index] else { return nil }
      if let text = unsafe String(validatingCString: argument) { return text }
      let bytes = unsafe UnsafeBufferPointer(start: argument, count: strlen(argument)).map { UInt8(bitPattern: $0) }
      return bytes.map { ($0 < 128 ? "" : "\0") + String(Unicode.Scalar($0)) }.joined()
    }
  }

  /// The bytes of an argument, or of text with arguments in it.
  static func bytes(_ text: String) -> [UInt8] {
    var isByte = false
    return text.unicodeScalars.flatMap { scalar -> [UInt8] in
      defer { isByte = scalar == "\0" }
      return isByte ? [UInt8(truncatingIfNeeded: scalar.value)] : scalar == "\0" ? [] : Array(String(scalar).utf8)
    }
  }

  /// The text with a replacement character for what is not UTF-8 in arguments.
  static func shown(_ text: String) -> String { String(decoding: bytes(text), as: UTF8.self) }
}

extension FilePath {
  /// The path of an argument. One that ends in a slash is that of the folder itself, not of a file of its name.
  init(argument: String) {
    let bytes = ArgumentText.bytes(argument).map { CChar(bitPattern: $0) }
    self.init(platformString: bytes + [0])
    if argument.utf8.last == UInt8(ascii: "/"), lastComponent != nil { append(".") }
  }
}
