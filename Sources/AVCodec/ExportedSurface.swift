// SPDX-License-Identifier: MPL-2.0
import CAVCodec
import Glibc

/// A picture in a device's memory that is passed on as descriptors. The decoder does not write there again, and the
/// descriptors are open, until its last reference ends.
///
/// SAFETY: the frames are immutable, and libavutil counts references to what they hold from any thread.
@safe package final class ExportedSurface: @unchecked Sendable {
  /// The picture's place in memory.
  package let description: SurfaceDescription
  /// Coded size in luma samples.
  package let width: Int, height: Int
  /// In the device's memory.
  private let original: Frame
  /// Mapped to `AV_PIX_FMT_DRM_PRIME`: keeps the descriptors.
  private let mapped: Frame

  /// Exports a frame.
  ///
  /// - Returns: nil if the device cannot, or if it has more than two planes, as with compression.
  /// - Throws: `AVError.hardwareFailed` if the device has not decoded it, `outOfMemory`.
  init?(_ source: UnsafeMutablePointer<AVFrame>) throws(AVError) {
    guard unsafe source.pointee.format == AV_PIX_FMT_VAAPI.rawValue, unsafe source.pointee.hw_frames_ctx != nil else {
      return nil
    }
    let format: SurfaceDescription.Format
    switch unsafe cav_frame_download_format(source) {
    case AV_PIX_FMT_NV12: format = .nv12
    case AV_PIX_FMT_P010LE: format = .p010
    default: return nil
    }
    guard unsafe cav_vaapi_sync(source) == 0 else { throw .hardwareFailed }
    let original = try Frame()
    let mapped = try Frame()
    unsafe try AVError.check(cav_frame_ref(original.raw, source))
    unsafe mapped.raw.pointee.format = AV_PIX_FMT_DRM_PRIME.rawValue
    guard unsafe cav_hwframe_map(mapped.raw, source, Int32(AV_HWFRAME_MAP_READ)) >= 0,
      let description = unsafe Self.description(of: mapped.raw, format)
    else { return nil }
    (width, height) = (original.width, original.height)
    self.original = original
    self.mapped = mapped
    self.description = description
  }

  /// Copies the picture into memory of a source's, whose owner of that is returned.
  ///
  /// - Throws: the same errors as a decoder's download of a picture.
  package func download(to source: any FrameBufferSource) throws(AVError) -> AnyObject? {
    let copy = try Frame()
    unsafe try AVError.check(cav_frame_ref(copy.raw, original.raw))
    unsafe try HardwareDownload(to: source).replace(copy.raw)
    return copy.owner
  }

  /// nil for an unexpected description.
  private static func description(
    of mapped: UnsafeMutablePointer<AVFrame>, _ format: SurfaceDescription.Format
  ) -> SurfaceDescription? {
    let planes = unsafe withUnsafeTemporaryAllocation(of: CAVExportedPlane.self, capacity: 4) { planes in
      guard let start = planes.baseAddress, unsafe cav_exported_planes(mapped, start) == 2 else {
        return nil as (CAVExportedPlane, CAVExportedPlane)?
      }
      return (unsafe planes[0], unsafe planes[1])
    }
    let whole = format.rawValue
    guard let (luma, chroma) = planes,
      format.layerFormats == (luma.format, chroma.format) || (whole, whole) == (luma.format, chroma.format)
    else { return nil }
    var description = SurfaceDescription(
      format: format, objects: [], luma: SurfaceDescription.Plane(luma), chroma: SurfaceDescription.Plane(chroma))
    for index in unsafe 0..<cav_exported_object_count(mapped) {
      let object = unsafe cav_exported_object(mapped, index)
      if index == 0 { description.modifier = object.modifier }
      guard object.modifier == description.modifier, object.modifier != SurfaceDescription.unknownModifier else {
        return nil
      }
      // Some drivers report no size.
      let byteCount = object.size > 0 ? Int(clamping: object.size) : lseek(object.descriptor, 0, SEEK_END)
      description.objects.append(SurfaceDescription.Object(descriptor: object.descriptor, byteCount: byteCount))
    }
    return unsafe description.holds(width: Int(mapped.pointee.width), height: Int(mapped.pointee.height))
      ? description : nil
  }

  /// Replaces a frame in the device's memory with a frame whose `owner` keeps the rest of it.
  static func replace(_ frame: UnsafeMutablePointer<AVFrame>, owner: AnyObject) throws(AVError) {
    let target = try Frame()
    unsafe target.raw.pointee.format = AV_PIX_FMT_DRM_PRIME.rawValue
    unsafe target.raw.pointee.width = frame.pointee.width
    unsafe target.raw.pointee.height = frame.pointee.height
    // There are no samples: an address that is never read.
    let address = unsafe UnsafeMutableRawPointer(target.raw).assumingMemoryBound(to: UInt8.self)
    unsafe try target.attach(FrameBuffer(planes: [address], strides: [0], byteCount: 1, owner: owner))
    unsafe try AVError.check(cav_frame_copy_props(target.raw, frame))
    unsafe cav_frame_unref(frame)
    unsafe cav_frame_move_ref(frame, target.raw)
  }
}

extension SurfaceDescription.Format {
  /// The formats of planes that are exported as layers of their own: DRM_FORMAT_R8 and GR88, or R16 and GR1616.
  fileprivate var layerFormats: (UInt32, UInt32) {
    switch self {
    case .nv12: (0x2020_3852, 0x3838_5247)
    case .p010: (0x2036_3152, 0x3233_5247)
    }
  }
}

extension SurfaceDescription.Plane {
  fileprivate init(_ plane: CAVExportedPlane) {
    self.init(object: Int(plane.object), offset: Int(plane.offset), stride: Int(plane.pitch))
  }
}
