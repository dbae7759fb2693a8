// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// The playback of a segment.
struct Playback: Sendable {
  /// Forwards, at any speed.
  var isForward = true
  /// At normal speed, from the start of the stream.
  var isNormalFromStart = true
  /// All of the stream at normal speed, so that nothing is clipped or dropped.
  var isWhole = true
  /// The time at which playback ends; nil if it does not.
  var stop: ClockTime?
  /// Trick mode: B-frames may be dropped (TRICKMODE_FORWARD_PREDICTED).
  var isForwardPredictedOnly = false

  init() {}

  init(_ segment: Segment) {
    isForward = segment.rate > 0
    isNormalFromStart = segment.start == 0 && segment.rate == 1 && segment.appliedRate == 1
    isWhole = segment.isWhole
    stop = segment.stop
    isForwardPredictedOnly = segment.forwardPredictedOnly
  }

  /// Whether a time is at or after the segment's stop.
  func isOver(at time: ClockTime?) -> Bool {
    guard let time, let stop else { return false }
    return time >= stop
  }
}
