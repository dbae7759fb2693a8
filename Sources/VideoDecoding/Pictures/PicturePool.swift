// SPDX-License-Identifier: MPL-2.0
import AVCodec
import Synchronization

/// Recycled picture memory of one size at a time, for pictures without an allocator's memory.
@safe final class PicturePool: Sendable {
  /// One block; goes back to its pool with its last reference.
  @safe final class Block: @unchecked Sendable {
    let start: UnsafeMutablePointer<UInt8>
    let byteCount: Int
    private let pool: PicturePool

    fileprivate init(_ memory: UnsafeMutableRawPointer, byteCount: Int, pool: PicturePool) {
      unsafe start = unsafe memory.bindMemory(to: UInt8.self, capacity: byteCount)
      self.byteCount = byteCount
      self.pool = pool
    }

    deinit { unsafe pool.recycle(start, byteCount: byteCount) }
  }

  @safe private struct Free: @unchecked Sendable {
    var byteCount = 0
    var blocks: [UnsafeMutableRawPointer] = unsafe []
  }

  /// More than a decoder's reference pictures and threads ever hold; the rest is freed.
  private static let capacity = 40
  private let free = Mutex(Free())

  deinit {
    free.withLock { free in
      while let block = unsafe free.blocks.popLast() { unsafe AlignedMemory.free(block) }
    }
  }

  /// A block of exactly `byteCount` bytes, zeroed when new; nil when out of memory.
  func block(byteCount: Int) -> Block? {
    let recycled = unsafe free.withLock { free -> UnsafeMutableRawPointer? in
      if free.byteCount != byteCount {
        while let block = unsafe free.blocks.popLast() { unsafe AlignedMemory.free(block) }
        free.byteCount = byteCount
      }
      return unsafe free.blocks.popLast()
    }
    guard let memory = unsafe recycled ?? AlignedMemory.allocate(byteCount: byteCount) else { return nil }
    return unsafe Block(memory, byteCount: byteCount, pool: self)
  }

  private func recycle(_ memory: UnsafeMutableRawPointer, byteCount: Int) {
    let kept = free.withLock { free in
      guard unsafe free.byteCount == byteCount && free.blocks.count < Self.capacity else { return false }
      unsafe free.blocks.append(memory)
      return true
    }
    if !kept { unsafe AlignedMemory.free(memory) }
  }
}
