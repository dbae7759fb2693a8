// SPDX-License-Identifier: MPL-2.0
import Foundation

/// Runs of the program that need not wait for one another.
enum Crowd {
  /// Does something with each item, a few at a time.
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
