// SPDX-License-Identifier: MPL-2.0
import Glibc
import SystemPackage

/// Standard input or another pipe, whose first bytes have been read to recognise its format.
final class PipeInput: Sendable {
  let file: OpenFile
  /// The bytes that have been read.
  let front: [UInt8]

  /// Bytes that are enough to recognise most formats.
  private static let wanted = 4096
  private static let pieceSize = 1 << 16

  /// Waits for the first 4096 bytes, or the end.
  ///
  /// - Parameters:
  ///   - limit: the number of bytes after which the wait ends.
  ///   - isEnough: whether the format can be recognised by these bytes.
  init(_ file: OpenFile, upTo limit: Int = 0, until isEnough: ([UInt8]) -> Bool = { _ in true }) {
    self.file = file
    var bytes: [UInt8] = []
    while bytes.count < Self.wanted || bytes.count < limit && !isEnough(bytes) {
      let piece = file.descriptor.readAvailable(Self.pieceSize)
      if piece.isEmpty { break }
      bytes += piece
    }
    front = bytes
  }

  /// A temporary file without a name that has all of it. The program ends when it is interrupted meanwhile.
  ///
  /// - Throws: an `Errno` when the file cannot be made or written.
  func spooled() throws(Errno) -> OpenFile {
    let folder = unsafe getenv("TMPDIR").map { unsafe FilePath(platformString: $0) } ?? "/var/tmp"
    let path = folder.appending("h26x-\(getpid())-\(UInt32.random(in: 0 ... .max))")
    let options: FileDescriptor.OpenOptions = [.create, .exclusiveCreate, .closeOnExec]
    let descriptor = try Errno.typed {
      try FileDescriptor.open(path, .readWrite, options: options, permissions: .ownerReadWrite)
    }
    let copy = OpenFile(descriptor)
    try path.remove()
    var piece = front
    while !piece.isEmpty {
      try copy.descriptor.writeFully(piece.span)
      piece = file.descriptor.readAvailable(Self.pieceSize)
    }
    return copy
  }

  /// A descriptor from which everything can be read, including the first bytes.
  ///
  /// - Throws: an `Errno` when there are no more descriptors or threads.
  func replayed() throws(Errno) -> FileDescriptor {
    let ends = try FileDescriptor.pipe(options: .closeOnExec)
    var thread = pthread_t()
    let copier = unsafe Unmanaged.passRetained(Copier(from: self, to: OpenFile(ends.writeEnd)))
    let error = unsafe pthread_create(
      &thread, nil,
      { data in
        if let data = unsafe data { unsafe Unmanaged<Copier>.fromOpaque(data).takeRetainedValue().copy() }
        return nil
      }, copier.toOpaque())
    guard error == 0 else {
      unsafe copier.release()
      try? ends.readEnd.close()
      throw Errno(rawValue: error)
    }
    return ends.readEnd
  }

  /// Copies the pipe until its end, or until nothing reads the copy any more.
  private final class Copier: Sendable {
    let source: PipeInput
    let target: OpenFile
    init(from source: PipeInput, to target: OpenFile) { (self.source, self.target) = (source, target) }

    func copy() {
      // Without the signal, a closed reader is a write error, which ends this thread and not the program.
      var signals = sigset_t()
      unsafe sigemptyset(&signals)
      unsafe sigaddset(&signals, SIGPIPE)
      unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
      var piece = source.front
      while !piece.isEmpty, (try? target.descriptor.writeFully(piece.span)) != nil {
        piece = source.file.descriptor.readAvailable(PipeInput.pieceSize)
      }
    }
  }
}
