// SPDX-License-Identifier: MPL-2.0
import H26x

/// The memory of one picture in libavcodec, which holds it as the owner of its buffer reference.
@safe package final class PictureMemory: @unchecked Sendable {
  let pixelFormat: PixelFormat
  /// The planes that are exposed to the session's caller.
  let planes: [PictureBuffer.Plane]
  /// The allocator's token, if the planes are the allocator's.
  let token: AnyObject?
  /// The session's own memory, for the planes or for separate chroma.
  private let blocks: [PicturePool.Block]
  /// Planar chroma not yet interleaved into plane 1.
  let scratch: Scratch?
  /// What the memory was requested for that this process shares with the codec's; `nil` for memory of its own.
  let sharedRequest: PictureRequest?
  /// Keeps shared memory.
  let lease: SlotTable.Lease?

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
    sharedRequest = nil
    lease = nil
  }

  /// Memory that the codec's process has written. It may change what is in it at any time.
  init(sharing request: PictureRequest, planes: [PictureBuffer.Plane], lease: SlotTable.Lease) {
    pixelFormat = request.pixelFormat
    unsafe self.planes = unsafe planes
    token = nil
    blocks = []
    unsafe scratch = nil
    sharedRequest = request
    self.lease = lease
  }

  /// Copies a picture of this size, whose format is the same.
  func copySamples(of other: PictureMemory, width: Int, height: Int) {
    for index in unsafe 0..<min(planes.count, other.planes.count) {
      let (source, target) = unsafe (other.planes[index], planes[index])
      let byteCount = pixelFormat.rowByteCount(plane: index, width: width)
      for row in 0..<pixelFormat.rowCount(plane: index, height: height) {
        // SAFETY: both planes hold a picture of this size.
        unsafe UnsafeMutableRawPointer(target.start + row * target.stride)
          .copyMemory(from: source.start + row * source.stride, byteCount: byteCount)
      }
    }
  }

  /// Sets chroma samples of two bytes to mid-range: no colour.
  func fillChroma() {
    let middle = UInt16(1) << UInt16(pixelFormat.bitDepth - 1)
    for index in unsafe planes.indices.dropFirst() {
      // SAFETY: the plane has that many bytes, and rows begin at multiples of what vector code requires.
      unsafe UnsafeMutableRawBufferPointer(start: planes[index].start, count: planes[index].byteCount & ~1)
        .bindMemory(to: UInt16.self).update(repeating: middle.littleEndian)
    }
  }

  /// Interleaves chroma once an NV12 picture is decoded; nothing to do for other formats.
  func finish(width: Int, height: Int) {
    guard let scratch = unsafe scratch, unsafe planes.count == 2 else { return }
    unsafe ChromaInterleaver.interleave(
      cb: scratch.cb, cr: scratch.cr, stride: scratch.stride, into: planes[1].start, targetStride: planes[1].stride,
      sampleCount: (width + 1) / 2, rowCount: (height + 1) / 2)
  }
}

extension PictureMemory {
  /// Whether the coded picture has this hash. To be called before `finish`.
  func matches(_ hash: H265.DecodedPictureHash, width: Int, height: Int) -> Bool {
    let planeCount = unsafe pixelFormat == .nv12 ? 3 : planes.count
    for index in 0..<min(hash.planeCount, planeCount) {
      guard matches(hash, plane: index, width: width, height: height) else { return false }
    }
    return true
  }

  private func matches(_ hash: H265.DecodedPictureHash, plane index: Int, width: Int, height: Int) -> Bool {
    // As libavcodec has written it.
    let format = pixelFormat == .nv12 ? .yuv420p : pixelFormat
    let first = unsafe planes[min(index, planes.count - 1)]
    var (start, stride) = unsafe (first.start, first.stride)
    if index > 0, let scratch = unsafe scratch {
      unsafe (start, stride) = unsafe (index == 1 ? scratch.cb : scratch.cr, scratch.stride)
    } else if index > 0, pixelFormat == .nv12 {
      return matchesInterleaved(hash, plane: index, width: width, height: height)
    }
    let bytesPerSample = format.bitDepth > 8 ? 2 : 1
    let (rowByteCount, rowCount) = (
      format.rowByteCount(plane: index, width: width), format.rowCount(plane: index, height: height)
    )
    guard rowCount > 0 else { return false }
    // SAFETY: the decoder has written that many rows of that many bytes.
    let bytes = unsafe Span(_unsafeStart: UnsafePointer(start), count: stride * (rowCount - 1) + rowByteCount)
    let plane = H265.DecodedPictureHash.Plane(
      bytes, width: rowByteCount / bytesPerSample, height: rowCount, stride: stride, bitDepth: format.bitDepth)
    switch plane {
    case .some(let plane): return hash.matches(plane, index: index)
    case .none: return false
    }
  }

  /// As `matches`, for a plane whose samples lie between another's.
  private func matchesInterleaved(
    _ hash: H265.DecodedPictureHash, plane index: Int, width: Int, height: Int
  ) -> Bool {
    let interleaved = unsafe planes[1]
    let sampleCount = PixelFormat.yuv420p.rowByteCount(plane: 1, width: width)
    let rowCount = pixelFormat.rowCount(plane: 1, height: height)
    var samples: [UInt8] = []
    samples.reserveCapacity(sampleCount * rowCount)
    for row in 0..<rowCount {
      let start = unsafe interleaved.start + row * interleaved.stride + (index - 1)
      for column in 0..<sampleCount { unsafe samples.append(start[2 * column]) }
    }
    guard
      let plane = H265.DecodedPictureHash.Plane(
        samples.span, width: sampleCount, height: rowCount, stride: sampleCount, bitDepth: 8)
    else { return false }
    return hash.matches(plane, index: index)
  }
}
