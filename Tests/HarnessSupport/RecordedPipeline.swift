// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
private import Synchronization

/// A pipeline that reads a file, to be played again and again.
@safe public final class RecordedPipeline {
  /// What has arrived at the sink since the pipeline was started last.
  public struct Run: Sendable {
    public var entries: [FileRecording.Entry]
    /// What the tags said that elements of streams make themselves, each time it was something else.
    public var tags: [String]
    /// Whether it came to its end without an error.
    public var isWhole: Bool
  }

  private final class Entries: Sendable { let list = Mutex<[FileRecording.Entry]>([]) }

  private let recorded = Entries()
  @unsafe private let pipeline: UnsafeMutablePointer<GstElement>
  @unsafe private let bus: UnsafeMutablePointer<GstBus>

  /// How long until a pipeline that does nothing is given up, in nanoseconds.
  private static let patience: GstClockTime = 60_000_000_000

  /// - Parameter elements: what stands between the file and the sink, as on a gst-launch-1.0 line.
  public init(_ elements: String) throws(FileRecording.Failure) {
    Harness.initialise()
    let description = "filesrc name=source ! \(elements) ! fakesink name=sink sync=false"
    guard let pipeline = unsafe gst_parse_launch(description, nil), let bus = unsafe gst_element_get_bus(pipeline)
    else { throw FileRecording.Failure() }
    unsafe (self.pipeline, self.bus) = (pipeline, bus)
    guard let sink = unsafe member("sink") else { throw FileRecording.Failure() }
    defer { unsafe gst_object_unref(sink) }
    guard let pad = unsafe gst_element_get_static_pad(sink, "sink") else { throw FileRecording.Failure() }
    defer { unsafe gst_object_unref(pad) }
    let kinds = GstPadProbeType(
      rawValue: GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM.rawValue)
    // The pipeline is stopped before the entries go.
    unsafe gst_pad_add_probe(
      pad, kinds,
      { _, info, data in
        guard let info = unsafe info, let data = unsafe data else { return GST_PAD_PROBE_OK }
        let entries = unsafe Unmanaged<Entries>.fromOpaque(data).takeUnretainedValue()
        if let entry = unsafe RecordedPipeline.entry(info) { entries.list.withLock { $0.append(entry) } }
        return GST_PAD_PROBE_OK
      }, Unmanaged.passUnretained(recorded).toOpaque(), nil)
  }

  deinit {
    unsafe gst_element_set_state(pipeline, GST_STATE_NULL)
    unsafe gst_object_unref(bus)
    unsafe gst_object_unref(pipeline)
  }

  @unsafe private func member(_ name: String) -> UnsafeMutablePointer<GstElement>? {
    let bin = unsafe UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstBin.self)
    return unsafe gst_bin_get_by_name(bin, name)
  }

  /// Goes to `READY`, takes this file, and starts with an empty record.
  private func start(_ file: String, _ state: GstState) {
    unsafe gst_element_set_state(pipeline, GST_STATE_READY)
    unsafe gst_bus_set_flushing(bus, 1)
    unsafe gst_bus_set_flushing(bus, 0)
    recorded.list.withLock { $0 = [] }
    if let source = unsafe member("source") {
      unsafe gst_util_set_object_arg(
        UnsafeMutableRawPointer(source).assumingMemoryBound(to: GObject.self), "location", file)
      unsafe gst_object_unref(source)
    }
    unsafe gst_element_set_state(pipeline, state)
  }

  /// Plays to the end, or to an error.
  private func finish() throws(FileRecording.Failure) -> Run {
    unsafe gst_element_set_state(pipeline, GST_STATE_PLAYING)
    let kinds = GstMessageType(
      rawValue: GST_MESSAGE_EOS.rawValue | GST_MESSAGE_ERROR.rawValue | GST_MESSAGE_TAG.rawValue)
    var tags: [String] = []
    while let message = unsafe gst_bus_timed_pop_filtered(bus, Self.patience, kinds) {
      defer { unsafe gst_message_unref(message) }
      let type = unsafe message.pointee.type
      guard type == GST_MESSAGE_TAG else {
        return Run(entries: recorded.list.withLock { $0 }, tags: tags, isWhole: type == GST_MESSAGE_EOS)
      }
      var list: UnsafeMutablePointer<GstTagList>?
      unsafe gst_message_parse_tag(message, &list)
      guard let list = unsafe list else { continue }
      let text = unsafe HarnessRecording.text(tags: list)
      if !text.isEmpty, tags.last != text { tags.append(text) }
      unsafe gst_tag_list_unref(list)
    }
    throw FileRecording.Failure()
  }

  /// A property of an element as text; "" when there is none of that name.
  public func text(_ property: String, of name: String) -> String {
    guard let element = unsafe member(name) else { return "" }
    defer { unsafe gst_object_unref(element) }
    var value = GValue()
    unsafe g_object_get_property(
      UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self), property, &value)
    defer { unsafe g_value_unset(&value) }
    guard let text = unsafe gst_value_serialize(&value) else { return "" }
    defer { unsafe g_free(text) }
    return unsafe String(cString: text)
  }

  /// Plays the file from its beginning to its end, or to an error, and stays there.
  public func play(_ file: String) throws(FileRecording.Failure) -> Run {
    start(file, GST_STATE_PLAYING)
    return try finish()
  }

  /// Shows the file's first buffer, seeks to a time in nanoseconds, and plays from there to the end.
  public func play(_ file: String, from time: Int64) throws(FileRecording.Failure) -> Run {
    start(file, GST_STATE_PAUSED)
    guard unsafe gst_element_get_state(pipeline, nil, nil, Self.patience) == GST_STATE_CHANGE_SUCCESS else {
      throw FileRecording.Failure()
    }
    unsafe gst_element_seek_simple(pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, gint64(time))
    return try finish()
  }

  /// Plays the file's beginning and breaks off, wherever that is.
  public func begin(_ file: String) {
    start(file, GST_STATE_PLAYING)
    unsafe gst_element_set_state(pipeline, GST_STATE_READY)
  }

  @unsafe private static func entry(_ info: UnsafeMutablePointer<GstPadProbeInfo>) -> FileRecording.Entry? {
    if unsafe info.pointee.type.rawValue & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM.rawValue != 0 {
      guard let event = unsafe gst_pad_probe_info_get_event(info), unsafe event.pointee.type == GST_EVENT_CAPS else {
        return nil
      }
      var caps: UnsafeMutablePointer<GstCaps>?
      unsafe gst_event_parse_caps(event, &caps)
      guard let text = unsafe gst_caps_to_string(caps) else { return nil }
      defer { unsafe g_free(text) }
      return unsafe FileRecording.Entry(isCaps: true, content: Array(String(cString: text).utf8))
    }
    guard let raw = unsafe gst_pad_probe_info_get_buffer(info) else { return nil }
    let buffer = unsafe Buffer(owning: gst_buffer_ref(raw))
    var entry = FileRecording.Entry(attributes: buffer.attributes)
    // Of memory, not of the stream.
    entry.attributes.flags.remove(Buffer.Flags(rawValue: GST_BUFFER_FLAG_TAG_MEMORY.rawValue))
    if let map = try? buffer.map() {
      let bytes = map.bytes
      for index in bytes.indices { entry.content.append(bytes[index]) }
    }
    return entry
  }
}
