// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// When parameter sets are put into the stream in addition to those that are there.
struct ParameterSetInsertion: Sendable {
  private var isForced = false
  /// When they went out last.
  private var lastTime: ClockTime?

  /// They go out before the next IDR picture, whatever the interval says.
  mutating func force() { isForced = true }

  /// New caps: what was to go out before is not any more.
  mutating func cancel() { isForced = false }

  /// Times begin anew.
  mutating func forgetTime() { lastTime = nil }

  /// Whether they are due before an IDR picture of this timestamp. If so, they count as sent.
  ///
  /// - Parameter interval: seconds; 0 is never, below 0 always.
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
