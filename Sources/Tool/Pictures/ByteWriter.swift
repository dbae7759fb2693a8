// SPDX-License-Identifier: MPL-2.0
import Glibc

/// Writes to a file, a pipe or a device, without a copy.
final class ByteWriter {
  private let name: String
  private let descriptor: Int32
  private let ownsDescriptor: Bool

  init(_ output: OutputFile) throws(Failure) {
    name = output.name
    (descriptor, ownsDescriptor) = try output.openForWriting()
  }

  deinit { if ownsDescriptor { close(descriptor) } }

  /// Bytes, in order.
  func write(_ bytes: Span<UInt8>) throws(Failure) {
    try check(unsafe bytes.withUnsafeBytes { unsafe writeFully($0, to: descriptor) })
  }

  func write(_ text: String) throws(Failure) { try write(Array(text.utf8).span) }

  /// Pieces of memory that live as long as the call, in order.
  @unsafe func write(_ pieces: [iovec]) throws(Failure) { try check(unsafe writeFully(pieces, to: descriptor)) }

  private func check(_ isWritten: Bool) throws(Failure) {
    guard isWritten else { throw Failure("\(name): cannot be written: \(systemError())") }
  }
}
