// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import Testing

/// Input whose memory cannot be mapped: the application learns of it from the bus.
@Suite(.serialized) struct UnreadableMemoryTests {
  // The parsers' base class reads the input itself and posts nothing of ours.
  @Test(arguments: ["h264", "h265"], ["repack", "dec", "dec nal"])
  func isAnErrorWithAMessage(_ codec: String, _ element: String) throws {
    let alignment = element == "dec nal" ? "nal" : "au"
    let harness = try Harness.decoder(
      "swift\(codec)\(element.prefix { $0 != " " })",
      input: "video/x-\(codec), stream-format=byte-stream, alignment=\(alignment)")
    harness.collectMessages()
    if element == "repack" { harness.setOutputCaps("video/x-\(codec), stream-format=byte-stream, alignment=nal") }
    guard let buffer = unsafe unmappableBuffer(size: 1000) else { throw Clip.Unreadable() }
    let flow = harness.push(unsafe Buffer(owning: buffer))
    #expect(flow == GST_FLOW_ERROR.rawValue)
    #expect(harness.takeMessages().contains { $0.hasPrefix("error: ") })
  }

  private func unmappableBuffer(size: Int) -> UnsafeMutablePointer<GstBuffer>? {
    guard let allocator = unsafe g_object_new_with_properties(Self.allocatorType, 0, nil, nil) else { return nil }
    unsafe UnsafeMutableRawPointer(allocator).assumingMemoryBound(to: GstAllocator.self).pointee.mem_map = {
      _, _, _ in nil
    }
    guard let memory = unsafe g_malloc0(gsize(MemoryLayout<GstMemory>.size))?.assumingMemoryBound(to: GstMemory.self)
    else { return nil }
    unsafe gst_memory_init(
      memory, GstMemoryFlags(rawValue: 0),
      UnsafeMutableRawPointer(allocator).assumingMemoryBound(to: GstAllocator.self), nil, gsize(size), 0, 0,
      gsize(size))
    // The memory holds the allocator.
    unsafe g_object_unref(allocator)
    let buffer = unsafe gst_buffer_new()
    unsafe gst_buffer_append_memory(buffer, memory)
    return unsafe buffer
  }

  private static let allocatorType: GType = unsafe g_type_register_static_simple(
    gst_allocator_get_type(), "UnmappableAllocator", guint(MemoryLayout<GstAllocatorClass>.size),
    { pointer, _ in
      unsafe pointer?.assumingMemoryBound(to: GstAllocatorClass.self).pointee.free = { _, memory in
        unsafe g_free(memory)
      }
    }, guint(MemoryLayout<GstAllocator>.size), nil, GTypeFlags(rawValue: 0))
}
