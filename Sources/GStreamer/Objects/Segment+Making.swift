// SPDX-License-Identifier: MPL-2.0
import CGStreamer

extension Segment {
  /// A segment in time format whose stream time equals the timestamps.
  /// - Parameters:
  ///   - start: the start.
  ///   - stop: the end; `nil` for an open segment.
  public static func time(from start: ClockTime = .zero, until stop: ClockTime? = nil) -> Segment {
    var raw = GstSegment()
    unsafe gst_segment_init(&raw, GST_FORMAT_TIME)
    (raw.start, raw.position, raw.time) = (
      GstClockTime(start.nanoseconds), GstClockTime(start.nanoseconds), GstClockTime(start.nanoseconds)
    )
    raw.stop = GstClockTime(stop.raw)
    return unsafe Segment(raw)
  }

  /// A segment in time format.
  /// - Parameters:
  ///   - start: the start, in timestamps.
  ///   - stop: the end, in timestamps; `nil` for an open segment.
  ///   - time: the stream time of the start.
  package static func time(from start: ClockTime, until stop: ClockTime?, at time: ClockTime) -> Segment {
    var segment = Segment.time(from: start, until: stop)
    unsafe segment.raw.time = GstClockTime(time.nanoseconds)
    return segment
  }
}
