// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import Foundation
import HarnessSupport
import Synchronization
import TestSupport
import Testing

/// A pipeline of all elements that reads a file, for seeks.
@safe final class SeekPipeline {
  private let raw: UnsafeMutablePointer<GstElement>
  private let bus: UnsafeMutablePointer<GstBus>
  private let count = Count()
  private var lastSeek: guint32 = 0

  /// The number of pictures at the sink.
  private final class Count: Sendable { let pictures = Atomic<Int>(0) }

  /// Pictures at the sink so far.
  var pictures: Int { count.pictures.load(ordering: .relaxed) }

  /// Plays the file until the first picture is at the sink.
  init(file: String, of codec: StreamCodec) throws {
    let chain = codec.chain(
      "swifth264parse ! swifth264repack ! video/x-h264,stream-format=avc ! swifth264parse ! swifth264dec max-threads=1")
    let description =
      "filesrc location=\(file) ! \(chain) ! fakesink name=sink sync=false signal-handoffs=true"
    let pipeline = try unsafe #require(gst_parse_launch(DecoderIsolation.described(description), nil))
    unsafe raw = pipeline
    unsafe bus = gst_element_get_bus(pipeline)
    let bin = unsafe UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstBin.self)
    let sink = try unsafe #require(gst_bin_get_by_name(bin, "sink"))
    defer { unsafe gst_object_unref(sink) }
    let handoff:
      @convention(c) (
        UnsafeMutableRawPointer, UnsafeMutableRawPointer, UnsafeMutableRawPointer, UnsafeMutableRawPointer
      )
        -> Void = { _, _, _, data in
          unsafe Unmanaged<Count>.fromOpaque(data).takeUnretainedValue().pictures.add(1, ordering: .relaxed)
        }
    // The pipeline is stopped before the count goes.
    unsafe g_signal_connect_data(
      sink, "handoff", unsafeBitCast(handoff, to: GCallback.self), Unmanaged.passUnretained(count).toOpaque(), nil,
      GConnectFlags(rawValue: 0))
    unsafe gst_element_set_state(pipeline, GST_STATE_PAUSED)
    try #require(unsafe gst_element_get_state(pipeline, nil, nil, Self.patience) == GST_STATE_CHANGE_SUCCESS)
    unsafe gst_element_set_state(pipeline, GST_STATE_PLAYING)
  }

  deinit {
    unsafe gst_element_set_state(raw, GST_STATE_NULL)
    unsafe gst_object_unref(bus)
    unsafe gst_object_unref(raw)
  }

  /// Seeks with a flush to a random time before `end`, in nanoseconds, for two seconds of the stream at most.
  func seek(before end: gint64, _ random: inout SeededGenerator) throws {
    let extra = [GST_SEEK_FLAG_KEY_UNIT, GST_SEEK_FLAG_ACCURATE, GstSeekFlags(rawValue: 0)]
      .randomElement(using: &random)
    let flags = GstSeekFlags(rawValue: GST_SEEK_FLAG_FLUSH.rawValue | (extra?.rawValue ?? 0))
    let start = gint64.random(in: 0..<end, using: &random)
    let stop = start + gint64.random(in: 1_000_000_000...2_000_000_000, using: &random)
    // One in eight backwards.
    let rate: Double = UInt8.random(in: 0..<8, using: &random) == 0 ? -1 : 1
    let event = try unsafe #require(
      gst_event_new_seek(rate, GST_FORMAT_TIME, flags, GST_SEEK_TYPE_SET, start, GST_SEEK_TYPE_SET, stop))
    lastSeek = unsafe gst_event_get_seqnum(event)
    try #require(unsafe gst_element_send_event(raw, event) != 0)
  }

  /// Waits for the end of the last seek's segment.
  func waitForTheEnd() throws {
    let kinds = GstMessageType(rawValue: GST_MESSAGE_EOS.rawValue | GST_MESSAGE_ERROR.rawValue)
    var isLast = false
    while !isLast {
      let message = try unsafe #require(gst_bus_timed_pop_filtered(bus, Self.patience, kinds))
      defer { unsafe gst_message_unref(message) }
      try #require(unsafe message.pointee.type == GST_MESSAGE_EOS)
      // An earlier segment may have ended too before the next seek.
      isLast = unsafe gst_message_get_seqnum(message) == lastSeek
    }
  }

  /// How long to wait for a message, in nanoseconds.
  private static let patience: GstClockTime = 60_000_000_000
}
