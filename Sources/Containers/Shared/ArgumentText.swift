// SPDX-License-Identifier: MPL-2.0
import Glibc
package import SystemPackage

/// The arguments of the program as strings, which the argument parser requires, although the bytes of a file's name
/// need not be UTF-8.
///
/// In an argument that is not UTF-8, each byte above 127 becomes a NUL and the character with the byte's number. No
/// argument contains a NUL. These strings are shown only through `shown`.
package enum ArgumentText {
  /// The program's arguments, without its name.
  package static var all: [String] {
    (1..<max(1, Int(CommandLine.argc))).compactMap { index in
      guard let argument = unsafe CommandLine.unsafeArgv[index] else { return nil }
      if let text = unsafe String(validatingCString: argument) { return text }
      let bytes = unsafe UnsafeBufferPointer(start: argument, count: strlen(argument)).map { UInt8(bitPattern: $0) }
      return bytes.map { ($0 < 128 ? "" : "\0") + String(Unicode.Scalar($0)) }.joined()
    }
  }

  /// The bytes of an argument, or of text with arguments in it.
  package static func bytes(_ text: String) -> [UInt8] {
    var isByte = false
    return text.unicodeScalars.flatMap { scalar -> [UInt8] in
      defer { isByte = scalar == "\0" }
      return isByte ? [UInt8(truncatingIfNeeded: scalar.value)] : scalar == "\0" ? [] : Array(String(scalar).utf8)
    }
  }

  /// The text with a replacement character for bytes of arguments that are not UTF-8.
  package static func shown(_ text: String) -> String { String(decoding: bytes(text), as: UTF8.self) }
}

extension FilePath {
  /// The path of an argument. A path that ends in a slash names the folder itself, not a file of its name.
  package init(argument: String) {
    let bytes = ArgumentText.bytes(argument).map { CChar(bitPattern: $0) }
    self.init(platformString: bytes + [0])
    if argument.utf8.last == UInt8(ascii: "/"), lastComponent != nil { append(".") }
  }
}
