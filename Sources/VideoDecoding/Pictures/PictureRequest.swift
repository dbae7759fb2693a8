// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// The memory that a session needs for a picture.
public struct PictureRequest: Sendable, Hashable {
  /// Layout of the samples. With the semi-planar layout this is `nv12` or `p010` if libavcodec decodes 4:2:0 of 8 or
  /// 10 bits.
  public let pixelFormat: PixelFormat
  /// Coded size in luma samples, not cropped.
  public let codedWidth: Int, codedHeight: Int
  /// The crop from the coded size.
  public internal(set) var crop: PictureCrop
  /// Size in luma samples that the memory must have; at least the coded size, since libavcodec writes whole blocks
  /// (`avcodec_align_dimensions2`). The picture begins at its top left corner, without an edge.
  public let alignedWidth: Int, alignedHeight: Int
  /// Every stride and every plane's address must be a multiple of this many bytes.
  public let strideAlignment: Int

  package init(
    pixelFormat: PixelFormat, codedWidth: Int, codedHeight: Int, crop: PictureCrop, alignedWidth: Int,
    alignedHeight: Int, strideAlignment: Int
  ) {
    self.pixelFormat = pixelFormat
    self.codedWidth = codedWidth
    self.codedHeight = codedHeight
    self.crop = crop
    self.alignedWidth = alignedWidth
    self.alignedHeight = alignedHeight
    self.strideAlignment = strideAlignment
  }

  /// Smallest stride of `plane` in bytes, a multiple of ``strideAlignment``.
  public func minimumStride(plane: Int) -> Int {
    let bytes = pixelFormat.rowByteCount(plane: plane, width: alignedWidth)
    return (bytes + strideAlignment - 1) / strideAlignment * strideAlignment
  }

  /// Rows that `plane` must have.
  public func rowCount(plane: Int) -> Int { pixelFormat.rowCount(plane: plane, height: alignedHeight) }
}

extension PictureRequest {
  /// The same picture with each component in a plane of its own.
  var planar: PictureRequest {
    PictureRequest(
      pixelFormat: pixelFormat.planar, codedWidth: codedWidth, codedHeight: codedHeight, crop: crop,
      alignedWidth: alignedWidth, alignedHeight: alignedHeight, strideAlignment: strideAlignment)
  }

  init(_ request: FrameBufferRequest, pixelFormat: PixelFormat) {
    self.pixelFormat = pixelFormat
    codedWidth = request.width
    codedHeight = request.height
    crop = PictureCrop(
      left: request.cropLeft, right: request.cropRight, top: request.cropTop, bottom: request.cropBottom
    ).bounded(width: request.width, height: request.height)
    alignedWidth = request.alignedWidth
    alignedHeight = request.alignedHeight
    strideAlignment = request.strideAlignment
  }
}
