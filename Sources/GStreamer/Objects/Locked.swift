// SPDX-License-Identifier: MPL-2.0
public import Synchronization

/// A value behind a lock, for application threads to set and streaming threads to read.
public final class Locked<Value: Sendable>: Sendable {
  // Inlinable, so that it is specialized for each element's value: the lock is taken for each buffer.
  @usableFromInline let mutex: Mutex<Value>

  /// A lock with this initial value.
  @inlinable public init(_ value: Value) { mutex = Mutex(value) }

  /// A copy of the current value: take one for each buffer and use it throughout.
  @inlinable public var snapshot: Value { mutex.withLock { $0 } }

  /// Calls a function with the value, under the lock.
  @inlinable public func withLock<Result: Sendable>(_ body: (inout sending Value) -> sending Result) -> sending Result {
    mutex.withLock(body)
  }
}
