// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// A pool of buffers of one configuration (`GstBufferPool`), with one owned reference.
@safe public struct BufferPool: ~Copyable {
  /// The C object.
  @unsafe public let raw: UnsafeMutablePointer<GstBufferPool>

  /// Takes over one reference.
  @unsafe public init(owning raw: UnsafeMutablePointer<GstBufferPool>) { unsafe self.raw = raw }
  deinit { unsafe gst_object_unref(raw) }

  /// A pool of plain memory.
  public init() {
    _ = isGStreamerReady
    unsafe self.init(owning: gst_buffer_pool_new())
  }

  /// A pool of video frames, which supports `GstVideoMeta` and `GstVideoAlignment`.
  public static func video() -> BufferPool {
    _ = isGStreamerReady
    return unsafe BufferPool(owning: gst_video_buffer_pool_new())
  }

  /// Another owner of the same pool.
  public borrowing func share() -> BufferPool {
    unsafe BufferPool(owning: gst_object_ref(raw).assumingMemoryBound(to: GstBufferPool.self))
  }

  /// Whether the pool supports this option (`gst_buffer_pool_has_option`).
  public func has(_ option: Option) -> Bool { unsafe gst_buffer_pool_has_option(raw, option.name) != 0 }

  /// Options that some pools support.
  public enum Option: Sendable {
    /// Attaches `GstVideoMeta`, with the layout of the planes.
    case videoMeta
    /// Pads the picture and aligns its rows (`GstVideoAlignment`).
    case videoAlignment

    var name: UnsafePointer<CChar> {
      switch self {
      case .videoMeta: unsafe cgst_buffer_pool_option_video_meta()
      case .videoAlignment: unsafe cgst_buffer_pool_option_video_alignment()
      }
    }
  }

  /// The configuration of a pool.
  public struct Configuration: Sendable {
    /// Bytes a buffer; a video pool increases it by the padding that alignment needs.
    public var size: UInt32
    /// Buffers to allocate when the pool becomes active.
    public var minimum: UInt32
    /// Buffers at most; 0 is no limit.
    public var maximum: UInt32
    /// Alignment of memory in bytes, a power of two, minus one.
    public var alignmentMask: Int = 0
    /// Bytes to allocate after the content of each memory.
    public var padding: Int = 0
    /// Attach `GstVideoMeta`.
    public var videoMeta = false
    /// Padding around the picture and alignment of its rows, for pools that can.
    public var videoAlignment: VideoAlignment?

    /// A configuration of sizes, with the defaults for the rest.
    public init(size: UInt32, minimum: UInt32 = 0, maximum: UInt32 = 0) {
      self.size = size
      self.minimum = minimum
      self.maximum = maximum
    }
  }

  /// Configures the pool, which must not be active. Returns `false` when the pool cannot do it exactly; it has then
  /// changed the configuration to one that it can.
  public func configure(_ configuration: Configuration, caps: borrowing Caps) -> Bool {
    let config = unsafe gst_buffer_pool_get_config(raw)
    unsafe gst_buffer_pool_config_set_params(
      config, caps.raw, configuration.size, configuration.minimum, configuration.maximum)
    if configuration.alignmentMask != 0 || configuration.padding != 0 {
      // The pool keeps its allocator: downstream may have chosen it.
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

  /// Starts or stops the pool; buffers still in use return to a stopped pool and are freed.
  @discardableResult
  public func setActive(_ active: Bool) -> Bool { unsafe gst_buffer_pool_set_active(raw, active ? 1 : 0) != 0 }

  /// A buffer of the pool; when all buffers of a limited pool are in use, it waits for one, or throws unless `waiting`.
  /// - Throws: `.flushing` when the pool is not active, `.endOfStream` instead of waiting, `.error` without memory.
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

/// Padding around the picture and alignment of its rows, for pools that support it.
public struct VideoAlignment: Hashable, Sendable {
  /// Rows above the picture.
  public var top: UInt32 = 0
  /// Rows below the picture.
  public var bottom: UInt32 = 0
  /// Pixels left of the picture.
  public var left: UInt32 = 0
  /// Pixels right of the picture.
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
