// SPDX-License-Identifier: MPL-2.0
import Containers
import Glibc
import SystemPackage

/// Buffered output to standard output or a file.
struct ResultWriter {
  private let name: String
  private let file: OpenFile
  private var bytes: [UInt8] = []
  /// The first write error, if any.
  private var error: Errno?

  /// A writer to standard output.
  init() { (name, file) = ("standard output", OpenFile(.standardOutput)) }

  /// - Parameter name: of the file, for messages.
  init(_ file: OpenFile, name: String) { (self.name, self.file) = (name, file) }

  init(_ output: OutputFile) throws(Failure) { self.init(try output.open(), name: output.name) }

  mutating func write(_ text: String) { write(Array(text.utf8)) }

  mutating func write(_ more: [UInt8]) {
    if bytes.isEmpty { bytes = more } else { bytes += more }
    if bytes.count >= 1 << 16 { flush() }
  }

  /// Flushes.
  ///
  /// - Throws: the first write error.
  mutating func finish() throws(Failure) {
    flush()
    if let error { throw Failure("\(name): cannot be written: \(error)") }
  }

  /// Writes the buffered text. Ends the program with status 0 when the reader has closed the pipe, as `head` does.
  private mutating func flush() {
    do throws(Errno) {
      try file.descriptor.writeFully(bytes.span)
    } catch {
      if error == .brokenPipe {
        Ending.perform()
        Glibc.exit(0)
      }
      self.error = self.error ?? error
    }
    bytes.removeAll(keepingCapacity: true)
  }
}
