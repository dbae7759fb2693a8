// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
private import Synchronization

/// A pipeline that reads a file and records what arrives at its sink. It can play any number of files, one after the
/// other.
@safe public final class RecordedPipeline {
  /// The data that arrived at the sink in one run.
  public struct Run: Sendable {
    /// Caps and buffers in order.
    public var entries: [FileRecording.Entry]
    /// The codec and bitrates of tag messages, each time they changed.
    public var tags: [String]
    /// Whether it reached the end of the stream without an error.
    public var isWhole: Bool
  }

  private final class Entries: Sendable { let list = Mutex<[FileRecording.Entry]>([]) }

  private let recorded = Entries()
  private let pipeline: ProbedPipeline
  @unsafe private let bus: UnsafeMutablePointer<GstBus>

  /// How long to wait for a message, in nanoseconds.
  private static let patience: GstClockTime = 60_000_000_000

  /// - Parameter elements: the elements between filesrc and sink, as on a gst-launch-1.0 line.
  public init(_ elements: String) throws(FileRecording.Failure) {
    let description = "filesrc name=source ! \(elements) ! fakesink name=sink sync=false"
    do throws(Harness.Failure) {
      pipeline = try unsafe ProbedPipeline(
        description, GST_PAD_PROBE_TYPE_BUFFER, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, watch: recorded
      ) { _, info, data in
        guard let info = unsafe info, let data = unsafe data else { return GST_PAD_PROBE_OK }
        let entries = unsafe Unmanaged<Entries>.fromOpaque(data).takeUnretainedValue()
        if let entry = unsafe RecordedPipeline.entry(info) { entries.list.withLock { $0.append(entry) } }
        return GST_PAD_PROBE_OK
      }
    } catch { throw FileRecording.Failure() }
    guard let bus = unsafe gst_element_get_bus(pipeline.raw) else { throw FileRecording.Failure() }
    unsafe self.bus = bus
  }

  deinit { unsafe gst_object_unref(bus) }

  /// Goes to `READY`, sets the file, empties the record, and goes to `state`.
  private func start(_ file: String, _ state: GstState) {
    unsafe gst_element_set_state(pipeline.raw, GST_STATE_READY)
    unsafe gst_bus_set_flushing(bus, 1)
    unsafe gst_bus_set_flushing(bus, 0)
    recorded.list.withLock { $0 = [] }
    if let source = unsafe pipeline.element("source") {
      unsafe gst_util_set_object_arg(
        UnsafeMutableRawPointer(source).assumingMemoryBound(to: GObject.self), "location", file)
      unsafe gst_object_unref(source)
    }
    unsafe gst_element_set_state(pipeline.raw, state)
  }

  /// Plays to the end, or to an error.
  private func finish() throws(FileRecording.Failure) -> Run {
    unsafe gst_element_set_state(pipeline.raw, GST_STATE_PLAYING)
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
    guard let element = unsafe pipeline.element(name) else { return "" }
    defer { unsafe gst_object_unref(element) }
    var value = GValue()
    unsafe g_object_get_property(
      UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self), property, &value)
    defer { unsafe g_value_unset(&value) }
    guard let text = unsafe gst_value_serialize(&value) else { return "" }
    defer { unsafe g_free(text) }
    return unsafe String(cString: text)
  }

  /// Plays the file to its end, or to an error, and stays PLAYING.
  public func play(_ file: String) throws(FileRecording.Failure) -> Run {
    start(file, GST_STATE_PLAYING)
    return try finish()
  }

  /// Prerolls, seeks to a time in nanoseconds, and plays from there to the end.
  public func play(_ file: String, from time: Int64) throws(FileRecording.Failure) -> Run {
    start(file, GST_STATE_PAUSED)
    guard unsafe gst_element_get_state(pipeline.raw, nil, nil, Self.patience) == GST_STATE_CHANGE_SUCCESS else {
      throw FileRecording.Failure()
    }
    unsafe gst_element_seek_simple(pipeline.raw, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, gint64(time))
    return try finish()
  }

  /// Plays the file and stops immediately, at any position.
  public func begin(_ file: String) {
    start(file, GST_STATE_PLAYING)
    unsafe gst_element_set_state(pipeline.raw, GST_STATE_READY)
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
