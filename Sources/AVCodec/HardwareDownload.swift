// SPDX-License-Identifier: MPL-2.0
import CAVCodec

/// Copies pictures from a device's memory into the memory of a `FrameBufferSource`.
@safe final class HardwareDownload {
  private let source: any FrameBufferSource
  /// Memory that the device writes to if its layout is not the requested layout.
  private var scratch: UnsafeMutableRawPointer?
  private var scratchByteCount = 0

  /// As libavcodec's own buffers are aligned, at least.
  private static let alignment = 64

  init(to source: any FrameBufferSource) { self.source = source }

  deinit { if let scratch = unsafe scratch { unsafe AlignedMemory.free(scratch) } }

  /// Replaces a frame in the device's memory with a copy.
  ///
  /// - Throws: `AVError.hardwareRefused` for a layout that has no name here, `hardwareFailed` if the device does not
  ///   deliver, `outOfMemory`.
  func replace(_ frame: UnsafeMutablePointer<AVFrame>) throws(AVError) {
    let target = try Frame()
    switch unsafe cav_frame_download_format(frame) {
    case let format where source.acceptsSemiPlanar && (format == AV_PIX_FMT_NV12 || format == AV_PIX_FMT_P010LE):
      unsafe try transfer(frame, to: target, format)
    case AV_PIX_FMT_NV12:
      try attachBuffer(unsafe request(frame, AV_PIX_FMT_YUV420P), to: target)
      unsafe try downloadPlanes(of: frame, AV_PIX_FMT_NV12, bytesPerSample: 1) { luma, chroma, lumaStride, stride in
        let (width, height) = (target.width, target.height)
        for row in 0..<height {
          guard let line = unsafe target.plane(0) else { continue }
          unsafe UnsafeMutableRawPointer(line + row * target.stride(0))
            .copyMemory(from: luma + row * lumaStride, byteCount: width)
        }
        guard let cb = unsafe target.plane(1), let cr = unsafe target.plane(2) else { return }
        for row in 0..<(height + 1) / 2 {
          let pairs = unsafe chroma + row * stride
          let (cb, cr) = unsafe (cb + row * target.stride(1), cr + row * target.stride(2))
          for column in 0..<(width + 1) / 2 {
            unsafe cb[column] = unsafe pairs[2 * column]
            unsafe cr[column] = unsafe pairs[2 * column + 1]
          }
        }
      }
    case AV_PIX_FMT_P010LE:
      try attachBuffer(unsafe request(frame, AV_PIX_FMT_YUV420P10LE), to: target)
      unsafe try downloadPlanes(of: frame, AV_PIX_FMT_P010LE, bytesPerSample: 2) { luma, chroma, lumaStride, stride in
        let (width, height) = (target.width, target.height)
        for row in 0..<height {
          guard let line = unsafe target.samples(0, row: row) else { continue }
          let source = unsafe Self.samples(luma + row * lumaStride)
          for column in 0..<width { unsafe line[column] = unsafe source[column] >> 6 }
        }
        for row in 0..<(height + 1) / 2 {
          guard let cb = unsafe target.samples(1, row: row), let cr = unsafe target.samples(2, row: row) else { return }
          let pairs = unsafe Self.samples(chroma + row * stride)
          for column in 0..<(width + 1) / 2 {
            unsafe cb[column] = unsafe pairs[2 * column] >> 6
            unsafe cr[column] = unsafe pairs[2 * column + 1] >> 6
          }
        }
      }
    case let format where format == AV_PIX_FMT_YUV420P || format == AV_PIX_FMT_YUV444P:
      unsafe try transfer(frame, to: target, format)
    default: throw .hardwareRefused
    }
    unsafe try AVError.check(cav_frame_copy_props(target.raw, frame))
    unsafe cav_frame_unref(frame)
    unsafe cav_frame_move_ref(frame, target.raw)
  }

  /// Copies a picture whose layout is the requested one.
  private func transfer(
    _ frame: UnsafeMutablePointer<AVFrame>, to target: borrowing Frame, _ format: AVPixelFormat
  ) throws(AVError) {
    try attachBuffer(unsafe request(frame, format), to: target)
    guard unsafe cav_hwframe_transfer_data(target.raw, frame) >= 0 else { throw .hardwareFailed }
  }

  /// Copies a picture of two planes into memory of this object's own, and lends it.
  private func downloadPlanes(
    of frame: UnsafeMutablePointer<AVFrame>, _ format: AVPixelFormat, bytesPerSample: Int,
    _ body: (
      _ luma: UnsafeMutablePointer<UInt8>, _ chroma: UnsafeMutablePointer<UInt8>, _ lumaStride: Int, _ chromaStride: Int
    ) -> Void
  ) throws(AVError) {
    let (width, height) = unsafe (Int(frame.pointee.width), Int(frame.pointee.height))
    let stride = ((width + 1) * bytesPerSample + Self.alignment - 1) / Self.alignment * Self.alignment
    // Drivers copy whole macroblocks.
    let rowCount = (height + Self.alignment - 1) / Self.alignment * Self.alignment
    let byteCount = stride * rowCount / 2 * 3
    if scratchByteCount != byteCount {
      if let scratch = unsafe scratch { unsafe AlignedMemory.free(scratch) }
      unsafe scratch = unsafe AlignedMemory.allocate(byteCount: byteCount)
      scratchByteCount = unsafe scratch == nil ? 0 : byteCount
    }
    guard let memory = unsafe scratch else { throw .outOfMemory }
    let luma = unsafe memory.assumingMemoryBound(to: UInt8.self)
    let chroma = unsafe luma + stride * rowCount
    let copy = try Frame()
    unsafe copy.raw.pointee.format = format.rawValue
    unsafe copy.raw.pointee.width = Int32(width)
    unsafe copy.raw.pointee.height = Int32(height)
    // Released with the frame, which does not own the memory.
    guard let buffer = unsafe cav_buffer_create(luma, byteCount, keepMemory, nil) else { throw .outOfMemory }
    unsafe copy.raw.pointee.buf.0 = unsafe buffer
    unsafe cav_frame_set_plane(copy.raw, 0, luma, Int32(stride))
    unsafe cav_frame_set_plane(copy.raw, 1, chroma, Int32(stride))
    guard unsafe cav_hwframe_transfer_data(copy.raw, frame) >= 0 else { throw .hardwareFailed }
    unsafe body(luma, chroma, stride, stride)
  }

  private func request(_ frame: UnsafeMutablePointer<AVFrame>, _ format: AVPixelFormat) -> FrameBufferRequest {
    let (width, height) = unsafe (Int(frame.pointee.width), Int(frame.pointee.height))
    return unsafe FrameBufferRequest(
      timestamp: frame.pointee.pts, format: FrameFormat(format), width: width, height: height,
      cropLeft: Int(clamping: frame.pointee.crop_left), cropRight: Int(clamping: frame.pointee.crop_right),
      cropTop: Int(clamping: frame.pointee.crop_top), cropBottom: Int(clamping: frame.pointee.crop_bottom),
      alignedWidth: width, alignedHeight: height, strideAlignment: Self.alignment)
  }

  private func attachBuffer(_ request: FrameBufferRequest, to frame: borrowing Frame) throws(AVError) {
    let buffer = unsafe try source.downloadBuffer(for: request)
    unsafe frame.raw.pointee.format = request.format.rawValue
    unsafe frame.raw.pointee.width = Int32(request.width)
    unsafe frame.raw.pointee.height = Int32(request.height)
    unsafe try frame.attach(buffer)
  }

  private static func samples(_ bytes: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt16> {
    // SAFETY: rows begin at multiples of the alignment.
    unsafe UnsafeMutableRawPointer(bytes).assumingMemoryBound(to: UInt16.self)
  }
}

/// For memory that outlives every frame in it.
private let keepMemory: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?) -> Void = { _, _ in }
