// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// When parameter sets are inserted that the stream does not have there.
struct ParameterSetInsertion: Sendable {
  private var isForced = false
  /// PTS at which they were inserted last.
  private var lastTime: ClockTime?

  /// They are inserted before the next IDR picture, whatever the interval says.
  mutating func force() { isForced = true }

  /// New caps: cancels ``force()``.
  mutating func cancel() { isForced = false }

  /// Times begin anew.
  mutating func forgetTime() { lastTime = nil }

  /// Whether they are due before an IDR picture with this PTS. If so, they count as sent.
  ///
  /// - Parameter interval: in seconds; 0 for never, below 0 for always.
  mutating func takeDue(at time: ClockTime?, interval: Int32) -> Bool {
    guard isDue(at: time, interval: interval) else { return false }
    isForced = false
    if let time { lastTime = time }
    return true
  }

  private func isDue(at time: ClockTime?, interval: Int32) -> Bool {
    if interval < 0 || isForced { return true }
    guard interval > 0 else { return false }
    guard let last = lastTime else { return true }
    guard let time else { return false }
    return time - last >= .seconds(UInt64(interval))
  }
}
