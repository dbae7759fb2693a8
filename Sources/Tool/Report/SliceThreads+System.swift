// SPDX-License-Identifier: MPL-2.0
import Glibc
import StreamReport
import Synchronization

extension SliceThreads {
  /// Threads of the system. They start with a batch and end with it, which costs far less than reading it. If one cannot
  /// be started, the others do its work.
  init(system count: Int) {
    self.init(count: count) { calls, body in
      let work = SharedCalls(calls, body)
      let others = (1..<max(1, min(count, calls))).compactMap { Self.thread(work, number: $0) }
      work.run(on: 0)
      for thread in others { pthread_join(thread, nil) }
    }
  }

  /// Starts a thread; nil if that is not allowed.
  private static func thread(_ work: SharedCalls, number: Int) -> pthread_t? {
    let worker = unsafe Unmanaged.passRetained(Worker(work, number))
    var thread = pthread_t()
    let error = unsafe pthread_create(
      &thread, nil,
      { data in
        if let data = unsafe data { unsafe Unmanaged<Worker>.fromOpaque(data).takeRetainedValue().run() }
        return nil
      }, worker.toOpaque())
    guard error == 0 else {
      unsafe worker.release()
      return nil
    }
    return thread
  }
}

/// Calls that threads share: each takes the next one.
private final class SharedCalls: Sendable {
  private let count: Int
  private let body: @Sendable (Int, Int) -> Void
  private let next = Atomic(0)

  init(_ count: Int, _ body: @escaping @Sendable (_ call: Int, _ thread: Int) -> Void) {
    (self.count, self.body) = (count, body)
  }

  func run(on thread: Int) {
    while true {
      let call = next.wrappingAdd(1, ordering: .relaxed).oldValue
      guard call < count else { return }
      body(call, thread)
    }
  }
}

/// A thread's work.
private final class Worker: Sendable {
  private let work: SharedCalls
  private let number: Int

  init(_ work: SharedCalls, _ number: Int) { (self.work, self.number) = (work, number) }

  func run() { work.run(on: number) }
}
