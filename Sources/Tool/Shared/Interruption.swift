// SPDX-License-Identifier: MPL-2.0
import Glibc
import Synchronization

/// SIGINT and SIGTERM: the first asks whoever writes to finish what was written, a second one ends at once.
enum Interruption {
  private struct State {
    var signal: Int32?
    var handlers: [Int: @Sendable () -> Void] = [:]
    var next = 0
  }

  private static let state = Mutex(State())

  /// The signal that came, if any.
  static var signal: Int32? { state.withLock { $0.signal } }

  /// Takes the signals out of every thread's way and hands them to one that waits for them. To be called first.
  static func watch() {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGINT)
    unsafe sigaddset(&signals, SIGTERM)
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    var thread = pthread_t()
    let error = unsafe pthread_create(
      &thread, nil,
      { _ in
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGINT)
        unsafe sigaddset(&signals, SIGTERM)
        var signal: Int32 = 0
        while unsafe sigwait(&signals, &signal) == 0 { Interruption.arrived(signal) }
        return nil
      }, nil)
    // Without the thread nobody would take them.
    if error != 0 { unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil) }
  }

  private static func arrived(_ signal: Int32) {
    let handlers: [@Sendable () -> Void]? = state.withLock { state in
      guard state.signal == nil, !state.handlers.isEmpty else { return nil }
      state.signal = signal
      return Array(state.handlers.values)
    }
    guard let handlers else {
      // Nobody has anything to finish, or does not come to an end.
      OutputFile.removeUnfinished()
      _exit(128 + signal)
    }
    for handler in handlers { handler() }
  }

  /// Has the first signal call a handler, on a thread of its own, while something goes on.
  static func handled<Result>(
    by handler: @escaping @Sendable () -> Void, during body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let key = state.withLock { state in
      defer { state.next += 1 }
      state.handlers[state.next] = handler
      return state.next
    }
    defer { state.withLock { _ = $0.handlers.removeValue(forKey: key) } }
    return try await body()
  }
}
