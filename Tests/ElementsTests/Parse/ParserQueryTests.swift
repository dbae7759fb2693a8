// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import HarnessSupport
import Testing

/// Accept-caps queries of the sink pad.
@Suite(.serialized) struct ParserQueryTests {
  /// In an autoplugging bin the parser refuses parsed streams, for which it is not needed.
  @Test(arguments: [
    ("decodebin", true, false), ("decodebin", false, true), ("parsebin", true, false), ("parsebin", false, true),
    ("bin", true, true), ("pipeline", true, true),
  ]) func parsedStreamsAreRefusedWhereElementsArePlugged(_ bin: String, _ isParsed: Bool, _ isTaken: Bool) throws {
    _ = try Harness.parse()
    let parent = try unsafe #require(gst_element_factory_make(bin, nil))
    unsafe gst_object_ref_sink(parent)
    defer { unsafe gst_object_unref(parent) }
    let element = try unsafe #require(gst_element_factory_make("swifth264parse", nil))
    unsafe gst_bin_add(UnsafeMutableRawPointer(parent).assumingMemoryBound(to: GstBin.self), element)
    let pad = try unsafe #require(gst_element_get_static_pad(element, "sink"))
    defer { unsafe gst_object_unref(pad) }
    let caps = try unsafe #require(
      gst_caps_from_string("video/x-h264, stream-format=byte-stream, alignment=au, parsed=(boolean)\(isParsed)"))
    defer { unsafe gst_caps_unref(caps) }
    #expect(unsafe (gst_pad_query_accept_caps(pad, caps) != 0) == isTaken)
  }
}
