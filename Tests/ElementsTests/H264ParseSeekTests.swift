// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import Glibc
import HarnessSupport
import Testing

/// Raw files read by random access.
@Suite(.serialized) struct H264ParseSeekTests {
  typealias Stream = ParseStream

  /// Sequences of an IDR picture and nine others, 25 pictures a second.
  private static func file(sequences: Int) throws -> String {
    var bytes: [UInt8] = []
    for _ in 0..<sequences {
      bytes += Stream.byteStream(
        Stream.spsToOrder(reorder: 0), Stream.ppsToOrder(), Stream.slice(2, number: 0, order: 0, idr: true, size: 400))
      for index in UInt32(1)..<10 {
        bytes += Stream.byteStream(Stream.slice(0, number: index, order: 2 * index, size: 400))
      }
    }
    let path = "/tmp/h264parse-seek-\(getpid()).h264"
    let file = try unsafe #require(fopen(path, "wb"))
    defer { unsafe fclose(file) }
    #expect(unsafe fwrite(bytes, 1, bytes.count, file) == bytes.count)
    return path
  }

  @Test func aSeekGoesWhereItWasAskedTo() throws {
    Harness.initialise()
    _ = try Harness.parse()
    let path = try Self.file(sequences: 30)
    defer { unsafe _ = unlink(path) }
    let description = "filesrc location=\(path) ! swifth264parse ! fakesink name=sink sync=false"
    let pipeline = try unsafe #require(gst_parse_launch(description, nil))
    defer {
      unsafe gst_element_set_state(pipeline, GST_STATE_NULL)
      unsafe gst_object_unref(pipeline)
    }
    unsafe gst_element_set_state(pipeline, GST_STATE_PAUSED)
    #expect(unsafe gst_element_get_state(pipeline, nil, nil, 10_000_000_000) == GST_STATE_CHANGE_SUCCESS)
    #expect(unsafe prerolled(pipeline).pts == 0)
    for (target, expected) in [(4_000, 4_000), (100, 0), (0, 0)] as [(Int, Int)] {
      let flags = GstSeekFlags(rawValue: GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_KEY_UNIT.rawValue)
      #expect(unsafe gst_element_seek_simple(pipeline, GST_FORMAT_TIME, flags, target * 1_000_000) != 0)
      #expect(unsafe gst_element_get_state(pipeline, nil, nil, 10_000_000_000) == GST_STATE_CHANGE_SUCCESS)
      let (pts, isDelta) = unsafe prerolled(pipeline)
      // Where the index has no entry, the base class estimates the place; it is within a sequence.
      #expect(abs(pts - expected * 1_000_000) <= 400_000_000, "\(target)")
      if target == 0 { #expect(pts == 0 && !isDelta) }
    }
  }

  private func prerolled(_ pipeline: UnsafeMutablePointer<GstElement>) -> (pts: Int, isDelta: Bool) {
    let bin = unsafe UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstBin.self)
    guard let sink = unsafe gst_bin_get_by_name(bin, "sink") else { return (-1, true) }
    defer { unsafe gst_object_unref(sink) }
    let base = unsafe UnsafeMutableRawPointer(sink).assumingMemoryBound(to: GstBaseSink.self)
    guard let sample = unsafe gst_base_sink_get_last_sample(base) else { return (-1, true) }
    defer { unsafe gst_sample_unref(sample) }
    guard let buffer = unsafe gst_sample_get_buffer(sample) else { return (-1, true) }
    let isDelta = unsafe buffer.pointee.mini_object.flags & GST_BUFFER_FLAG_DELTA_UNIT.rawValue != 0
    return (unsafe Int(truncatingIfNeeded: buffer.pointee.pts), isDelta)
  }
}
