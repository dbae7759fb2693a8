// SPDX-License-Identifier: MPL-2.0
import Glibc

/// Standard input or another pipe, whose first bytes were read to see what it is: whoever reads it gets them first.
final class PipeInput: Sendable {
  let descriptor: Int32
  /// What was read.
  let front: [UInt8]

  /// Enough to know a stream by, if it comes at once.
  private static let wanted = 4096
  private static let pieceSize = 1 << 16

  /// Waits for the first bytes, or the end.
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

  /// What is there next; nothing at the end.
  static func read(_ descriptor: Int32, _ count: Int) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      repeat {
        filled = unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      } while filled < 0
        && errno == EINTR
      filled = max(filled, 0)
    }
  }

  /// A descriptor that gives everything, from the first byte on; `nil` when there are no more descriptors.
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

  /// Hands on what comes until nobody reads any more.
  private final class Copier: Sendable {
    let source: PipeInput
    let target: Int32
    init(from source: PipeInput, to target: Int32) { (self.source, self.target) = (source, target) }
    deinit { close(target) }

    func copy() {
      // A reader that goes away ends this thread, not the program.
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
