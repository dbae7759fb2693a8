// SPDX-License-Identifier: MPL-2.0
import Glibc
import Synchronization

/// SIGINT and SIGTERM: the first asks whoever writes to finish what was written, a second one ends at once.
enum Interruption {
  private struct State {
    var signal: Int32?
    var time = ContinuousClock.now
    var handlers: [Int: @Sendable () -> Void] = [:]
    var next = 0
  }

  private static let state = Mutex(State())

  /// The signal that came, if any.
  static var signal: Int32? { state.withLock { $0.signal } }

  /// Where the signals' handler writes, and a thread reads; set once, before there is a handler.
  private nonisolated(unsafe) static var pipeEnds: (read: Int32, write: Int32) = (-1, -1)

  /// Hands the signals to a thread that may do what a signal's handler may not. To be called first.
  static func watch() {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { return }
    unsafe pipeEnds = (ends[0], ends[1])
    var thread = pthread_t()
    let error = unsafe pthread_create(
      &thread, nil,
      { _ in
        var signal: UInt8 = 0
        while unsafe Glibc.read(Interruption.pipeEnds.read, &signal, 1) == 1 {
          Interruption.arrived(Int32(signal))
          Interruption.sayWhatIsWaitedFor()
        }
        return nil
      }, nil)
    guard error == 0 else { return }
    for number in [SIGINT, SIGTERM] {
      Glibc.signal(number) { signal in
        var byte = UInt8(truncatingIfNeeded: signal)
        _ = unsafe Glibc.write(Interruption.pipeEnds.write, &byte, 1)
      }
    }
  }

  /// Says how to leave, where the first signal did not end the program soon.
  private static func sayWhatIsWaitedFor() {
    var next = unsafe pollfd(fd: pipeEnds.read, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&next, 1, 2000) == 0 else { return }
    Terminal.say("still finishing what was written; a second signal ends it at once")
  }

  private static func arrived(_ signal: Int32) {
    let handlers: [@Sendable () -> Void]? = state.withLock { state in
      // timeout(1) and shells send one to the process and one to its group: the same request.
      if state.signal != nil, state.time.duration(to: .now) < .seconds(1) { return [] }
      guard state.signal == nil, !state.handlers.isEmpty else { return nil }
      (state.signal, state.time) = (signal, .now)
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
