// SPDX-License-Identifier: MPL-2.0

/// A picture's place in memory that has descriptors (DMA-BUF).
package struct SurfaceDescription: Sendable {
  /// Samples of 8 bits, or of 10 bits in the high bits of 16; chroma is interleaved.
  package enum Format: UInt32, Sendable {
    // DRM_FORMAT_NV12 and DRM_FORMAT_P010 (drm_fourcc.h).
    case nv12 = 0x3231_564E
    case p010 = 0x3031_3050
  }

  /// A piece of memory.
  package struct Object: Sendable {
    /// Its descriptor.
    package var descriptor: Int32
    /// Its size in bytes.
    package var byteCount: Int

    package init(descriptor: Int32, byteCount: Int) {
      self.descriptor = descriptor
      self.byteCount = byteCount
    }
  }

  /// A plane.
  package struct Plane: Sendable {
    /// The object that it lies in, from 0.
    package var object: Int
    /// The plane's offset in the object, in bytes.
    package var offset: Int
    /// Bytes from one row to the next.
    package var stride: Int

    package init(object: Int, offset: Int, stride: Int) {
      self.object = object
      self.offset = offset
      self.stride = stride
    }
  }

  package var format: Format
  /// The device's arrangement of samples (drm_fourcc.h); 0, DRM_FORMAT_MOD_LINEAR, is row after row.
  package var modifier: UInt64
  package var objects: [Object]
  package var luma: Plane
  package var chroma: Plane

  /// DRM_FORMAT_MOD_INVALID: only the driver can interpret the arrangement of samples.
  package static let unknownModifier: UInt64 = 0x00FF_FFFF_FFFF_FFFF

  /// Objects, at most (AV_DRM_MAX_PLANES).
  package static let objectLimit = 4

  package init(format: Format, modifier: UInt64 = 0, objects: [Object], luma: Plane, chroma: Plane) {
    self.format = format
    self.modifier = modifier
    self.objects = objects
    self.luma = luma
    self.chroma = chroma
  }

  /// Whether a picture of this size can lie there: both planes within their objects, of which there is none besides.
  /// However samples are arranged, they take no less than row after row.
  package func holds(width: Int, height: Int) -> Bool {
    guard 1...Self.largestSize ~= width, 1...Self.largestSize ~= height,
      objects.count - 1 == max(luma.object, chroma.object)
    else { return false }
    let bytesPerSample = format == .nv12 ? 1 : 2
    return holds(luma, rowByteCount: width * bytesPerSample, rowCount: height)
      && holds(chroma, rowByteCount: (width + 1) / 2 * 2 * bytesPerSample, rowCount: (height + 1) / 2)
  }

  private func holds(_ plane: Plane, rowByteCount: Int, rowCount: Int) -> Bool {
    guard objects.indices.contains(plane.object), plane.offset >= 0, rowByteCount...Int(Int32.max) ~= plane.stride
    else { return false }
    let end = plane.offset.addingReportingOverflow(plane.stride * (rowCount - 1) + rowByteCount)
    return !end.overflow && end.partialValue <= objects[plane.object].byteCount
  }

  /// Luma samples in a row or column, at most.
  private static let largestSize = 1 << 16
}
