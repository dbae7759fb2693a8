// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import CGStreamerCheck
import GStreamer

extension Harness {
  /// Makes downstream support `GstVideoMeta`: other strides and offsets than the default.
  public func proposeVideoMeta() {
    unsafe gst_harness_add_propose_allocation_meta(raw, gst_video_meta_api_get_type(), nil)
  }

  /// Sets whether upstream answers latency queries as live. A new harness does.
  public func setLive(_ isLive: Bool) { unsafe gst_harness_set_live(raw, isLive ? 1 : 0) }

  /// Takes all events that have come out, and returns the caps of the caps events.
  public func takeCapsEvents() -> [String] {
    var result: [String] = []
    while let event = tryPullEvent() {
      if event.kind == .caps, let caps = event.caps { result.append(caps.description) }
    }
    return result
  }

  /// Takes the next error or warning from the bus; `nil` without one.
  public func takeFault() -> Fault? {
    guard let bus = unsafe gst_element_get_bus(element) else { return nil }
    defer { unsafe gst_object_unref(bus) }
    while let message = unsafe gst_bus_pop(bus) {
      defer { unsafe gst_message_unref(message) }
      var error: UnsafeMutablePointer<GError>?
      var debug: UnsafeMutablePointer<CChar>?
      var details: UnsafePointer<GstStructure>?
      let isError: Bool
      switch unsafe message.pointee.type {
      case GST_MESSAGE_ERROR:
        unsafe gst_message_parse_error(message, &error, &debug)
        unsafe gst_message_parse_error_details(message, &details)
        isError = true
      case GST_MESSAGE_WARNING:
        unsafe gst_message_parse_warning(message, &error, &debug)
        unsafe gst_message_parse_warning_details(message, &details)
        isError = false
      default: continue
      }
      guard let error = unsafe error else { continue }
      defer {
        unsafe g_error_free(error)
        unsafe g_free(debug)
      }
      let text = unsafe details.flatMap { unsafe gst_structure_to_string($0) }
      defer { unsafe g_free(text) }
      let fault = unsafe Fault(
        isError: isError, domain: String(cString: g_quark_to_string(error.pointee.domain)), code: error.pointee.code,
        message: String(cString: error.pointee.message), debug: debug.map { unsafe String(cString: $0) } ?? "",
        details: text.map { unsafe String(cString: $0) } ?? "")
      // A device that the machine lacks is not the fault of the element under test.
      if DecoderIsolation.isTested, fault.details.contains("incompleteSandbox") { continue }
      return fault
    }
    return nil
  }

  /// An error or warning on the bus.
  public struct Fault: Sendable {
    /// Whether it is an error, not a warning.
    public let isError: Bool
    /// The GError domain.
    public let domain: String
    /// The code in its domain.
    public let code: Int32
    /// The message for users.
    public let message: String
    /// The debug text for developers.
    public let debug: String
    /// The details structure in GStreamer's text form; "" without one.
    public let details: String
  }
}
