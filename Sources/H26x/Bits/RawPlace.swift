// SPDX-License-Identifier: MPL-2.0

/// A place in a NAL unit, both with and without emulation prevention bytes.
package struct RawPlace {
  /// The place in bits, without emulation prevention bytes.
  package let bitOffset: Int
  /// The index of the byte that holds the bit.
  package let byte: Int
  /// Zero bytes just before it.
  package let zeroRun: Int

  /// Finds a bit near the start of the NAL unit. Reads all bytes before it.
  ///
  /// - Parameters:
  ///   - bitOffset: the place in bits, without emulation prevention bytes.
  ///   - bytes: the NAL unit.
  ///   - start: the first byte that may have emulation prevention bytes behind it, such as the one behind the header.
  package init(bitOffset: Int, in bytes: Span<UInt8>, from start: Int = 0) {
    self.bitOffset = bitOffset
    var (index, run, left) = (start, 0, (bitOffset >> 3) - start)
    while index < bytes.count {
      let byte = bytes[index]
      if byte == 3, run >= 2 {
        index += 1
        run = 0
        continue
      }
      if left == 0 { break }
      left -= 1
      run = byte == 0 ? run + 1 : 0
      index += 1
    }
    (byte, zeroRun) = (index, run)
  }

  /// The index of the last byte from `start` on that is not zero, without the `cabac_zero_word`s and the emulation
  /// prevention bytes between them; -1 if there is none.
  package static func lastSetByte(of bytes: Span<UInt8>, from start: Int) -> Int {
    var index = bytes.count - 1
    while index >= start {
      switch bytes[index] {
      case 0: index -= 1
      case 3 where index >= start + 2 && bytes[index - 1] == 0 && bytes[index - 2] == 0: index -= 1
      default: return index
      }
    }
    return -1
  }

  /// The index behind `count` bytes from `start` on that are no emulation prevention bytes; at most the end.
  package static func index(behind count: Int, from start: Int, in bytes: Span<UInt8>) -> Int {
    var (index, left, run) = (max(0, start), count, 0)
    if index >= 1, index <= bytes.count, bytes[index - 1] == 0 {
      run = index >= 2 && bytes[index - 2] == 0 ? 2 : 1
    }
    while left > 0, index < bytes.count {
      let byte = bytes[index]
      index += 1
      if byte == 3, run >= 2 {
        run = 0
        continue
      }
      run = byte == 0 ? run + 1 : 0
      left -= 1
    }
    return index
  }
}
