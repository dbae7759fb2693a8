// SPDX-License-Identifier: MPL-2.0
import Glibc

/// Buffered output to standard output or a file.
struct ResultWriter {
  private let descriptor: Int32
  private var bytes: [UInt8] = []
  /// The first write error, if any.
  private(set) var error: String?

  init(descriptor: Int32 = STDOUT_FILENO) { self.descriptor = descriptor }

  mutating func write(_ text: String) { write(Array(text.utf8)) }

  mutating func write(_ more: [UInt8]) {
    if bytes.isEmpty { bytes = more } else { bytes += more }
    if bytes.count >= 1 << 16 { flush() }
  }

  /// Flushes.
  ///
  /// - Throws: the first write error, as one of standard output.
  mutating func finish() throws(Failure) {
    flush()
    if let error { throw Failure("standard output: cannot be written: \(error)") }
  }

  /// Writes what is buffered. Ends the program with status 0 when the reader has closed the pipe, as `head` does.
  mutating func flush() {
    if unsafe !bytes.withUnsafeBytes({ unsafe writeFully($0, to: descriptor) }) {
      if errno == EPIPE {
        Ending.perform()
        Glibc.exit(0)
      }
      error = error ?? systemError()
    }
    bytes.removeAll(keepingCapacity: true)
  }
}
