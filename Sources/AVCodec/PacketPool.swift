// SPDX-License-Identifier: MPL-2.0
import CAVCodec
import Glibc
import Synchronization

/// Makes packets out of recycled memory: blocks of powers of two.
///
/// A packet may outlive its pool. Packets are made by one thread at a time, and may be used and released on any.
@safe package final class PacketPool {
  /// Free blocks of each size.
  @safe fileprivate final class Storage: Sendable {
    @safe private struct Free: @unchecked Sendable {
      var blocks: [[UnsafeMutablePointer<UInt8>]] = unsafe Array(repeating: [], count: sizeCount)
    }

    private static let smallestShift = 12
    private static let sizeCount = 31 - smallestShift
    /// Bytes in free blocks of one size that are kept.
    private static let keptByteCount = 16 << 20
    private let free = Mutex(Free())

    deinit {
      free.withLock { free in
        for index in unsafe free.blocks.indices {
          while let block = unsafe free.blocks[index].popLast() { unsafe Glibc.free(block) }
        }
      }
    }

    /// The index of the smallest size of at least `byteCount` bytes.
    static func sizeIndex(_ byteCount: Int) -> Int {
      max(smallestShift, Int.bitWidth - (byteCount - 1).leadingZeroBitCount) - smallestShift
    }

    func take(_ size: Int) -> UnsafeMutablePointer<UInt8>? {
      if let block = unsafe free.withLock({ unsafe $0.blocks[size].popLast() }) { return unsafe block }
      var memory: UnsafeMutableRawPointer?
      guard unsafe posix_memalign(&memory, 64, 1 << (size + Self.smallestShift)) == 0 else { return nil }
      return unsafe memory?.assumingMemoryBound(to: UInt8.self)
    }

    func put(_ block: UnsafeMutablePointer<UInt8>, _ size: Int) {
      let isKept = free.withLock { free in
        guard unsafe (free.blocks[size].count + 1) << (size + Self.smallestShift) <= Self.keptByteCount else {
          return false
        }
        unsafe free.blocks[size].append(block)
        return true
      }
      if !isKept { unsafe Glibc.free(block) }
    }
  }

  /// A packet's memory; goes back to its pool with its last reference.
  @safe final class Block: @unchecked Sendable {
    let start: UnsafeMutablePointer<UInt8>
    private let size: Int
    private let storage: Storage

    fileprivate init?(byteCount: Int, of storage: Storage) {
      size = Storage.sizeIndex(byteCount)
      guard let memory = unsafe storage.take(size) else { return nil }
      unsafe start = unsafe memory
      self.storage = storage
    }

    deinit { unsafe storage.put(start, size) }
  }

  private let storage = Storage()

  /// Makes an empty pool.
  package init() {}

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
    guard let block = Block(byteCount: byteCount + padding, of: storage) else { throw .outOfMemory }
    // SAFETY: the block has room for byteCount + padding bytes, and nothing else refers to it yet.
    let start = unsafe UnsafeMutableRawPointer(block.start)
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
    return Packet(block, byteCount: byteCount, timestamp: timestamp)
  }
}
