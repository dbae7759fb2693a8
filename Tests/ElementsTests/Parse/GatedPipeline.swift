// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import Glibc
import HarnessSupport
import Synchronization
import Testing

/// A pipeline whose sink accepts a number of buffers and blocks the next, as a sink that waits for the clock does.
@safe final class GatedPipeline {
  /// A buffer at the sink.
  struct Arrival: Sendable {
    var content: [UInt8]
    var attributes: Buffer.Attributes
  }

  private struct Gate {
    var allowance: Int
    var isBlocked = false
    var isOver = false
    var arrivals: [Arrival] = []
    var segments: [(start: UInt64, stop: UInt64)] = []
  }

  private final class Shared: Sendable {
    let gate: Mutex<Gate>
    init(_ allowance: Int) { gate = Mutex(Gate(allowance: allowance)) }
  }

  @unsafe private let raw: UnsafeMutablePointer<GstElement>
  private let shared: Shared

  /// Plays `elements`, as on a gst-launch-1.0 line, into a sink that accepts `allowance` buffers.
  init(_ elements: String, admitting allowance: Int) throws {
    Harness.initialise()
    let pipeline = try unsafe #require(gst_parse_launch("\(elements) ! fakesink name=sink sync=false", nil))
    unsafe raw = pipeline
    shared = Shared(allowance)
    let bin = unsafe UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstBin.self)
    let sink = try unsafe #require(gst_bin_get_by_name(bin, "sink"))
    defer { unsafe gst_object_unref(sink) }
    let pad = try unsafe #require(gst_element_get_static_pad(sink, "sink"))
    defer { unsafe gst_object_unref(pad) }
    let events = GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM
    // The pipeline is stopped before the gate goes.
    unsafe gst_pad_add_probe(
      pad, events, { _, info, data in unsafe GatedPipeline.take(event: info, data) },
      Unmanaged.passUnretained(shared).toOpaque(), nil)
    let kinds = GstPadProbeType(rawValue: GST_PAD_PROBE_TYPE_BLOCK.rawValue | GST_PAD_PROBE_TYPE_BUFFER.rawValue)
    unsafe gst_pad_add_probe(
      pad, kinds, { _, info, data in unsafe GatedPipeline.take(buffer: info, data) },
      Unmanaged.passUnretained(shared).toOpaque(), nil)
    unsafe gst_element_set_state(pipeline, GST_STATE_PLAYING)
  }

  deinit {
    unsafe gst_element_set_state(raw, GST_STATE_NULL)
    unsafe gst_object_unref(raw)
  }

  private static func take(
    event info: UnsafeMutablePointer<GstPadProbeInfo>?, _ data: gpointer?
  ) -> GstPadProbeReturn {
    guard let info = unsafe info, let data = unsafe data, let event = unsafe gst_pad_probe_info_get_event(info) else {
      return GST_PAD_PROBE_OK
    }
    let shared = unsafe Unmanaged<Shared>.fromOpaque(data).takeUnretainedValue()
    if unsafe event.pointee.type == GST_EVENT_EOS { shared.gate.withLock { $0.isOver = true } }
    if unsafe event.pointee.type == GST_EVENT_SEGMENT {
      var segment: UnsafePointer<GstSegment>?
      unsafe gst_event_parse_segment(event, &segment)
      if let segment = unsafe segment?.pointee {
        shared.gate.withLock { $0.segments.append((UInt64(segment.start), UInt64(segment.stop))) }
      }
    }
    return GST_PAD_PROBE_OK
  }

  private static func take(
    buffer info: UnsafeMutablePointer<GstPadProbeInfo>?, _ data: gpointer?
  ) -> GstPadProbeReturn {
    guard let info = unsafe info, let data = unsafe data, let raw = unsafe gst_pad_probe_info_get_buffer(info) else {
      return GST_PAD_PROBE_PASS
    }
    let shared = unsafe Unmanaged<Shared>.fromOpaque(data).takeUnretainedValue()
    let buffer = unsafe Buffer(owning: gst_buffer_ref(raw))
    let arrival = Arrival(content: (try? buffer.copiedBytes()) ?? [], attributes: buffer.attributes)
    return shared.gate.withLock { gate in
      guard gate.allowance > 0 else {
        gate.isBlocked = true
        return GST_PAD_PROBE_OK
      }
      gate.allowance -= 1
      gate.arrivals.append(arrival)
      return GST_PAD_PROBE_PASS
    }
  }

  /// Waits until the sink blocks or the stream ends. Returns the buffers and segments since the last call.
  func wait() throws -> (arrivals: [Arrival], segments: [(start: UInt64, stop: UInt64)]) {
    for _ in 0..<60_000 {
      let found = shared.gate.withLock { $0.isBlocked || $0.isOver ? ($0.arrivals, $0.segments) : nil }
      if let found { return found }
      usleep(1000)
    }
    throw Harness.Failure.noBuffer
  }

  /// Flushes and seeks to a time in milliseconds while the sink blocks, and accepts `allowance` buffers after that.
  func seek(to time: Int, rate: Double = 1, admitting allowance: Int) throws {
    shared.gate.withLock { $0 = Gate(allowance: allowance) }
    let flags = GstSeekFlags(rawValue: GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_ACCURATE.rawValue)
    let position = gint64(time) * 1_000_000
    let (start, stop) = rate > 0 ? (position, -1) : (0, position)
    let isDone = unsafe gst_element_seek(
      raw, rate, GST_FORMAT_TIME, flags, GST_SEEK_TYPE_SET, start, GST_SEEK_TYPE_SET, stop)
    try #require(isDone != 0)
  }
}
