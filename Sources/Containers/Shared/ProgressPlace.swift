// SPDX-License-Identifier: MPL-2.0
package import GStreamer
package import StreamReport
import Synchronization

/// The progress of a task, from any thread.
package final class ProgressPlace: Sendable {
  private let reached: Atomic<Int64>
  /// The completed amount, by the place that was reached.
  private let measure: @Sendable (Int64) -> ProgressAmount?
  private let unit: ProgressAmount.Unit

  /// - Parameters:
  ///   - unit: of the places that are reached.
  ///   - measure: the completed amount, by the place that was reached.
  init(_ unit: ProgressAmount.Unit, _ measure: @escaping @Sendable (Int64) -> ProgressAmount?) {
    (self.unit, self.measure) = (unit, measure)
    reached = Atomic(-1)
  }

  /// In seconds of the media.
  package convenience init(of duration: ClockTime) {
    self.init(.seconds) { ProgressAmount(done: Double($0) / 1e9, total: duration.seconds, unit: .seconds) }
  }

  /// The position of a pipeline.
  package convenience init(of pipeline: Pipeline) {
    self.init(.seconds) { _ in
      pipeline.position.map { position in
        ProgressAmount(done: position.seconds, total: pipeline.duration?.seconds, unit: .seconds)
      }
    }
  }

  /// The completed amount; `nil` before anything is done.
  var amount: ProgressAmount? { measure(max(reached.load(ordering: .relaxed), 0)) }

  /// Advances to a time in nanoseconds, and to a place in the file. Called on one thread.
  package func reach(time: Int64, bytes: Int64) { reach(unit == .seconds ? time : bytes) }

  /// Advances to an item of a file that is read directly.
  package func reach(_ item: ReportItem) {
    if case .accessUnit(let accessUnit) = item { reach(bytes: Int64(clamping: accessUnit.offset &+ accessUnit.size)) }
  }

  /// Advances to a place in the file.
  package func reach(bytes: Int64) { if unit == .bytes { reach(bytes) } }

  private func reach(_ place: Int64) {
    if place > reached.load(ordering: .relaxed) { reached.store(place, ordering: .relaxed) }
  }
}

extension ClockTime {
  fileprivate var seconds: Double { Double(nanoseconds) / 1e9 }
}
