// SPDX-License-Identifier: MPL-2.0
import CodecLink
import H26x

/// The memory of one picture in libavcodec, which holds it as the owner of its buffer reference.
@safe package final class PictureMemory: @unchecked Sendable {
  let pixelFormat: PixelFormat
  /// The planes that are exposed to the session's caller.
  package let planes: [PictureBuffer.Plane]
  /// The allocator's token, if the planes are the allocator's.
  package let token: AnyObject?
  /// The session's own memory, for the planes or for separate chroma.
  private let blocks: [PicturePool.Block]
  /// The memory that libavcodec writes if its format differs from the planes'.
  let scratch: Scratch?
  /// The request for memory that this process shares with the codec's; `nil` if the memory is its own.
  let sharedRequest: PictureRequest?
  /// The memory that this process shares with the codec's.
  let sharedMemory: SharedMemory?
  /// Keeps its contents: the process gets the memory for another picture when this is gone.
  private let lease: (any AnyObject & Sendable)?
  /// The picture's location in a device's memory. Without planes this is its only location.
  package private(set) var surface: PictureSurface?

  @unsafe struct Scratch {
    /// nil if luma is written in its place.
    var luma: (start: UnsafeMutablePointer<UInt8>, stride: Int)?
    let cb: UnsafeMutablePointer<UInt8>
    let cr: UnsafeMutablePointer<UInt8>
    let stride: Int
    /// The byte count of Cb, and of Cr.
    let chromaByteCount: Int
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
    (sharedMemory, lease) = (nil, nil)
  }

  /// Memory that the codec's process has written. The process may change its contents at any time.
  init(
    sharing request: PictureRequest, planes: [PictureBuffer.Plane], memory: SharedMemory,
    lease: any AnyObject & Sendable
  ) {
    pixelFormat = request.pixelFormat
    unsafe self.planes = unsafe planes
    token = nil
    blocks = []
    unsafe scratch = nil
    sharedRequest = request
    (sharedMemory, self.lease) = (memory, lease)
  }

  /// A picture in a device's memory, and nowhere else.
  init(_ surface: PictureSurface) {
    pixelFormat = surface.description.pixelFormat
    unsafe planes = unsafe []
    token = nil
    blocks = []
    unsafe scratch = nil
    sharedRequest = nil
    (sharedMemory, lease) = (nil, nil)
    self.surface = surface
  }

  /// Adds the picture's surface in a device's memory. Must be called before the picture is shared.
  func add(_ surface: PictureSurface) { self.surface = surface }

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
    func fill(_ start: UnsafeMutablePointer<UInt8>, _ byteCount: Int) {
      // SAFETY: the plane has that many bytes, and rows begin at multiples of the alignment that vector code
      // requires.
      unsafe UnsafeMutableRawBufferPointer(start: start, count: byteCount & ~1)
        .bindMemory(to: UInt16.self).update(repeating: middle.littleEndian)
    }
    if let scratch = unsafe scratch {
      unsafe fill(scratch.cb, scratch.chromaByteCount)
      unsafe fill(scratch.cr, scratch.chromaByteCount)
    } else {
      for index in unsafe planes.indices.dropFirst() { unsafe fill(planes[index].start, planes[index].byteCount) }
    }
  }

  /// Interleaves chroma, and packs samples of 10 bits, once a semi-planar picture is decoded; nothing to do for others.
  package func finish(width: Int, height: Int) {
    guard let scratch = unsafe scratch, unsafe planes.count == 2 else { return }
    if let luma = unsafe scratch.luma { return unsafe pack(luma, scratch, width: width, height: height) }
    unsafe ChromaInterleaver.interleave(
      cb: scratch.cb, cr: scratch.cr, stride: scratch.stride, into: planes[1].start, targetStride: planes[1].stride,
      sampleCount: (width + 1) / 2, rowCount: (height + 1) / 2)
  }

  private func pack(
    _ luma: (start: UnsafeMutablePointer<UInt8>, stride: Int), _ scratch: Scratch, width: Int, height: Int
  ) {
    let shift = UInt16(16 - pixelFormat.bitDepth)
    // SAFETY: scratch and planes were made for a picture of this size.
    for row in 0..<height {
      unsafe SamplePacking.shift(
        luma.start + row * luma.stride, into: planes[0].start + row * planes[0].stride, count: width, by: shift)
    }
    for row in 0..<(height + 1) / 2 {
      unsafe SamplePacking.interleave(
        cb: scratch.cb + row * scratch.stride, cr: scratch.cr + row * scratch.stride,
        into: planes[1].start + row * planes[1].stride, count: (width + 1) / 2, by: shift)
    }
  }
}

extension PictureMemory {
  /// Whether the coded picture has this hash. To be called before `finish`.
  func matches(_ hash: H265.DecodedPictureHash, width: Int, height: Int) -> Bool {
    guard unsafe !planes.isEmpty else { return false }
    let planeCount = pixelFormat.planar.planeCount
    for index in 0..<min(hash.planeCount, planeCount) {
      guard matches(hash, plane: index, width: width, height: height) else { return false }
    }
    return true
  }

  private func matches(_ hash: H265.DecodedPictureHash, plane index: Int, width: Int, height: Int) -> Bool {
    // The format that libavcodec has written.
    let format = pixelFormat.planar
    let (rowByteCount, rowCount) = (
      format.rowByteCount(plane: index, width: width), format.rowCount(plane: index, height: height)
    )
    guard rowCount > 0, rowByteCount > 0 else { return false }
    func matches(_ bytes: Span<UInt8>, stride: Int) -> Bool {
      let plane = H265.DecodedPictureHash.Plane(
        bytes, width: rowByteCount / format.bytesPerSample, height: rowCount, stride: stride,
        bitDepth: format.bitDepth)
      return switch plane {
      case .some(let plane): hash.matches(plane, index: index)
      case .none: false
      }
    }
    guard let (start, stride) = unsafe planarPlane(index) else {
      let samples = separateSamples(plane: index, width: rowByteCount / format.bytesPerSample, height: rowCount)
      return matches(samples.span, stride: rowByteCount)
    }
    // SAFETY: the decoder has written that many rows of that many bytes.
    return unsafe matches(
      Span(_unsafeStart: UnsafePointer(start), count: stride * (rowCount - 1) + rowByteCount), stride: stride)
  }

  /// The location of a separate plane with samples in the low bits; nil if there is none.
  private func planarPlane(_ index: Int) -> (start: UnsafeMutablePointer<UInt8>, stride: Int)? {
    if let scratch = unsafe scratch {
      if index > 0 { return unsafe (index == 1 ? scratch.cb : scratch.cr, scratch.stride) }
      if let luma = unsafe scratch.luma { return unsafe luma }
    } else if pixelFormat == .p010 || pixelFormat.isSemiPlanar && index > 0 {
      return nil
    }
    return unsafe (planes[index].start, planes[index].stride)
  }

  /// The samples of a plane of a semi-planar picture, row after row, in the low bits.
  private func separateSamples(plane index: Int, width: Int, height: Int) -> [UInt8] {
    let plane = unsafe planes[min(index, 1)]
    let (step, first) = index == 0 ? (1, 0) : (2, index - 1)
    let shift = UInt16(16 - pixelFormat.bitDepth)
    var samples: [UInt8] = []
    samples.reserveCapacity(width * height * pixelFormat.bytesPerSample)
    for row in 0..<height {
      let start = unsafe UnsafeRawPointer(plane.start + row * plane.stride)
      for column in 0..<width {
        let place = step * column + first
        // SAFETY: the decoder has written that many rows of that many samples.
        guard pixelFormat.bytesPerSample == 2 else {
          unsafe samples.append(start.load(fromByteOffset: place, as: UInt8.self))
          continue
        }
        let sample = unsafe UInt16(littleEndian: start.loadUnaligned(fromByteOffset: 2 * place, as: UInt16.self))
        let value = sample >> shift
        samples.append(UInt8(truncatingIfNeeded: value))
        samples.append(UInt8(truncatingIfNeeded: value >> 8))
      }
    }
    return samples
  }
}

/// The location of a picture's samples in memory that another process has written.
package struct SharedSamples: Sendable {
  /// The memory's descriptor, valid as long as the picture.
  package let descriptor: Int32
  /// Its size.
  package let byteCount: Int
  /// The offset of each plane's first sample, cropped.
  package let offsets: [Int]
  /// Bytes from one row of a plane to the next.
  package let strides: [Int]
}
