// SPDX-License-Identifier: MPL-2.0

import H26x

/// Reads slice data without arithmetic coding (CAVLC): fixed-length, Exp-Golomb and other prefix codes.
///
/// Unlike ``BitReader`` it never throws. Behind the end it reads zeros, and ``isOverrun`` becomes true, which the caller
/// checks once a block. The bytes are the NAL unit as it is in the stream: emulation prevention bytes are dropped.
struct CodeReader: ~Escapable {
  private let bytes: Span<UInt8>
  /// The next byte to load.
  private var position: Int
  /// Bits loaded and not consumed, the next one at the top; the bits below `cachedBits` are zero.
  private(set) var cache: UInt64 = 0
  private var cachedBits = 0
  /// Zero bytes just before `position`.
  private var zeroRun: Int
  /// Bits loaded so far, with the zeros behind the end.
  private var loadedBits: Int
  /// The number of bits, known when the end is reached.
  private var endBit = Int.max
  /// The index of the last byte that is not zero, which has the stop bit; -1 if there is none.
  private let stopByte: Int

  /// Creates a reader that begins at a bit.
  ///
  /// - Parameters:
  ///   - bytes: the NAL unit.
  ///   - start: where to begin.
  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>, from start: RawPlace) {
    self.bytes = bytes
    position = start.byte
    zeroRun = start.zeroRun
    loadedBits = start.bitOffset & ~7
    stopByte = RawPlace.lastSetByte(of: bytes, from: start.byte)
    refill()
    skip(start.bitOffset & 7)
  }

  /// The position of the next bit, from the start of the NAL unit, without emulation prevention bytes.
  var bitOffset: Int { loadedBits &- cachedBits }

  /// The position of the next bit, or of the end if more was read.
  var boundedBitOffset: Int { min(bitOffset, endBit) }

  /// Whether bits behind the end were read.
  var isOverrun: Bool { bitOffset > endBit }

  /// Whether the next bit is the stop bit, and no other bit behind it is set.
  var isAtStopBit: Bool {
    mutating get {
      need(9)
      return position > stopByte && cache == 1 << 63
    }
  }

  /// `more_rbsp_data()` (7.2).
  @inline(__always)
  mutating func moreData() -> Bool {
    need(9)
    return position <= stopByte || cache << 1 != 0
  }

  // MARK: Reading

  /// Loads so many bits, at most 56.
  @inline(__always)
  mutating func need(_ count: Int) {
    if cachedBits < count { refill() }
  }

  /// The next bits, at most 32, which were needed.
  @inline(__always)
  func peek(_ count: Int) -> Int { Int(truncatingIfNeeded: cache &>> UInt64(truncatingIfNeeded: 64 &- count)) }

  /// Skips bits that were needed.
  @inline(__always)
  mutating func skip(_ count: Int) {
    cache &<<= UInt64(truncatingIfNeeded: count)
    cachedBits &-= count
  }

  /// `u(count)` for 1 to 31 bits.
  @inline(__always)
  mutating func bits(_ count: Int) -> Int {
    need(count)
    let value = peek(count)
    skip(count)
    return value
  }

  /// `u(1)`.
  @inline(__always)
  mutating func flag() -> Bool { bits(1) != 0 }

  /// `ue(v)`; -1 for a code of more than 51 bits, as no syntax element of slice data has one.
  @inline(__always)
  mutating func ue() -> Int {
    need(51)
    let zeros = cache.leadingZeroBitCount
    guard zeros <= 25 else { return -1 }
    let length = 2 &* zeros &+ 1
    let value = Int(truncatingIfNeeded: cache &>> UInt64(truncatingIfNeeded: 64 &- length)) &- 1
    skip(length)
    return value
  }

  /// `se(v)`; nil for a code of more than 51 bits.
  @inline(__always)
  mutating func se() -> Int? {
    let code = ue()
    guard code >= 0 else { return nil }
    return code & 1 == 1 ? (code &+ 1) &>> 1 : 0 &- code &>> 1
  }

  /// Skips to the next byte.
  ///
  /// - Returns: whether the bits between are zero.
  mutating func align() -> Bool {
    let count = cachedBits & 7
    guard count > 0 else { return true }
    return bits(count) == 0
  }

  /// Skips any number of bits. Stops at the end of the data.
  mutating func skipMany(_ count: Int) {
    var left = count
    while left > 0, !isOverrun {
      need(32)
      let step = min(left, 32)
      skip(step)
      left &-= step
    }
  }

  @inline(never)
  private mutating func refill() {
    // Eight bytes without a zero have no emulation prevention byte among them.
    if zeroRun < 2, let word = BulkBytes.bigEndianWord(in: bytes, at: position), !BulkBytes.hasZeroByte(word) {
      let count = (64 &- cachedBits) &>> 3
      guard count > 0 else { return }
      let mask = UInt64.max &<< UInt64(truncatingIfNeeded: 64 &- 8 &* count)
      cache |= (word & mask) &>> UInt64(truncatingIfNeeded: cachedBits)
      position &+= count
      cachedBits &+= 8 &* count
      loadedBits &+= 8 &* count
      zeroRun = 0
      return
    }
    while cachedBits <= 56 {
      var byte: UInt8 = 0
      if position < bytes.count {
        byte = bytes[position]
        position &+= 1
        if byte == 3, zeroRun >= 2 {
          zeroRun = 0
          continue
        }
        zeroRun = byte == 0 ? zeroRun &+ 1 : 0
      } else if endBit == Int.max {
        endBit = loadedBits
      }
      cache |= UInt64(byte) &<< UInt64(truncatingIfNeeded: 56 &- cachedBits)
      cachedBits &+= 8
      loadedBits &+= 8
    }
  }
}
