// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// The latency that was last reported to the pipeline.
struct ReportedLatency {
  private struct Latency: Hashable {
    var frames: Int
    var frameDuration: ClockTime
  }

  private var known: Latency?
  private var due: ClockTime?

  /// Sets the latency.
  ///
  /// - Parameters:
  ///   - frames: how many pictures are held back.
  ///   - rate: pictures per second; 25 if unknown.
  mutating func update(frames: Int, rate: Fraction?) {
    let latency = Latency(frames: frames, frameDuration: Self.frameDuration(rate))
    guard latency != known else { return }
    known = latency
    let (sum, overflows) = latency.frameDuration.nanoseconds.multipliedReportingOverflow(by: UInt64(max(0, frames)))
    due = ClockTime(nanoseconds: overflows ? .max : sum)
  }

  /// The latency to report to the pipeline; `nil` when it has not changed.
  mutating func takeDue() -> ClockTime? { due.take() }

  private static func frameDuration(_ rate: Fraction?) -> ClockTime {
    guard let rate, rate.numerator > 0, rate.denominator > 0 else { return .seconds(1, times: 1, over: 25) }
    return .seconds(1, times: UInt32(rate.denominator), over: UInt32(rate.numerator))
  }
}
