// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import CGStreamerCheck
public import GStreamer
private import Synchronization

/// Everything that comes out of an element in a harness, in order.
@safe public final class HarnessRecording {
  /// An output buffer.
  public struct Output: Sendable {
    /// Timestamps, duration and flags.
    public var attributes: Buffer.Attributes
    /// The size in bytes.
    public var byteCount: Int
    /// MD5 of the bytes.
    public var checksum: String
    /// The API types of its metas, sorted, with the contents of bar, AFD, caption and time code metas.
    public var metas: [String]
  }

  /// A buffer or an event.
  public enum Entry: Sendable {
    /// A buffer that went downstream.
    case buffer(Output)
    /// Caps, with a checksum in place of `codec_data`.
    case caps(String)
    /// Another event that went downstream, as text.
    case event(String)
    /// An event that went upstream, as text.
    case upstreamEvent(String)
  }

  private final class Watch: Sendable {
    let entries = Mutex<[Entry]>([])
    let keepsBuffers: Bool
    init(keepsBuffers: Bool) { self.keepsBuffers = keepsBuffers }
  }

  private let watch: Watch

  /// Begins to record. To be made before the input's caps are set.
  ///
  /// - Parameters:
  ///   - harness: whose output is recorded.
  ///   - keepsBuffers: whether buffers go to the harness, for `Harness.pull`, and their bytes are not recorded; else
  ///     they are recorded and dropped.
  public init(_ harness: Harness, keepsBuffers: Bool = false) {
    watch = Watch(keepsBuffers: keepsBuffers)
    let downstream = GstPadProbeType(
      rawValue: GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM.rawValue)
    unsafe add(to: harness.raw.pointee.sinkpad, downstream)
    unsafe add(to: harness.raw.pointee.srcpad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM)
  }

  /// The entries so far.
  public var entries: [Entry] { watch.entries.withLock { $0 } }

  @unsafe private func add(to pad: UnsafeMutablePointer<GstPad>?, _ kinds: GstPadProbeType) {
    unsafe gst_pad_add_probe(
      pad, kinds,
      { _, info, data in
        guard let info = unsafe info, let data = unsafe data else { return GST_PAD_PROBE_OK }
        let watch = unsafe Unmanaged<Watch>.fromOpaque(data).takeUnretainedValue()
        let isBuffer = unsafe info.pointee.type.rawValue & GST_PAD_PROBE_TYPE_BUFFER.rawValue != 0
        guard isBuffer, let buffer = unsafe gst_pad_probe_info_get_buffer(info) else {
          if let event = unsafe gst_pad_probe_info_get_event(info) {
            let isUpstream = unsafe info.pointee.type.rawValue & GST_PAD_PROBE_TYPE_EVENT_UPSTREAM.rawValue != 0
            let entry = unsafe HarnessRecording.entry(Event(owning: gst_event_ref(event)), isUpstream: isUpstream)
            watch.entries.withLock { $0.append(entry) }
          }
          return GST_PAD_PROBE_OK
        }
        let output = unsafe HarnessRecording.output(
          Buffer(owning: gst_buffer_ref(buffer)), withBytes: !watch.keepsBuffers)
        watch.entries.withLock { $0.append(.buffer(output)) }
        return watch.keepsBuffers ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP
      }, Unmanaged.passRetained(watch).toOpaque(),
      { data in if let data = unsafe data { unsafe Unmanaged<Watch>.fromOpaque(data).release() } })
  }

  private static func output(_ buffer: consuming Buffer, withBytes: Bool) -> Output {
    var attributes = buffer.attributes
    // The flag is about memory, not about the stream.
    attributes.flags.remove(Buffer.Flags(rawValue: GST_BUFFER_FLAG_TAG_MEMORY.rawValue))
    var metas: [String] = []
    var state: gpointer?
    while let meta = unsafe gst_buffer_iterate_meta(buffer.raw, &state) {
      let type = unsafe meta.pointee.info.pointee.api
      let name = unsafe g_type_name(type).map { unsafe String(cString: $0) } ?? ""
      // Versions of GStreamer differ in which buffers have a parent.
      if name == "GstParentBufferMetaAPI" { continue }
      unsafe metas.append(name + contents(of: meta, type))
    }
    for code in buffer.timeCodes {
      metas.append(
        "\(code.hours):\(code.minutes):\(code.seconds):\(code.frames) of \(code.frameRate.numerator)/"
          + "\(code.frameRate.denominator) \(code.dropsFrames) \(code.isInterlaced) \(code.fieldCount)")
    }
    let bytes = withBytes ? (try? buffer.copiedBytes()) ?? [] : []
    return Output(
      attributes: attributes, byteCount: bytes.count, checksum: Self.checksum(bytes), metas: metas.sorted())
  }

  @unsafe private static func contents(of meta: UnsafeMutablePointer<GstMeta>, _ type: GType) -> String {
    let pointer = UnsafeMutableRawPointer(meta)
    switch type {
    case gst_video_bar_meta_api_get_type():
      let bars = unsafe pointer.assumingMemoryBound(to: GstVideoBarMeta.self).pointee
      return unsafe " \(bars.field) \(bars.is_letterbox) \(bars.bar_data1) \(bars.bar_data2)"
    case gst_video_afd_meta_api_get_type():
      let format = unsafe pointer.assumingMemoryBound(to: GstVideoAFDMeta.self).pointee
      return unsafe " \(format.field) \(format.spec.rawValue) \(format.afd.rawValue)"
    case gst_video_caption_meta_api_get_type():
      let captions = unsafe pointer.assumingMemoryBound(to: GstVideoCaptionMeta.self).pointee
      return unsafe " \(captions.caption_type.rawValue) \(captions.size)"
    default: return ""
    }
  }

  private static func entry(_ event: consuming Event, isUpstream: Bool) -> Entry {
    if let caps = event.caps { return .caps(Self.text(caps)) }
    let name = unsafe String(cString: gst_event_type_get_name(event.raw.pointee.type))
    let text = name + Self.details(event)
    return isUpstream ? .upstreamEvent(text) : .event(text)
  }

  private static func details(_ event: borrowing Event) -> String {
    if let request = ForceKeyUnit(event) {
      let times = [request.timestamp, request.streamTime, request.runningTime].map { time in
        time.map { "\($0.nanoseconds)" } ?? "-"
      }
      return " \(times.joined(separator: " ")) \(request.allHeaders) \(request.count)"
    }
    if event.kind == .segment {
      var found: UnsafePointer<GstSegment>?
      unsafe gst_event_parse_segment(event.raw, &found)
      guard let segment = unsafe found?.pointee else { return "" }
      return " \(segment.format.rawValue) \(segment.rate) \(segment.flags.rawValue) \(text(segment.start))"
        + "-\(text(segment.stop)) time \(text(segment.time)) base \(text(segment.base))"
    }
    if event.kind == .tag {
      return unsafe Self.tags(event)
    }
    return ""
  }

  private static func text(_ position: guint64) -> String { position == .max ? "-" : "\(position)" }

  /// The codec and the bitrates, which elements set; base classes add other tags.
  @unsafe private static func tags(_ event: borrowing Event) -> String {
    var list: UnsafeMutablePointer<GstTagList>?
    unsafe gst_event_parse_tag(event.raw, &list)
    guard let list = unsafe list else { return "" }
    return unsafe HarnessRecording.text(tags: list)
  }

  @unsafe static func text(tags list: UnsafeMutablePointer<GstTagList>) -> String {
    var text = ""
    var codec: UnsafeMutablePointer<gchar>?
    if unsafe gst_tag_list_get_string(list, "video-codec", &codec) != 0, let found = unsafe codec {
      unsafe text += " \(String(cString: found))"
      unsafe g_free(codec)
    }
    for name in ["minimum-bitrate", "maximum-bitrate"] {
      var rate: guint = 0
      if unsafe gst_tag_list_get_uint(list, name, &rate) != 0 { text += " \(name) \(rate)" }
    }
    return text
  }

  /// Caps as text, with a checksum in place of `codec_data`.
  private static func text(_ caps: borrowing Caps) -> String {
    guard let data = caps.first.buffer("codec_data") else { return caps.description }
    let bytes = (try? data.copiedBytes()) ?? []
    var copy = caps.copy()
    copy.remove("codec_data")
    return copy.description + ", codec_data of \(bytes.count) bytes \(checksum(bytes))"
  }

  /// MD5, in hexadecimal.
  public static func checksum(_ bytes: [UInt8]) -> String {
    let sum = unsafe g_checksum_new(G_CHECKSUM_MD5)
    defer { unsafe g_checksum_free(sum) }
    unsafe bytes.withUnsafeBufferPointer { unsafe g_checksum_update(sum, $0.baseAddress, $0.count) }
    return unsafe String(cString: g_checksum_get_string(sum))
  }
}

extension Harness {
  /// Takes all messages from the bus: errors and warnings with their text, other types with their number.
  public func takeAllMessages() -> [String] {
    guard let bus = unsafe gst_element_get_bus(element) else { return [] }
    defer { unsafe gst_object_unref(bus) }
    var result: [String] = []
    var counts: [String: Int] = [:]
    while let message = unsafe gst_bus_pop(bus) {
      defer { unsafe gst_message_unref(message) }
      let type = unsafe message.pointee.type
      let name = unsafe String(cString: gst_message_type_get_name(type))
      guard type == GST_MESSAGE_ERROR || type == GST_MESSAGE_WARNING else {
        counts[name, default: 0] += 1
        continue
      }
      var error: UnsafeMutablePointer<GError>?
      var debug: UnsafeMutablePointer<CChar>?
      if type == GST_MESSAGE_ERROR {
        unsafe gst_message_parse_error(message, &error, &debug)
      } else {
        unsafe gst_message_parse_warning(message, &error, &debug)
      }
      guard let error = unsafe error else { continue }
      // The lines before the last have the place in the sources.
      let text = unsafe debug.map { unsafe String(cString: $0) } ?? ""
      let last = text.split(separator: "\n").last.map(String.init) ?? ""
      unsafe result.append(
        "\(name) \(String(cString: g_quark_to_string(error.pointee.domain))) \(error.pointee.code): "
          + "\(String(cString: error.pointee.message)) \(last)")
      unsafe g_error_free(error)
      unsafe g_free(debug)
    }
    // Messages of the base classes.
    for name in ["stream-status", "tag", "state-changed"] { counts[name] = nil }
    return result + counts.sorted { $0.key < $1.key }.map { "\($0.key)×\($0.value)" }
  }
}
