// SPDX-License-Identifier: MPL-2.0
package import CodecLink
import Synchronization

/// Ends a session's wait for its codec's process, from any thread.
///
/// Give it to the session in ``SessionConfiguration/cancellation``. Sessions that decode in the application's process
/// do not wait for another one: nothing happens to them.
public final class Cancellation: Sendable {
  private struct State: Sendable {
    var isCancelled = false
    /// The descriptor that waits poll; made for the first wait.
    var event: EventDescriptor?
  }
  private let state = Mutex(State())

  /// Nothing is cancelled yet.
  public init() {}

  /// Ends the wait, or the next wait if there is none. Access units inside the session are dropped as `flushed`, and
  /// their codec's process is ended. Sessions wait again after `DecompressionSession.flush()`.
  public func cancel() {
    state.withLock { state in
      state.isCancelled = true
      state.event?.signal()
    }
  }

  /// Whether waits end immediately.
  package var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Waits may begin again.
  package func reset() {
    state.withLock { state in
      state.isCancelled = false
      state.event?.clear()
    }
  }

  /// The descriptor that waits poll. `nil` if the application has no descriptor left: the session's time-out then
  /// ends the wait.
  package var event: EventDescriptor? {
    state.withLock { state in
      if state.event == nil {
        state.event = try? EventDescriptor()
        if state.isCancelled { state.event?.signal() }
      }
      return state.event
    }
  }
}
