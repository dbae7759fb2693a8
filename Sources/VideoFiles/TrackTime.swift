// SPDX-License-Identifier: MPL-2.0

/// Converts a track's ticks to durations and back.
struct TrackTime {
  /// Ticks a second, not 0.
  let timescale: UInt32

  /// The duration of a number of ticks, rounded to the nearest nanosecond.
  func duration(_ ticks: Int64) -> Duration {
    let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: Int64(timescale))
    let half = rest < 0 ? -Int64(timescale / 2) : Int64(timescale / 2)
    return .seconds(seconds) + .nanoseconds((rest * 1_000_000_000 + half) / Int64(timescale))
  }

  /// The first tick that is at a time or later, as ``duration(_:)`` has it; the last one there is for a time beyond.
  func firstTick(from time: Duration) -> Int64 {
    let nearest = ticks(time)
    return nearest < .max && duration(nearest) < time ? nearest + 1 : nearest
  }

  /// The nearest number of ticks; the largest or smallest there is for a duration beyond.
  func ticks(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    let (whole, isBeyond) = seconds.multipliedReportingOverflow(by: Int64(timescale))
    guard !isBeyond else { return seconds < 0 ? .min : .max }
    let scale = 1_000_000_000_000_000_000 as Int128
    let product = Int128(attoseconds) * Int128(timescale)
    let part = Int64((product + (product < 0 ? -scale / 2 : scale / 2)) / scale)
    let (sum, isBeyondSum) = whole.addingReportingOverflow(part)
    return isBeyondSum ? (whole < 0 ? .min : .max) : sum
  }
}
