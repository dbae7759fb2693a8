// SPDX-License-Identifier: MPL-2.0
import CGStreamer

extension Pipeline {
  /// Where the stream is, in stream time; `nil` when nothing has come through yet.
  public var position: ClockTime? {
    var position: gint64 = -1
    guard unsafe gst_element_query_position(raw, GST_FORMAT_TIME, &position) != 0, position >= 0 else { return nil }
    return ClockTime(nanoseconds: UInt64(position))
  }

  /// How long the stream is; `nil` when it is not known, as for a live source.
  public var duration: ClockTime? {
    var duration: gint64 = -1
    guard unsafe gst_element_query_duration(raw, GST_FORMAT_TIME, &duration) != 0, duration >= 0 else { return nil }
    return ClockTime(nanoseconds: UInt64(duration))
  }

  /// The least and the most time that a buffer spends on its way; `nil` while the pipeline cannot say. Without a
  /// `maximum` data is held back as long as need be.
  public var latency: (minimum: ClockTime, maximum: ClockTime?)? {
    let query = Query.latency()
    guard unsafe gst_element_query(raw, query.raw) != 0, let answer = query.latency else { return nil }
    return (answer.minimum, answer.maximum)
  }

  /// The part of the stream that can be sought, `nil` when none can.
  public var seekableRange: Range<ClockTime>? {
    guard let query = unsafe gst_query_new_seeking(GST_FORMAT_TIME) else { return nil }
    let owner = unsafe Query(owning: query)
    guard unsafe gst_element_query(raw, owner.raw) != 0 else { return nil }
    var isSeekable: gboolean = 0
    var (start, end): (gint64, gint64) = (0, 0)
    unsafe gst_query_parse_seeking(owner.raw, nil, &isSeekable, &start, &end)
    guard isSeekable != 0, start >= 0 else { return nil }
    let first = ClockTime(nanoseconds: UInt64(start))
    return first..<max(first, ClockTime(nanoseconds: end < 0 ? .max : UInt64(end)))
  }

  /// How a seek is carried out (`GstSeekFlags`).
  public struct SeekOptions: OptionSet, Sendable {
    /// `GstSeekFlags`.
    public let rawValue: UInt32
    /// Options out of `GstSeekFlags`.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    init(_ flags: GstSeekFlags) { rawValue = flags.rawValue }

    /// Throw away what is on its way, so that the seek is quick. Without, what is on its way is played first.
    public static var flush: Self { Self(GST_SEEK_FLAG_FLUSH) }
    /// To exactly this time, decoding what comes before it.
    public static var accurate: Self { Self(GST_SEEK_FLAG_ACCURATE) }
    /// To a random access point: the one before, unless `after` or `nearest` is said too.
    public static var keyUnit: Self { Self(GST_SEEK_FLAG_KEY_UNIT) }
    /// To the random access point after.
    public static var after: Self { Self(GST_SEEK_FLAG_SNAP_AFTER) }
    /// To the random access point that is nearest.
    public static var nearest: Self { Self(GST_SEEK_FLAG_SNAP_NEAREST) }
    /// Say `segmentDone` at the end instead of ending the stream.
    public static var segment: Self { Self(GST_SEEK_FLAG_SEGMENT) }
    /// Only random access points are shown.
    public static var keyUnitsOnly: Self { Self(GST_SEEK_FLAG_TRICKMODE_KEY_UNITS) }
  }

  /// Goes on from another place, and perhaps at another speed.
  ///
  /// Returns when the sinks have what comes from there (with `flush`). The pipeline must have prerolled, or be playing.
  /// - Parameters:
  ///   - time: in stream time.
  ///   - end: where to stop, `nil` for the end of the stream.
  ///   - rate: speed; below 0 backwards, from `end` to `time`.
  ///   - options: how exactly, and what becomes of the data that is on its way.
  /// - Throws: `notSeekable`, `element`, `stopped` or `cancelled`.
  public func seek(
    to time: ClockTime, until end: ClockTime? = nil, rate: Double = 1, _ options: SeekOptions = [.flush, .accurate]
  ) async throws(PipelineError) {
    guard rate != 0, rate.isFinite else { throw .notSeekable }
    let start = gint64(clamping: time.nanoseconds)
    let stop = end.map { gint64(clamping: $0.nanoseconds) }
    let number = gst_util_seqnum_next()
    let isFlushing = options.contains(.flush)
    // In this order: an end that comes between the two is one that the seek takes back.
    if isFlushing { hub.beginSeek(number) }
    hub.resume()
    let worked = await onOtherThread { [reference] in
      let event = unsafe gst_event_new_seek(
        rate, GST_FORMAT_TIME, GstSeekFlags(rawValue: options.rawValue), GST_SEEK_TYPE_SET, start,
        stop == nil ? (rate > 0 ? GST_SEEK_TYPE_NONE : GST_SEEK_TYPE_SET) : GST_SEEK_TYPE_SET, stop ?? -1)
      unsafe gst_event_set_seqnum(event, number)
      return unsafe gst_element_send_event(reference.element, event) != 0
    }
    if isFlushing { hub.endSeek(number) }
    guard worked else { throw .notSeekable }
    if options.contains(.flush) { try await settle() }
  }

  /// Shows the next picture of a paused pipeline.
  ///
  /// Returns when the sinks have it.
  /// - Throws: `notSeekable` when no sink can step, `element`, `stopped` or `cancelled`.
  public func step() async throws(PipelineError) {
    let worked = await onOtherThread { [reference] in
      unsafe gst_element_send_event(reference.element, gst_event_new_step(GST_FORMAT_BUFFERS, 1, 1, 1, 0)) != 0
    }
    guard worked else { throw .notSeekable }
    try await settle()
  }
}
