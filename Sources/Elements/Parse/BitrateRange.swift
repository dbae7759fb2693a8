// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// The lowest and highest bitrate of single access units, for tags: what the base class would find if it were handed each.
struct BitrateRange: Sendable {
  /// What the tags are to say, in bits a second; `nil` before enough access units came.
  private(set) var toTell: ClosedRange<UInt32>?
  private var range: ClosedRange<UInt32>?
  private var count = 0

  /// Access units before anything is told, and bits a second that make a difference: as in the base class.
  private static let (minimumCount, step): (Int, UInt32) = (10, 10_000)

  /// Counts an access unit. Answers whether there is something new to tell.
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
