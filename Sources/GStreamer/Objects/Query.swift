// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// A query that travels along a pipeline and returns with an answer (`GstQuery`).
@safe public struct Query: ~Copyable, @unsafe MiniObject {
  /// The C object.
  @unsafe public let raw: UnsafeMutablePointer<GstQuery>

  /// Takes over one reference.
  @unsafe public init(owning raw: UnsafeMutablePointer<GstQuery>) { unsafe self.raw = raw }
  deinit { unsafe unref(raw) }

  /// Gives the reference to the caller.
  @unsafe public consuming func take() -> UnsafeMutablePointer<GstQuery> {
    let raw = unsafe raw
    discard self
    return unsafe raw
  }

  /// The type of a query (`GstQueryType`), as far as elements here distinguish them.
  public enum Kind: Sendable {
    /// The current position in the stream.
    case position
    /// The duration of the stream.
    case duration
    /// The latency of live sources and of the elements after them.
    case latency
    /// Whether, and in which range, the stream can seek.
    case seeking
    /// The scheduling modes: push, or pull with random access.
    case scheduling
    /// The conversion of a value between formats, such as bytes and time.
    case convert
    /// The caps that are possible.
    case caps
    /// Whether caps are accepted.
    case acceptCaps
    /// How to allocate buffers.
    case allocation
    /// Makes an element output all that it holds before it answers.
    case drain
    /// Anything else.
    case other
  }

  /// The type of the query.
  public var kind: Kind {
    switch unsafe raw.pointee.type {
    case GST_QUERY_POSITION: .position
    case GST_QUERY_DURATION: .duration
    case GST_QUERY_LATENCY: .latency
    case GST_QUERY_SEEKING: .seeking
    case GST_QUERY_SCHEDULING: .scheduling
    case GST_QUERY_CONVERT: .convert
    case GST_QUERY_CAPS: .caps
    case GST_QUERY_ACCEPT_CAPS: .acceptCaps
    case GST_QUERY_ALLOCATION: .allocation
    case GST_QUERY_DRAIN: .drain
    default: .other
    }
  }

  // MARK: Allocation

  /// The caps of an allocation query; `nil` for other queries.
  public var allocationCaps: Caps? {
    guard kind == .allocation else { return nil }
    var caps: UnsafeMutablePointer<GstCaps>?
    var needPool: gboolean = 0
    unsafe gst_query_parse_allocation(raw, &caps, &needPool)
    return unsafe Caps.retaining(optional: caps)
  }

  /// Whether the peer supports `GstVideoMeta`: strides and offsets other than the default.
  public var allowsVideoMeta: Bool {
    unsafe gst_query_find_allocation_meta(raw, gst_video_meta_api_get_type(), nil) != 0
  }

  /// A buffer pool of an allocation query's answer, with its sizes.
  public struct PoolOffer: ~Copyable {
    /// `nil` when the answer has sizes only.
    public var pool: BufferPool?
    /// Bytes of a buffer.
    public var size: UInt32
    /// Buffers to allocate immediately.
    public var minimum: UInt32
    /// Buffers at most; 0 is no limit.
    public var maximum: UInt32

    /// A pool with its sizes.
    public init(pool: consuming BufferPool?, size: UInt32, minimum: UInt32 = 0, maximum: UInt32 = 0) {
      self.pool = pool
      self.size = size
      self.minimum = minimum
      self.maximum = maximum
    }
  }

  /// The first pool of the answer; `nil` without one.
  public func firstPool() -> PoolOffer? {
    guard unsafe gst_query_get_n_allocation_pools(raw) > 0 else { return nil }
    var pool: UnsafeMutablePointer<GstBufferPool>?
    var (size, minimum, maximum): (guint, guint, guint) = (0, 0, 0)
    unsafe gst_query_parse_nth_allocation_pool(raw, 0, &pool, &size, &minimum, &maximum)
    let owned: BufferPool? =
      if let pool = unsafe pool { unsafe BufferPool(owning: pool) } else { nil }
    return PoolOffer(pool: owned, size: size, minimum: minimum, maximum: maximum)
  }

  /// Sets the first pool of the answer, replacing one that is there.
  public func setFirstPool(_ offer: borrowing PoolOffer) {
    let pool: UnsafeMutablePointer<GstBufferPool>?
    switch offer.pool {
    case .some(let owned): unsafe pool = owned.raw
    case .none: unsafe pool = nil
    }
    if unsafe gst_query_get_n_allocation_pools(raw) > 0 {
      unsafe gst_query_set_nth_allocation_pool(raw, 0, pool, offer.size, offer.minimum, offer.maximum)
    } else {
      unsafe gst_query_add_allocation_pool(raw, pool, offer.size, offer.minimum, offer.maximum)
    }
  }

  // MARK: Latency

  /// A latency query.
  public static func latency() -> Query {
    _ = isGStreamerReady
    return unsafe Query(owning: gst_query_new_latency())
  }

  /// The answer to a latency query: whether the source is live, and the latency; a maximum of `nil` is unlimited. `nil`
  /// for other queries.
  public var latency: (isLive: Bool, minimum: ClockTime, maximum: ClockTime?)? {
    guard kind == .latency else { return nil }
    var live: gboolean = 0
    var (minimum, maximum): (GstClockTime, GstClockTime) = (0, 0)
    unsafe gst_query_parse_latency(raw, &live, &minimum, &maximum)
    return (live != 0, ClockTime(nanoseconds: UInt64(minimum)), ClockTime(raw: UInt64(maximum)))
  }

  /// Answers a latency query.
  public func setLatency(isLive: Bool, minimum: ClockTime, maximum: ClockTime?) {
    guard kind == .latency else { return }
    unsafe gst_query_set_latency(
      raw, isLive ? 1 : 0, GstClockTime(minimum.nanoseconds), GstClockTime(maximum.raw))
  }

  // MARK: Scheduling

  /// Answers a scheduling query: push mode only, buffers in their order.
  func setPushesOnly() {
    guard kind == .scheduling else { return }
    unsafe gst_query_set_scheduling(raw, GST_SCHEDULING_FLAG_SEQUENTIAL, 1, -1, 0)
    unsafe gst_query_add_scheduling_mode(raw, GST_PAD_MODE_PUSH)
  }

  // MARK: Caps

  /// The filter of a caps query; `nil` when there is none, and for other queries.
  public var capsFilter: Caps? {
    guard kind == .caps else { return nil }
    var filter: UnsafeMutablePointer<GstCaps>?
    unsafe gst_query_parse_caps(raw, &filter)
    return unsafe Caps.retaining(optional: filter)
  }

  /// Answers a caps query.
  public func setCapsResult(_ caps: borrowing Caps) {
    guard kind == .caps else { return }
    unsafe gst_query_set_caps_result(raw, caps.raw)
  }

  /// The caps of an accept-caps query; `nil` for other queries.
  public var capsToAccept: Caps? {
    guard kind == .acceptCaps else { return nil }
    var caps: UnsafeMutablePointer<GstCaps>?
    unsafe gst_query_parse_accept_caps(raw, &caps)
    return unsafe Caps.retaining(optional: caps)
  }

  /// Answers an accept-caps query.
  public func setAcceptCapsResult(_ accepted: Bool) {
    guard kind == .acceptCaps else { return }
    unsafe gst_query_set_accept_caps_result(raw, accepted ? 1 : 0)
  }
}
