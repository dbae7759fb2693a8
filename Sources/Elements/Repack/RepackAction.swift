// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// What the element does next for its core, without holding it.
enum RepackAction: ~Copyable {
  /// Output a buffer, and ask again.
  case output(Buffer)
  /// The input is used up.
  case awaitInput
  /// The parameter sets have come: send the held caps, then the events after them, and ask again.
  case releaseCaps
  /// Send new caps with this `codec_data`, and ask again.
  case announce(codecData: [UInt8])
}

/// What other threads and the bus are to know of the repackager's core.
struct RepackReport {
  var statistics: RepackStatistics
  /// nil when it has not changed.
  var latency: RepackLatency?
  var warnings: [ElementError]
}

/// The repackager's latency.
struct RepackLatency: Sendable, Equatable {
  /// The end of an access unit is seen only at the start of the next.
  var waitsForNextAccessUnit = false
  /// The time between access units; nil when the caps do not have it.
  var accessUnitDuration: ClockTime?
}
