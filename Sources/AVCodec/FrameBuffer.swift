// SPDX-License-Identifier: MPL-2.0
import CAVCodec

/// A decoder's request for memory when it begins a picture (`get_buffer2`).
package struct FrameBufferRequest: Sendable {
  /// Timestamp of the packet that begins the picture.
  package let timestamp: Int64
  /// The format that libavcodec will write.
  package let format: FrameFormat
  /// Coded size in luma samples, not cropped.
  package let width: Int, height: Int
  /// Luma samples to crop at each edge.
  package let cropLeft: Int, cropRight: Int, cropTop: Int, cropBottom: Int
  /// Size in luma samples that the buffer must have: libavcodec's routines write beyond the coded size.
  package let alignedWidth: Int, alignedHeight: Int
  /// Every stride, and the address of every plane, must be a multiple of this many bytes.
  package let strideAlignment: Int
}

/// Memory for one picture, lent to libavcodec until it drops the last reference.
@unsafe package struct FrameBuffer {
  /// Start of up to four planes; the first is not nil.
  package var planes: [UnsafeMutablePointer<UInt8>]
  /// Bytes from one row to the next, a plane each.
  package var strides: [Int32]
  /// Bytes reserved at the first plane.
  package var byteCount: Int
  /// Keeps the memory alive, and comes back with the decoded frame; released when libavcodec releases the memory.
  package var owner: AnyObject

  /// Describes memory for one picture.
  package init(planes: [UnsafeMutablePointer<UInt8>], strides: [Int32], byteCount: Int, owner: AnyObject) {
    unsafe self.planes = unsafe planes
    unsafe self.strides = strides
    unsafe self.byteCount = byteCount
    unsafe self.owner = owner
  }
}

/// Provides the memory that a decoder writes pictures into.
package protocol FrameBufferSource: AnyObject, Sendable {
  /// Memory for one picture.
  ///
  /// Called on libavcodec's worker threads, several in parallel, while the decoder's owner waits for them. Must not
  /// take a lock that the owner may hold.
  ///
  /// - Throws: the error for libavcodec: `outOfMemory`, or `unsupportedFeature` for an unknown format.
  func buffer(for request: FrameBufferRequest) throws(AVError) -> FrameBuffer

  /// Memory for a picture that is downloaded from a device, which the decoder does not refer to. The format is NV12 or
  /// P010, if ``acceptsSemiPlanar`` allows it, or planar.
  ///
  /// - Throws: as `buffer(for:)`.
  func downloadBuffer(for request: FrameBufferRequest) throws(AVError) -> FrameBuffer

  /// Whether pictures of a device with interleaved chroma are to stay as they are.
  var acceptsSemiPlanar: Bool { get }

  /// The decoder has begun a picture in the device's memory, for the packet with this timestamp.
  func hasBegun(timestamp: Int64)

  /// Whether the picture of the packet with this timestamp, which a device has decoded, stays where it is.
  func placement(timestamp: Int64) -> SurfacePlacement

  /// Takes a picture that stays in the device's memory.
  ///
  /// - Parameter samples: the owner of a copy of it, from `downloadBuffer(for:)`; nil if none was requested.
  /// - Returns: the object that comes back as the frame's owner; nil if the picture must be downloaded.
  func owner(of surface: ExportedSurface, samples: AnyObject?) -> AnyObject?
}

extension FrameBufferSource {
  package func placement(timestamp: Int64) -> SurfacePlacement { .download }
  package func owner(of surface: ExportedSurface, samples: AnyObject?) -> AnyObject? { nil }
}

/// The placement of a picture that a device has decoded.
package enum SurfacePlacement: Sendable {
  /// It is copied into memory of the source's.
  case download
  /// It stays in the device's memory, and is passed on as descriptors.
  case export
  /// Both.
  case exportAndDownload
}

/// Memory aligned for libavcodec, from an allocator that can fail.
///
/// Swift's own `allocate` traps when memory runs out, which a hostile picture size could provoke.
package enum AlignedMemory {
  /// `byteCount` zero bytes, aligned for any vector unit of this machine; nil when memory runs out.
  package static func allocate(byteCount: Int) -> UnsafeMutableRawPointer? {
    guard byteCount > 0 else { return nil }
    return unsafe cav_mallocz(byteCount)
  }

  /// Frees what `allocate` returned.
  package static func free(_ memory: UnsafeMutableRawPointer) { unsafe cav_free(memory) }
}
