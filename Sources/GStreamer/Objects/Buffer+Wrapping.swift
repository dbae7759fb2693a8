// SPDX-License-Identifier: MPL-2.0
import CGStreamer

extension Buffer {
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
