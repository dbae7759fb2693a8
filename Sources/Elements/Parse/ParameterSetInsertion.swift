// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// When parameter sets are put into the stream in addition to those that are there.
struct ParameterSetInsertion: Sendable {
  /// Before the next IDR picture, whatever the interval says.
  var isForced = false
  /// When they went out last.
  var lastTime: ClockTime?

  /// Whether they are due before an IDR picture of this timestamp.
  ///
  /// - Parameter interval: seconds; 0 is never, below 0 always.
  mutating func isDue(at time: ClockTime?, interval: Int32) -> Bool {
    if interval < 0 || isForced { return true }
    guard interval > 0 else { return false }
    guard let last = lastTime else { return true }
    guard let time else { return false }
    return time - last >= .seconds(UInt64(interval))
  }

  /// They went out with a picture of this timestamp, in addition or of their own.
  mutating func noticeSent(at time: ClockTime?) {
    isForced = false
    if let time { lastTime = time }
  }
}

/// A request for a key frame that has not been answered yet.
struct PendingKeyUnit: Sendable {
  var request: ForceKeyUnit
  var sequenceNumber: UInt32
}
