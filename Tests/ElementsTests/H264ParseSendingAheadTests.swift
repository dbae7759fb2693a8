// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import Foundation
import GStreamer
import HarnessSupport
import Synchronization
import Testing

/// Raw files that are read from start to end, where the element sends small units past the base class: what comes out
/// is what comes out when the base class sends each, as it does when the bytes are pushed.
@Suite struct H264ParseSendingAheadTests {
  typealias Stream = ParseStream

  /// Where two recordings differ first, without their bytes.
  private static func firstDifference(_ pulled: [Recording.Entry], _ pushed: [Recording.Entry]) -> String? {
    for index in 0..<max(pulled.count, pushed.count) {
      guard index < pulled.count, index < pushed.count else { return "\(pulled.count) and \(pushed.count)" }
      let (one, other) = (pulled[index], pushed[index])
      if one != other {
        return
          "\(index): \(one.attributes), \(one.content.count) bytes; \(other.attributes), \(other.content.count) bytes"
      }
    }
    return nil
  }

  @Test(arguments: ["clip.h264", "interlaced.h264", "intra-refresh.h264", "open-gop.h264", "wide.h264"])
  func pulledFilesComeOutAsPushedOnes(_ clip: String) throws {
    for properties in ["", "config-interval=-1"] {
      let pulled = try Recording(of: Clip.path(clip), "swifth264parse \(properties)")
      let pushed = try Recording(of: Clip.path(clip), "queue ! swifth264parse \(properties)")
      #expect(pulled.entries.count > 20)
      #expect(Self.firstDifference(pulled.entries, pushed.entries) == nil)
    }
  }

  @Test(arguments: ["clip.h264", "interlaced.h264"]) func nalUnitsAreThoseOfTheAccessUnits(_ clip: String) throws {
    let caps = "video/x-h264,stream-format=byte-stream,alignment"
    let accessUnits = try Recording(of: Clip.path(clip), "swifth264parse ! \(caps)=au").entries.filter { !$0.isCaps }
    let nalUnits = try Recording(of: Clip.path(clip), "swifth264parse ! \(caps)=nal").entries.filter { !$0.isCaps }
    #expect(nalUnits.count > 2 * accessUnits.count)
    var remaining = nalUnits[...]
    for accessUnit in accessUnits {
      let parts = remaining.prefix { $0.attributes.pts == accessUnit.attributes.pts }
      remaining = remaining.dropFirst(parts.count)
      let isSame = parts.flatMap(\.content) == accessUnit.content
      #expect(isSame && parts.allSatisfy { $0.attributes.dts == accessUnit.attributes.dts })
      #expect(parts.last?.attributes.flags.contains(.marker) == true)
    }
    #expect(remaining.isEmpty)
  }

  /// Caps of another size, and a frame rate of another SPS before a picture that is no random access point.
  @Test func newCapsDoNotOvertakeUnits() throws {
    var bytes: [UInt8] = []
    for sequence in UInt32(0)..<6 {
      bytes += Stream.byteStream(
        Stream.spsToOrder(width: 2 + sequence % 2), Stream.ppsToOrder(), Stream.slice(2, number: 0, order: 0, idr: true)
      )
      for index in UInt32(1)..<12 {
        if index == 6 { bytes += Stream.byteStream(Stream.spsToOrder(width: 2 + sequence % 2, rate: 30)) }
        bytes += Stream.byteStream(Stream.slice(0, number: index, order: 2 * index))
      }
    }
    let path = FileManager.default.temporaryDirectory.appending(path: "sending-ahead-\(getpid()).h264").path
    try Data(bytes).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    let pulled = try Recording(of: path, "swifth264parse")
    let pushed = try Recording(of: path, "queue ! swifth264parse")
    #expect(Self.firstDifference(pulled.entries, pushed.entries) == nil)
    #expect(pulled.entries.filter(\.isCaps).count == 12)
  }

  /// Slices of another picture parameter set that never came, garbage in NAL units, and a parameter set alone.
  @Test func unitsThatCannotBeReadKeepTheirPlace() throws {
    var bytes = Stream.byteStream(
      Stream.spsToOrder(), Stream.ppsToOrder(), Stream.slice(2, number: 0, order: 0, idr: true))
    for index in UInt32(1)..<40 {
      switch index % 8 {
      case 3: bytes += Stream.byteStream(Stream.slice(0, number: index, order: 2 * index, pps: 7))
      case 5: bytes += Stream.byteStream([0x61], [0x78, 1, 2, 3], [0x0A])
      case 7: bytes += Stream.byteStream(Stream.spsToOrder())
      default: bytes += Stream.byteStream(Stream.slice(0, number: index, order: 2 * index))
      }
    }
    let path = FileManager.default.temporaryDirectory.appending(path: "sending-ahead-odd-\(getpid()).h264").path
    try Data(bytes).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    let pulled = try Recording(of: path, "swifth264parse").entries.map(\.withoutFlags)
    let pushed = try Recording(of: path, "queue ! swifth264parse").entries.map(\.withoutFlags)
    #expect(Self.firstDifference(pulled, pushed) == nil)
  }
}

/// What arrives at the end of a pipeline that reads a file.
@safe private final class Recording {
  struct Entry: Equatable, Sendable {
    var isCaps = false
    var attributes = Buffer.Attributes()
    /// The caps as text, or the bytes.
    var content: [UInt8] = []

    var withoutFlags: Entry {
      var entry = self
      entry.attributes.flags = []
      return entry
    }
  }

  private final class Entries: Sendable { let list = Mutex<[Entry]>([]) }

  private let recorded = Entries()

  var entries: [Entry] { recorded.list.withLock { $0 } }

  /// Plays a file to its end.
  init(of file: String, _ elements: String) throws {
    Harness.initialise()
    _ = try Harness.parse()
    let description = "filesrc location=\(file) ! \(elements) ! fakesink name=sink sync=false"
    let pipeline = try unsafe #require(gst_parse_launch(description, nil))
    defer {
      unsafe gst_element_set_state(pipeline, GST_STATE_NULL)
      unsafe gst_object_unref(pipeline)
    }
    let bin = unsafe UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstBin.self)
    let sink = try unsafe #require(gst_bin_get_by_name(bin, "sink"))
    defer { unsafe gst_object_unref(sink) }
    let pad = try unsafe #require(gst_element_get_static_pad(sink, "sink"))
    defer { unsafe gst_object_unref(pad) }
    let kinds = GstPadProbeType(
      rawValue: GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM.rawValue)
    // The pipeline is stopped before the entries go.
    unsafe gst_pad_add_probe(
      pad, kinds,
      { _, info, data in
        guard let info = unsafe info, let data = unsafe data else { return GST_PAD_PROBE_OK }
        let entries = unsafe Unmanaged<Entries>.fromOpaque(data).takeUnretainedValue()
        if let entry = unsafe Recording.entry(info) { entries.list.withLock { $0.append(entry) } }
        return GST_PAD_PROBE_OK
      }, Unmanaged.passUnretained(recorded).toOpaque(), nil)
    unsafe gst_element_set_state(pipeline, GST_STATE_PLAYING)
    let bus = try unsafe #require(gst_element_get_bus(pipeline))
    defer { unsafe gst_object_unref(bus) }
    let ends = GstMessageType(rawValue: GST_MESSAGE_EOS.rawValue | GST_MESSAGE_ERROR.rawValue)
    let message = try unsafe #require(gst_bus_timed_pop_filtered(bus, 60_000_000_000, ends))
    #expect(unsafe message.pointee.type == GST_MESSAGE_EOS)
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
