// SPDX-License-Identifier: MPL-2.0
import Glibc
import SystemPackage

/// Messages on standard error.
package enum Terminal {
  /// Whether standard error is a terminal.
  package static let isInteractive = FileDescriptor.standardError.isTerminal

  /// Whether standard output is a terminal.
  package static let showsResults = FileDescriptor.standardOutput.isTerminal

  /// The columns of the terminal at standard error now: its window may change at any time.
  package static var width: Int {
    var size = winsize()
    guard unsafe ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  /// Prints `h26x: ` and the message on a line. Control characters are printed as `?`.
  package static func say(_ line: String) { write("h26x: \(printable(ArgumentText.shown(line)))\n") }

  /// Prints text as it is, in place of the progress line if there is one.
  package static func write(_ text: String) {
    if isInteractive, Progress.isShown { put("\r\u{1B}[K") }
    put(text)
  }

  /// Prints a line of results on standard output while a progress line may be shown in the same terminal.
  package static func printResult(_ line: String) {
    if isInteractive, Progress.isShown, showsResults { put("\r\u{1B}[K") }
    print(line)
  }

  package static func put(_ text: String) { try? FileDescriptor.standardError.writeFully(text.utf8.span) }

  /// The text with `?` for each control character (C0, DEL and C1), so that it stays on one line and sends no terminal
  /// commands.
  package static func printable(_ text: String) -> String {
    let scalars = text.unicodeScalars.map { scalar in
      scalar.value < 32 || (127..<160).contains(scalar.value) ? "?" : scalar
    }
    return String(String.UnicodeScalarView(scalars))
  }
}
