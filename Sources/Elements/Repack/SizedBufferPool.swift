// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// Output buffers of any size, from pools of a few sizes, so that a stream soon allocates no more memory.
///
/// The size of a pool's buffers is a power of two: at most half of a buffer is unused. A large keyframe does not make
/// every buffer as large. Buffers larger than 16 MiB are allocated one by one.
struct SizedBufferPool: ~Copyable {
  private static let smallest = 12
  private static let largest = 24

  private final class Pool {
    let pool: BufferPool
    init(_ pool: consuming BufferPool) { self.pool = pool }
    deinit { pool.setActive(false) }
  }

  private var pools = [Pool?](repeating: nil, count: largest - smallest + 1)

  /// A writable buffer of exactly `size` bytes of undefined content.
  /// - Throws: `.error` when memory runs out.
  mutating func acquire(_ size: Int) throws(FlowError) -> Buffer {
    let exponent = max(Self.smallest, Int.bitWidth - max(size - 1, 0).leadingZeroBitCount)
    guard exponent <= Self.largest, let pool = pool(exponent) else {
      guard let buffer = Buffer(size: size) else { throw .error }
      return buffer
    }
    var buffer = try pool.pool.acquire()
    buffer.resize(to: 0..<size)
    return buffer
  }

  private mutating func pool(_ exponent: Int) -> Pool? {
    if let pool = pools[exponent - Self.smallest] { return pool }
    let pool = BufferPool()
    let configuration = BufferPool.Configuration(size: 1 << UInt32(exponent), minimum: 0, maximum: 0)
    guard pool.configure(configuration, caps: Caps(mediaType: "application/octet-stream")), pool.setActive(true) else {
      return nil
    }
    let owner = Pool(pool)
    pools[exponent - Self.smallest] = owner
    return owner
  }
}
