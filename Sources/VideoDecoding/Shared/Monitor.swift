// SPDX-License-Identifier: MPL-2.0
import Glibc

/// A value that several threads share, and that a thread can wait for.
@safe final class Monitor<Value>: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let change = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var value: Value

  init(_ value: sending Value) {
    self.value = value
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe change.initialize(to: pthread_cond_t())
    unsafe pthread_mutex_init(mutex, nil)
    unsafe pthread_cond_init(change, nil)
  }

  deinit {
    unsafe pthread_cond_destroy(change)
    unsafe pthread_mutex_destroy(mutex)
    unsafe change.deallocate()
    unsafe mutex.deallocate()
  }

  /// Reads or changes the value.
  ///
  /// - Parameter notifies: whether waiting threads look at the value again.
  func withLock<Result>(notifies: Bool = true, _ body: (inout Value) -> Result) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer {
      if notifies { unsafe pthread_cond_broadcast(change) }
      unsafe pthread_mutex_unlock(mutex)
    }
    return body(&value)
  }

  /// Waits until `body` returns a result. It is called again after each change.
  func wait<Result>(_ body: (inout Value) -> Result?) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer {
      unsafe pthread_cond_broadcast(change)
      unsafe pthread_mutex_unlock(mutex)
    }
    while true {
      if let result = body(&value) { return result }
      unsafe pthread_cond_wait(change, mutex)
    }
  }
}
