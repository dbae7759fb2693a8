// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// A part of a stream with its timestamps, flags and metas (`GstBuffer`).
///
/// Properties may be set at any time: a buffer that has other owners is replaced by a shallow copy first
/// (`gst_buffer_make_writable`), which shares the memory.
@safe public struct Buffer: ~Copyable, @unsafe MiniObject {
  /// The C object.
  @unsafe public private(set) var raw: UnsafeMutablePointer<GstBuffer>

  /// Takes over one reference.
  @unsafe public init(owning raw: UnsafeMutablePointer<GstBuffer>) { unsafe self.raw = raw }
  deinit { unsafe unref(raw) }

  /// Gives the reference to the caller.
  @unsafe public consuming func take() -> UnsafeMutablePointer<GstBuffer> {
    let raw = unsafe raw
    discard self
    return unsafe raw
  }

  /// Whether all its memory is ordinary memory of the process, which stays at its address when it is not mapped.
  package var isSystemMemory: Bool { unsafe cgst_buffer_is_system_memory(raw) != 0 }

  /// Another owner of the same buffer; it is copied when either changes it.
  public borrowing func share() -> Buffer { unsafe .retaining(raw) }

  /// A buffer without memory.
  public init() {
    _ = isGStreamerReady
    unsafe self.init(owning: gst_buffer_new())
  }

  /// A buffer with one memory of `size` bytes of undefined content, or `nil` when the allocation fails.
  public init?(size: Int) {
    _ = isGStreamerReady
    guard let raw = unsafe gst_buffer_new_allocate(nil, gsize(max(size, 0)), nil) else { return nil }
    unsafe self.init(owning: raw)
  }

  /// A buffer with a copy of the bytes, or `nil` when the allocation fails.
  public init?(copying bytes: Span<UInt8>) {
    self.init(size: bytes.count)
    _ = unsafe bytes.withUnsafeBytes { unsafe gst_buffer_fill(raw, 0, $0.baseAddress, gsize($0.count)) }
  }

  /// The number of bytes in all memories.
  public var size: Int { unsafe Int(clamping: gst_buffer_get_size(raw)) }

  /// Whether this is the only reference, so that changes affect no other owner.
  public var isWritable: Bool { unsafe cgst_buffer_is_writable(raw) != 0 }

  /// Whether the bytes too can be changed in place: no other buffer shares the memory, and it is not read-only.
  public var isMemoryWritable: Bool { unsafe isWritable && gst_buffer_is_all_memory_writable(raw) != 0 }

  /// The only owner of this content: this buffer, or a copy of it; nil when there are other owners and the memory
  /// cannot be copied.
  package consuming func writable() -> Buffer? {
    guard
      let raw = unsafe gst_mini_object_make_writable(
        UnsafeMutableRawPointer(take()).assumingMemoryBound(to: GstMiniObject.self))
    else { return nil }
    return unsafe Buffer(owning: UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstBuffer.self))
  }

  /// Replaces the buffer by a shallow copy when it has other owners.
  @inline(__always)
  public mutating func makeWritable() { unsafe raw = cgst_buffer_make_writable(raw) }

  /// Presentation timestamp.
  public var pts: ClockTime? {
    get { unsafe ClockTime(raw: UInt64(raw.pointee.pts)) }
    set {
      makeWritable()
      unsafe raw.pointee.pts = GstClockTime(newValue.raw)
    }
  }

  /// Decoding timestamp.
  public var dts: ClockTime? {
    get { unsafe ClockTime(raw: UInt64(raw.pointee.dts)) }
    set {
      makeWritable()
      unsafe raw.pointee.dts = GstClockTime(newValue.raw)
    }
  }

  /// The duration of the content.
  public var duration: ClockTime? {
    get { unsafe ClockTime(raw: UInt64(raw.pointee.duration)) }
    set {
      makeWritable()
      unsafe raw.pointee.duration = GstClockTime(newValue.raw)
    }
  }

  /// Media-specific position of the first byte, `UInt64.max` when unknown.
  public var offset: UInt64 {
    get { unsafe UInt64(raw.pointee.offset) }
    set {
      makeWritable()
      unsafe raw.pointee.offset = guint64(newValue)
    }
  }

  /// The buffer's role in its stream.
  public var flags: Flags {
    get { unsafe Flags(rawValue: raw.pointee.mini_object.flags) }
    set {
      makeWritable()
      unsafe raw.pointee.mini_object.flags = newValue.rawValue
    }
  }

  /// Timestamps and flags, to be read or set together.
  public struct Attributes: Hashable, Sendable {
    /// Presentation timestamp.
    public var pts: ClockTime?
    /// Decoding timestamp.
    public var dts: ClockTime?
    /// The duration of the content.
    public var duration: ClockTime?
    /// The buffer's role in its stream.
    public var flags: Flags

    /// The presentation timestamp plus the duration, if known; `nil` without a presentation timestamp.
    public var end: ClockTime? { pts.map { $0 + (duration ?? .zero) } }

    /// Timestamps and flags, by default none.
    public init(pts: ClockTime? = nil, dts: ClockTime? = nil, duration: ClockTime? = nil, flags: Flags = []) {
      (self.pts, self.dts, self.duration, self.flags) = (pts, dts, duration, flags)
    }
  }

  /// Timestamps and flags; setting several together is cheaper than one by one.
  public var attributes: Attributes {
    get { Attributes(pts: pts, dts: dts, duration: duration, flags: flags) }
    set {
      makeWritable()
      unsafe Self.set(newValue, on: raw)
    }
  }

  @inline(__always)
  private static func set(_ attributes: Attributes, on raw: UnsafeMutablePointer<GstBuffer>) {
    unsafe raw.pointee.pts = GstClockTime(attributes.pts.raw)
    unsafe raw.pointee.dts = GstClockTime(attributes.dts.raw)
    unsafe raw.pointee.duration = GstClockTime(attributes.duration.raw)
    unsafe raw.pointee.mini_object.flags = attributes.flags.rawValue
  }

  /// Copies timestamps, flags, offsets and metas of another buffer, not its memory.
  public mutating func copyMetadata(from other: borrowing Buffer) {
    makeWritable()
    let everything =
      GST_BUFFER_COPY_FLAGS.rawValue | GST_BUFFER_COPY_TIMESTAMPS.rawValue | GST_BUFFER_COPY_META.rawValue
    _ = unsafe gst_buffer_copy_into(raw, other.raw, GstBufferCopyFlags(rawValue: everything), 0, .max)
  }

  /// Adds copies of another buffer's metas.
  public mutating func addMetas(of other: borrowing Buffer) {
    makeWritable()
    _ = unsafe gst_buffer_copy_into(raw, other.raw, GST_BUFFER_COPY_META, 0, .max)
  }

  /// A buffer of some of the bytes, sharing this one's memory. If `withMetadata`, it has the flags and metas, and
  /// also the timestamps if the range begins at 0. `nil` if the range exceeds the buffer.
  public borrowing func region(_ range: Range<Int>, withMetadata: Bool = false) -> Buffer? {
    guard range.lowerBound >= 0, range.upperBound <= size else { return nil }
    var flags = GST_BUFFER_COPY_MEMORY.rawValue
    if withMetadata {
      flags |=
        GST_BUFFER_COPY_FLAGS.rawValue | GST_BUFFER_COPY_TIMESTAMPS.rawValue | GST_BUFFER_COPY_META.rawValue
    }
    let part = unsafe gst_buffer_copy_region(
      raw, GstBufferCopyFlags(rawValue: flags), gsize(range.lowerBound), gsize(range.count))
    guard let part = unsafe part else { return nil }
    return unsafe Buffer(owning: part)
  }

  /// A buffer of some of the bytes, sharing this one's memory, with its metas but with the given timestamps, flags and
  /// offset. `nil` when the range exceeds the buffer.
  public borrowing func region(_ range: Range<Int>, _ attributes: Attributes, offset: UInt64) -> Buffer? {
    guard range.lowerBound >= 0, range.upperBound <= size else { return nil }
    let flags = GstBufferCopyFlags(rawValue: GST_BUFFER_COPY_MEMORY.rawValue | GST_BUFFER_COPY_META.rawValue)
    guard let part = unsafe gst_buffer_copy_region(raw, flags, gsize(range.lowerBound), gsize(range.count)) else {
      return nil
    }
    unsafe Self.set(attributes, on: part)
    unsafe part.pointee.offset = guint64(offset)
    return unsafe Buffer(owning: part)
  }

  /// Appends the memory of another buffer (shared, not copied).
  public mutating func append(_ other: consuming Buffer) { unsafe raw = gst_buffer_append(raw, other.take()) }

  /// Prepends the memory of another buffer (shared, not copied); timestamps, flags and metas remain this buffer's.
  public mutating func prepend(_ other: borrowing Buffer) {
    makeWritable()
    for index in 0..<(unsafe gst_buffer_n_memory(other.raw)) {
      unsafe gst_buffer_insert_memory(raw, gint(index), gst_buffer_get_memory(other.raw, index))
    }
  }

  /// Inserts the memory of another buffer (shared, not copied) at a byte offset within this one; timestamps, flags and
  /// metas remain this buffer's. An offset out of range changes nothing.
  public mutating func insert(_ other: borrowing Buffer, at offset: Int) {
    let size = size
    guard offset > 0 else {
      if offset == 0 { prepend(other) }
      return
    }
    guard offset <= size, let tail = region(offset..<size) else { return }
    resize(to: 0..<offset)
    append(other.share())
    append(tail)
  }

  /// Reduces the buffer to a range of its bytes without moving any; a range that exceeds it changes nothing.
  public mutating func resize(to range: Range<Int>) {
    guard range.lowerBound >= 0, range.upperBound <= size else { return }
    makeWritable()
    unsafe gst_buffer_resize(raw, gssize(range.lowerBound), gssize(range.count))
  }

  /// Maps the bytes for reading, as one contiguous span: a buffer of several memories is merged into one.
  /// - Throws: `FlowError.error` when the memory cannot be mapped.
  @_lifetime(borrow self)
  public borrowing func map() throws(FlowError) -> ReadMap { unsafe try ReadMap(raw) }

  /// A copy of the bytes.
  /// - Throws: `FlowError.error` when the memory cannot be mapped.
  public borrowing func copiedBytes() throws(FlowError) -> [UInt8] {
    let map = try map()
    return map.copiedBytes()
  }

  /// Maps the bytes for changing them in place; memory shared with other buffers is copied first.
  /// - Throws: `FlowError.error` when the memory cannot be mapped for writing.
  @_lifetime(&self)
  public mutating func mapForWriting() throws(FlowError) -> WriteMap {
    makeWritable()
    return unsafe try WriteMap(raw)
  }

  /// A buffer's role in its stream (`GstBufferFlags`, `GstVideoBufferFlags`).
  public struct Flags: OptionSet, Hashable, Sendable {
    /// `GstBufferFlags` and `GstVideoBufferFlags`.
    public let rawValue: UInt32
    /// Flags of this C value.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    init(_ flag: GstBufferFlags) { rawValue = flag.rawValue }
    init(_ flag: GstVideoBufferFlags) { rawValue = flag.rawValue }

    /// Live data, to be discarded in PAUSED.
    public static var live: Self { Self(GST_BUFFER_FLAG_LIVE) }
    /// To be decoded but not shown.
    public static var decodeOnly: Self { Self(GST_BUFFER_FLAG_DECODE_ONLY) }
    /// Data is missing before this buffer.
    public static var discontinuity: Self { Self(GST_BUFFER_FLAG_DISCONT) }
    /// Timestamps may jump here: a good point to resynchronize.
    public static var resync: Self { Self(GST_BUFFER_FLAG_RESYNC) }
    /// The content is damaged.
    public static var corrupted: Self { Self(GST_BUFFER_FLAG_CORRUPTED) }
    /// The last buffer of an access unit.
    public static var marker: Self { Self(GST_BUFFER_FLAG_MARKER) }
    /// Headers that decoding needs, such as parameter sets.
    public static var header: Self { Self(GST_BUFFER_FLAG_HEADER) }
    /// Fills a gap in the stream with neutral content.
    public static var gap: Self { Self(GST_BUFFER_FLAG_GAP) }
    /// May be dropped: no other buffer depends on it.
    public static var droppable: Self { Self(GST_BUFFER_FLAG_DROPPABLE) }
    /// Not a random access point.
    public static var deltaUnit: Self { Self(GST_BUFFER_FLAG_DELTA_UNIT) }
    /// The picture is interlaced (in interlace-mode mixed).
    public static var interlaced: Self { Self(GST_VIDEO_BUFFER_FLAG_INTERLACED) }
    /// The top field comes first.
    public static var topFieldFirst: Self { Self(GST_VIDEO_BUFFER_FLAG_TFF) }
    /// The first field is shown again.
    public static var repeatFirstField: Self { Self(GST_VIDEO_BUFFER_FLAG_RFF) }
    /// The buffer has only one field.
    public static var oneField: Self { Self(GST_VIDEO_BUFFER_FLAG_ONEFIELD) }
    /// The first buffer of a bundle of views, where each has its own.
    public static var firstInBundle: Self { Self(GST_VIDEO_BUFFER_FLAG_FIRST_IN_BUNDLE) }
  }
}

extension Buffer: @unchecked Sendable {}
