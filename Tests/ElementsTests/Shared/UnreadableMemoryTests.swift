// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import Testing

/// Input whose memory cannot be mapped: the application learns of it from the bus.
@Suite(.serialized) struct UnreadableMemoryTests {
  @Test(arguments: ["h264", "h265"], ["parse", "repack", "dec", "dec nal"])
  func isAnErrorWithAMessage(_ codec: String, _ element: String) throws {
    let units =
      try codec == "h264" ? Clip.accessUnits("open-gop.h264") : Clip.accessUnits("open-gop.h265", of: H265.self)
    let alignment = element == "dec nal" ? "nal" : "au"
    let harness = try Harness.decoder(
      "swift\(codec)\(element.prefix { $0 != " " })",
      input: "video/x-\(codec), stream-format=byte-stream, alignment=\(alignment)")
    harness.collectMessages()
    guard let buffer = Buffer(copying: units[0].span) else { throw Clip.Unreadable() }
    let kept = buffer.share()
    // Memory that is mapped for writing cannot be mapped for reading.
    let memory = unsafe gst_buffer_peek_memory(kept.raw, 0)
    var map = unsafe GstMapInfo()
    let isMapped = unsafe gst_memory_map(memory, &map, GST_MAP_WRITE) != 0
    #expect(isMapped)
    defer { unsafe gst_memory_unmap(memory, &map) }
    let flow = harness.push(buffer)
    #expect(flow == GST_FLOW_ERROR.rawValue)
    #expect(harness.takeMessages().contains { $0.hasPrefix("error: ") })
  }
}
