// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// Frame rate, clock tick and reordering of the stream that the caps describe. Holds no references, so that copies are
/// cheap.
struct StreamTiming: Sendable {
  /// Frames a second, by upstream, the stream or the property; nil if unknown.
  var frameRate: Fraction?
  /// The same, in lowest terms.
  var pictureRate: Ratio?
  /// The clock tick of the stream (`num_units_in_tick`, `time_scale`); nil when it has none.
  var tick: FormatDescription.Tick?
  /// The tick would give more than twice the frames that the level allows: it does not measure time.
  var isTickBeyondLevel = false
  /// Every picture is intra coded by profile.
  var isIntraOnly = false
  /// The largest number of frames that precede a frame in decoding order and follow it in output order. It is 0 if the
  /// SPS requires output in decoding order, and otherwise the format description's number.
  var reorderDepth = 0
  /// The stream itself signals reordering.
  var signalsReordering = false

  /// A frame's duration in nanoseconds: by the stream, by caps, or a long guess, with which the first DTS are only
  /// further apart than they need be.
  var frameDuration: UInt64 {
    if !isTickBeyondLevel, let tick {
      let time = ClockTime.seconds(UInt64(tick.perFrame), times: tick.units, over: tick.timeScale).nanoseconds
      if 1_000_000...1_000_000_000 ~= time { return time }
    }
    if let frameRate, frameRate.numerator > 0, frameRate.denominator > 0 {
      let time = ClockTime.seconds(1, times: UInt32(frameRate.denominator), over: UInt32(frameRate.numerator))
      if 1_000_000...1_000_000_000 ~= time.nanoseconds { return time.nanoseconds }
    }
    return 100_000_000
  }
}
