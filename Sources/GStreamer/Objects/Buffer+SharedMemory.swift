// SPDX-License-Identifier: MPL-2.0
import CGStreamer

extension Buffer {
  /// `GstFdAllocator`, which never ends.
  nonisolated(unsafe) private static let descriptorAllocator: UnsafeMutablePointer<GstAllocator>? = {
    _ = isGStreamerReady
    guard let allocator = unsafe gst_fd_allocator_new() else { return nil }
    unsafe allocator.pointee.object.flags |= GST_OBJECT_FLAG_MAY_BE_LEAKED.rawValue
    return unsafe allocator
  }()
  /// `GstDmaBufAllocator`, which never ends.
  nonisolated(unsafe) private static let deviceAllocator: UnsafeMutablePointer<GstAllocator>? = {
    _ = isGStreamerReady
    guard let allocator = unsafe gst_dmabuf_allocator_new() else { return nil }
    unsafe allocator.pointee.object.flags |= GST_OBJECT_FLAG_MAY_BE_LEAKED.rawValue
    return unsafe allocator
  }()
  private static let owner = unsafe g_quark_from_static_string("GstSwiftSharedMemoryOwner")

  /// A buffer of memory that has a descriptor, so that it can be passed on to other processes: `GstFdMemory`,
  /// read-only. Nothing is copied until somebody changes the buffer. `nil` if there is no memory for it.
  ///
  /// - Parameters:
  ///   - descriptor: of memory that can be mapped (memfd_create(2)).
  ///   - byteCount: its size.
  ///   - owner: keeps descriptor and bytes until it is released, with the last use of the memory, on any thread.
  package init?(sharing descriptor: Int32, byteCount: Int, keeping owner: AnyObject) {
    let flags = GstFdMemoryFlags(
      rawValue: GST_FD_MEMORY_FLAG_DONT_CLOSE.rawValue | GST_FD_MEMORY_FLAG_KEEP_MAPPED.rawValue)
    guard let allocator = unsafe Self.descriptorAllocator,
      let memory = unsafe gst_fd_allocator_alloc(allocator, descriptor, gsize(byteCount), flags)
    else { return nil }
    unsafe Self.lend(memory, keeping: owner)
    self.init()
    unsafe gst_buffer_append_memory(raw, memory)
  }

  /// A buffer of a device's memory (`GstDmaBufMemory`), read-only, which nothing maps unless somebody reads it. `nil`
  /// if there is no memory for it.
  ///
  /// - Parameters:
  ///   - objects: descriptors of DMA-BUFs and their sizes in bytes, a `GstMemory` each.
  ///   - owner: keeps the descriptors until it is released, with the last use of the memory, on any thread.
  package init?(ofDevice objects: [(descriptor: Int32, byteCount: Int)], keeping owner: AnyObject) {
    guard let allocator = unsafe Self.deviceAllocator else { return nil }
    let memories = unsafe objects.compactMap { object in
      unsafe gst_dmabuf_allocator_alloc_with_flags(
        allocator, object.descriptor, gsize(clamping: object.byteCount), GST_FD_MEMORY_FLAG_DONT_CLOSE)
    }
    guard unsafe memories.count == objects.count else {
      for index in unsafe memories.indices { unsafe gst_memory_unref(memories[index]) }
      return nil
    }
    self.init()
    for index in unsafe memories.indices {
      unsafe Self.lend(memories[index], keeping: owner)
      unsafe gst_buffer_append_memory(raw, memories[index])
    }
  }

  /// Makes memory read-only, and keeps its owner.
  private static func lend(_ memory: UnsafeMutablePointer<GstMemory>, keeping owner: AnyObject) {
    unsafe memory.pointee.mini_object.flags |= GST_MEMORY_FLAG_READONLY.rawValue
    let reference = unsafe Unmanaged.passRetained(owner)
    unsafe gst_mini_object_set_qdata(
      UnsafeMutableRawPointer(memory).assumingMemoryBound(to: GstMiniObject.self), Self.owner, reference.toOpaque()
    ) { owner in
      if let owner = unsafe owner { unsafe Unmanaged<AnyObject>.fromOpaque(owner).release() }
    }
  }

  /// Describes the places of the planes, each by the offset of its first sample and the bytes from one row to the
  /// next (`GstVideoMeta`).
  package mutating func describePlanes(of info: VideoInfo, offsets: [Int], strides: [Int]) {
    // GST_VIDEO_MAX_PLANES.
    var places = (0..<4).map { gsize(clamping: $0 < offsets.count ? offsets[$0] : 0) }
    var steps = (0..<4).map { gint(clamping: $0 < strides.count ? strides[$0] : 0) }
    _ = unsafe gst_buffer_add_video_meta_full(
      raw, GST_VIDEO_FRAME_FLAG_NONE, info.format.raw, guint(clamping: info.width), guint(clamping: info.height),
      guint(clamping: offsets.count), &places, &steps)
  }

  /// A buffer of several memories that belong to somebody else: nothing is copied until somebody maps the whole buffer
  /// or changes it. `nil` for more parts than a buffer can hold (`gst_buffer_get_max_memory`: 16).
  ///
  /// SAFETY: `owner` keeps all parts readable and unchanged until it is released, with the last of them, on any thread.
  @unsafe public init?(wrapping parts: [UnsafeRawBufferPointer], keeping owner: AnyObject) {
    self.init()
    guard unsafe parts.count <= Int(gst_buffer_get_max_memory()) else { return nil }
    for index in unsafe parts.indices {
      let part = unsafe parts[index]
      let reference = unsafe Unmanaged.passRetained(owner)
      let memory = unsafe gst_memory_new_wrapped(
        GST_MEMORY_FLAG_READONLY, UnsafeMutableRawPointer(mutating: part.baseAddress), gsize(part.count), 0,
        gsize(part.count), reference.toOpaque(),
        { owner in
          if let owner = unsafe owner { unsafe Unmanaged<AnyObject>.fromOpaque(owner).release() }
        })
      guard let memory = unsafe memory else {
        unsafe reference.release()
        return nil
      }
      unsafe gst_buffer_append_memory(raw, memory)
    }
  }
}
