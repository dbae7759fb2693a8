// SPDX-License-Identifier: MPL-2.0
import Testing

@testable import AVCodec
@testable import VideoDecoding

/// The session's requirements of an allocator's memory.
@Suite struct PictureAllocatorTests {
  private func request(
    _ format: PixelFormat = .yuv420p, width: Int = 100, height: Int = 50, alignment: Int = 32
  ) throws -> PictureRequest {
    let frameFormat = try #require(FrameFormat(name: format.rawValue))
    return PictureRequest(
      FrameBufferRequest(
        timestamp: 0, format: frameFormat, width: width, height: height, cropLeft: 2, cropRight: 4, cropTop: 6,
        cropBottom: 8, alignedWidth: width, alignedHeight: height, strideAlignment: alignment),
      pixelFormat: format)
  }

  @Test(arguments: [
    (PixelFormat.yuv420p, 64, 32, [64, 32, 32]), (.yuv420p, 65, 32, [96, 64, 64]), (.yuv420p, 63, 32, [64, 32, 32]),
    (.yuv420p10, 64, 32, [128, 64, 64]), (.yuv444p, 33, 64, [64, 64, 64]), (.nv12, 65, 32, [96, 96]),
  ])
  func computesMinimumStrides(_ format: PixelFormat, _ width: Int, _ alignment: Int, _ strides: [Int]) throws {
    let request = try request(format, width: width, alignment: alignment)
    #expect(strides.indices.map { request.minimumStride(plane: $0) } == strides)
  }

  @Test func requestsDescribeThePicture() throws {
    let request = try request()
    #expect(request.pixelFormat == .yuv420p && request.codedWidth == 100 && request.codedHeight == 50)
    #expect(request.crop == PictureCrop(left: 2, right: 4, top: 6, bottom: 8))
    #expect(request.alignedWidth == 100 && request.alignedHeight == 50 && request.strideAlignment == 32)
    #expect((0..<3).map { request.rowCount(plane: $0) } == [50, 25, 25])
  }

  /// The fault of the memory, the plane, and the change.
  @Test(arguments: [
    ("nothing", 0, 0, 0, 0, true), ("larger", 0, 0, 32, 1600, true), ("larger chroma", 1, 0, 32, 0, false),
    ("unaligned start", 0, 1, 0, 0, false), ("unaligned stride", 0, 0, 16, 800, false),
    ("small stride", 0, 0, -32, 0, false), ("small chroma stride", 2, 0, -32, 0, false),
    ("a byte short", 0, 0, 0, -1, false), ("a byte of chroma short", 2, 0, 0, -1, false),
  ])
  func checksTheAllocatorsBuffers(
    _ name: String, _ plane: Int, _ offset: Int, _ stride: Int, _ byteCount: Int, _ meets: Bool
  ) throws {
    let request = try request()
    let memory = try #require(PicturePool().block(byteCount: 16_384))
    var buffer = unsafe PictureBuffer(
      planes: (0..<3).map { index in
        let stride = request.minimumStride(plane: index)
        return unsafe PictureBuffer.Plane(
          start: memory.start + 4096 * index, stride: stride, byteCount: stride * request.rowCount(plane: index))
      }, token: memory)
    #expect(unsafe buffer.meets(request))
    unsafe buffer.planes[plane].start += offset
    unsafe buffer.planes[plane].stride += stride
    unsafe buffer.planes[plane].byteCount += byteCount
    #expect(unsafe buffer.meets(request) == meets, "\(name)")
    unsafe buffer.planes.removeLast()
    #expect(unsafe !buffer.meets(request))
  }
}
