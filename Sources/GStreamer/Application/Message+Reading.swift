// SPDX-License-Identifier: MPL-2.0
import CGStreamer

extension Message {
  /// Reads a C message without taking a reference.
  @unsafe init(_ message: UnsafeMutablePointer<GstMessage>) {
    let object = unsafe message.pointee.src
    let name = unsafe object.flatMap { unsafe gst_object_get_name($0) }
    defer { unsafe g_free(name) }
    let source = unsafe name.map { unsafe String(cString: $0) } ?? ""
    unsafe self.init(
      source: source, isFromPipeline: object.map { unsafe cgst_is_pipeline($0) != 0 } ?? false,
      content: Content(message, from: source))
  }
}

extension Message.Content {
  @unsafe fileprivate init(_ message: UnsafeMutablePointer<GstMessage>, from source: String) {
    switch unsafe message.pointee.type {
    case GST_MESSAGE_EOS: self = .endOfStream
    case GST_MESSAGE_ERROR: self = unsafe .error(ElementFailure(message, from: source))
    case GST_MESSAGE_WARNING: self = unsafe .warning(ElementFailure(message, from: source))
    case GST_MESSAGE_INFO: self = unsafe .info(ElementFailure(message, from: source))
    case GST_MESSAGE_STATE_CHANGED:
      var (old, new, pending) = (GST_STATE_NULL, GST_STATE_NULL, GST_STATE_NULL)
      unsafe gst_message_parse_state_changed(message, &old, &new, &pending)
      self = .stateChanged(from: Pipeline.State(old), to: Pipeline.State(new))
    case GST_MESSAGE_TAG:
      var tags: UnsafeMutablePointer<GstTagList>?
      unsafe gst_message_parse_tag(message, &tags)
      if let tags = unsafe tags {
        self = unsafe .tags(Tags(TagList(owning: tags)))
      } else {
        self = .tags(Tags(TagList()))
      }
    case GST_MESSAGE_BUFFERING:
      var percent: gint = 0
      unsafe gst_message_parse_buffering(message, &percent)
      self = .buffering(percent: Int(percent))
    case GST_MESSAGE_LATENCY: self = .latency
    case GST_MESSAGE_DURATION_CHANGED: self = .durationChanged
    case GST_MESSAGE_ASYNC_DONE: self = .asyncDone
    case GST_MESSAGE_STREAM_START: self = .streamStart
    case GST_MESSAGE_STREAM_COLLECTION, GST_MESSAGE_STREAMS_SELECTED:
      self = unsafe Self.streams(of: message) ?? Self.unknown(message)
    case GST_MESSAGE_SEGMENT_DONE: self = .segmentDone
    case GST_MESSAGE_QOS: self = .qualityOfService
    case GST_MESSAGE_ELEMENT: self = unsafe Self.fields(of: message, Self.element)
    case GST_MESSAGE_APPLICATION: self = unsafe Self.fields(of: message, Self.application)
    default: self = unsafe Self.unknown(message)
    }
  }

  private static func fields(of message: UnsafeMutablePointer<GstMessage>, _ make: (Fields) -> Self) -> Self {
    unsafe Fields(copying: gst_message_get_structure(message)).map(make) ?? unknown(message)
  }

  private static func unknown(_ message: UnsafeMutablePointer<GstMessage>) -> Self {
    unsafe .other(gst_message_type_get_name(message.pointee.type).map { unsafe String(cString: $0) } ?? "")
  }
}

extension ElementFailure {
  /// Reads an error, a warning or an info message.
  @unsafe fileprivate init(_ message: UnsafeMutablePointer<GstMessage>, from source: String) {
    var error: UnsafeMutablePointer<GError>?
    var debug: UnsafeMutablePointer<CChar>?
    var details: UnsafePointer<GstStructure>?
    switch unsafe message.pointee.type {
    case GST_MESSAGE_ERROR:
      unsafe gst_message_parse_error(message, &error, &debug)
      unsafe gst_message_parse_error_details(message, &details)
    case GST_MESSAGE_WARNING:
      unsafe gst_message_parse_warning(message, &error, &debug)
      unsafe gst_message_parse_warning_details(message, &details)
    default:
      unsafe gst_message_parse_info(message, &error, &debug)
      unsafe gst_message_parse_info_details(message, &details)
    }
    defer {
      unsafe g_clear_error(&error)
      unsafe g_free(debug)
    }
    let posted = unsafe error.map {
      unsafe ElementError(UnsafePointer($0), debug: debug.map { unsafe UnsafePointer($0) })
    }
    unsafe self.init(
      error: posted ?? ElementError(.core(.failed), ""), source: source,
      kind: cgst_message_source_element(message).map { unsafe PipelineElement.kind(of: $0) } ?? "",
      details: Fields(copying: details))
  }
}
