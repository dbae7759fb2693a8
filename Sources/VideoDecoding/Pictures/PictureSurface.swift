// SPDX-License-Identifier: MPL-2.0
package import AVCodec
import CLinux
import Glibc
import Synchronization

/// A picture in a device's memory, which its descriptors lead to. The memory is never mapped here.
package struct PictureSurface: Sendable {
  /// The surface's location.
  package let description: SurfaceDescription
  /// The device's arrangement of samples there.
  var modifier: UInt64 { description.modifier }
  /// Keeps the descriptors open, and the codec from writing there.
  let keeper: any AnyObject & Sendable

  /// The surface's holder in this process; nil if another process holds it.
  package var hold: SurfaceExport.Hold? { keeper as? SurfaceExport.Hold }

  /// Whether a descriptor is of memory that other devices can read (DMA-BUF), and so has a size that never changes.
  static func isDeviceMemory(_ descriptor: Int32) -> Bool {
    let type = clinux_file_system_type(descriptor)
    #if DEBUG
      if takesSharedMemory.load(ordering: .relaxed), type == tmpfs { return true }
    #endif
    return type == dmaBuf
  }

  /// The size of a descriptor's memory in bytes; nil if it has none.
  static func byteCount(_ descriptor: Int32) -> Int? {
    let end = lseek(descriptor, 0, SEEK_END)
    return end > 0 ? end : nil
  }

  // DMA_BUF_MAGIC and TMPFS_MAGIC (linux/magic.h).
  private static let dmaBuf: UInt32 = 0x444D_4142
  private static let tmpfs: UInt32 = 0x0102_1994

  #if DEBUG
    /// Memory that processes share is taken for a device's: a driver of the tests has no other.
    private static let takesSharedMemory = Atomic(false)
    package static func takeSharedMemory() { takesSharedMemory.store(true, ordering: .relaxed) }
  #endif
}

extension SurfaceDescription {
  /// The format of the session's pictures.
  var pixelFormat: PixelFormat {
    switch format {
    case .nv12: .nv12
    case .p010: .p010
    }
  }
}
