// SPDX-License-Identifier: MPL-2.0
import Glibc
public import StreamReport

/// A file of the file system, read at any offset. Reads block.
public final class LocalFile: ByteSource, Sendable {
  /// Size in bytes when it was opened.
  public let size: UInt64
  private let descriptor: Int32

  /// Opens a file for reading.
  ///
  /// - Throws: ``VideoFileError/cannotOpen(path:code:)``; with `EINVAL` if it is not a regular file.
  public init(at path: String) throws(VideoFileError) {
    // Without O_NONBLOCK opening a pipe waits for its writer.
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw .cannotOpen(path: path, code: errno) }
    var status = stat()
    let isKnown = unsafe fstat(descriptor, &status) == 0
    guard isKnown, status.st_mode & S_IFMT == S_IFREG else {
      let code = isKnown ? EINVAL : errno
      close(descriptor)
      throw .cannotOpen(path: path, code: code)
    }
    self.descriptor = descriptor
    size = UInt64(clamping: status.st_size)
  }

  deinit { close(descriptor) }

  /// Reads `count` bytes from a byte offset on.
  public func read(at offset: UInt64, count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    read(at: offset, count: count, appendingTo: &bytes)
    return bytes
  }

  /// Reads `count` bytes, starting at a byte offset, and appends them. Appends fewer at the end of the file, and if
  /// the file cannot be read.
  public func read(at offset: UInt64, count: Int, appendingTo bytes: inout [UInt8]) {
    guard offset < size, count > 0, let start = Int(exactly: offset) else { return }
    let count = min(count, Int(clamping: size - offset))
    bytes.append(addingCapacity: count) { output in
      unsafe output.withUnsafeMutableBufferPointer { buffer, filled in
        while filled < count {
          let place = unsafe buffer.baseAddress.map { unsafe $0 + filled }
          let got = unsafe pread(descriptor, place, count - filled, start + filled)
          if got > 0 { filled += got } else if got == 0 || errno != EINTR { return }
        }
      }
    }
  }
}
