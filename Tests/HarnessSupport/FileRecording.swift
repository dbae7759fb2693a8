// SPDX-License-Identifier: MPL-2.0
import CGStreamer
public import GStreamer
private import Synchronization

/// What arrives at the end of a pipeline that reads a file.
@safe public final class FileRecording {
  /// Caps or a buffer.
  public struct Entry: Equatable, Sendable {
    public var isCaps = false
    /// Of a buffer.
    public var attributes = Buffer.Attributes()
    /// The caps as text, or the bytes.
    public var content: [UInt8] = []

    /// The same without flags.
    public var withoutFlags: Entry {
      var entry = self
      entry.attributes.flags = []
      return entry
    }
  }

  /// The pipeline cannot be made, or does not end.
  public struct Failure: Error {}

  private final class Entries: Sendable { let list = Mutex<[Entry]>([]) }

  private let recorded = Entries()

  /// In order.
  public var entries: [Entry] { recorded.list.withLock { $0 } }

  /// Whether it came to its end without an error.
  public private(set) var isWhole = false

  /// Plays a file to its end through elements, as on a gst-launch-1.0 line.
  ///
  /// The file is read by access at any place unless the elements begin with one, such as `queue`, that has it pushed.
  public init(of file: String, _ elements: String) throws(Failure) {
    Harness.initialise()
    let description = "filesrc location=\(file) ! \(elements) ! fakesink name=sink sync=false"
    guard let pipeline = unsafe gst_parse_launch(description, nil) else { throw Failure() }
    defer {
      unsafe gst_element_set_state(pipeline, GST_STATE_NULL)
      unsafe gst_object_unref(pipeline)
    }
    let bin = unsafe UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstBin.self)
    guard let sink = unsafe gst_bin_get_by_name(bin, "sink"), let bus = unsafe gst_element_get_bus(pipeline),
      let pad = unsafe gst_element_get_static_pad(sink, "sink")
    else { throw Failure() }
    defer {
      unsafe gst_object_unref(pad)
      unsafe gst_object_unref(bus)
      unsafe gst_object_unref(sink)
    }
    let kinds = GstPadProbeType(
      rawValue: GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM.rawValue)
    // The pipeline is stopped before the entries go.
    unsafe gst_pad_add_probe(
      pad, kinds,
      { _, info, data in
        guard let info = unsafe info, let data = unsafe data else { return GST_PAD_PROBE_OK }
        let entries = unsafe Unmanaged<Entries>.fromOpaque(data).takeUnretainedValue()
        if let entry = unsafe FileRecording.entry(info) { entries.list.withLock { $0.append(entry) } }
        return GST_PAD_PROBE_OK
      }, Unmanaged.passUnretained(recorded).toOpaque(), nil)
    unsafe gst_element_set_state(pipeline, GST_STATE_PLAYING)
    let ends = GstMessageType(rawValue: GST_MESSAGE_EOS.rawValue | GST_MESSAGE_ERROR.rawValue)
    guard let message = unsafe gst_bus_timed_pop_filtered(bus, 60_000_000_000, ends) else { throw Failure() }
    isWhole = unsafe message.pointee.type == GST_MESSAGE_EOS
    unsafe gst_message_unref(message)
  }

  private static func entry(_ info: UnsafeMutablePointer<GstPadProbeInfo>) -> Entry? {
    if unsafe info.pointee.type.rawValue & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM.rawValue != 0 {
      guard let event = unsafe gst_pad_probe_info_get_event(info), unsafe event.pointee.type == GST_EVENT_CAPS else {
        return nil
      }
      var caps: UnsafeMutablePointer<GstCaps>?
      unsafe gst_event_parse_caps(event, &caps)
      guard let text = unsafe gst_caps_to_string(caps) else { return nil }
      defer { unsafe g_free(text) }
      return unsafe Entry(isCaps: true, content: Array(String(cString: text).utf8))
    }
    guard let raw = unsafe gst_pad_probe_info_get_buffer(info) else { return nil }
    let buffer = unsafe Buffer(owning: gst_buffer_ref(raw))
    var entry = Entry(attributes: buffer.attributes)
    // Of memory, not of the stream.
    entry.attributes.flags.remove(Buffer.Flags(rawValue: GST_BUFFER_FLAG_TAG_MEMORY.rawValue))
    if let map = try? buffer.map() {
      let bytes = map.bytes
      for index in bytes.indices { entry.content.append(bytes[index]) }
    }
    return entry
  }
}
