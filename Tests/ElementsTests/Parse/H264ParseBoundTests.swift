// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import Glibc
import HarnessSupport
import Testing

/// An access unit that does not end takes no more memory than the documented limit.
@Suite(.serialized) struct H264ParseBoundTests {
  typealias Stream = ParseStream

  /// `H264Parse.maximumUnitSize`.
  private static let limit = 64 << 20
  private static let endless = Stream.byteStream(Stream.sps, Stream.pps, Stream.idr)

  /// The largest request that upstream got, and the sum of all, in bytes.
  private struct Requests {
    var greatest = 0
    var sum = 0
  }

  @Test func anEndlessAccessUnitIsNotPulledBeyondTheLimit() throws {
    _ = try Harness.parse()
    let path = "/tmp/h264parse-endless-\(getpid()).h264"
    let file = try unsafe #require(fopen(path, "wb"))
    #expect(unsafe fwrite(Self.endless, 1, Self.endless.count, file) == Self.endless.count)
    unsafe fclose(file)
    defer { unsafe _ = unlink(path) }
    // A sparse file: a gibibyte without a start code.
    #expect(unsafe truncate(path, 1 << 30) == 0)
    let pipeline = try unsafe #require(
      gst_parse_launch("filesrc location=\(path) ! swifth264parse name=p ! fakesink", nil))
    defer {
      unsafe gst_element_set_state(pipeline, GST_STATE_NULL)
      unsafe gst_object_unref(pipeline)
    }
    let bin = unsafe UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstBin.self)
    let parser = try unsafe #require(gst_bin_get_by_name(bin, "p"))
    defer { unsafe gst_object_unref(parser) }
    let pad = try unsafe #require(gst_element_get_static_pad(parser, "sink"))
    defer { unsafe gst_object_unref(pad) }
    let requests = UnsafeMutablePointer<Requests>.allocate(capacity: 1)
    unsafe requests.initialize(to: Requests())
    defer { unsafe requests.deallocate() }
    let kind = GstPadProbeType(rawValue: GST_PAD_PROBE_TYPE_PULL.rawValue | GST_PAD_PROBE_TYPE_BUFFER.rawValue)
    unsafe gst_pad_add_probe(
      pad, kind,
      { _, info, data in
        if let info = unsafe info, let requests = unsafe data?.assumingMemoryBound(to: Requests.self),
          let buffer = unsafe info.pointee.data?.assumingMemoryBound(to: GstBuffer.self)
        {
          let size = unsafe Int(gst_buffer_get_size(buffer))
          unsafe requests.pointee.greatest = max(requests.pointee.greatest, size)
          unsafe requests.pointee.sum += size
        }
        return GST_PAD_PROBE_OK
      }, requests, nil)
    unsafe gst_element_set_state(pipeline, GST_STATE_PLAYING)
    let bus = try unsafe #require(gst_element_get_bus(pipeline))
    defer { unsafe gst_object_unref(bus) }
    let message = unsafe gst_bus_timed_pop_filtered(bus, 60_000_000_000, GST_MESSAGE_ERROR)
    var error: UnsafeMutablePointer<GError>?
    if let message = unsafe message {
      unsafe gst_message_parse_error(message, &error, nil)
      unsafe gst_message_unref(message)
    }
    let text = unsafe error.map { unsafe String(cString: $0.pointee.message) }
    unsafe g_clear_error(&error)
    #expect(text?.contains("an access unit does not end") == true)
    unsafe gst_element_set_state(pipeline, GST_STATE_NULL)
    let seen = unsafe requests.pointee
    // The base class reads 64 KiB more than it is asked for.
    #expect(seen.greatest > Self.limit / 2 && seen.greatest <= Self.limit + 128 << 10, "\(seen.greatest)")
    // Each request doubles the one before.
    #expect(seen.sum <= 3 * Self.limit, "\(seen.sum)")
  }

  @Test func anEndlessAccessUnitIsNotPushedBeyondTheLimit() throws {
    let harness = try Harness.parse(from: "video/x-h264", to: "stream-format=byte-stream, alignment=au")
    harness.collectMessages()
    #expect(harness.push(Self.endless) == 0)
    let piece = [UInt8](repeating: 0x11, count: 256 << 10)
    var taken = 0
    while taken < 2 * Self.limit, harness.push(piece) == 0 { taken += piece.count }
    #expect(taken > Self.limit / 2 && taken <= Self.limit + piece.count, "\(taken)")
    #expect(harness.takeMessages().first?.contains("an access unit does not end") == true)
  }

  /// After an access unit of many megabytes, the parser pushes small access units immediately again.
  @Test func aLargeAccessUnitDoesNotDelayLaterOnes() throws {
    let harness = try Harness.parse(from: "video/x-h264", to: "stream-format=byte-stream, alignment=au")
    #expect(harness.push(Self.endless) == 0)
    for _ in 0..<40 { #expect(harness.push([UInt8](repeating: 0x11, count: 64 << 10)) == 0) }
    for _ in 0..<20 { #expect(harness.push(Stream.byteStream(Stream.idr)) == 0) }
    harness.push([UInt8](repeating: 0, count: 512 << 10) + Stream.byteStream(Stream.idr))
    #expect(harness.received >= 20)
    let before = harness.received
    #expect(harness.push(Stream.byteStream(Stream.idr)) == 0)
    #expect(harness.received == before + 1)
  }

  /// Zeros, and bytes without a start code, are discarded as they come.
  @Test(arguments: [0x00, 0xFF] as [UInt8]) func garbageIsNotKept(_ byte: UInt8) throws {
    let harness = try Harness.parse(from: "video/x-h264", to: "stream-format=byte-stream, alignment=au")
    let piece = [UInt8](repeating: byte, count: 1 << 20)
    for _ in 0..<80 { #expect(harness.push(piece) == 0) }
    #expect(harness.push(Self.endless) == 0)
    harness.endOfStream()
    #expect(harness.received == 1)
  }
}
