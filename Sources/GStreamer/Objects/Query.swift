// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// A question that travels along a pipeline and comes back with an answer (`GstQuery`).
@safe public struct Query: ~Copyable, @unsafe MiniObject {
  /// The C object.
  @unsafe public let raw: UnsafeMutablePointer<GstQuery>

  /// Takes over one reference.
  @unsafe public init(owning raw: UnsafeMutablePointer<GstQuery>) { unsafe self.raw = raw }
  deinit { unsafe unref(raw) }

  /// Gives up the reference: the caller has it now.
  @unsafe public consuming func take() -> UnsafeMutablePointer<GstQuery> {
    let raw = unsafe raw
    discard self
    return unsafe raw
  }

  /// What a query asks (`GstQueryType`), as far as elements here tell them apart.
  public enum Kind: Sendable {
    /// Where in the stream we are.
    case position
    /// How long the stream is.
    case duration
    /// How long data takes through the elements.
    case latency
    /// Whether, and where, the stream can be sought.
    case seeking
    /// How data can be had: pushed, or read from anywhere.
    case scheduling
    /// A value in another format, such as bytes as time.
    case convert
    /// Which formats are possible.
    case caps
    /// Whether a format is taken.
    case acceptCaps
    /// How buffers should be allocated.
    case allocation
    /// Everything inside is to be put out before the answer.
    case drain
    /// Anything else.
    case other
  }

  /// What the query asks.
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

  /// The caps of an allocation query.
  public var allocationCaps: Caps? {
    guard kind == .allocation else { return nil }
    var caps: UnsafeMutablePointer<GstCaps>?
    var needPool: gboolean = 0
    unsafe gst_query_parse_allocation(raw, &caps, &needPool)
    return unsafe Caps.retaining(optional: caps)
  }

  /// Whether the answerer understands `GstVideoMeta`, that is, other strides and offsets than the default.
  public var allowsVideoMeta: Bool {
    unsafe gst_query_find_allocation_meta(raw, gst_video_meta_api_get_type(), nil) != 0
  }

  /// Whether the answerer crops by `GstVideoCropMeta`.
  public var allowsVideoCropMeta: Bool {
    unsafe gst_query_find_allocation_meta(raw, gst_video_crop_meta_api_get_type(), nil) != 0
  }

  /// Says that we understand `GstVideoMeta`.
  public func addVideoMeta() { unsafe gst_query_add_allocation_meta(raw, gst_video_meta_api_get_type(), nil) }

  /// A pool of an allocation answer with its sizes.
  public struct PoolOffer: ~Copyable {
    /// `nil` when only sizes are given.
    public var pool: BufferPool?
    /// Bytes a buffer.
    public var size: UInt32
    /// Buffers to allocate at once.
    public var minimum: UInt32
    /// Buffers at most, 0 without limit.
    public var maximum: UInt32

    /// A pool with its sizes.
    public init(pool: consuming BufferPool?, size: UInt32, minimum: UInt32, maximum: UInt32) {
      self.pool = pool
      self.size = size
      self.minimum = minimum
      self.maximum = maximum
    }
  }

  /// The first pool that the answerer offers.
  public func firstPool() -> PoolOffer? {
    guard unsafe gst_query_get_n_allocation_pools(raw) > 0 else { return nil }
    var pool: UnsafeMutablePointer<GstBufferPool>?
    var (size, minimum, maximum): (guint, guint, guint) = (0, 0, 0)
    unsafe gst_query_parse_nth_allocation_pool(raw, 0, &pool, &size, &minimum, &maximum)
    let owned: BufferPool? =
      if let pool = unsafe pool { unsafe BufferPool(owning: pool) } else { nil }
    return PoolOffer(pool: owned, size: size, minimum: minimum, maximum: maximum)
  }

  /// Puts this pool first, in place of one that is there.
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

  /// A question for the latency up to a pad, and whether the source is live.
  public static func latency() -> Query { unsafe Query(owning: gst_query_new_latency()) }

  /// The answer to a latency query.
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

  /// Answers a scheduling query: buffers are pushed in their order, and nobody can pull.
  public func setPushesOnly() {
    guard kind == .scheduling else { return }
    unsafe gst_query_set_scheduling(raw, GST_SCHEDULING_FLAG_SEQUENTIAL, 1, -1, 0)
    unsafe gst_query_add_scheduling_mode(raw, GST_PAD_MODE_PUSH)
  }

  // MARK: Caps

  /// The filter of a caps query, `nil` when everything is asked for.
  public var capsFilter: Caps? {
    guard kind == .caps else { return nil }
    var filter: UnsafeMutablePointer<GstCaps>?
    unsafe gst_query_parse_caps(raw, &filter)
    return unsafe Caps.retaining(optional: filter)
  }

  /// The caps that an accept-caps query asks about.
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
