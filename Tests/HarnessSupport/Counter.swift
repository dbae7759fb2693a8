// SPDX-License-Identifier: MPL-2.0
private import Synchronization

/// A counter for several threads.
public final class Counter: Sendable {
  private let count = Atomic<Int>(0)

  /// A counter that begins at 0.
  public init() {}

  /// How often it was incremented.
  public var value: Int { count.load(ordering: .relaxed) }
  /// Adds one, on any thread.
  public func increment() { count.add(1, ordering: .relaxed) }
}
