// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// The properties, and the base class's information about the current data. It is read once a buffer.
struct InputSnapshot: Sendable {
  /// The properties.
  var settings = ParserSettings()
  /// Pull mode.
  var isPulling = false
  /// No more data comes: the present data must be used up.
  var isDraining = false
  /// The base class has not shown this data before.
  var isNew = false
  /// The data's position in the input, in bytes; nil if unknown.
  var offset: UInt64?
  /// Timestamps and flags of the input.
  var attributes = Buffer.Attributes()
  /// The playback of the stream.
  var playback = Playback()
  /// The target of an accurate seek whose data has not come yet.
  var target: ClockTime?
}

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
