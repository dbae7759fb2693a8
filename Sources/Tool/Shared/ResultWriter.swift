// SPDX-License-Identifier: MPL-2.0
import Glibc

/// Results, written in large pieces to standard output or to a file.
struct ResultWriter {
  private let descriptor: Int32
  private var bytes: [UInt8] = []
  /// Why a file could not be written.
  private(set) var error: String?

  init(descriptor: Int32 = STDOUT_FILENO) { self.descriptor = descriptor }

  mutating func write(_ text: String) { write(Array(text.utf8)) }

  mutating func write(_ more: [UInt8]) {
    if bytes.isEmpty { bytes = more } else { bytes += more }
    if bytes.count >= 1 << 16 { flush() }
  }

  /// Hands on what is left, and says what could not be written to standard output.
  mutating func finish() throws(Failure) {
    flush()
    if let error { throw Failure("standard output: cannot be written: \(error)") }
  }

  /// Hands on what waits. A reader of standard output that went away ends the program without a word, as `head`
  /// expects.
  mutating func flush() {
    if unsafe !bytes.withUnsafeBytes({ unsafe writeFully($0, to: descriptor) }) {
      if errno == EPIPE { Glibc.exit(0) }
      error = error ?? systemError()
    }
    bytes.removeAll(keepingCapacity: true)
  }
}
