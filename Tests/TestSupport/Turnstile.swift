// SPDX-License-Identifier: MPL-2.0
import Foundation

/// Limits the programs that run at a time to two more than processors, because some wait. Many tests run concurrently,
/// and a program beside a hundred others takes a hundred times as long.
public actor Turnstile {
  public static let programs = Turnstile(places: ProcessInfo.processInfo.activeProcessorCount + 2)

  private var free: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  public init(places: Int) { free = places }

  /// Calls `body` when there is a place; those who wait are served in the order in which they came.
  ///
  /// `body` must not wait for another turn.
  public func pass<Result: Sendable>(_ body: @Sendable () async throws -> Result) async rethrows -> Result {
    if free > 0 {
      free -= 1
    } else {
      await withCheckedContinuation { waiting.append($0) }
    }
    defer {
      if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
    return try await body()
  }
}
