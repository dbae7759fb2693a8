// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// The core's report to other threads and the bus.
struct RepackReport {
  var statistics: RepackStatistics
  /// nil when it has not changed.
  var latency: RepackLatency?
  var warnings: [ElementError]
  /// Edits wait for the start of a coded video sequence.
  var isEditPending: Bool
}
