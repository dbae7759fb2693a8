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

/// The location of a picture's samples in a device's memory.
package struct DeviceSamples: Sendable {
  /// Descriptors of the memory (DMA-BUF), valid as long as the picture, and their sizes in bytes.
  package let objects: [(descriptor: Int32, byteCount: Int)]
  /// The offset of each plane's first sample, cropped, as if the objects followed one another.
  package let offsets: [Int]
  /// Bytes from one row of a plane to the next.
  package let strides: [Int]

  /// - Parameter firstSample: returns the offset of a cropped plane of this index and stride in the coded plane, in
  ///   bytes.
  /// - Returns: `nil` for more than can be addressed.
  init?(_ description: SurfaceDescription, firstSample: (_ plane: Int, _ stride: Int) -> Int) {
    var objects: [(descriptor: Int32, byteCount: Int)] = []
    var starts: [Int] = []
    var end = 0
    for object in description.objects {
      objects.append((object.descriptor, object.byteCount))
      starts.append(end)
      let sum = end.addingReportingOverflow(object.byteCount)
      guard !sum.overflow else { return nil }
      end = sum.partialValue
    }
    self.objects = objects
    let (luma, chroma) = (description.luma, description.chroma)
    offsets = [
      starts[luma.object] + luma.offset + firstSample(0, luma.stride),
      starts[chroma.object] + chroma.offset + firstSample(1, chroma.stride),
    ]
    strides = [luma.stride, chroma.stride]
  }
}
