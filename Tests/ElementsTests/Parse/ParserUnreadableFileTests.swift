// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import HarnessSupport
import Synchronization
import Testing

/// A file whose memory cannot be mapped, in pull mode: the application learns of it from the bus.
@Suite(.serialized) struct ParserUnreadableFileTests {
  init() { #expect(Registration.succeeded) }

  /// Replaces pulled buffers by others that can be mapped only so many times.
  private final class Replacement {
    let allocator: RefusingAllocator
    let isActive: Atomic<Bool>
    let replaced = Atomic<Int>(0)

    init(maps: Int, isActive: Bool) throws {
      allocator = try RefusingAllocator(maps: maps)
      self.isActive = Atomic(isActive)
    }

    func replace(in info: UnsafeMutablePointer<GstPadProbeInfo>) {
      guard isActive.load(ordering: .relaxed), let raw = unsafe gst_pad_probe_info_get_buffer(info) else { return }
      let buffer = unsafe Buffer(owning: gst_buffer_ref(raw))
      guard let bytes = try? buffer.copiedBytes(), let other = try? allocator.buffer(of: bytes) else { return }
      unsafe gst_buffer_copy_into(other.raw, raw, GST_BUFFER_COPY_TIMESTAMPS, 0, .max)
      unsafe info.pointee.data = UnsafeMutableRawPointer(gst_buffer_ref(other.raw))
      unsafe gst_buffer_unref(raw)
      replaced.add(1, ordering: .relaxed)
    }
  }

  /// - Parameter isSought: from an accurate seek on, which reads ahead.
  @Test(arguments: StreamCodec.allCases, [(false, "au"), (false, "nal"), (true, "au")])
  func pulledInputIsAnErrorWithAMessage(_ codec: StreamCodec, _ way: (isSought: Bool, alignment: String)) throws {
    for maps in 0..<4 {
      let replacement = try Replacement(maps: maps, isActive: !way.isSought)
      let message = try Self.firstMessage(codec, way.alignment, way.isSought, replacement)
      #expect(replacement.replaced.load(ordering: .relaxed) > 0)
      if maps == 0 { #expect(message == "A buffer from upstream cannot be read.", "\(message)") }
      #expect(replacement.allocator.balance == 0, "\(maps) maps")
      // With more maps it depends on how often the base class looks at its data whether that is enough.
      #expect(["A buffer from upstream cannot be read.", "end"].contains(message), "\(maps) maps: \(message)")
    }
  }

  /// The first error, or "end".
  private static func firstMessage(
    _ codec: StreamCodec, _ alignment: String, _ isSought: Bool, _ replacement: Replacement
  ) throws -> String {
    let file = Clip.path(codec == .h264 ? "clip.h264" : "clip.h265")
    let caps = "\(codec.mediaType),stream-format=byte-stream,alignment=\(alignment)"
    let pipeline = try unsafe #require(
      gst_parse_launch(
        "filesrc location=\(file) ! \(codec.element)parse name=parse ! \(caps) ! fakesink sync=false", nil))
    let bus = unsafe gst_element_get_bus(pipeline)
    defer {
      unsafe gst_element_set_state(pipeline, GST_STATE_NULL)
      unsafe gst_object_unref(bus)
      unsafe gst_object_unref(pipeline)
    }
    let bin = unsafe UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstBin.self)
    let parser = try unsafe #require(gst_bin_get_by_name(bin, "parse"))
    defer { unsafe gst_object_unref(parser) }
    let pad = try unsafe #require(gst_element_get_static_pad(parser, "sink"))
    defer { unsafe gst_object_unref(pad) }
    let kinds = GstPadProbeType(rawValue: GST_PAD_PROBE_TYPE_PULL.rawValue | GST_PAD_PROBE_TYPE_BUFFER.rawValue)
    // The pipeline is stopped before the replacement goes.
    unsafe gst_pad_add_probe(
      pad, kinds,
      { _, info, data in
        guard let info = unsafe info, let data = unsafe data else { return GST_PAD_PROBE_OK }
        unsafe Unmanaged<Replacement>.fromOpaque(data).takeUnretainedValue().replace(in: info)
        return GST_PAD_PROBE_OK
      }, Unmanaged.passUnretained(replacement).toOpaque(), nil)
    return try withExtendedLifetime(replacement) {
      if isSought {
        unsafe gst_element_set_state(pipeline, GST_STATE_PAUSED)
        try #require(unsafe gst_element_get_state(pipeline, nil, nil, patience) == GST_STATE_CHANGE_SUCCESS)
        replacement.isActive.store(true, ordering: .relaxed)
        let flags = GstSeekFlags(rawValue: GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_ACCURATE.rawValue)
        _ = unsafe gst_element_seek_simple(pipeline, GST_FORMAT_TIME, flags, 1_500_000_000)
      }
      unsafe gst_element_set_state(pipeline, GST_STATE_PLAYING)
      let awaited = GstMessageType(rawValue: GST_MESSAGE_EOS.rawValue | GST_MESSAGE_ERROR.rawValue)
      let message = try unsafe #require(gst_bus_timed_pop_filtered(bus, patience, awaited))
      defer { unsafe gst_message_unref(message) }
      guard unsafe message.pointee.type == GST_MESSAGE_ERROR else { return "end" }
      var error: UnsafeMutablePointer<GError>?
      unsafe gst_message_parse_error(message, &error, nil)
      defer { unsafe g_clear_error(&error) }
      return unsafe error.map { unsafe String(cString: $0.pointee.message) } ?? ""
    }
  }

  /// How long to wait for a message, in nanoseconds.
  private static let patience: GstClockTime = 60_000_000_000
}
