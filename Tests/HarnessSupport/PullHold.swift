// SPDX-License-Identifier: MPL-2.0
private import Glibc
private import Synchronization

/// Holds one pull until a flush begins.
final class PullHold: Sendable {
  private enum State { case waiting, holding, released }

  private let size: UInt32
  private let state = Mutex(State.waiting)

  /// - Parameter size: of the pull to hold, at least.
  init(size: UInt32) { self.size = size }

  /// Whether the pull has come and is held.
  var isHolding: Bool { state.withLock { $0 == .holding } }

  /// A pull of `size` bytes: held, if it is the first one that is large enough.
  func pull(_ size: UInt32) {
    let isHeld = state.withLock { state in
      guard state == .waiting, size >= self.size else { return false }
      state = .holding
      return true
    }
    guard isHeld else { return }
    while isHolding { usleep(1000) }
  }

  /// A flush begins.
  func release() { state.withLock { if $0 == .holding { $0 = .released } } }
}
