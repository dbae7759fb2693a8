// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// What the element does next for its core, without holding it.
enum RepackAction: ~Copyable {
  /// Output a buffer, and fetch the next action.
  case output(Buffer)
  /// The input is used up.
  case awaitInput
  /// The parameter sets have come: send the held caps, then the events after them, and fetch the next action.
  case releaseCaps
  /// Send caps with this `codec_data`, unless it is empty, and with what edits have changed, and fetch the next action.
  case announce(codecData: [UInt8])
}

/// The core's next step for the current access unit.
enum RepackStep {
  /// There is none: assemble one.
  case assemble
  /// Send the caps that wait for its parameter sets.
  case describe
  /// Write it, with these NAL units in front.
  case write([[UInt8]])
}

/// What the repackager's core reports to other threads and the bus.
struct RepackReport {
  var statistics: RepackStatistics
  /// nil when it has not changed.
  var latency: RepackLatency?
  var warnings: [ElementError]
  /// Edits wait for the start of a coded video sequence.
  var isEditPending: Bool
}

/// The repackager's latency.
struct RepackLatency: Sendable, Equatable {
  /// The end of an access unit is seen only at the start of the next.
  var waitsForNextAccessUnit = false
  /// The time between access units; nil when the caps do not have it.
  var accessUnitDuration: ClockTime?
}

extension RepackLatency {
  /// - Parameters:
  ///   - waits: whether the end of an access unit is seen only at the start of the next.
  ///   - frameRate: that of the caps.
  init(waits: Bool, frameRate: Fraction?) {
    waitsForNextAccessUnit = waits
    accessUnitDuration = frameRate.map {
      .seconds(1, times: UInt32($0.denominator), over: UInt32($0.numerator))
    }
  }
}
