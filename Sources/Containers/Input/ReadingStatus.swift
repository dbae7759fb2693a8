// SPDX-License-Identifier: MPL-2.0
import Synchronization

/// The state that the thread that reads a container shares with others.
package final class ReadingStatus: Sendable {
  private let stops = Atomic(false)
  private let ends = Atomic(false)
  private let first = Mutex<Failure?>(nil)

  package init() {}

  /// Whether reading is to end soon, also from a pipe that nothing writes to.
  package var isStopping: Bool { stops.load(ordering: .relaxed) || isEnding }

  /// Whether reading ends here, although the container has more.
  var isEnding: Bool { ends.load(ordering: .relaxed) }
  package func end() { ends.store(true, ordering: .relaxed) }

  package func stop(_ isStopping: Bool = true) { stops.store(isStopping, ordering: .relaxed) }

  /// The first failure of reading.
  package var failure: Failure? { first.withLock { $0 } }
  func fail(_ failure: Failure) { first.withLock { if $0 == nil { $0 = failure } } }
}
