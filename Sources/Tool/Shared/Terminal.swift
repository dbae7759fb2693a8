// SPDX-License-Identifier: MPL-2.0
import Glibc

/// What goes to the user beside results: lines on standard error.
enum Terminal {
  /// Whether standard error is looked at by a person as it comes.
  static let isInteractive = isatty(STDERR_FILENO) != 0

  /// One line, behind the program's name. Control characters of names are shown as `?`.
  static func say(_ line: String) { write("h26x: \(printable(line))\n") }

  /// Bytes as they are, at once.
  static func write(_ text: String) {
    if isInteractive, Progress.isShown { put("\r\u{1B}[K") }
    put(text)
  }

  static func put(_ text: String) {
    var text = text
    _ = text.withUTF8 { unsafe writeFully(UnsafeRawBufferPointer($0), to: STDERR_FILENO) }
  }

  /// A name or a message that stays on its line, and does not steer the terminal.
  static func printable(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 32 || $0.value == 127 ? "?" : $0 }))
  }
}
