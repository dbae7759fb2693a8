// SPDX-License-Identifier: MPL-2.0
import Foundation

/// Concurrent runs of the program.
enum Crowd {
  /// Calls `body` with each item, a few at a time.
  static func each<Item: Sendable>(
    _ items: [Item], atOnce limit: Int = 4, _ body: @escaping @Sendable (Item) async throws -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, item) in items.enumerated() {
        if index >= limit { try await group.next() }
        group.addTask { try await body(item) }
      }
      try await group.waitForAll()
    }
  }
}
