// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// The part of a stream to play, and how its timestamps become running time (`GstSegment`).
@safe public struct Segment: @unchecked Sendable {
  /// The C structure.
  @unsafe public var raw: GstSegment

  /// A segment of this C structure.
  @unsafe public init(_ raw: GstSegment) { unsafe self.raw = raw }

  /// Whether positions are times (`GST_FORMAT_TIME`) rather than, say, bytes.
  public var isTime: Bool { unsafe raw.format == GST_FORMAT_TIME }
  /// Playback speed; below 0 is reverse.
  public var rate: Double { unsafe raw.rate }
  /// The rate that upstream has applied to the data already.
  public var appliedRate: Double { unsafe raw.applied_rate }
  /// The first position, in the segment's format.
  public var start: UInt64 { unsafe UInt64(raw.start) }

  /// The last position handled, in the segment's format; after a seek, where playback continues.
  public var position: UInt64 { unsafe UInt64(raw.position) }

  /// The running time at the start, by which the segments before it are continued.
  public var base: ClockTime? { unsafe isTime ? ClockTime(raw: UInt64(raw.base)) : nil }
  /// The stream time at the start; `nil` when it is not in time.
  public var time: ClockTime? { unsafe isTime ? ClockTime(raw: UInt64(raw.time)) : nil }
  /// The end in the segment's format, such as bytes; `nil` when it is open.
  public var end: UInt64? { unsafe raw.stop == .max ? nil : UInt64(raw.stop) }
  /// The end; `nil` when it is open or not in time.
  public var stop: ClockTime? { unsafe isTime ? ClockTime(raw: UInt64(raw.stop)) : nil }
  /// Whether the position has reached the end.
  public var isDone: Bool { unsafe raw.position != .max && raw.position >= raw.stop }

  /// Whether it is the whole stream at normal speed, so that nothing is clipped or skipped.
  package var isWhole: Bool {
    unsafe raw.start == 0 && raw.stop == .max && raw.rate == 1 && raw.applied_rate == 1
      && raw.flags.rawValue & ~GST_SEGMENT_FLAG_RESET.rawValue == 0
  }

  /// The segment moved later: timestamps moved by the same amount keep their running time and stream time.
  package func shifted(by amount: ClockTime) -> Segment {
    func shifted(_ position: guint64) -> guint64 {
      position == .max ? position : guint64((ClockTime(nanoseconds: UInt64(position)) + amount).nanoseconds)
    }
    var copy = unsafe raw
    unsafe (copy.start, copy.stop, copy.position) = (shifted(raw.start), shifted(raw.stop), shifted(raw.position))
    return unsafe Segment(copy)
  }

  /// The running time of a position, `nil` when it is outside the segment or the segment is not in time.
  public func runningTime(of position: ClockTime?) -> ClockTime? {
    guard isTime, let position else { return nil }
    var copy = unsafe raw
    return unsafe ClockTime(
      raw: UInt64(gst_segment_to_running_time(&copy, GST_FORMAT_TIME, guint64(position.nanoseconds))))
  }

  /// The stream time of a position, `nil` when it is outside the segment or the segment is not in time.
  public func streamTime(of position: ClockTime?) -> ClockTime? {
    guard isTime, let position else { return nil }
    var copy = unsafe raw
    return unsafe ClockTime(
      raw: UInt64(gst_segment_to_stream_time(&copy, GST_FORMAT_TIME, guint64(position.nanoseconds))))
  }

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

  /// Whether to decode keyframes only (`GST_SEGMENT_FLAG_TRICKMODE_KEY_UNITS`).
  public var keyUnitsOnly: Bool { unsafe raw.flags.rawValue & GST_SEGMENT_FLAG_TRICKMODE_KEY_UNITS.rawValue != 0 }

  /// Whether to decode forward-predicted frames only (`GST_SEGMENT_FLAG_TRICKMODE_FORWARD_PREDICTED`).
  public var forwardPredictedOnly: Bool {
    unsafe raw.flags.rawValue & GST_SEGMENT_FLAG_TRICKMODE_FORWARD_PREDICTED.rawValue != 0
  }

  /// Whether pictures may be skipped (`GST_SEGMENT_FLAG_TRICKMODE`), as in playback at another speed.
  package var allowsSkipping: Bool { unsafe raw.flags.rawValue & GST_SEGMENT_FLAG_TRICKMODE.rawValue != 0 }
}
