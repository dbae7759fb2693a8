// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// When parameter sets are inserted that the stream does not have there.
struct ParameterSetInsertion: Sendable {
  private var isForced = false
  /// Some of those so far were not output: the access unit's own do not suffice.
  private var lacksSome = false
  /// PTS at which they were inserted last.
  private var lastTime: ClockTime?

  /// They are inserted before the next IDR picture, whatever the interval.
  mutating func force() { isForced = true }

  /// Some changed parameter sets are not output in their place in the stream. All are inserted before the next IDR
  /// picture, even if it has some of its own.
  mutating func makeUp() { (isForced, lacksSome) = (true, true) }

  /// New caps: cancels ``force()``.
  mutating func cancel() { (isForced, lacksSome) = (false, false) }

  /// Times begin again.
  mutating func forgetTime() { lastTime = nil }

  /// Whether they are due before an IDR picture with this PTS. If so, they count as sent.
  ///
  /// - Parameters:
  ///   - interval: in seconds; 0 for never, below 0 for always.
  ///   - hasOwn: whether the picture's access unit has parameter sets, which suffice as a rule.
  mutating func takeDue(at time: ClockTime?, interval: Int32, hasOwn: Bool) -> Bool {
    guard isDue(at: time, interval: interval) else { return false }
    defer { (isForced, lacksSome) = (false, false) }
    if let time { lastTime = time }
    return lacksSome || !hasOwn
  }

  private func isDue(at time: ClockTime?, interval: Int32) -> Bool {
    if interval < 0 || isForced { return true }
    guard interval > 0 else { return false }
    guard let last = lastTime else { return true }
    guard let time else { return false }
    return time - last >= .seconds(UInt64(interval))
  }
}
