// SPDX-License-Identifier: MPL-2.0
import CAVCodec

/// Makes packets out of recycled buffers: one `AVBufferPool` for each power of two, made on first use.
///
/// A packet may outlive its pool; the memory is freed with the last packet. Use from one thread at a time; packets
/// themselves may be used on any.
@safe package final class PacketPool {
  private static let smallestShift = 12
  private var pools: [OpaquePointer?] = unsafe Array(repeating: nil, count: 31 - smallestShift)

  /// Makes an empty pool.
  package init() {}

  deinit {
    for index in unsafe pools.indices { unsafe cav_buffer_pool_uninit(&pools[index]) }
  }

  /// A change of one byte in a packet's copy.
  package struct Patch: Sendable, Hashable {
    /// Offset in the copied bytes, prefix not counted.
    package let offset: Int
    /// The new byte.
    package let byte: UInt8
    /// Describes a change.
    package init(offset: Int, byte: UInt8) {
      self.offset = offset
      self.byte = byte
    }
  }

  /// Copies `bytes` once, after a copy of `prefix`, into a padded packet.
  ///
  /// - Parameters:
  ///   - bytes: an access unit, not empty.
  ///   - prefix: bytes to put in front (parameter sets), usually none.
  ///   - timestamp: comes back as the frame's timestamp.
  ///   - patches: bytes to change in the copy; those beyond its end are ignored.
  /// - Throws: `AVError.invalidArgument` when there are no bytes or more than a packet can hold (about 1 GiB),
  ///   `AVError.outOfMemory`.
  package func packet(
    copying bytes: Span<UInt8>, prefix: [UInt8] = [], timestamp: Int64, patches: [Patch] = []
  ) throws(AVError) -> Packet {
    let padding = Int(CAV_INPUT_PADDING)
    let (byteCount, overflow) = bytes.count.addingReportingOverflow(prefix.count)
    guard !overflow, byteCount > 0, byteCount < (1 << 30) - padding else { throw .invalidArgument }
    let buffer = unsafe try buffer(capacity: byteCount + padding)
    // SAFETY: `buffer` has room for byteCount + padding bytes, and nobody else knows it yet.
    guard let start = unsafe UnsafeMutableRawPointer(buffer.pointee.data) else { throw .outOfMemory }
    unsafe prefix.withUnsafeBytes {
      if let base = $0.baseAddress { unsafe start.copyMemory(from: base, byteCount: $0.count) }
    }
    let rest = unsafe start + prefix.count
    unsafe bytes.withUnsafeBytes {
      if let base = $0.baseAddress { unsafe rest.copyMemory(from: base, byteCount: $0.count) }
    }
    for patch in patches where bytes.indices.contains(patch.offset) {
      unsafe rest.storeBytes(of: patch.byte, toByteOffset: patch.offset, as: UInt8.self)
    }
    unsafe (start + byteCount).initializeMemory(as: UInt8.self, repeating: 0, count: padding)
    return unsafe try Packet(owning: buffer, byteCount: Int32(byteCount), timestamp: timestamp)
  }

  private func buffer(capacity: Int) throws(AVError) -> UnsafeMutablePointer<AVBufferRef> {
    let shift = max(Self.smallestShift, Int.bitWidth - (capacity - 1).leadingZeroBitCount)
    let slot = shift - Self.smallestShift
    if unsafe pools[slot] == nil { unsafe pools[slot] = unsafe cav_buffer_pool_init(1 << shift) }
    guard let pool = unsafe pools[slot], let buffer = unsafe cav_buffer_pool_get(pool)
    else { throw .outOfMemory }
    return unsafe buffer
  }
}
