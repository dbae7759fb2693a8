// SPDX-License-Identifier: MPL-2.0
public import CGStreamer
private import Glibc
private import Synchronization

/// A pipeline whose sink, named `sink`, is watched: what arrives after which flush.
@safe public final class WatchedPipeline {
  /// A buffer at the sink.
  public struct Arrival: Sendable {
    /// In nanoseconds; `UInt64.max` without one.
    public var pts: UInt64
    /// How many flushes had come before it.
    public var flushes: Int
    public var bytes: [UInt8]
  }

  private struct Seen {
    var arrivals: [Arrival] = []
    var flushes = 0
  }

  private final class Watch: Sendable { let seen = Mutex(Seen()) }

  private let watch = Watch()
  @unsafe private let pipeline: UnsafeMutablePointer<GstElement>

  /// - Parameter description: as on a gst-launch-1.0 line, with an element `sink`.
  public init(_ description: String) throws {
    Harness.initialise()
    guard let pipeline = unsafe gst_parse_launch(description, nil) else { throw Harness.Failure.noSuchElement }
    unsafe self.pipeline = pipeline
    let bin = unsafe UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstBin.self)
    guard let sink = unsafe gst_bin_get_by_name(bin, "sink") else { throw Harness.Failure.noSuchElement }
    defer { unsafe gst_object_unref(sink) }
    guard let pad = unsafe gst_element_get_static_pad(sink, "sink") else { throw Harness.Failure.noSuchElement }
    defer { unsafe gst_object_unref(pad) }
    let kinds = GstPadProbeType(
      rawValue: GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_EVENT_FLUSH.rawValue)
    // The pipeline is stopped before the watch goes.
    unsafe gst_pad_add_probe(
      pad, kinds,
      { _, info, data in
        guard let info = unsafe info, let data = unsafe data else { return GST_PAD_PROBE_OK }
        let watch = unsafe Unmanaged<Watch>.fromOpaque(data).takeUnretainedValue()
        let isBuffer = unsafe info.pointee.type.rawValue & GST_PAD_PROBE_TYPE_BUFFER.rawValue != 0
        if isBuffer, let buffer = unsafe gst_pad_probe_info_get_buffer(info) {
          let size = unsafe gst_buffer_get_size(buffer)
          var bytes = [UInt8](repeating: 0, count: Int(size))
          unsafe gst_buffer_extract(buffer, 0, &bytes, size)
          let pts = unsafe UInt64(buffer.pointee.pts)
          watch.seen.withLock { $0.arrivals.append(Arrival(pts: pts, flushes: $0.flushes, bytes: bytes)) }
        } else if !isBuffer, let event = unsafe gst_pad_probe_info_get_event(info),
          unsafe event.pointee.type == GST_EVENT_FLUSH_STOP
        {
          watch.seen.withLock { $0.flushes += 1 }
        }
        return GST_PAD_PROBE_OK
      }, Unmanaged.passUnretained(watch).toOpaque(), nil)
  }

  deinit {
    unsafe gst_element_set_state(pipeline, GST_STATE_NULL)
    unsafe gst_object_unref(pipeline)
  }

  /// Goes to a state and waits until it is reached; answers whether it was.
  public func go(to state: GstState) -> Bool {
    unsafe gst_element_set_state(pipeline, state)
    return unsafe gst_element_get_state(pipeline, nil, nil, 20_000_000_000) == GST_STATE_CHANGE_SUCCESS
  }

  /// Seeks with a flush; times in nanoseconds, -1 for the end of the stream.
  public func seek(rate: Double = 1, _ flags: GstSeekFlags, from start: Int64, to stop: Int64 = -1) -> Bool {
    let all = GstSeekFlags(rawValue: flags.rawValue | GST_SEEK_FLAG_FLUSH.rawValue)
    return unsafe gst_element_seek(
      pipeline, rate, GST_FORMAT_TIME, all, GST_SEEK_TYPE_SET, gint64(start), GST_SEEK_TYPE_SET, gint64(stop)) != 0
  }

  /// All that has arrived.
  public var arrivals: [Arrival] { watch.seen.withLock { $0.arrivals } }

  /// How many flushes have arrived.
  public var flushes: Int { watch.seen.withLock { $0.flushes } }

  /// Waits until what has arrived is as wanted; false when that takes more than 20 seconds.
  public func wait(until isEnough: ([Arrival]) -> Bool) -> Bool {
    for _ in 0..<4000 {
      if isEnough(arrivals) { return true }
      usleep(5000)
    }
    return false
  }
}
