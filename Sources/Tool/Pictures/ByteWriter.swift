// SPDX-License-Identifier: MPL-2.0
import Glibc

/// Writes bytes to a file or a pipe, a megabyte at a time.
final class ByteWriter {
  private let name: String
  private let descriptor: Int32
  private let ownsDescriptor: Bool
  private var pending: [UInt8] = []
  private static let size = 1 << 20

  init(_ output: OutputFile) throws(Failure) {
    name = output.name
    (descriptor, ownsDescriptor) = try output.openForWriting()
    pending.reserveCapacity(Self.size)
  }

  deinit { if ownsDescriptor { close(descriptor) } }

  /// Bytes, in order.
  func write(_ bytes: Span<UInt8>) throws(Failure) {
    if pending.count + bytes.count > Self.size { try flush() }
    guard bytes.count < Self.size else { return try put(bytes) }
    unsafe bytes.withUnsafeBufferPointer { unsafe pending.append(contentsOf: $0) }
  }

  func write(_ text: String) throws(Failure) {
    for byte in text.utf8 { pending.append(byte) }
  }

  /// Hands on what waits. To be called at the end.
  func flush() throws(Failure) {
    let bytes = pending
    pending = []
    pending.reserveCapacity(Self.size)
    try put(bytes.span)
  }

  private func put(_ bytes: Span<UInt8>) throws(Failure) {
    var start = 0
    while start < bytes.count {
      let written = unsafe bytes.withUnsafeBufferPointer {
        unsafe Glibc.write(descriptor, $0.baseAddress! + start, $0.count - start)
      }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { throw Failure("\(name): cannot be written: \(systemError())") }
      start += written
    }
  }
}
