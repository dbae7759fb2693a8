// SPDX-License-Identifier: MPL-2.0
public import CGStreamer
public import CGStreamerCheck
public import GStreamer
import Glibc

/// An element in gst-check's `GstHarness`, with Swift ownership.
@safe public final class Harness {
  /// The C structure.
  @unsafe public let raw: UnsafeMutablePointer<GstHarness>

  /// Errors of a harness.
  public enum Failure: Error, Hashable {
    /// The description cannot be parsed, or names an element that is not registered.
    case noSuchElement
    /// A push failed with this `GstFlowReturn`.
    case flow(Int32)
    /// There is no output buffer.
    case noBuffer
    /// There are no output caps.
    case noCaps
  }

  /// Initialises GStreamer, with warnings of GLib and GStreamer as fatal errors: no test may cause one.
  public static func initialise() {
    struct Once {
      static let done: Void = {
        Runtime.initialise()
        g_log_set_always_fatal(
          GLogLevelFlags(
            rawValue: G_LOG_LEVEL_CRITICAL.rawValue | G_LOG_LEVEL_WARNING.rawValue | G_LOG_LEVEL_ERROR.rawValue))
        // GStreamer's tracers report in gst_deinit.
        if unsafe g_getenv("GST_TRACERS") != nil { atexit { gst_deinit() } }
      }()
    }
    Once.done
  }

  /// Makes an element as on a gst-launch-1.0 line: `name property=value …`, or several with `!` between.
  ///
  /// A pad that the element does not have, such as a source's sink pad, is not linked.
  /// - Parameters:
  ///   - description: the line.
  ///   - sink: the pad for input, or the template of a request pad, such as `sink_%u`.
  ///   - source: the pad for output, or the template of a request pad.
  /// - Throws: `Failure.noSuchElement`.
  public init(_ description: String, sink: String = "sink", source: String = "src") throws {
    Self.initialise()
    let isChain = description.contains("!")
    let description = DecoderIsolation.described(description)
    let element =
      unsafe isChain
      ? gst_parse_bin_from_description(description, 1, nil) : gst_parse_launch(description, nil)
    guard let element = unsafe element else { throw Failure.noSuchElement }
    // gst_parse_launch returns a floating reference; the harness takes one of its own.
    unsafe gst_object_ref_sink(element)
    defer { unsafe gst_object_unref(element) }
    func existing(_ pad: String) -> String? {
      if let found = unsafe gst_element_get_static_pad(element, pad) {
        unsafe gst_object_unref(found)
        return pad
      }
      return unsafe gst_element_get_pad_template(element, pad) == nil ? nil : pad
    }
    guard let raw = unsafe gst_harness_new_with_element(element, existing(sink), existing(source)) else {
      throw Failure.noSuchElement
    }
    unsafe self.raw = raw
  }

  deinit {
    // A message on the bus refers to the element, which refers to the bus: a cycle, unless the bus is flushing.
    if let bus = unsafe gst_element_get_bus(element) {
      unsafe gst_bus_set_flushing(bus, 1)
      unsafe gst_object_unref(bus)
    }
    unsafe gst_harness_teardown(raw)
  }

  /// The element under test.
  public var element: UnsafeMutablePointer<GstElement> { unsafe raw.pointee.element }

  /// Sets the caps of the input, as text.
  public func setInputCaps(_ caps: String) { unsafe gst_harness_set_src_caps_str(raw, caps) }
  /// Sets the caps of the input.
  public func setInputCaps(_ caps: consuming Caps) { unsafe gst_harness_set_src_caps(raw, caps.take()) }

  /// Sets the caps that downstream accepts.
  public func setOutputCaps(_ caps: String) { unsafe gst_harness_set_sink_caps_str(raw, caps) }

  /// Sets a property of the element, to a value in GStreamer's text form.
  public func set(_ property: String, _ value: String) {
    unsafe gst_util_set_object_arg(
      UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self), property, value)
  }

  /// A property of the element in GStreamer's text form; "" when it cannot be serialised.
  public func text(_ property: String) -> String {
    let object = unsafe UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self)
    var value = GValue()
    unsafe g_object_get_property(object, property, &value)
    defer { unsafe g_value_unset(&value) }
    guard let text = unsafe gst_value_serialize(&value) else { return "" }
    defer { unsafe g_free(text) }
    return unsafe String(cString: text)
  }

  /// Sets the element to `PLAYING`. Needed for sources only; an element with a sink pad plays from the beginning.
  public func play() { unsafe gst_harness_play(raw) }

  /// Pushes a buffer and returns the `GstFlowReturn`: 0 is OK.
  @discardableResult
  public func push(_ buffer: consuming Buffer) -> Int32 { unsafe gst_harness_push(raw, buffer.take()).rawValue }

  /// Pushes bytes with timestamps.
  @discardableResult
  public func push(_ bytes: [UInt8], pts: ClockTime? = nil, dts: ClockTime? = nil, duration: ClockTime? = nil) -> Int32
  {
    guard var buffer = Buffer(copying: bytes.span) else { return FlowError.error.rawValue }
    buffer.pts = pts
    buffer.dts = dts
    buffer.duration = duration
    return push(buffer)
  }

  /// Pushes an event downstream; returns whether it was handled.
  @discardableResult
  public func push(_ event: consuming Event) -> Bool { unsafe gst_harness_push_event(raw, event.take()) != 0 }

  /// Pushes an event upstream into the element's source pad; returns whether it was handled.
  @discardableResult
  public func pushUpstream(_ event: consuming Event) -> Bool {
    unsafe gst_harness_push_upstream_event(raw, event.take()) != 0
  }

  /// Pushes the end of the stream; returns whether it was handled.
  @discardableResult
  public func endOfStream() -> Bool { push(Event.endOfStream()) }

  /// Flushes as a seek does: FLUSH_START, FLUSH_STOP and a new time segment.
  public func flush() {
    push(unsafe Event(owning: gst_event_new_flush_start()))
    push(unsafe Event(owning: gst_event_new_flush_stop(1)))
    var segment = GstSegment()
    unsafe gst_segment_init(&segment, GST_FORMAT_TIME)
    push(unsafe Event(owning: gst_event_new_segment(&segment)))
  }

  /// The number of output buffers since the start, pulled or not.
  public var received: Int { unsafe Int(gst_harness_buffers_received(raw)) }
  /// The number of output buffers that have not been pulled.
  public var waiting: Int { unsafe Int(gst_harness_buffers_in_queue(raw)) }

  /// Pulls the next output buffer, and waits up to 60 seconds for it.
  public func pull() throws -> Buffer {
    guard let buffer = unsafe gst_harness_pull(raw) else { throw Failure.noBuffer }
    return unsafe Buffer(owning: buffer)
  }

  /// Pulls the next output buffer; `nil` when there is none.
  public func tryPull() -> Buffer? {
    guard let buffer = unsafe gst_harness_try_pull(raw) else { return nil }
    return unsafe Buffer(owning: buffer)
  }

  /// Pulls the next output buffer's bytes, and waits up to 60 seconds for it.
  public func pullBytes() throws -> [UInt8] { try pull().copiedBytes() }

  /// Takes the next event that went downstream; `nil` when there is none.
  public func tryPullEvent() -> Event? {
    guard let event = unsafe gst_harness_try_pull_event(raw) else { return nil }
    return unsafe Event(owning: event)
  }

  /// Takes the next event that went upstream; `nil` when there is none.
  public func tryPullUpstreamEvent() -> Event? {
    guard let event = unsafe gst_harness_try_pull_upstream_event(raw) else { return nil }
    return unsafe Event(owning: event)
  }

  /// The caps of the output.
  ///
  /// (A method that throws, not an optional: Swift 6.3.1 crashes on optional chaining through values that
  /// cannot be copied.)
  public func outputCaps() throws -> Caps {
    guard let caps = unsafe gst_pad_get_current_caps(raw.pointee.sinkpad) else { throw Failure.noCaps }
    return unsafe Caps(owning: caps)
  }

  /// The element's answer to a caps query at its sink pad.
  public func querySinkCaps(filter: borrowing Caps?) -> Caps {
    let filterCaps: UnsafeMutablePointer<GstCaps>?
    switch filter {
    case .some(let filter): unsafe filterCaps = filter.raw
    case .none: unsafe filterCaps = nil
    }
    return unsafe Caps(owning: gst_pad_peer_query_caps(raw.pointee.srcpad, filterCaps))
  }

  /// The element's answer to a caps query at its source pad.
  public func querySourceCaps() -> Caps { unsafe Caps(owning: gst_pad_peer_query_caps(raw.pointee.sinkpad, nil)) }

  /// The element's answer to an accept-caps query at its sink pad.
  public func sinkAccepts(_ caps: borrowing Caps) -> Bool {
    unsafe gst_pad_peer_query_accept_caps(raw.pointee.srcpad, caps.raw) != 0
  }

  /// The latency by the element's answer to a latency query.
  public func queryLatency() -> ClockTime? { unsafe ClockTime(raw: UInt64(gst_harness_query_latency(raw))) }

  /// Sets the latency of upstream.
  public func setUpstreamLatency(_ latency: ClockTime) {
    unsafe gst_harness_set_upstream_latency(raw, GstClockTime(latency.nanoseconds))
  }

  /// Takes errors, warnings and element messages from the bus, as "error: …", "warning: …" and "element: …".
  ///
  /// A harness has no bus: call `collectMessages` first.
  public func takeMessages() -> [String] {
    guard let bus = unsafe gst_element_get_bus(element) else { return [] }
    defer { unsafe gst_object_unref(bus) }
    var result: [String] = []
    while let message = unsafe gst_bus_pop(bus) {
      defer { unsafe gst_message_unref(message) }
      var error: UnsafeMutablePointer<GError>?
      switch unsafe message.pointee.type {
      case GST_MESSAGE_ERROR:
        unsafe gst_message_parse_error(message, &error, nil)
        unsafe result.append("error: " + String(cString: error!.pointee.message))
      case GST_MESSAGE_WARNING:
        unsafe gst_message_parse_warning(message, &error, nil)
        unsafe result.append("warning: " + String(cString: error!.pointee.message))
      case GST_MESSAGE_ELEMENT:
        let name = unsafe gst_message_get_structure(message).flatMap { unsafe gst_structure_get_name($0) }
        unsafe result.append("element: " + (name.map { unsafe String(cString: $0) } ?? ""))
        continue
      default: continue
      }
      unsafe g_error_free(error)
    }
    return result
  }

  /// Gives the element a bus, for `takeMessages`.
  public func collectMessages() {
    let bus = unsafe gst_bus_new()
    unsafe gst_element_set_bus(element, bus)
    unsafe gst_object_unref(bus)
  }
}
