// SPDX-License-Identifier: MPL-2.0
import GStreamer

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
  ///   - frameRate: the caps' frame rate.
  init(waits: Bool, frameRate: Fraction?) {
    waitsForNextAccessUnit = waits
    accessUnitDuration = frameRate.map {
      .seconds(1, times: UInt32($0.denominator), over: UInt32($0.numerator))
    }
  }
}
