// SPDX-License-Identifier: MPL-2.0
import Glibc
import H26x
import StreamReport

/// A file or a pipe for `StreamReporter`: a file is read at any offset, a pipe from beginning to end.
struct ReportSource: ByteSource {
  private let descriptor: Descriptor
  private let pipe: PipeInput?
  /// In bytes; `UInt64.max` for a pipe.
  let size: UInt64
  /// Bytes read from a pipe.
  private var position: UInt64 = 0

  init(_ file: InputFile) throws(Failure) {
    pipe = file.pipe
    size = file.size.map { UInt64($0) } ?? .max
    let isOpen = file.isStandardInput || pipe != nil
    let number = isOpen ? STDIN_FILENO : unsafe open(FileName.path(file.name), O_RDONLY | O_CLOEXEC)
    guard number >= 0 else { throw Failure("\(file.name): cannot be read: \(systemError())") }
    descriptor = Descriptor(number)
  }

  mutating func read(at offset: UInt64, count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    read(at: offset, count: count, appendingTo: &bytes)
    return bytes
  }

  mutating func read(at offset: UInt64, count: Int, appendingTo bytes: inout [UInt8]) {
    guard let pipe else { return readFile(at: offset, count: count, appendingTo: &bytes) }
    guard offset == position else { return }
    let wanted = bytes.count + count
    if position < UInt64(pipe.front.count) { bytes += pipe.front.dropFirst(Int(position)).prefix(count) }
    while bytes.count < wanted {
      let piece = PipeInput.read(pipe.descriptor, wanted - bytes.count)
      if piece.isEmpty { break }
      bytes += piece
    }
    position += UInt64(bytes.count - (wanted - count))
  }

  private func readFile(at offset: UInt64, count: Int, appendingTo bytes: inout [UInt8]) {
    bytes.append(addingCapacity: count) { output in
      unsafe output.withUnsafeMutableBufferPointer { buffer, filled in
        while filled < count {
          let rest = unsafe UnsafeMutableRawBufferPointer(buffer)[filled..<count]
          let got = unsafe pread(
            descriptor.number, UnsafeMutableRawBufferPointer(rebasing: rest).baseAddress, rest.count,
            off_t(clamping: offset) + off_t(filled))
          if got < 0, errno == EINTR { continue }
          guard got > 0 else { return }
          filled += got
        }
      }
    }
  }
}
