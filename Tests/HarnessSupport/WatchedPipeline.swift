// SPDX-License-Identifier: MPL-2.0
public import CGStreamer
private import Glibc
private import Synchronization

/// A pipeline that records the buffers that arrive at its element `sink`, each with the number of flushes before it.
@safe public final class WatchedPipeline {
  /// A buffer at the sink.
  public struct Arrival: Sendable {
    /// In nanoseconds; `UInt64.max` for none.
    public var pts: UInt64
    /// The number of flushes that arrived before it.
    public var flushes: Int
    /// The content.
    public var bytes: [UInt8]
  }

  private struct Seen {
    var arrivals: [Arrival] = []
    var flushes = 0
  }

  private final class Watch: Sendable { let seen = Mutex(Seen()) }

  private let watch = Watch()
  private let pipeline: ProbedPipeline

  /// - Parameter description: as on a gst-launch-1.0 line, with an element `sink`.
  public init(_ description: String) throws {
    pipeline = try unsafe ProbedPipeline(
      description, GST_PAD_PROBE_TYPE_BUFFER, GST_PAD_PROBE_TYPE_EVENT_FLUSH, watch: watch
    ) { _, info, data in
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
    }
  }

  /// Sets the state and waits until it is reached, ten minutes at most. Returns whether it was.
  public func go(to state: GstState) -> Bool {
    unsafe gst_element_set_state(pipeline.raw, state)
    return unsafe gst_element_get_state(pipeline.raw, nil, nil, 600_000_000_000) == GST_STATE_CHANGE_SUCCESS
  }

  /// Has the element `source` answer the next pull of at least `size` bytes only when a flush has begun.
  ///
  /// - Returns: whether that pull has come, each time it is called.
  public func holdPull(ofAtLeast size: UInt32) -> () -> Bool {
    let hold = PullHold(size: size)
    guard let source = unsafe pipeline.element("source") else { return { false } }
    defer { unsafe gst_object_unref(source) }
    guard let pad = unsafe gst_element_get_static_pad(source, "src") else { return { false } }
    defer { unsafe gst_object_unref(pad) }
    // Events count as pushed.
    let kinds = [
      GST_PAD_PROBE_TYPE_PULL, GST_PAD_PROBE_TYPE_PUSH, GST_PAD_PROBE_TYPE_BLOCK, GST_PAD_PROBE_TYPE_EVENT_FLUSH,
    ]
    unsafe gst_pad_add_probe(
      pad, GstPadProbeType(rawValue: kinds.reduce(0) { $0 | $1.rawValue }),
      { _, info, data in
        guard let info = unsafe info, let data = unsafe data else { return GST_PAD_PROBE_OK }
        let hold = unsafe Unmanaged<PullHold>.fromOpaque(data).takeUnretainedValue()
        if unsafe info.pointee.type.rawValue & GST_PAD_PROBE_TYPE_EVENT_FLUSH.rawValue != 0 {
          hold.release()
        } else {
          hold.pull(unsafe info.pointee.size)
        }
        return GST_PAD_PROBE_PASS
      }, Unmanaged.passRetained(hold).toOpaque(),
      { data in if let data = unsafe data { unsafe Unmanaged<PullHold>.fromOpaque(data).release() } })
    return { hold.isHolding }
  }

  /// Seeks with a flush; times in nanoseconds, -1 for the end of the stream.
  public func seek(rate: Double = 1, _ flags: GstSeekFlags, from start: Int64, to stop: Int64 = -1) -> Bool {
    let all = GstSeekFlags(rawValue: flags.rawValue | GST_SEEK_FLAG_FLUSH.rawValue)
    return unsafe gst_element_seek(
      pipeline.raw, rate, GST_FORMAT_TIME, all, GST_SEEK_TYPE_SET, gint64(start), GST_SEEK_TYPE_SET, gint64(stop)) != 0
  }

  /// The buffers that have arrived.
  public var arrivals: [Arrival] { watch.seen.withLock { $0.arrivals } }

  /// The number of flushes that have arrived.
  public var flushes: Int { watch.seen.withLock { $0.flushes } }

  /// Waits until `isEnough` accepts the buffers that have arrived. Returns false after 120,000 looks.
  public func wait(until isEnough: ([Arrival]) -> Bool) -> Bool {
    for _ in 0..<120_000 {
      if isEnough(arrivals) { return true }
      usleep(5000)
    }
    return false
  }
}
