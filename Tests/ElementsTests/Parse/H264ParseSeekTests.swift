// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import Glibc
import HarnessSupport
import Testing

/// Byte streams in pull mode.
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

  @Test func seeksToTheRequestedPosition() throws {
    try unsafe withPipeline(sequences: 30) { pipeline in
      #expect(unsafe prerolled(pipeline).pts == 0)
      for (target, expected) in [(4_000, 4_000), (100, 0), (0, 0)] as [(Int, Int)] {
        let flags = GstSeekFlags(rawValue: GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_KEY_UNIT.rawValue)
        #expect(unsafe gst_element_seek_simple(pipeline, GST_FORMAT_TIME, flags, target * 1_000_000) != 0)
        #expect(unsafe gst_element_get_state(pipeline, nil, nil, 10_000_000_000) == GST_STATE_CHANGE_SUCCESS)
        let (pts, isDelta) = unsafe prerolled(pipeline)
        // If the index has no entry, the base class estimates the position. The estimate is off by less than a
        // sequence.
        #expect(abs(pts - expected * 1_000_000) <= 400_000_000, "\(target)")
        if target == 0 { #expect(pts == 0 && !isDelta) }
      }
    }
  }

  /// The file in a pipeline that has prerolled.
  private func withPipeline(
    sequences: Int, _ body: (UnsafeMutablePointer<GstElement>) throws -> Void
  ) throws {
    Harness.initialise()
    _ = try Harness.parse()
    let path = try Self.file(sequences: sequences)
    defer { unsafe _ = unlink(path) }
    let description = "filesrc location=\(path) ! swifth264parse ! fakesink name=sink sync=false"
    let pipeline = try unsafe #require(gst_parse_launch(description, nil))
    defer {
      unsafe gst_element_set_state(pipeline, GST_STATE_NULL)
      unsafe gst_object_unref(pipeline)
    }
    unsafe gst_element_set_state(pipeline, GST_STATE_PAUSED)
    #expect(unsafe gst_element_get_state(pipeline, nil, nil, 10_000_000_000) == GST_STATE_CHANGE_SUCCESS)
    try unsafe body(pipeline)
  }

  /// Plays to the end.
  private func playToTheEnd(_ pipeline: UnsafeMutablePointer<GstElement>) throws {
    unsafe gst_element_set_state(pipeline, GST_STATE_PLAYING)
    let bus = try unsafe #require(gst_element_get_bus(pipeline))
    defer { unsafe gst_object_unref(bus) }
    let kinds = GstMessageType(rawValue: GST_MESSAGE_EOS.rawValue | GST_MESSAGE_ERROR.rawValue)
    let message = try unsafe #require(gst_bus_timed_pop_filtered(bus, 30_000_000_000, kinds))
    #expect(unsafe message.pointee.type == GST_MESSAGE_EOS)
    unsafe gst_message_unref(message)
  }

  /// Queries of position, duration and conversion, for twelve seconds.
  @Test func answersPositionDurationAndConversionQueries() throws {
    try unsafe withPipeline(sequences: 30) { pipeline in
      try unsafe playToTheEnd(pipeline)
      var position: gint64 = -1
      #expect(unsafe gst_element_query_position(pipeline, GST_FORMAT_TIME, &position) != 0)
      #expect(position == 12_000_000_000)
      var duration: gint64 = -1
      #expect(unsafe gst_element_query_duration(pipeline, GST_FORMAT_TIME, &duration) != 0)
      #expect(abs(duration - 12_000_000_000) < 1_200_000_000)
      var bytes: gint64 = -1
      #expect(unsafe gst_element_query_duration(pipeline, GST_FORMAT_BYTES, &bytes) != 0)
      var time: gint64 = -1
      #expect(unsafe gst_element_query_convert(pipeline, GST_FORMAT_BYTES, bytes, GST_FORMAT_TIME, &time) != 0)
      #expect(abs(time - duration) < 100_000_000)
      var back: gint64 = -1
      #expect(unsafe gst_element_query_convert(pipeline, GST_FORMAT_TIME, time, GST_FORMAT_BYTES, &back) != 0)
      #expect(abs(back - bytes) < 100)
    }
  }

  /// A seek back to 0 after the first picture gives that picture its first times again.
  @Test func aSeekToTheStartResetsTimes() throws {
    try unsafe withPipeline(sequences: 2) { pipeline in
      for _ in 0..<3 {
        #expect(unsafe prerolled(pipeline).pts == 0)
        #expect(unsafe gst_element_seek_simple(pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0) != 0)
        #expect(unsafe gst_element_get_state(pipeline, nil, nil, 10_000_000_000) == GST_STATE_CHANGE_SUCCESS)
      }
      try unsafe playToTheEnd(pipeline)
      var position: gint64 = -1
      #expect(unsafe gst_element_query_position(pipeline, GST_FORMAT_TIME, &position) != 0)
      #expect(position == 800_000_000)
    }
  }

  @Test func aSeekWithAStopEndsThere() throws {
    try unsafe withPipeline(sequences: 30) { pipeline in
      let flags = GstSeekFlags(rawValue: GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_ACCURATE.rawValue)
      #expect(
        unsafe gst_element_seek(
          pipeline, 1, GST_FORMAT_TIME, flags, GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_SET, 2_000_000_000) != 0)
      try unsafe playToTheEnd(pipeline)
      var position: gint64 = -1
      #expect(unsafe gst_element_query_position(pipeline, GST_FORMAT_TIME, &position) != 0)
      // At most the end of the sequence that the stop position is in.
      #expect(position >= 2_000_000_000 - 40_000_000 && position <= 2_400_000_000, "\(position)")
    }
  }

  /// The last sequence of the range comes first, beginning with its IDR picture.
  @Test func aRawFilePlaysBackwards() throws {
    try unsafe withPipeline(sequences: 30) { pipeline in
      let flags = GstSeekFlags(rawValue: GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_ACCURATE.rawValue)
      #expect(
        unsafe gst_element_seek(
          pipeline, -1, GST_FORMAT_TIME, flags, GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_SET, 2_000_000_000) != 0)
      #expect(unsafe gst_element_get_state(pipeline, nil, nil, 10_000_000_000) == GST_STATE_CHANGE_SUCCESS)
      #expect(unsafe !prerolled(pipeline).isDelta)
      try unsafe playToTheEnd(pipeline)
      // The picture at the sink is of the sequence at the beginning.
      let last = unsafe prerolled(pipeline)
      #expect(last.isDelta)
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
