// SPDX-License-Identifier: MPL-2.0

/// The memory of one picture on its way through libavcodec, which keeps it as the owner of its buffer reference.
@safe final class PictureMemory: @unchecked Sendable {
  let pixelFormat: PixelFormat
  /// Where the picture is for the session's caller.
  let planes: [PictureBuffer.Plane]
  /// The allocator's token, if the planes are the allocator's.
  let token: AnyObject?
  /// The session's own memory, for the planes or for chroma that libavcodec writes apart.
  private let blocks: [PicturePool.Block]
  /// Planar chroma not yet interleaved into plane 1.
  let scratch: Scratch?

  @unsafe struct Scratch {
    let cb: UnsafeMutablePointer<UInt8>
    let cr: UnsafeMutablePointer<UInt8>
    let stride: Int
  }

  init(
    pixelFormat: PixelFormat, planes: [PictureBuffer.Plane], token: AnyObject?, blocks: [PicturePool.Block],
    scratch: Scratch? = nil
  ) {
    self.pixelFormat = pixelFormat
    unsafe self.planes = unsafe planes
    self.token = token
    self.blocks = blocks
    unsafe self.scratch = unsafe scratch
  }

  /// Completes NV12 planes once the picture is decoded; nothing to do for other formats.
  func finish(width: Int, height: Int) {
    guard let scratch = unsafe scratch, unsafe planes.count == 2 else { return }
    unsafe ChromaInterleaver.interleave(
      cb: scratch.cb, cr: scratch.cr, stride: scratch.stride, into: planes[1].start, targetStride: planes[1].stride,
      sampleCount: (width + 1) / 2, rowCount: (height + 1) / 2)
  }
}
