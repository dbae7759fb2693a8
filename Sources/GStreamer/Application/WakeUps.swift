// SPDX-License-Identifier: MPL-2.0
import Synchronization

/// Wakes tasks that wait for a change; each then checks for itself.
final class WakeUps: Sendable {
  private struct State {
    var waiting: [Int: AsyncStream<Void>.Continuation] = [:]
    var next = 0
  }

  private let state = Mutex(State())

  /// Wakes all waiters, now or at their next `Waiter.wait`.
  func wakeAll() {
    let all = state.withLock { Array($0.waiting.values) }
    for continuation in all { continuation.yield() }
  }

  fileprivate func add(_ continuation: AsyncStream<Void>.Continuation) -> Int {
    state.withLock { state in
      defer { state.next &+= 1 }
      state.waiting[state.next] = continuation
      return state.next
    }
  }

  fileprivate func remove(_ key: Int) { _ = state.withLock { $0.waiting.removeValue(forKey: key) } }

  /// One task's registration with several `WakeUps`; a wake-up since its last wait ends the next wait immediately.
  final class Waiter {
    private var iterator: AsyncStream<Void>.Iterator
    private let places: [(wakeUps: WakeUps, key: Int)]

    init(_ wakeUps: [WakeUps]) {
      let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
      iterator = stream.makeAsyncIterator()
      places = wakeUps.map { ($0, $0.add(continuation)) }
    }

    deinit { for (wakeUps, key) in places { wakeUps.remove(key) } }

    /// Returns when woken, or when the task is cancelled.
    func wait(isolation: isolated (any Actor)?) async {
      var copy = iterator
      _ = await copy.next(isolation: isolation)
      iterator = copy
    }
  }
}
