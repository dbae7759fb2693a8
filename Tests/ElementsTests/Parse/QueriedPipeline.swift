// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import HarnessSupport
import Testing

/// A pipeline that is asked how long its stream lasts and where it is.
@safe final class QueriedPipeline {
  private let raw: UnsafeMutablePointer<GstElement>

  /// The most time that a wait takes.
  private static let patience: GstClockTime = 60_000_000_000

  /// Plays `elements`, as on a gst-launch-1.0 line, until the first buffer is at the sink.
  init(_ elements: String) throws {
    _ = try Harness.parse()
    unsafe raw = try #require(gst_parse_launch("\(elements) ! fakesink name=sink sync=false", nil))
    unsafe gst_element_set_state(raw, GST_STATE_PAUSED)
    try #require(unsafe gst_element_get_state(raw, nil, nil, Self.patience) == GST_STATE_CHANGE_SUCCESS)
  }

  deinit {
    unsafe gst_element_set_state(raw, GST_STATE_NULL)
    unsafe gst_object_unref(raw)
  }

  /// Plays to the end. Returns the number of messages that the duration has changed.
  func finish() throws -> Int {
    unsafe gst_element_set_state(raw, GST_STATE_PLAYING)
    let bus = try unsafe #require(gst_element_get_bus(raw))
    defer { unsafe gst_object_unref(bus) }
    let kinds = GstMessageType(
      rawValue: GST_MESSAGE_EOS.rawValue | GST_MESSAGE_ERROR.rawValue | GST_MESSAGE_DURATION_CHANGED.rawValue)
    var changes = 0
    while true {
      let message = try unsafe #require(gst_bus_timed_pop_filtered(bus, Self.patience, kinds))
      defer { unsafe gst_message_unref(message) }
      let type = unsafe message.pointee.type
      if type == GST_MESSAGE_DURATION_CHANGED {
        changes += 1
      } else {
        try #require(type == GST_MESSAGE_EOS)
        return changes
      }
    }
  }

  /// Seconds that the stream lasts; nil when unknown.
  var duration: Double? {
    var result: gint64 = -1
    guard unsafe gst_element_query_duration(raw, GST_FORMAT_TIME, &result) != 0, result >= 0 else { return nil }
    return Double(result) / 1e9
  }

  /// Seconds from the start of the stream; nil when unknown.
  var position: Double? {
    var result: gint64 = -1
    guard unsafe gst_element_query_position(raw, GST_FORMAT_TIME, &result) != 0, result >= 0 else { return nil }
    return Double(result) / 1e9
  }

  /// The range in seconds in which the stream can be sought; nil where it cannot.
  var seekableEnd: Double? {
    let query = unsafe gst_query_new_seeking(GST_FORMAT_TIME)
    defer { unsafe gst_query_unref(query) }
    var (isSeekable, end): (gboolean, gint64) = (0, -1)
    guard unsafe gst_element_query(raw, query) != 0 else { return nil }
    unsafe gst_query_parse_seeking(query, nil, &isSeekable, nil, &end)
    return isSeekable != 0 && end >= 0 ? Double(end) / 1e9 : nil
  }

  /// The position in bytes at a time in seconds; nil when unknown.
  func bytes(at time: Double) -> Int? {
    var result: gint64 = -1
    let isKnown = unsafe gst_element_query_convert(
      raw, GST_FORMAT_TIME, gint64(time * 1e9), GST_FORMAT_BYTES, &result)
    return isKnown != 0 ? Int(result) : nil
  }

  /// An unsigned tag of the stream at the sink; nil when there is none.
  func tag(_ name: String) throws -> UInt32? {
    let bin = unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstBin.self)
    let sink = try unsafe #require(gst_bin_get_by_name(bin, "sink"))
    defer { unsafe gst_object_unref(sink) }
    let pad = try unsafe #require(gst_element_get_static_pad(sink, "sink"))
    defer { unsafe gst_object_unref(pad) }
    guard let event = unsafe gst_pad_get_sticky_event(pad, GST_EVENT_TAG, 0) else { return nil }
    defer { unsafe gst_event_unref(event) }
    var tags: UnsafeMutablePointer<GstTagList>?
    unsafe gst_event_parse_tag(event, &tags)
    var value: guint = 0
    guard let tags = unsafe tags, unsafe gst_tag_list_get_uint(tags, name, &value) != 0 else { return nil }
    return UInt32(value)
  }
}
