// SPDX-License-Identifier: MPL-2.0
public import CGStreamer
public import CGStreamerCheck
public import GStreamer
import Glibc

/// An element on the test bench: gst-check's `GstHarness` with Swift ownership.
@safe public final class Harness {
  /// The library's own.
  @unsafe public let raw: UnsafeMutablePointer<GstHarness>

  /// What went wrong with a test bench.
  public enum Failure: Error, Hashable {
    /// The line names an element that is not registered, or cannot be read.
    case noSuchElement
    /// Data did not flow, by its `GstFlowReturn`.
    case flow(Int32)
    /// Nothing has come out.
    case noBuffer
    /// No caps have come out.
    case noCaps
  }

  /// Prepares GStreamer, with warnings of its own as fatal errors: no test may cause one.
  public static func initialise() {
    struct Once {
      static let done: Void = {
        gst_init(nil, nil)
        g_log_set_always_fatal(
          GLogLevelFlags(
            rawValue: G_LOG_LEVEL_CRITICAL.rawValue | G_LOG_LEVEL_WARNING.rawValue | G_LOG_LEVEL_ERROR.rawValue))
        // GStreamer's tracers say what they found when it ends.
        if unsafe g_getenv("GST_TRACERS") != nil { atexit { gst_deinit() } }
      }()
    }
    Once.done
  }

  /// An element as written on a gst-launch-1.0 line: `name property=value …`, or several with `!` between.
  ///
  /// A source has no sink pad, a sink no source pad: what the element has not stays unlinked.
  /// - Parameters:
  ///   - description: the line.
  ///   - sink: the pad that input goes into, or the template of one to ask for, such as `sink_%u`.
  ///   - source: the pad that output comes from, or the template of one to ask for.
  /// - Throws: `Failure.noSuchElement`.
  public init(_ description: String, sink: String = "sink", source: String = "src") throws {
    Self.initialise()
    let isChain = description.contains("!")
    let element =
      unsafe isChain
      ? gst_parse_bin_from_description(description, 1, nil) : gst_parse_launch(description, nil)
    guard let element = unsafe element else { throw Failure.noSuchElement }
    // gst_parse_launch's one element comes floating; the harness takes a reference of its own.
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
    // A message on the bus holds the element that holds the bus: none may wait there, or come while the element stops.
    if let bus = unsafe gst_element_get_bus(element) {
      unsafe gst_bus_set_flushing(bus, 1)
      unsafe gst_object_unref(bus)
    }
    unsafe gst_harness_teardown(raw)
  }

  /// The element under test.
  public var element: UnsafeMutablePointer<GstElement> { unsafe raw.pointee.element }

  /// The caps that flow into the element, as text.
  public func setInputCaps(_ caps: String) { unsafe gst_harness_set_src_caps_str(raw, caps) }
  /// The caps that flow into the element.
  public func setInputCaps(_ caps: consuming Caps) { unsafe gst_harness_set_src_caps(raw, caps.take()) }

  /// The caps that downstream accepts.
  public func setOutputCaps(_ caps: String) { unsafe gst_harness_set_sink_caps_str(raw, caps) }

  /// Sets properties of the element, as `name` and text.
  public func set(_ property: String, _ value: String) {
    unsafe gst_util_set_object_arg(
      UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self), property, value)
  }

  /// A property of the element as text, in GStreamer's own form; "" when there is none of that name.
  public func text(_ property: String) -> String {
    let object = unsafe UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self)
    var value = GValue()
    unsafe g_object_get_property(object, property, &value)
    defer { unsafe g_value_unset(&value) }
    guard let text = unsafe gst_value_serialize(&value) else { return "" }
    defer { unsafe g_free(text) }
    return unsafe String(cString: text)
  }

  /// Starts the element (`PLAYING`). One that has a sink pad plays from the beginning, a source when it is told.
  public func play() { unsafe gst_harness_play(raw) }

  /// Pushes a buffer and answers the flow: 0 is OK.
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

  /// Pushes an event downstream; answers whether it was handled.
  @discardableResult
  public func push(_ event: consuming Event) -> Bool { unsafe gst_harness_push_event(raw, event.take()) != 0 }

  /// Pushes an event upstream from behind the element.
  @discardableResult
  public func pushUpstream(_ event: consuming Event) -> Bool {
    unsafe gst_harness_push_upstream_event(raw, event.take()) != 0
  }

  /// Ends the input.
  @discardableResult
  public func endOfStream() -> Bool { push(Event.endOfStream()) }

  /// Flushes as a seek does: FLUSH_START, FLUSH_STOP and a fresh time segment.
  public func flush() {
    push(unsafe Event(owning: gst_event_new_flush_start()))
    push(unsafe Event(owning: gst_event_new_flush_stop(1)))
    var segment = GstSegment()
    unsafe gst_segment_init(&segment, GST_FORMAT_TIME)
    push(unsafe Event(owning: gst_event_new_segment(&segment)))
  }

  /// Buffers that have come out since the start, taken or not.
  public var received: Int { unsafe Int(gst_harness_buffers_received(raw)) }
  /// Buffers that are out and not yet taken.
  public var waiting: Int { unsafe Int(gst_harness_buffers_in_queue(raw)) }

  /// Takes the next output buffer, waiting up to 60 seconds.
  public func pull() throws -> Buffer {
    guard let buffer = unsafe gst_harness_pull(raw) else { throw Failure.noBuffer }
    return unsafe Buffer(owning: buffer)
  }

  /// Takes the next output buffer when there is one.
  public func tryPull() -> Buffer? {
    guard let buffer = unsafe gst_harness_try_pull(raw) else { return nil }
    return unsafe Buffer(owning: buffer)
  }

  /// Takes the next output buffer's bytes, waiting up to 60 seconds.
  public func pullBytes() throws -> [UInt8] { try pull().copiedBytes() }

  /// Takes the next event that came out, if any.
  public func tryPullEvent() -> Event? {
    guard let event = unsafe gst_harness_try_pull_event(raw) else { return nil }
    return unsafe Event(owning: event)
  }

  /// Takes the next event that went upstream, if any.
  public func tryPullUpstreamEvent() -> Event? {
    guard let event = unsafe gst_harness_try_pull_upstream_event(raw) else { return nil }
    return unsafe Event(owning: event)
  }

  /// The caps that flow out of the element.
  ///
  /// (A method that throws rather than an optional: Swift 6.3.1 crashes on optional chaining through values that
  /// cannot be copied.)
  public func outputCaps() throws -> Caps {
    guard let caps = unsafe gst_pad_get_current_caps(raw.pointee.sinkpad) else { throw Failure.noCaps }
    return unsafe Caps(owning: caps)
  }

  /// What the element's sink pad says it takes.
  public func querySinkCaps(filter: borrowing Caps?) -> Caps {
    let filterCaps: UnsafeMutablePointer<GstCaps>?
    switch filter {
    case .some(let filter): unsafe filterCaps = filter.raw
    case .none: unsafe filterCaps = nil
    }
    return unsafe Caps(owning: gst_pad_peer_query_caps(raw.pointee.srcpad, filterCaps))
  }

  /// What the element's source pad says it can give.
  public func querySourceCaps() -> Caps { unsafe Caps(owning: gst_pad_peer_query_caps(raw.pointee.sinkpad, nil)) }

  /// Whether the element's sink pad says that it takes these caps.
  public func sinkAccepts(_ caps: borrowing Caps) -> Bool {
    unsafe gst_pad_peer_query_accept_caps(raw.pointee.srcpad, caps.raw) != 0
  }

  /// The latency that the element adds.
  public func queryLatency() -> ClockTime? { unsafe ClockTime(raw: UInt64(gst_harness_query_latency(raw))) }

  /// Says that upstream has this latency.
  public func setUpstreamLatency(_ latency: ClockTime) {
    unsafe gst_harness_set_upstream_latency(raw, GstClockTime(latency.nanoseconds))
  }

  /// Errors and warnings on the bus since the last call, as "error: …" and "warning: …".
  ///
  /// A harness has no bus of its own: attach one with `collectMessages` first.
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
