// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import HarnessSupport

/// A pipeline whose last element is named `sink`, and the stream times and fingerprints of the buffers that reach it.
@safe final class PlayedPipeline {
  private let raw: UnsafeMutablePointer<GstElement>
  private let times = Times()

  private final class Times: Sendable {
    let values = Locked<[UInt64]>([])
    let fingerprints = Locked<[Int]>([])
  }

  /// The most time that a wait takes.
  private static let patience: GstClockTime = 60_000_000_000

  init(_ description: String) throws {
    Harness.initialise()
    guard Registration.succeeded,
      let pipeline = unsafe gst_parse_launch(DecoderIsolation.described(description), nil)
    else {
      throw Harness.Failure.noSuchElement
    }
    unsafe raw = unsafe pipeline
    let bin = unsafe UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstBin.self)
    guard let sink = unsafe gst_bin_get_by_name(bin, "sink") else { throw Harness.Failure.noSuchElement }
    defer { unsafe gst_object_unref(sink) }
    guard let pad = unsafe gst_element_get_static_pad(sink, "sink") else { throw Harness.Failure.noSuchElement }
    defer { unsafe gst_object_unref(pad) }
    unsafe gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_BUFFER,
      { pad, info, data in
        guard let data = unsafe data, let buffer = unsafe gst_pad_probe_info_get_buffer(info),
          let event = unsafe gst_pad_get_sticky_event(pad, GST_EVENT_SEGMENT, 0)
        else { return GST_PAD_PROBE_OK }
        defer { unsafe gst_event_unref(event) }
        var segment = GstSegment()
        unsafe gst_event_copy_segment(event, &segment)
        let times = unsafe Unmanaged<Times>.fromOpaque(data).takeUnretainedValue()
        // Timestamps of an MP4 file with B pictures begin later than its first picture is shown.
        let time = unsafe gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, guint64(buffer.pointee.pts))
        times.values.withLock { $0.append(UInt64(time)) }
        var map = unsafe GstMapInfo()
        guard unsafe gst_buffer_map(buffer, &map, GST_MAP_READ) != 0 else { return GST_PAD_PROBE_OK }
        var hasher = Hasher()
        unsafe hasher.combine(bytes: UnsafeRawBufferPointer(start: map.data, count: Int(map.size)))
        unsafe gst_buffer_unmap(buffer, &map)
        let fingerprint = hasher.finalize()
        times.fingerprints.withLock { $0.append(fingerprint) }
        return GST_PAD_PROBE_OK
      }, Unmanaged.passUnretained(times).toOpaque(), nil)
  }

  deinit {
    unsafe gst_element_set_state(raw, GST_STATE_NULL)
    unsafe gst_object_unref(raw)
  }

  /// Goes to a state and waits until it is reached.
  func go(to state: GstState) -> Bool {
    guard unsafe gst_element_set_state(raw, state) != GST_STATE_CHANGE_FAILURE else { return false }
    return unsafe gst_element_get_state(raw, nil, nil, Self.patience) == GST_STATE_CHANGE_SUCCESS
  }

  /// Goes to a state without a wait.
  func begin(_ state: GstState) { unsafe gst_element_set_state(raw, state) }

  /// Whether there is an error message.
  var hasFailed: Bool {
    guard let bus = unsafe gst_element_get_bus(raw) else { return true }
    defer { unsafe gst_object_unref(bus) }
    guard let message = unsafe gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR) else { return false }
    unsafe gst_message_unref(message)
    return true
  }

  /// The caps that flow into the sink; "" before there are any.
  var sinkCaps: String {
    let bin = unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstBin.self)
    guard let sink = unsafe gst_bin_get_by_name(bin, "sink") else { return "" }
    defer { unsafe gst_object_unref(sink) }
    guard let pad = unsafe gst_element_get_static_pad(sink, "sink") else { return "" }
    defer { unsafe gst_object_unref(pad) }
    guard let caps = unsafe gst_pad_get_current_caps(pad) else { return "" }
    return unsafe Caps(owning: caps).description
  }

  /// Seeks; times in nanoseconds.
  func seek(rate: Double = 1, _ flags: GstSeekFlags..., from start: UInt64, to stop: UInt64) -> Bool {
    let all = GstSeekFlags(rawValue: flags.reduce(0) { $0 | $1.rawValue })
    return unsafe gst_element_seek(
      raw, rate, GST_FORMAT_TIME, all, GST_SEEK_TYPE_SET, gint64(start), GST_SEEK_TYPE_SET, gint64(stop)) != 0
  }

  /// Waits for a message of this type; false when an error comes, or nothing.
  func waits(for type: GstMessageType) -> Bool {
    guard let bus = unsafe gst_element_get_bus(raw) else { return false }
    defer { unsafe gst_object_unref(bus) }
    let wanted = GstMessageType(rawValue: type.rawValue | GST_MESSAGE_ERROR.rawValue)
    guard let message = unsafe gst_bus_timed_pop_filtered(bus, Self.patience, wanted) else { return false }
    defer { unsafe gst_message_unref(message) }
    return unsafe message.pointee.type == type
  }

  /// The numbers of the frames that have reached the sink since the last call, 25 a second.
  func takeFrameNumbers() -> [Int] {
    let taken = times.values.withLock { values in
      defer { values = [] }
      return values
    }
    return taken.map { Int($0 / Clip.frameDuration.nanoseconds) }
  }

  /// Hashes of the samples that have reached the sink since the last call.
  func takeFingerprints() -> [Int] {
    times.fingerprints.withLock { values in
      defer { values = [] }
      return values
    }
  }
}
