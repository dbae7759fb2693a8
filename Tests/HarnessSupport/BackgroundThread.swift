// SPDX-License-Identifier: MPL-2.0
private import Glibc
private import Synchronization

/// A thread that calls a closure in a loop until it is ended.
@safe public final class BackgroundThread {
  private final class Work: Sendable {
    let isEnded = Atomic<Bool>(false)
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  private let work: Work
  private var thread = pthread_t()

  /// Starts immediately.
  public init(repeating body: @escaping @Sendable () -> Void) {
    work = Work(body)
    let context = unsafe Unmanaged.passRetained(work).toOpaque()
    unsafe pthread_create(
      &thread, nil,
      { context in
        guard let context = unsafe context else { return nil }
        let work = unsafe Unmanaged<Work>.fromOpaque(context).takeRetainedValue()
        while !work.isEnded.load(ordering: .acquiring) { work.body() }
        return nil
      }, context)
  }

  /// Ends the loop after the current call, and waits for the thread.
  public func end() {
    work.isEnded.store(true, ordering: .releasing)
    pthread_join(thread, nil)
  }
}
