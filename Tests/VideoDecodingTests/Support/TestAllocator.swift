// SPDX-License-Identifier: MPL-2.0
import AVCodec
import Synchronization

@testable import VideoDecoding

/// An allocator that records the addresses of its memory.
final class TestAllocator: PictureAllocator {
  /// One picture's memory.
  @safe final class Token: @unchecked Sendable {
    let start: UnsafeMutableRawPointer
    private let allocator: TestAllocator
    init(byteCount: Int, allocator: TestAllocator) {
      unsafe start = unsafe AlignedMemory.allocate(byteCount: byteCount)!
      self.allocator = allocator
      allocator.live.add(1, ordering: .relaxed)
    }
    deinit {
      unsafe AlignedMemory.free(start)
      allocator.live.subtract(1, ordering: .relaxed)
    }
  }

  let live = Atomic<Int>(0)
  let requests = Atomic<Int>(0)
  /// Called with the number of the request; returns extra bytes of stride, or nil to refuse.
  private let extraStride: @Sendable (Int) -> Int?

  init(extraStride: @escaping @Sendable (Int) -> Int? = { _ in 0 }) { self.extraStride = extraStride }

  func pictureBuffer(for request: PictureRequest) -> PictureBuffer? {
    let number = requests.add(1, ordering: .relaxed).oldValue
    guard let extra = extraStride(number) else { return nil }
    let count = request.pixelFormat.planeCount
    let strides = (0..<count).map { request.minimumStride(plane: $0) + extra }
    let sizes = (0..<count).map { strides[$0] * request.rowCount(plane: $0) }
    let offsets = (0..<count).map { sizes[..<$0].map { ($0 + 63) / 64 * 64 }.reduce(0, +) }
    let token = Token(byteCount: sizes.map { ($0 + 63) / 64 * 64 }.reduce(64, +), allocator: self)
    let planes = unsafe (0..<count).map { plane in
      unsafe PictureBuffer.Plane(
        start: (token.start + offsets[plane]).assumingMemoryBound(to: UInt8.self), stride: strides[plane],
        byteCount: sizes[plane])
    }
    return unsafe PictureBuffer(planes: planes, token: token)
  }
}
