// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// What the repackager's core wants next of the element, which does it without holding the core.
enum RepackAction: ~Copyable {
  /// Hand on a buffer, and come again.
  case output(Buffer)
  /// The input is used up.
  case awaitInput
  /// The parameter sets are there: send the held caps, then the events behind them, and come again.
  case releaseCaps
  /// Send new caps with this `codec_data`, and come again.
  case announce(codecData: [UInt8])
}

/// What the repackager's core has to say to other threads and on the bus.
struct RepackReport {
  var statistics: RepackStatistics
  /// nil when it has not changed.
  var latency: RepackLatency?
  var warnings: [ElementError]
}

/// What makes the repackager wait.
struct RepackLatency: Sendable, Equatable {
  /// The end of an access unit is seen only at the start of the next.
  var waitsForNextAccessUnit = false
  /// The time between access units; nil when the caps do not tell.
  var accessUnitDuration: ClockTime?
}
