// SPDX-License-Identifier: MPL-2.0
import H26x
import StreamReport
import SystemPackage

/// A file or a pipe for `StreamReporter`: a file is read at any offset, a pipe from beginning to end.
struct ReportSource: ByteSource {
  private let file: OpenFile
  private let pipe: PipeInput?
  /// In bytes; `UInt64.max` for a pipe.
  let size: UInt64
  /// Bytes read from a pipe.
  private var position: UInt64 = 0

  init(_ input: InputFile) throws(Failure) {
    pipe = input.pipe
    size = input.size.map { UInt64($0) } ?? .max
    file = if let pipe { pipe.file } else { try input.open() }
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
      let piece = file.descriptor.readAvailable(wanted - bytes.count)
      if piece.isEmpty { break }
      bytes += piece
    }
    position += UInt64(bytes.count - (wanted - count))
  }

  private func readFile(at offset: UInt64, count: Int, appendingTo bytes: inout [UInt8]) {
    bytes.append(addingCapacity: count) { output in
      unsafe output.withUnsafeMutableBufferPointer { buffer, filled in
        while filled < count {
          let rest = unsafe UnsafeMutableRawBufferPointer(
            rebasing: UnsafeMutableRawBufferPointer(buffer)[filled..<count])
          let got = try? unsafe file.descriptor.read(
            fromAbsoluteOffset: Int64(clamping: offset) + Int64(filled), into: rest)
          guard let got, got > 0 else { return }
          filled += got
        }
      }
    }
  }
}
