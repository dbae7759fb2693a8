// SPDX-License-Identifier: MPL-2.0
import GStreamer
import Synchronization
import VideoDecoding

/// Lets libavcodec decode into the buffers of a pool, so that downstream gets them without a copy.
///
/// libavcodec requests buffers from its worker threads, while the streaming thread waits for them with the stream
/// lock held. Therefore, nothing here takes that lock or waits for a buffer.
final class PoolPictureAllocator: PictureAllocator {
  private struct Source: ~Copyable, Sendable {
    let pool: BufferPool
    let info: VideoInfo
    let layout: PictureLayout
  }

  /// A pool in use. A class, so that a buffer can be acquired outside of the lock.
  private final class Supply: Sendable {
    let source: Source
    init(_ source: consuming Source) { self.source = source }
  }

  private let supply = Locked<Supply?>(nil)

  /// Pictures of this layout go into buffers of this pool from now on.
  ///
  /// - Parameter info: format and cropped size of the pool's buffers.
  func use(_ pool: consuming BufferPool, info: VideoInfo, for layout: PictureLayout) {
    let next = Supply(Source(pool: pool, info: info, layout: layout))
    supply.withLock { $0 = next }
  }

  /// Pictures go into the session's own memory from now on.
  func useNone() { supply.withLock { $0 = nil } }

  func pictureBuffer(for request: PictureRequest) -> PictureBuffer? {
    guard let supply = supply.snapshot, supply.source.layout.fits(request) else { return nil }
    do throws(FlowError) {
      // Never wait: downstream may hold its buffers until it gets the next picture.
      let buffer = try supply.source.pool.acquire(waiting: false)
      let map = try VideoFrameMap(buffer, info: supply.source.info, for: .readingAndWriting)
      guard let planes = unsafe PooledPicture.planes(of: map, for: request) else { return nil }
      return unsafe PictureBuffer(planes: planes, token: PooledPicture(map))
    } catch {
      return nil
    }
  }
}

/// A pool's buffer that libavcodec decodes into. It goes back to the pool when libavcodec has released it; the pool
/// discards it if downstream has not.
final class PooledPicture: Sendable {
  private enum State: ~Copyable, Sendable {
    /// libavcodec writes.
    case decoding(VideoFrameMap)
    /// The picture is complete; libavcodec may still refer to it, at the same address.
    case complete(Buffer)
  }
  private let state: Mutex<State>

  /// - Parameter map: of the buffer, for reading and writing.
  init(_ map: consuming VideoFrameMap) { state = Mutex(.decoding(map)) }

  /// The buffer for downstream, once the picture is complete. It is shared, so that a copy is made before samples are
  /// changed.
  func shareBuffer() -> Buffer {
    state.withLock { state in
      let buffer =
        switch state {
        case .decoding(let map): map.shareBuffer()
        case .complete(let buffer): buffer.share()
        }
      // The base class copies a shared buffer, and with it all memory that is mapped for writing.
      if buffer.isSystemMemory { state = .complete(buffer.share()) }
      return buffer
    }
  }

  /// The planes, starting at the coded picture's top left corner; `nil` when the memory around the cropped picture is
  /// smaller than what libavcodec accesses.
  static func planes(
    of map: borrowing VideoFrameMap, for request: PictureRequest
  ) -> [PictureBuffer.Plane]? {
    let format = request.pixelFormat
    guard map.planeCount == format.planeCount else { return nil }
    var planes: [PictureBuffer.Plane] = unsafe []
    for index in 0..<map.planeCount {
      guard let plane = unsafe map.plane(index), let memory = unsafe plane.memory.baseAddress else { return nil }
      let stride = map.stride(ofPlane: index)
      guard stride > 0 else { return nil }
      let rowsAbove = format.rowCount(plane: index, height: request.crop.top)
      let bytesBefore = format.rowByteCount(plane: index, width: request.crop.left)
      let origin = unsafe plane.start - memory - rowsAbove * stride - bytesBefore
      let byteCount = stride * request.rowCount(plane: index)
      guard unsafe origin >= 0 && byteCount <= plane.memory.count - origin else { return nil }
      let start = unsafe (memory + origin).assumingMemoryBound(to: UInt8.self)
      unsafe planes.append(PictureBuffer.Plane(start: start, stride: stride, byteCount: byteCount))
    }
    return unsafe overlap(planes) ? nil : planes
  }

  /// Whether planes overlap, as they do in a buffer without padding between planes.
  private static func overlap(_ planes: [PictureBuffer.Plane]) -> Bool {
    for first in unsafe planes.indices {
      for second in unsafe planes.indices where second != first {
        let distance = unsafe planes[second].start - planes[first].start
        if unsafe distance >= 0 && distance < planes[first].byteCount { return true }
      }
    }
    return false
  }
}
