// SPDX-License-Identifier: MPL-2.0

/// Provides the memory that libavcodec decodes into, so that pictures need not be copied.
public protocol PictureAllocator: AnyObject, Sendable {
  /// Memory for one picture; nil, or memory that does not meet the request, makes the session use its own.
  ///
  /// libavcodec needs the same strides for all pictures of a size. The session keeps the first picture's strides
  /// until `flush`, `drain` or another size, and refuses memory with others; such pictures then come without the
  /// allocator's token.
  ///
  /// Called on codec worker threads, several at a time, while the session's caller waits in `decode`: must not take a
  /// lock that the caller holds. The decoder may read the memory after the picture came out: do not write to it as
  /// long as anything else holds the token.
  func pictureBuffer(for request: PictureRequest) -> PictureBuffer?
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
