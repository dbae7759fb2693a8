// SPDX-License-Identifier: MPL-2.0
import Glibc
import Synchronization
import SystemPackage

/// SIGINT, SIGTERM and SIGHUP: the first signal calls the handlers, which complete files. A second ends the program
/// immediately.
package enum Interruption {
  private struct State {
    var signal: Int32?
    var time = ContinuousClock.now
    var handlers: [Int: @Sendable () -> Void] = [:]
    var next = 0
    /// The outputs that are written, and whether handlers for one of them came to their end.
    var (outputCount, isCompleting) = (0, false)
  }

  private static let state = Mutex(State())

  /// The signal that came, if any.
  package static var signal: Int32? { state.withLock { $0.signal } }

  /// Throws when a signal has come: for output that is worthless unless it is complete.
  package static func check() throws(Failure) { if signal != nil { throw Failure("interrupted: nothing was written") } }

  /// The words before the written amount in an output's summary; empty unless a signal has cut it short.
  package static var remark: String { signal == nil ? "" : "incomplete, interrupted after " }

  /// A pipe from the signal handler to the thread that calls the handlers; set once, before the signal handler is.
  private nonisolated(unsafe) static var ends: (read: FileDescriptor, write: FileDescriptor)?

  /// Starts the thread that handles signals. It may make calls that a signal handler may not. Call it before
  /// everything else.
  package static func watch() {
    guard let (read, write) = try? FileDescriptor.pipe(options: .closeOnExec) else { return }
    unsafe ends = (read, write)
    var thread = pthread_t()
    let error = unsafe pthread_create(
      &thread, nil,
      { _ in
        guard let source = unsafe Interruption.ends?.read else { return nil }
        while let signal = source.readAvailable(1).first {
          Interruption.arrived(Int32(signal))
          Interruption.remindAfterWait(source)
        }
        return nil
      }, nil)
    guard error == 0 else { return }
    for number in [SIGINT, SIGTERM, SIGHUP] where !isIgnored(number) {
      Glibc.signal(number) { signal in
        var byte = UInt8(truncatingIfNeeded: signal)
        // swift-system's write is not made for signal handlers.
        if let target = unsafe Interruption.ends?.write { _ = unsafe Glibc.write(target.rawValue, &byte, 1) }
      }
    }
  }

  /// Whether the process that started the program ignores the signal, as nohup(1) does, and shells do with SIGINT for
  /// background jobs.
  private static func isIgnored(_ number: Int32) -> Bool {
    var current = sigaction()
    guard unsafe sigaction(number, nil, &current) == 0 else { return false }
    return unsafe unsafeBitCast(current.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  /// After two seconds without another signal, prints that a second one ends the program.
  private static func remindAfterWait(_ source: FileDescriptor) {
    var next = pollfd(fd: source.rawValue, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&next, 1, 2000) == 0 else { return }
    Terminal.say("still finishing the output; a second signal ends the program immediately")
  }

  private static func arrived(_ signal: Int32) {
    let handlers: [@Sendable () -> Void]? = state.withLock { state in
      // timeout(1) and shells signal both the process and its group: two signals within a second are one request.
      if state.signal != nil, state.time.duration(to: .now) < .seconds(1) { return [] }
      guard state.signal == nil, !state.handlers.isEmpty || state.isCompleting else { return nil }
      (state.signal, state.time) = (signal, .now)
      return Array(state.handlers.values)
    }
    guard let handlers else {
      // There is no handler, or it is the second signal.
      Ending.perform()
      _exit(ExitStatus.ended(by: signal))
    }
    for handler in handlers { handler() }
  }

  /// Runs `body`. The first signal that comes meanwhile calls `handler`, on the signal thread.
  package static func handled<Result, Reason: Error>(
    by handler: @escaping @Sendable () -> Void, during body: () async throws(Reason) -> Result
  ) async throws(Reason) -> Result {
    let key = state.withLock { state in
      defer { state.next += 1 }
      state.handlers[state.next] = handler
      return state.next
    }
    defer {
      state.withLock { state in
        state.handlers[key] = nil
        state.isCompleting = state.outputCount > 0
      }
    }
    return try await body()
  }

  /// Runs `body`, which writes an output and gives it its name. Behind the first handler for it, the first signal does
  /// not end the program, so that a complete output is not lost.
  package static func completing<Result, Reason: Error>(
    during body: () async throws(Reason) -> Result
  ) async throws(Reason) -> Result {
    state.withLock { $0.outputCount += 1 }
    defer {
      state.withLock { state in
        state.outputCount -= 1
        state.isCompleting = state.isCompleting && state.outputCount > 0
      }
    }
    return try await body()
  }
}

/// Actions that remain when the program ends, whether its subcommand has returned or a signal ends it immediately.
/// Temporary files are removed, and the terminal gets its settings back.
package enum Ending {
  /// Identifies an action.
  package struct Key: Sendable, Hashable { fileprivate let number: Int }

  private static let actions = Mutex<(all: [Key: @Sendable () -> Void], next: Int)>(([:], 0))

  /// Adds an action, which may be performed on any thread. It must not add or perform actions itself.
  package static func add(_ action: @escaping @Sendable () -> Void) -> Key {
    actions.withLock { actions in
      let key = Key(number: actions.next)
      actions.next += 1
      actions.all[key] = action
      return key
    }
  }

  /// Performs an action now, if it is still to be done.
  package static func perform(_ key: Key) { actions.withLock { $0.all.removeValue(forKey: key)?() } }

  /// Removes an action that is not needed any more.
  static func forget(_ key: Key) { actions.withLock { _ = $0.all.removeValue(forKey: key) } }

  /// Performs all actions. They are performed under the lock: a second thread that ends the program waits for them.
  package static func perform() {
    actions.withLock { actions in
      for action in actions.all.values { action() }
      actions.all = [:]
    }
  }
}
