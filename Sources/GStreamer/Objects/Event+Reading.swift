// SPDX-License-Identifier: MPL-2.0
import CGStreamer

extension Event {
  /// The request of a seek event.
  public struct Seek: Sendable {
    /// Playback speed; below 0 is reverse.
    public var rate: Double
    /// Whether data in flow is discarded.
    public var isFlushing: Bool
    /// Whether to begin exactly at the start, however long that takes.
    public var isAccurate: Bool
    /// Whether positions are times rather than, say, bytes.
    public var isTime: Bool
    /// The start, in the seek's format; `nil` if the start is not changed or relative to the end.
    public var start: UInt64?
    /// The stop, in the seek's format; `nil` if the stop is not changed or relative to the end.
    public var stop: UInt64?
  }

  /// The request of a seek event; `nil` for other events.
  public var seek: Seek? {
    guard kind == .seek else { return nil }
    var (rate, format, flags) = (1.0, GST_FORMAT_UNDEFINED, GST_SEEK_FLAG_NONE)
    var (startType, stopType) = (GST_SEEK_TYPE_NONE, GST_SEEK_TYPE_NONE)
    var (start, stop): (gint64, gint64) = (0, 0)
    unsafe gst_event_parse_seek(raw, &rate, &format, &flags, &startType, &start, &stopType, &stop)
    return Seek(
      rate: rate, isFlushing: flags.rawValue & GST_SEEK_FLAG_FLUSH.rawValue != 0,
      isAccurate: flags.rawValue & GST_SEEK_FLAG_ACCURATE.rawValue != 0, isTime: format == GST_FORMAT_TIME,
      start: startType == GST_SEEK_TYPE_SET ? UInt64(exactly: start) : nil,
      stop: stopType == GST_SEEK_TYPE_SET ? UInt64(exactly: stop) : nil)
  }

  /// The tags of a tag event; `nil` for other events.
  public var tags: TagList? {
    guard kind == .tag else { return nil }
    var tags: UnsafeMutablePointer<GstTagList>?
    unsafe gst_event_parse_tag(raw, &tags)
    return unsafe TagList.retaining(optional: tags)
  }

  /// The beginning of a gap event's gap, and its duration if known; `nil` for other events.
  public var gap: (start: ClockTime, duration: ClockTime?)? {
    guard kind == .gap else { return nil }
    var (start, duration): (GstClockTime, GstClockTime) = (0, 0)
    unsafe gst_event_parse_gap(raw, &start, &duration)
    return (ClockTime(nanoseconds: UInt64(start)), ClockTime(raw: UInt64(duration)))
  }

  /// The latency of a latency event; `nil` for other events.
  public var latency: ClockTime? {
    guard kind == .latency else { return nil }
    var latency: GstClockTime = 0
    unsafe gst_event_parse_latency(raw, &latency)
    return ClockTime(raw: UInt64(latency))
  }

  /// The stream id of a stream-start event; `nil` for other events.
  public var streamIdentifier: String? {
    guard kind == .streamStart else { return nil }
    var identifier: UnsafePointer<CChar>?
    unsafe gst_event_parse_stream_start(raw, &identifier)
    return unsafe identifier.map { unsafe String(cString: $0) }
  }

  /// An event private to some elements, which recognize it by its structure.
  /// - Parameters:
  ///   - structure: the structure that it is recognized by, with its data.
  ///   - isDownstream: whether it goes downstream, in order among the buffers, or upstream.
  public static func custom(_ structure: consuming Structure, isDownstream: Bool) -> Event {
    unsafe Event(
      owning: gst_event_new_custom(
        isDownstream ? GST_EVENT_CUSTOM_DOWNSTREAM : GST_EVENT_CUSTOM_UPSTREAM, structure.take()))
  }
}
