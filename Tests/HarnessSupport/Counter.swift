// SPDX-License-Identifier: MPL-2.0
private import Synchronization

/// A counter for several threads.
public final class Counter: Sendable {
  private let count = Atomic<Int>(0)

  public init() {}

  public var value: Int { count.load(ordering: .relaxed) }
  public func increment() { count.add(1, ordering: .relaxed) }
}
