// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// The memory that a session needs for a picture.
public struct PictureRequest: Sendable, Hashable {
  /// Layout of the samples. With the semi-planar layout this is `nv12` or `p010` where libavcodec decodes 4:2:0 of 8 or
  /// 10 bits.
  public let pixelFormat: PixelFormat
  /// Coded size in luma samples, not cropped.
  public let codedWidth: Int, codedHeight: Int
  /// What to crop from the coded size.
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

extension PictureBuffer {
  /// Whether libavcodec can write the requested picture within this memory.
  func meets(_ request: PictureRequest) -> Bool {
    guard unsafe planes.count == request.pixelFormat.planeCount else { return false }
    for index in unsafe planes.indices {
      let plane = unsafe planes[index]
      let alignment = UInt(request.strideAlignment)
      let rows = request.rowCount(plane: index)
      guard unsafe plane.stride >= request.minimumStride(plane: index) && plane.stride <= Int(Int32.max),
        unsafe UInt(plane.stride) % alignment == 0, unsafe UInt(bitPattern: plane.start) % alignment == 0,
        unsafe plane.byteCount / plane.stride >= rows
      else { return false }
    }
    return unsafe planes.count < 3 || planes[1].stride == planes[2].stride
  }
}

/// What is cropped from a coded picture at each edge, in luma samples (H.264 7.4.2.1.1, H.265 7.4.3.2.1).
public struct PictureCrop: Sendable, Hashable {
  /// Columns and rows to crop.
  public var left = 0, right = 0, top = 0, bottom = 0
  /// Creates a crop; without arguments, of nothing.
  public init(left: Int = 0, right: Int = 0, top: Int = 0, bottom: Int = 0) {
    self.left = left
    self.right = right
    self.top = top
    self.bottom = bottom
  }
}

/// Memory for one picture, from a `PictureAllocator`.
@unsafe public struct PictureBuffer {
  /// One plane.
  @unsafe public struct Plane {
    /// The first sample. Aligned to the request's `strideAlignment`.
    public var start: UnsafeMutablePointer<UInt8>
    /// Bytes from one row to the next: at least `minimumStride`, and a multiple of the alignment.
    public var stride: Int
    /// Bytes that may be written from `start` on: at least stride times row count.
    public var byteCount: Int
    /// Describes a plane.
    public init(start: UnsafeMutablePointer<UInt8>, stride: Int, byteCount: Int) {
      unsafe self.start = unsafe start
      unsafe self.stride = stride
      unsafe self.byteCount = byteCount
    }
  }

  /// As many planes as the pixel format has. Planes 1 and 2 of three have the same stride.
  public var planes: [Plane]
  /// Keeps the memory alive and unchanged. Comes back as `DecodedPicture.token`, and is released, on any thread, when
  /// neither libavcodec nor a picture needs the memory.
  public var token: AnyObject

  /// Describes memory for a picture.
  public init(planes: [Plane], token: AnyObject) {
    unsafe self.planes = unsafe planes
    unsafe self.token = token
  }
}

/// Provides the memory that libavcodec decodes into, so that pictures need not be copied.
public protocol PictureAllocator: AnyObject, Sendable {
  /// Memory for one picture; nil, or memory that does not meet the request, makes the session use its own.
  ///
  /// libavcodec needs the same strides for all pictures of a size. The session keeps those of the first picture until
  /// `flush`, `drain` or another size, and refuses memory with others; such pictures then come without the allocator's
  /// token.
  ///
  /// Called on codec worker threads, several at once, while the session's caller waits in `decode`: must not take a
  /// lock that the caller holds. The decoder may read the memory after the picture came out: do not write to it as long
  /// as anything else holds the token.
  func pictureBuffer(for request: PictureRequest) -> PictureBuffer?
}
