// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// The lowest and highest bitrate of single access units, for tags, as GstBaseParse finds them when it gets each one.
struct BitrateRange: Sendable {
  /// What the tags say, in bit/s; `nil` before there were enough access units.
  private(set) var toTell: ClosedRange<UInt32>?
  private var range: ClosedRange<UInt32>?
  private var count = 0

  /// Access units before tags are sent, and the change in bit/s that sends them again: as in GstBaseParse.
  private static let (minimumCount, step): (Int, UInt32) = (10, 10_000)

  /// Counts an access unit. Returns whether there are new tags.
  mutating func add(bytes: Int, duration: ClockTime?) -> Bool {
    guard let duration, duration.nanoseconds > 0, bytes > 0 else { return false }
    let bits = (UInt64(bytes) * 8).multipliedFullWidth(by: ClockTime.second.nanoseconds)
    let rate = bits.high < duration.nanoseconds ? duration.nanoseconds.dividingFullWidth(bits).quotient : .max
    let bitrate = UInt32(clamping: rate)
    let wider = range.map { min($0.lowerBound, bitrate)...max($0.upperBound, bitrate) } ?? bitrate...bitrate
    range = wider
    count += 1
    guard count >= Self.minimumCount else { return false }
    if let told = toTell, told.lowerBound / Self.step == wider.lowerBound / Self.step,
      told.upperBound / Self.step == wider.upperBound / Self.step
    {
      return false
    }
    toTell = wider
    return true
  }
}
