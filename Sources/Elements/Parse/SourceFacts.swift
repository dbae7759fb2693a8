// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// What of the stream that caps describe other stages go by. A plain value, so that handing it on touches no reference
/// count.
struct SourceFacts: Sendable {
  /// Frames a second, of upstream, the stream or the property; nil when unknown.
  var frameRate: GStreamer.Fraction?
  /// The same, in lowest terms.
  var pictureRate: H26x.Fraction?
  /// The clock that counts pictures; nil when the stream has none.
  var tick: FormatDescription.Tick?
  /// The clock would give more frames than the level allows: it is no measure of time.
  var isTickSenseless = false
  /// Every picture is intra coded by profile.
  var isIntraOnly = false
  /// How many frames may at most precede a frame in decoding order and follow it in output order.
  var reorderDepth = 0
  /// The stream itself says that it reorders.
  var saysReordering = false

  /// A frame's duration in nanoseconds: by the stream, by caps, or a guess. A guess that is too long costs nothing: the
  /// first decoding times are further apart than they need be. One that is too short would end before the last picture.
  var frameDuration: UInt64 {
    if !isTickSenseless, let tick {
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
