// SPDX-License-Identifier: MPL-2.0
import Testing

@testable import AVCodec
@testable import VideoDecoding

/// The memory that libavcodec gets for a picture.
@Suite struct PictureBridgeTests {
  private func request(
    _ format: String = "yuv420p", timestamp: Int64 = 0, width: Int = 33, height: Int = 17
  ) throws -> FrameBufferRequest {
    FrameBufferRequest(
      timestamp: timestamp, format: try #require(FrameFormat(name: format)), width: width, height: height,
      cropLeft: 0, cropRight: 0, cropTop: 0, cropBottom: 0, alignedWidth: width, alignedHeight: height,
      strideAlignment: 32)
  }

  /// libavcodec's format, the layout that is wanted, the picture's format, and the strides that libavcodec is given.
  @Test(
    arguments: [
      ("yuv420p", .native, .yuv420p, [64, 32, 32]), ("yuv420p", .semiPlanar, .nv12, [64, 32, 32]),
      ("yuvj420p", .semiPlanar, .nv12, [64, 32, 32]), ("yuv422p", .semiPlanar, .yuv422p, [64, 32, 32]),
      ("yuv420p10le", .semiPlanar, .p010, [96, 64, 64]), ("gray", .semiPlanar, .gray, [64]),
      ("gray10le", .native, .yuv420p10, [96]), ("gray10le", .semiPlanar, .p010, [96]),
      ("yuv420p12le", .semiPlanar, .yuv420p12, [96, 64, 64]), ("gray12le", .native, .yuv420p12, [96]),
    ] as [(String, SessionConfiguration.OutputLayout, PixelFormat, [Int32])])
  func mapsFormatsAndLayouts(
    _ name: String, _ layout: SessionConfiguration.OutputLayout, _ format: PixelFormat, _ strides: [Int32]
  ) throws {
    let bridge = PictureBridge(allocator: nil, layout: layout)
    let buffer = unsafe try bridge.buffer(for: request(name))
    let memory = try #require(unsafe buffer.owner as? PictureMemory)
    #expect(unsafe memory.pixelFormat == format && buffer.strides == strides && buffer.planes.count == strides.count)
    #expect(unsafe memory.planes.count == format.planeCount)
    #expect(unsafe (buffer.planes[0] == memory.planes[0].start) == (format != .p010))
    #expect(unsafe buffer.byteCount >= Int(strides[0]) * 17)
    #expect(unsafe buffer.planes.allSatisfy { UInt(bitPattern: $0) % 32 == 0 })
    // Samples that must be interleaved or packed are written elsewhere first.
    #expect(unsafe (memory.scratch != nil) == format.isSemiPlanar)
    if format == .nv12 { #expect(unsafe buffer.planes[1] != memory.planes[1].start) }
    #expect(bridge.misses == 0)
  }

  /// Monochrome of more than 8 bits gets chroma at mid-range.
  @Test(arguments: [("gray10le", 512), ("gray12le", 2048)] as [(String, UInt16)])
  func fillsChromaOfMonochrome(_ name: String, _ middle: UInt16) throws {
    let buffer = unsafe try PictureBridge(allocator: nil, layout: .native).buffer(for: request(name))
    let memory = try #require(unsafe buffer.owner as? PictureMemory)
    for plane in 1...2 {
      let samples = unsafe UnsafeRawBufferPointer(
        start: memory.planes[plane].start, count: memory.planes[plane].byteCount)
      #expect(samples.count == 64 * 9)
      for offset in stride(from: 0, to: samples.count, by: 2) {
        let sample = unsafe UInt16(littleEndian: samples.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
        guard sample == middle else {
          Issue.record("\(sample) in plane \(plane) at \(offset)")
          break
        }
      }
    }
  }

  @Test func refusesUnsupportedFormats() throws {
    let bridge = PictureBridge(allocator: nil, layout: .native)
    #expect(throws: AVError.unsupportedFeature) { _ = unsafe try bridge.buffer(for: request("rgb24", timestamp: 4)) }
    // The decoder has begun the picture all the same.
    #expect(bridge.started.contains(4))
  }

  @Test func remembersStartedPictures() throws {
    let bridge = PictureBridge(allocator: nil, layout: .native)
    #expect(!bridge.started.contains(0) && !bridge.started.contains(7))
    _ = unsafe try bridge.buffer(for: request(timestamp: 7))
    #expect(bridge.started.contains(7) && !bridge.started.contains(0) && !bridge.started.contains(8))
    // A timestamp that is no access unit's.
    _ = unsafe try bridge.buffer(for: request(timestamp: -1))
    #expect(bridge.started.contains(7) && !bridge.started.contains(0))
  }

  /// Pictures of one size have the strides of the first one, until nothing refers to it any more.
  @Test func keepsStridesWhilePicturesAreReferredTo() throws {
    // By the number of the picture: more of a stride, or no memory.
    let allocator = TestAllocator { [0: 32, 1: 0, 2: 32, 4: 0, 5: 0, 6: 64][$0] }
    let bridge = PictureBridge(allocator: allocator, layout: .native)
    func stride(_ width: Int = 33) throws -> (luma: Int32, isAllocators: Bool) {
      let buffer = unsafe try bridge.buffer(for: request(width: width))
      return unsafe (buffer.strides[0], (buffer.owner as? PictureMemory)?.token != nil)
    }
    #expect(try stride() == (96, true))
    #expect(try stride() == (96, false) && bridge.misses == 1)
    #expect(try stride() == (96, true) && bridge.misses == 1)
    #expect(try stride() == (96, false) && bridge.misses == 2)
    // Another size.
    #expect(try stride(65) == (96, true) && stride() == (64, true))
    #expect(bridge.misses == 2)
    bridge.unlockStrides()
    #expect(try stride() == (128, true) && bridge.misses == 2)
  }

  /// Cb and Cr of their own become pairs once the picture is decoded, an odd sample at the edge too.
  @Test func interleavesChromaAfterDecoding() throws {
    let buffer = unsafe try PictureBridge(allocator: nil, layout: .semiPlanar).buffer(for: request())
    let memory = try #require(unsafe buffer.owner as? PictureMemory)
    for row in 0..<9 {
      for column in 0..<17 {
        unsafe buffer.planes[1][row * 32 + column] = UInt8(row * 17 + column)
        unsafe buffer.planes[2][row * 32 + column] = UInt8(255 - row * 17 - column)
      }
    }
    memory.finish(width: 33, height: 17)
    for row in 0..<9 {
      var expected: [UInt8] = []
      for sample in row * 17..<row * 17 + 17 { expected += [UInt8(sample), UInt8(255 - sample)] }
      let pairs = unsafe UnsafeBufferPointer(
        start: memory.planes[1].start + row * memory.planes[1].stride, count: expected.count)
      #expect(unsafe Array(pairs) == expected)
    }
  }
}
