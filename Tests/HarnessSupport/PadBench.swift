// SPDX-License-Identifier: MPL-2.0
public import CGStreamer
private import Glibc

/// An element between two pads of the test, which runs inside their functions on the calling thread.
///
/// `GstHarness` queues output. Here the test is called inside the push, the event and the query, and may call back into
/// the element from there.
@safe public final class PadBench: @unchecked Sendable {
  /// The functions of the test that the element calls.
  public enum Moment: Sendable {
    /// It pushed a buffer or an event downstream, or sent a query there.
    case buffer, event, query
    /// It pushed an event upstream, or sent a query there.
    case upstreamEvent, upstreamQuery
    /// A message was posted on its bus.
    case message
  }

  /// An output buffer.
  public struct Output: Equatable, Sendable {
    /// In nanoseconds; `UInt64.max` for none.
    public var pts: UInt64
    /// In nanoseconds; `UInt64.max` for none.
    public var dts: UInt64
    /// Whether it has the flag CORRUPTED.
    public var isCorrupt: Bool
    /// The content.
    public var bytes: [UInt8]
  }

  /// The element under test.
  @unsafe public let element: UnsafeMutablePointer<GstElement>
  /// The pad linked to its sink pad.
  @unsafe public let source: UnsafeMutablePointer<GstPad>
  /// The pad linked to its source pad.
  @unsafe public let sink: UnsafeMutablePointer<GstPad>
  private let whenGiven: (@Sendable (PadBench, Moment) -> Void)?
  /// Accessed on the pushing thread only.
  private var recorded: [Output] = []
  private let records: Bool

  /// - Parameters:
  ///   - description: the element as on a gst-launch-1.0 line.
  ///   - output: the caps that downstream accepts.
  ///   - records: whether `output` is recorded.
  ///   - whenGiven: called inside every push, event, query and message.
  public init(
    _ description: String, output: String, records: Bool = false,
    whenGiven: (@Sendable (PadBench, Moment) -> Void)? = nil
  ) throws {
    Harness.initialise()
    guard let element = unsafe gst_parse_launch(description, nil),
      let source = unsafe Self.pad("source", GST_PAD_SRC, "ANY"),
      let sink = unsafe Self.pad("sink", GST_PAD_SINK, output)
    else { throw Harness.Failure.noSuchElement }
    unsafe gst_object_ref_sink(element)
    unsafe gst_object_ref_sink(source)
    unsafe gst_object_ref_sink(sink)
    unsafe (self.element, self.source, self.sink) = (element, source, sink)
    (self.records, self.whenGiven) = (records, whenGiven)
    let this = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe setFunctions(this)
    guard let front = unsafe gst_element_get_static_pad(element, "sink"),
      let back = unsafe gst_element_get_static_pad(element, "src")
    else { throw Harness.Failure.noSuchElement }
    defer {
      unsafe gst_object_unref(front)
      unsafe gst_object_unref(back)
    }
    guard unsafe gst_pad_link(source, front) == GST_PAD_LINK_OK, unsafe gst_pad_link(back, sink) == GST_PAD_LINK_OK
    else { throw Harness.Failure.noSuchElement }
    unsafe gst_pad_set_active(sink, 1)
    unsafe gst_pad_set_active(source, 1)
    let bus = unsafe gst_bus_new()
    unsafe gst_bus_set_sync_handler(
      bus,
      { _, message, data in
        if let data = unsafe data {
          let bench = unsafe Unmanaged<PadBench>.fromOpaque(data).takeUnretainedValue()
          bench.whenGiven?(bench, .message)
        }
        unsafe gst_message_unref(message)
        return GST_BUS_DROP
      }, this, nil)
    unsafe gst_element_set_bus(element, bus)
    unsafe gst_object_unref(bus)
  }

  /// A pad that answers caps queries from its template. From the caps of the moment, GStreamer does so without a
  /// reference, while another thread may replace them.
  @unsafe private static func pad(
    _ name: String, _ direction: GstPadDirection, _ caps: String
  ) -> UnsafeMutablePointer<GstPad>? {
    guard let caps = unsafe gst_caps_from_string(caps) else { return nil }
    defer { unsafe gst_caps_unref(caps) }
    guard let template = unsafe gst_pad_template_new(name, direction, GST_PAD_ALWAYS, caps) else { return nil }
    defer { unsafe gst_object_unref(template) }
    return unsafe gst_pad_new_from_template(template, name)
  }

  deinit {
    unsafe gst_element_set_state(element, GST_STATE_NULL)
    unsafe gst_element_set_bus(element, nil)
    unsafe gst_pad_set_active(source, 0)
    unsafe gst_pad_set_active(sink, 0)
    unsafe gst_object_unref(source)
    unsafe gst_object_unref(sink)
    unsafe gst_object_unref(element)
  }

  @unsafe private func setFunctions(_ this: UnsafeMutableRawPointer) {
    unsafe gst_pad_set_chain_function_full(
      sink,
      { pad, _, buffer in
        guard let buffer = unsafe buffer else { return GST_FLOW_ERROR }
        if let bench = unsafe PadBench.of(pad?.pointee.chaindata) {
          unsafe bench.record(buffer)
          bench.whenGiven?(bench, .buffer)
        }
        unsafe gst_buffer_unref(buffer)
        return GST_FLOW_OK
      }, this, nil)
    unsafe gst_pad_set_event_function_full(
      sink,
      { pad, _, event in
        if let bench = unsafe PadBench.of(pad?.pointee.eventdata) { bench.whenGiven?(bench, .event) }
        unsafe gst_event_unref(event)
        return 1
      }, this, nil)
    unsafe gst_pad_set_query_function_full(
      sink,
      { pad, parent, query in
        if let bench = unsafe PadBench.of(pad?.pointee.querydata) { bench.whenGiven?(bench, .query) }
        return unsafe gst_pad_query_default(pad, parent, query)
      }, this, nil)
    unsafe gst_pad_set_event_function_full(
      source,
      { pad, _, event in
        if let bench = unsafe PadBench.of(pad?.pointee.eventdata) { bench.whenGiven?(bench, .upstreamEvent) }
        unsafe gst_event_unref(event)
        return 0
      }, this, nil)
    unsafe gst_pad_set_query_function_full(
      source,
      { pad, parent, query in
        if let bench = unsafe PadBench.of(pad?.pointee.querydata) { bench.whenGiven?(bench, .upstreamQuery) }
        return unsafe gst_pad_query_default(pad, parent, query)
      }, this, nil)
  }

  @unsafe private static func of(_ data: UnsafeMutableRawPointer?) -> PadBench? {
    unsafe data.map { unsafe Unmanaged<PadBench>.fromOpaque($0).takeUnretainedValue() }
  }

  @unsafe private func record(_ buffer: UnsafeMutablePointer<GstBuffer>) {
    guard records else { return }
    let size = unsafe gst_buffer_get_size(buffer)
    var bytes = [UInt8](repeating: 0, count: Int(size))
    unsafe gst_buffer_extract(buffer, 0, &bytes, size)
    let isCorrupt = unsafe buffer.pointee.mini_object.flags & GST_BUFFER_FLAG_CORRUPTED.rawValue != 0
    unsafe recorded.append(
      Output(
        pts: UInt64(buffer.pointee.pts), dts: UInt64(buffer.pointee.dts), isCorrupt: isCorrupt, bytes: bytes))
  }

  // MARK: Input

  /// The output buffers in order. To be read when nothing flows.
  public var output: [Output] { recorded }

  /// Sets the element's state; returns whether that did not fail.
  @discardableResult
  public func go(to state: GstState) -> Bool {
    unsafe gst_element_set_state(element, state) != GST_STATE_CHANGE_FAILURE
  }

  /// Sets a property, by its value in text. Any thread may call it.
  public func setProperty(_ name: String, _ value: String) {
    unsafe gst_util_set_object_arg(
      UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self), name, value)
  }

  /// Pushes stream-start, caps and a time segment.
  public func begin(caps text: String) {
    guard let caps = unsafe gst_caps_from_string(text) else { return }
    defer { unsafe gst_caps_unref(caps) }
    var segment = GstSegment()
    unsafe gst_segment_init(&segment, GST_FORMAT_TIME)
    unsafe gst_pad_push_event(source, gst_event_new_stream_start("bench"))
    unsafe gst_pad_push_event(source, gst_event_new_caps(caps))
    unsafe gst_pad_push_event(source, gst_event_new_segment(&segment))
  }

  /// Pushes a buffer and returns the `GstFlowReturn`: 0 is OK.
  @discardableResult
  public func push(_ bytes: [UInt8], pts: UInt64) -> Int32 {
    guard let buffer = unsafe gst_buffer_new_allocate(nil, gsize(bytes.count), nil) else { return -5 }
    unsafe gst_buffer_fill(buffer, 0, bytes, gsize(bytes.count))
    unsafe buffer.pointee.pts = GstClockTime(pts)
    return unsafe gst_pad_push(source, buffer).rawValue
  }

  /// Pushes the end of the stream.
  public func end() { unsafe _ = gst_pad_push_event(source, gst_event_new_eos()) }

  /// Pushes FLUSH_START and FLUSH_STOP. No other thread may push meanwhile.
  public func flush() {
    unsafe gst_pad_push_event(source, gst_event_new_flush_start())
    unsafe gst_pad_push_event(source, gst_event_new_flush_stop(1))
  }
}
