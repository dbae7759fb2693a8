// SPDX-License-Identifier: MPL-2.0

/// The functions of this library that leave checked Swift, because they are several times faster so. They check their
/// bounds first, and no pointer leaves them.
package enum BulkBytes {
  /// The index of the first of two consecutive zero bytes in `bytes[from...]`, or nil.
  ///
  /// A start code begins with this pair, and little else does: in CABAC data it comes every 65,536 bytes. A search
  /// for bytes 01 would also work, but these come every 256 bytes. Measured in the cache: 38 GB/s with SSE2 alone;
  /// half of that when each of 64 bytes is compared with zero by itself.
  static func firstZeroPair(in bytes: Span<UInt8>, from start: Int) -> Int? {
    guard start >= 0, start < bytes.count - 1 else { return nil }
    return unsafe bytes.withUnsafeBytes { buffer -> Int? in
      var index = start
      // 64 bytes and the one after them at a time: `index + 65 <= count` for every load.
      while index <= buffer.count - 65 {
        let first = unsafe pairs(buffer, index)
        let second = unsafe pairs(buffer, index + 16)
        let third = unsafe pairs(buffer, index + 32)
        let fourth = unsafe pairs(buffer, index + 48)
        if hasZeroByte(lesser(lesser(first, second), lesser(third, fourth))) {
          if hasZeroByte(first) { return index + firstZeroByte(first) }
          if hasZeroByte(second) { return index + 16 + firstZeroByte(second) }
          if hasZeroByte(third) { return index + 32 + firstZeroByte(third) }
          return index + 48 + firstZeroByte(fourth)
        }
        index += 64
      }
      while index < buffer.count - 1 {
        if unsafe buffer[index + 1] != 0 {
          index += 2
        } else if unsafe buffer[index] == 0 {
          return index
        } else {
          index += 1
        }
      }
      return nil
    }
  }

  /// 16 bytes, each or-ed with the next one: zero if both are.
  @inline(__always)
  private static func pairs(_ buffer: UnsafeRawBufferPointer, _ index: Int) -> SIMD16<UInt8> {
    let here = unsafe buffer.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
    let next = unsafe buffer.loadUnaligned(fromByteOffset: index + 1, as: SIMD16<UInt8>.self)
    return here | next
  }

  /// The smaller of the bytes in each place, which is one instruction on most machines.
  @inline(__always)
  private static func lesser(_ left: SIMD16<UInt8>, _ right: SIMD16<UInt8>) -> SIMD16<UInt8> {
    left.replacing(with: right, where: right .< left)
  }

  /// Whether one of the 16 bytes is zero: it borrows while its top bit is clear.
  @inline(__always)
  private static func hasZeroByte(_ bytes: SIMD16<UInt8>) -> Bool {
    let words = unsafe unsafeBitCast(bytes, to: SIMD2<UInt64>.self)
    let found = (words &- SIMD2(repeating: 0x0101_0101_0101_0101)) & ~words
    return (found.x | found.y) & 0x8080_8080_8080_8080 != 0
  }

  /// The index of the first zero byte, of 16 of which one is zero.
  @inline(__always)
  private static func firstZeroByte(_ bytes: SIMD16<UInt8>) -> Int {
    let words = unsafe unsafeBitCast(bytes, to: SIMD2<UInt64>.self)
    // The lowest byte that borrows is zero; those above may borrow because of it.
    let low = zeroBytes(UInt64(littleEndian: words.x))
    if low != 0 { return low.trailingZeroBitCount / 8 }
    return 8 + zeroBytes(UInt64(littleEndian: words.y)).trailingZeroBitCount / 8
  }

  /// Whether one of eight bytes is zero.
  @inline(__always)
  package static func hasZeroByte(_ word: UInt64) -> Bool { zeroBytes(word) != 0 }

  @inline(__always)
  private static func zeroBytes(_ word: UInt64) -> UInt64 {
    (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
  }

  /// The eight bytes at `offset`, the first one on top; nil if there are fewer.
  @inline(__always)
  package static func bigEndianWord(in bytes: Span<UInt8>, at offset: Int) -> UInt64? {
    guard offset >= 0, offset <= bytes.count - 8 else { return nil }
    return unsafe bytes.withUnsafeBytes {
      unsafe UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
  }

  /// Copies `source[range]` to `target[offset...]`. Copies nothing and returns false when either does not fit.
  static func copy(
    _ source: Span<UInt8>, _ range: Range<Int>, to target: inout MutableSpan<UInt8>, at offset: Int
  ) -> Bool {
    guard range.lowerBound >= 0, range.upperBound <= source.count, offset >= 0,
      offset <= target.count, range.count <= target.count - offset
    else { return false }
    guard !range.isEmpty else { return true }
    return unsafe source.withUnsafeBufferPointer { from -> Bool in
      unsafe target.withUnsafeMutableBufferPointer { to -> Bool in
        guard let input = from.baseAddress, let output = to.baseAddress else { return false }
        // Both ranges were checked against their spans; they may overlap.
        unsafe UnsafeMutableRawPointer(output + offset).copyMemory(
          from: input + range.lowerBound, byteCount: range.count)
        return true
      }
    }
  }

  /// Appends `source[range]`, as far as it is inside.
  static func append(_ source: Span<UInt8>, _ range: Range<Int>, to target: inout [UInt8]) {
    let range = range.clamped(to: 0..<source.count)
    unsafe source.withUnsafeBufferPointer { unsafe target.append(contentsOf: $0[range]) }
  }

  /// Appends `source[range]`, as far as it is inside, behind the bits of an incomplete byte.
  ///
  /// - Parameters:
  ///   - source: the bytes.
  ///   - range: a range of them.
  ///   - incomplete: bits in the lowest places, which come first. Afterwards, the bits that are left of the last byte.
  ///   - count: the number of these bits, 1 to 7.
  ///   - target: gets as many bytes as the range has.
  static func append(
    _ source: Span<UInt8>, _ range: Range<Int>, behind incomplete: inout UInt8, count: Int, to target: inout [UInt8]
  ) {
    let range = range.clamped(to: 0..<source.count)
    guard 1...7 ~= count, !range.isEmpty else { return }
    let start = target.count
    target.append(contentsOf: repeatElement(0, count: range.count))
    let (right, left) = (UInt64(count), UInt64(64 - count))
    var carry = UInt64(incomplete)
    unsafe source.withUnsafeBytes { from in
      unsafe target.withUnsafeMutableBytes { to in
        // `range` is inside of the source, and the target has as many bytes behind `start`.
        var (index, place) = (range.lowerBound, start)
        while index <= range.upperBound - 8 {
          let word = unsafe UInt64(bigEndian: from.loadUnaligned(fromByteOffset: index, as: UInt64.self))
          let shifted = carry &<< left | word &>> right
          unsafe to.storeBytes(of: shifted.bigEndian, toByteOffset: place, as: UInt64.self)
          carry = word
          (index, place) = (index + 8, place + 8)
        }
        while index < range.upperBound {
          let byte = unsafe UInt64(from[index])
          unsafe to[place] = UInt8(truncatingIfNeeded: carry << (8 - right) | byte >> right)
          carry = byte
          (index, place) = (index + 1, place + 1)
        }
      }
    }
    incomplete = UInt8(truncatingIfNeeded: carry & ((1 << right) - 1))
  }

  /// Whether `bytes` and `other` are equal.
  static func areEqual(_ bytes: [UInt8], _ other: Span<UInt8>) -> Bool {
    guard bytes.count == other.count else { return false }
    return unsafe bytes.withUnsafeBytes { left -> Bool in
      unsafe other.withUnsafeBytes { right -> Bool in
        // Both hold `left.count` bytes: checked above.
        var index = 0
        while index <= left.count - 32 {
          let first = unsafe left.loadUnaligned(fromByteOffset: index, as: SIMD4<UInt64>.self)
          let second = unsafe right.loadUnaligned(fromByteOffset: index, as: SIMD4<UInt64>.self)
          guard first == second else { return false }
          index += 32
        }
        while index < left.count {
          guard unsafe left[index] == right[index] else { return false }
          index += 1
        }
        return true
      }
    }
  }
}
