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
  ]) func refusesParsedStreamsInAnAutopluggingBin(_ bin: String, _ isParsed: Bool, _ isTaken: Bool) throws {
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

  /// Once the parser is plugged, upstream's caps may gain `parsed=true`, as those of WebKit's media source do.
  @Test(arguments: StreamCodec.allCases, ["decodebin", "parsebin", "bin"])
  func capsOfAPluggedParserMayBecomeParsed(codec: StreamCodec, _ bin: String) throws {
    _ = try Harness.parse()
    let parent = try unsafe #require(gst_element_factory_make(bin, nil))
    unsafe gst_object_ref_sink(parent)
    defer {
      unsafe gst_element_set_state(parent, GST_STATE_NULL)
      unsafe gst_object_unref(parent)
    }
    let element = try unsafe #require(gst_element_factory_make("\(codec.element)parse", nil))
    unsafe gst_bin_add(UnsafeMutableRawPointer(parent).assumingMemoryBound(to: GstBin.self), element)
    unsafe gst_element_set_state(element, GST_STATE_PAUSED)
    defer { unsafe gst_element_set_state(element, GST_STATE_NULL) }
    let pad = try unsafe #require(gst_element_get_static_pad(element, "sink"))
    defer { unsafe gst_object_unref(pad) }
    let text = "\(codec.mediaType), stream-format=byte-stream, alignment=au"
    let plain = try unsafe #require(gst_caps_from_string(text))
    defer { unsafe gst_caps_unref(plain) }
    let parsed = try unsafe #require(gst_caps_from_string(text + ", parsed=true"))
    defer { unsafe gst_caps_unref(parsed) }
    #expect(unsafe (gst_pad_query_accept_caps(pad, parsed) != 0) == (bin == "bin"))
    #expect(unsafe gst_pad_send_event(pad, gst_event_new_stream_start("stream")) != 0)
    #expect(unsafe gst_pad_send_event(pad, gst_event_new_caps(plain)) != 0)
    #expect(unsafe gst_pad_query_accept_caps(pad, parsed) != 0)
    #expect(unsafe gst_pad_send_event(pad, gst_event_new_caps(parsed)) != 0)
  }
}
