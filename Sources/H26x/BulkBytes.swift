// SPDX-License-Identifier: MPL-2.0

private import Glibc

/// The three functions of this library that leave checked Swift, because the C library's are several times faster.
/// They check their bounds first and let no pointer out.
enum BulkBytes {
  /// The index of the first byte that equals `value` in `bytes[from...]`, or nil.
  ///
  /// Measured on 219 MB of CABAC: `memchr` 6.8 GB/s, a checked loop over the span 1.7 GB/s.
  static func firstIndex(of value: UInt8, in bytes: Span<UInt8>, from start: Int) -> Int? {
    guard start >= 0, start < bytes.count else { return nil }
    return unsafe bytes.withUnsafeBufferPointer { buffer -> Int? in
      guard let base = buffer.baseAddress else { return nil }
      // `start` and `count` delimit a part of the buffer: checked above.
      guard let hit = unsafe memchr(base + start, Int32(value), buffer.count - start) else { return nil }
      return unsafe UnsafeRawPointer(hit) - UnsafeRawPointer(base)
    }
  }

  /// Copies `source[range]` to `target[offset...]`. Nothing is copied and false is returned when either does not fit.
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
        // Both ranges were checked against their spans; memmove lets them overlap.
        unsafe memmove(output + offset, input + range.lowerBound, range.count)
        return true
      }
    }
  }

  /// Whether `bytes` and `other` are equal.
  static func areEqual(_ bytes: [UInt8], _ other: Span<UInt8>) -> Bool {
    guard bytes.count == other.count else { return false }
    return unsafe bytes.withUnsafeBufferPointer { left -> Bool in
      unsafe other.withUnsafeBufferPointer { right -> Bool in
        guard let first = left.baseAddress, let second = right.baseAddress else { return true }
        // Both hold `count` bytes: checked above.
        return unsafe memcmp(first, second, left.count) == 0
      }
    }
  }
}
