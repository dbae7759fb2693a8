// SPDX-License-Identifier: MPL-2.0
import Glibc

/// Standard input or another pipe, whose first bytes have been read to recognise its format.
final class PipeInput: Sendable {
  let descriptor: Int32
  /// The bytes that have been read.
  let front: [UInt8]

  /// Bytes that are enough to recognise a format.
  private static let wanted = 4096
  private static let pieceSize = 1 << 16

  /// Waits for the first 4096 bytes, or the end.
  init(_ descriptor: Int32) {
    self.descriptor = descriptor
    var bytes: [UInt8] = []
    while bytes.count < Self.wanted {
      let piece = Self.read(descriptor, Self.pieceSize)
      if piece.isEmpty { break }
      bytes += piece
    }
    front = bytes
  }

  deinit { if descriptor != STDIN_FILENO { close(descriptor) } }

  /// Reads up to `count` bytes, as soon as some are there; none at the end, and after an error.
  static func read(_ descriptor: Int32, _ count: Int) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      repeat {
        filled = unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      } while filled < 0 && isInterrupted(descriptor, until: POLLIN)
      filled = max(filled, 0)
    }
  }

  /// A descriptor from which everything can be read, from the first byte on; `nil`, with `errno` set, when there are no
  /// more descriptors or threads.
  func replayed() -> Int32? {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var thread = pthread_t()
    let copier = unsafe Unmanaged.passRetained(Copier(from: self, to: ends[1]))
    let error = unsafe pthread_create(
      &thread, nil,
      { data in
        if let data = unsafe data { unsafe Unmanaged<Copier>.fromOpaque(data).takeRetainedValue().copy() }
        return nil
      }, copier.toOpaque())
    guard error == 0 else {
      unsafe copier.release()
      close(ends[0])
      close(ends[1])
      return nil
    }
    return ends[0]
  }

  /// Copies the pipe until its end, or until nobody reads the copy any more.
  private final class Copier: Sendable {
    let source: PipeInput
    let target: Int32
    init(from source: PipeInput, to target: Int32) { (self.source, self.target) = (source, target) }
    deinit { close(target) }

    func copy() {
      // Without the signal, a closed reader is a write error, which ends this thread and not the program.
      var signals = sigset_t()
      unsafe sigemptyset(&signals)
      unsafe sigaddset(&signals, SIGPIPE)
      unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
      var piece = source.front
      while !piece.isEmpty, unsafe piece.withUnsafeBytes({ unsafe writeFully($0, to: target) }) {
        piece = PipeInput.read(source.descriptor, PipeInput.pieceSize)
      }
    }
  }
}
