// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// A pool of buffers of one kind (`GstBufferPool`), with one owned reference.
@safe public struct BufferPool: ~Copyable {
  /// The C object.
  @unsafe public let raw: UnsafeMutablePointer<GstBufferPool>

  /// Takes over one reference.
  @unsafe public init(owning raw: UnsafeMutablePointer<GstBufferPool>) { unsafe self.raw = raw }
  deinit { unsafe gst_object_unref(raw) }

  /// A pool of plain memory.
  public init() { unsafe self.init(owning: gst_buffer_pool_new()) }

  /// A pool of video frames, which knows `GstVideoMeta` and alignment.
  public static func video() -> BufferPool { unsafe BufferPool(owning: gst_video_buffer_pool_new()) }

  /// Another owner of the same pool.
  public borrowing func share() -> BufferPool {
    unsafe BufferPool(owning: gst_object_ref(raw).assumingMemoryBound(to: GstBufferPool.self))
  }

  /// Whether the pool can do this option (`GST_BUFFER_POOL_OPTION_VIDEO_META` and the like).
  public func has(_ option: Option) -> Bool { unsafe gst_buffer_pool_has_option(raw, option.name) != 0 }

  /// What some pools can do.
  public enum Option: Sendable {
    /// Says with each buffer where its planes are.
    case videoMeta
    /// Leaves room around the picture, and aligns its rows.
    case videoAlignment

    var name: UnsafePointer<CChar> {
      switch self {
      case .videoMeta: unsafe cgst_buffer_pool_option_video_meta()
      case .videoAlignment: unsafe cgst_buffer_pool_option_video_alignment()
      }
    }
  }

  /// How a pool is set up.
  public struct Configuration: Sendable {
    /// Bytes a buffer; a video pool with alignment raises it to what the padding needs.
    public var size: UInt32
    /// Buffers to allocate at once.
    public var minimum: UInt32
    /// 0 is without limit.
    public var maximum: UInt32
    /// Alignment of memory in bytes, a power of two, minus one.
    public var alignmentMask: Int = 0
    /// Zeroed or spare bytes behind each memory.
    public var padding: Int = 0
    /// Attach `GstVideoMeta`.
    public var videoMeta = false
    /// Padding around the picture and alignment of its rows, for pools that can.
    public var videoAlignment: VideoAlignment?

    /// Sizes alone.
    public init(size: UInt32, minimum: UInt32, maximum: UInt32) {
      self.size = size
      self.minimum = minimum
      self.maximum = maximum
    }
  }

  /// Sets the pool up; it must not be active. Answers false when the pool refuses, after which its own idea of the
  /// configuration stands.
  public func configure(_ configuration: Configuration, caps: borrowing Caps) -> Bool {
    let config = unsafe gst_buffer_pool_get_config(raw)
    unsafe gst_buffer_pool_config_set_params(
      config, caps.raw, configuration.size, configuration.minimum, configuration.maximum)
    if configuration.alignmentMask != 0 || configuration.padding != 0 {
      // The allocator that the pool has stays: downstream may have put it there.
      var allocator: UnsafeMutablePointer<GstAllocator>?
      var parameters = GstAllocationParams()
      unsafe gst_allocation_params_init(&parameters)
      _ = unsafe gst_buffer_pool_config_get_allocator(config, &allocator, &parameters)
      parameters.align |= gsize(max(configuration.alignmentMask, 0))
      parameters.padding = max(parameters.padding, gsize(max(configuration.padding, 0)))
      unsafe gst_buffer_pool_config_set_allocator(config, allocator, &parameters)
    }
    if configuration.videoMeta { unsafe gst_buffer_pool_config_add_option(config, Option.videoMeta.name) }
    if let alignment = configuration.videoAlignment {
      unsafe gst_buffer_pool_config_add_option(config, Option.videoAlignment.name)
      var raw = alignment.raw
      unsafe gst_buffer_pool_config_set_video_alignment(config, &raw)
    }
    return unsafe gst_buffer_pool_set_config(raw, config) != 0
  }

  /// Starts or stops the pool; buffers that are out come back into a stopped pool to be freed.
  @discardableResult
  public func setActive(_ active: Bool) -> Bool { unsafe gst_buffer_pool_set_active(raw, active ? 1 : 0) != 0 }

  /// Makes all waiting and later `acquire` calls fail, or lets them work again.
  public func setFlushing(_ flushing: Bool) { unsafe gst_buffer_pool_set_flushing(raw, flushing ? 1 : 0) }

  /// A buffer out of the pool; waits when all of a limited pool's are out.
  /// - Throws: `.flushing` when the pool is stopped meanwhile, `.error` without memory.
  public func acquire(waiting: Bool = true) throws(FlowError) -> Buffer {
    var buffer: UnsafeMutablePointer<GstBuffer>?
    var parameters = GstBufferPoolAcquireParams()
    if !waiting { parameters.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT }
    try unsafe FlowError.check(gst_buffer_pool_acquire_buffer(raw, &buffer, &parameters))
    guard let buffer = unsafe buffer else { throw .error }
    return unsafe Buffer(owning: buffer)
  }
}

extension BufferPool: @unchecked Sendable {}

/// Padding around a picture and alignment of its rows (`GstVideoAlignment`).
public struct VideoAlignment: Hashable, Sendable {
  /// Rows above the picture.
  public var top: UInt32 = 0
  /// Rows below the picture.
  public var bottom: UInt32 = 0
  /// Samples before a row.
  public var left: UInt32 = 0
  /// Samples behind a row.
  public var right: UInt32 = 0
  /// Row alignment of each plane in bytes, a power of two, minus one.
  public var strideMask: UInt32 = 0

  /// No padding and no alignment.
  public init() {}

  var raw: GstVideoAlignment {
    var raw = GstVideoAlignment()
    unsafe gst_video_alignment_reset(&raw)
    raw.padding_top = top
    raw.padding_bottom = bottom
    raw.padding_left = left
    raw.padding_right = right
    raw.stride_align = (strideMask, strideMask, strideMask, strideMask)
    return raw
  }
}
