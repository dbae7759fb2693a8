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
    bytes += more
    if bytes.count >= 1 << 16 { flush() }
  }

  /// Hands on what is left. A reader of standard output that went away ends the program without a word, as `head`
  /// expects.
  mutating func flush() {
    var failure: String?
    unsafe bytes.withUnsafeBytes { buffer in
      var rest = unsafe buffer
      while unsafe !rest.isEmpty {
        let written = unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
        if written < 0, errno == EINTR { continue }
        guard written > 0 else {
          if errno == EPIPE { Glibc.exit(0) }
          failure = systemError()
          return
        }
        unsafe rest = UnsafeRawBufferPointer(rebasing: rest[written...])
      }
    }
    if let failure { error = error ?? failure }
    bytes.removeAll(keepingCapacity: true)
  }
}
