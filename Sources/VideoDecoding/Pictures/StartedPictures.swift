// SPDX-License-Identifier: MPL-2.0
import Synchronization

/// Which of the last access units have started a picture, in a ring of their indices, so that it never grows. Written
/// by libavcodec's threads.
package final class StartedPictures: Sendable {
  /// More than can be inside a decoder: 16 frames of two fields, and all threads.
  private static let capacity = 1024
  private let keepsInsertions: Bool
  private let state = Mutex(State())

  private struct State {
    var slots = [UInt64](repeating: .max, count: capacity)
    var insertions: [UInt64] = []
  }

  /// - Parameter keepsInsertions: `takeInsertions` is called, and returns them.
  package init(keepsInsertions: Bool = false) { self.keepsInsertions = keepsInsertions }

  func insert(_ index: UInt64) {
    state.withLock { state in
      state.slots[Int(index % UInt64(Self.capacity))] = index
      if keepsInsertions { state.insertions.append(index) }
    }
  }

  func contains(_ index: UInt64) -> Bool { state.withLock { $0.slots[Int(index % UInt64(Self.capacity))] == index } }

  /// Returns the indices inserted since the last call.
  package func takeInsertions() -> [UInt64] {
    state.withLock { state in
      defer { state.insertions.removeAll(keepingCapacity: true) }
      return state.insertions
    }
  }
}
