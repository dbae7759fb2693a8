// SPDX-License-Identifier: MPL-2.0

/// Reads the syntax elements of a NAL unit (or of a configuration record) bit by bit.
///
/// The bytes are the NAL unit as it is in the stream: `emulation_prevention_three_byte`s (7.4.1.1) are removed while
/// reading, nothing is copied. Every read names its syntax element for ``BitstreamError``, and the Exp-Golomb reads
/// take its legal range.
///
/// A reader never reads past the end of its bytes and never traps; after an error its position is unspecified.
public struct BitReader: ~Escapable {
  private let bytes: Span<UInt8>
  private let removesEmulationPrevention: Bool
  /// The next byte to load into the cache.
  private var position: Int
  /// Bits loaded and not consumed, the next one at the top; the bits below `cachedBits` are zero.
  private var cache: UInt64 = 0
  private var cachedBits = 0
  /// Consecutive zero bytes just before `position`.
  private var zeroRun = 0
  /// Bits loaded so far, without emulation prevention bytes.
  private var loadedBits: Int
  /// The end of reading, in the same count as ``bitOffset``.
  private var endBit: Int
  /// Records the elements that are read; nil to record none.
  private let trace: SyntaxTrace?
  /// Index of a data byte that is not zero, or -1: before it there is more data.
  private var setByte = -1

  /// Creates a reader.
  ///
  /// - Parameters:
  ///   - bytes: a NAL unit without start code or length, or a part of one.
  ///   - offset: the byte to begin at, 0 to `bytes.count`. It counts in ``bitOffset``.
  ///   - removesEmulationPrevention: false for data outside NAL units, where 00 00 03 is data.
  ///   - trace: records every syntax element that is read; nil for no record.
  @_lifetime(copy bytes)
  @inline(__always)
  public init(
    _ bytes: Span<UInt8>, from offset: Int = 0, removesEmulationPrevention: Bool = true, trace: SyntaxTrace? = nil
  ) {
    self.bytes = bytes
    self.removesEmulationPrevention = removesEmulationPrevention
    self.trace = trace
    position = max(0, min(offset, bytes.count))
    // If an Int has 32 bits, only the first 256 MiB can be counted in bits.
    let count = min(bytes.count, Int.max >> 3)
    position = min(position, count)
    loadedBits = position * 8
    endBit = count * 8
  }

  /// The position of the next bit, from the start of the bytes, without emulation prevention bytes.
  public var bitOffset: Int { loadedBits &- cachedBits }

  /// The index of the byte behind the one that holds the last bit read, or of the next one at the start of a byte.
  package var nextByteIndex: Int {
    var left = cachedBits >> 3
    var index = position
    while left > 0, index > 0 {
      index -= 1
      // An emulation prevention byte.
      if removesEmulationPrevention, index >= 2, bytes[index] == 3, bytes[index - 1] == 0, bytes[index - 2] == 0 {
        continue
      }
      left -= 1
    }
    return index
  }

  /// Whether the next bit is the first one of a byte.
  public var isByteAligned: Bool { cachedBits & 7 == 0 }

  /// Whether the bits up to the next byte are all 1; true at the start of a byte.
  var endsByteWithOnes: Bool {
    let count = cachedBits & 7
    return count == 0 || ~cache >> (64 - count) == 0
  }

  /// Bits left at most. Emulation prevention bytes ahead count until they are reached, unless the reader was bounded by
  /// ``slice(bytes:_:)``.
  public var maximumRemainingBits: Int { endBit - bitOffset }

  // MARK: Fixed-length codes

  /// Reads `u(count)`, an unsigned integer of `count` bits, most significant first (7.2).
  ///
  /// - Parameters:
  ///   - count: 0 to 32.
  ///   - element: the syntax element's name, for the trace and the error.
  /// - Throws: `.truncated`.
  @inline(never)
  public mutating func u(_ count: Int, _ element: StaticString) throws(BitstreamError) -> UInt32 {
    // Nearly always, and without a call: registers are saved only for the rest.
    guard count > 0, count <= min(cachedBits, 32), bitOffset <= endBit &- count, trace == nil else {
      return try refilledU(count, element)
    }
    let value = UInt32(truncatingIfNeeded: cache &>> UInt64(truncatingIfNeeded: 64 &- count))
    consume(count)
    return value
  }

  @inline(never)
  private mutating func refilledU(_ count: Int, _ element: StaticString) throws(BitstreamError) -> UInt32 {
    if cachedBits < count { refill() }
    guard count <= cachedBits, count <= 32, bitOffset <= endBit &- count else { throw fail(.truncated, element) }
    guard count > 0 else { return 0 }
    let value = UInt32(truncatingIfNeeded: cache >> UInt64(64 - count))
    trace?.append(element, Int64(value), at: bitOffset, count: count)
    consume(count)
    return value
  }

  /// Reads `u(1)` as a Boolean.
  ///
  /// - Throws: `.truncated`.
  @inline(never)
  public mutating func flag(_ element: StaticString) throws(BitstreamError) -> Bool {
    if cachedBits < 1 { refill() }
    guard cachedBits >= 1, bitOffset < endBit else { throw fail(.truncated, element) }
    let value = cache >> 63 != 0
    trace?.append(element, value ? 1 : 0, at: bitOffset, count: 1)
    consume(1)
    return value
  }

  /// Reads `u(8)`.
  ///
  /// - Throws: `.truncated`.
  @inline(__always)
  public mutating func byte(_ element: StaticString) throws(BitstreamError) -> UInt8 {
    UInt8(truncatingIfNeeded: try u(8, element))
  }

  /// Skips `count` bits.
  ///
  /// - Throws: `.truncated`.
  public mutating func skip(_ count: Int, _ element: StaticString) throws(BitstreamError) {
    guard count >= 0, count <= maximumRemainingBits else { throw fail(.truncated, element) }
    var left = count
    while left > 0 {
      if cachedBits == 0 { refill() }
      guard cachedBits > 0 else { throw fail(.truncated, element) }
      let step = min(left, min(cachedBits, 32))
      consume(step)
      left -= step
    }
  }

  /// `u(count)` for at most eight bits.
  @inline(__always)
  mutating func u8(_ count: Int, _ element: StaticString) throws(BitstreamError) -> UInt8 {
    UInt8(truncatingIfNeeded: try u(min(count, 8), element))
  }

  /// Reads `u(16)`.
  mutating func u16(_ element: StaticString) throws(BitstreamError) -> UInt16 {
    UInt16(truncatingIfNeeded: try u(16, element))
  }

  // MARK: Exp-Golomb codes (9.1)

  /// Reads `ue(v)` and checks it against its legal range.
  ///
  /// - Throws: `.truncated`, `.codeTooLong`, `.valueOutOfRange`.
  @inline(never)
  public mutating func ue(
    in range: ClosedRange<UInt32>, _ element: StaticString
  ) throws(BitstreamError) -> UInt32 {
    let zeros = cache.leadingZeroBitCount
    let length = 2 &* zeros &+ 1
    if length <= min(cachedBits, 63), bitOffset <= endBit &- length, trace == nil {
      let value = UInt32(truncatingIfNeeded: (cache &>> UInt64(truncatingIfNeeded: 64 &- length)) &- 1)
      if range.contains(value) {
        consume(length)
        return value
      }
    }
    return try refilledUE(in: range, element)
  }

  @inline(never)
  private mutating func refilledUE(
    in range: ClosedRange<UInt32>, _ element: StaticString
  ) throws(BitstreamError) -> UInt32 {
    let start = bitOffset
    let value = try codeNumber(element)
    trace?.append(element, Int64(value), at: start, count: bitOffset &- start)
    guard range.contains(value) else { throw BitReader.error(.valueOutOfRange, element, start) }
    return value
  }

  /// Reads `se(v)` and checks it against its legal range (9.1.1).
  ///
  /// - Throws: `.truncated`, `.codeTooLong`, `.valueOutOfRange`.
  @inline(never)
  public mutating func se(
    in range: ClosedRange<Int32>, _ element: StaticString
  ) throws(BitstreamError) -> Int32 {
    let start = bitOffset
    let code = try codeNumber(element)
    // The largest code number is 2^32 - 2, so the magnitude fits in 31 bits.
    let magnitude = Int32(truncatingIfNeeded: code >> 1)
    let value = code & 1 == 1 ? magnitude &+ 1 : 0 &- magnitude
    trace?.append(element, Int64(value), at: start, count: bitOffset &- start)
    // The largest odd code number is 2^32 - 3, which maps to 2^31 - 1: the sum above cannot wrap.
    guard range.contains(value) else { throw BitReader.error(.valueOutOfRange, element, start) }
    return value
  }

  @inline(__always)
  private mutating func codeNumber(_ element: StaticString) throws(BitstreamError) -> UInt32 {
    if cachedBits <= 32 { refill() }
    let zeros = cache.leadingZeroBitCount
    let length = 2 &* zeros &+ 1
    if length <= cachedBits, length <= 63, bitOffset <= endBit &- length {
      let value = (cache >> UInt64(64 &- length)) &- 1
      consume(length)
      return UInt32(truncatingIfNeeded: value)
    }
    return try longCodeNumber(element)
  }

  /// Reads a code that is longer than the cached bits, in two steps.
  @inline(never)
  private mutating func longCodeNumber(_ element: StaticString) throws(BitstreamError) -> UInt32 {
    let start = bitOffset
    let zeros = cache.leadingZeroBitCount
    guard zeros < cachedBits else {
      throw BitReader.error(cachedBits >= 32 ? .codeTooLong : .truncated, element, start)
    }
    guard zeros < 32 else { throw BitReader.error(.codeTooLong, element, start) }
    guard bitOffset <= endBit - (2 * zeros + 1) else { throw BitReader.error(.truncated, element, start) }
    consume(zeros)
    // Not `u`, which would record a part of the code.
    if cachedBits <= zeros { refill() }
    guard cachedBits > zeros else { throw BitReader.error(.truncated, element, start) }
    let value = cache >> UInt64(63 - zeros)
    consume(zeros + 1)
    return UInt32(truncatingIfNeeded: value &- 1)
  }

  // MARK: The end

  /// `more_rbsp_data()` (7.2): whether there is anything in front of `rbsp_trailing_bits()`.
  public mutating func moreRBSPData() -> Bool {
    if cachedBits == 0 { refill() }
    guard cachedBits > 0, bitOffset < endBit else { return false }
    // Only the trailing bits are left if the next bit is the only one that is set.
    if cache << 1 != 0 || setByte >= position { return true }
    guard let index = indexOfSetByte(from: position) else { return false }
    setByte = index
    return true
  }

  /// Reads `rbsp_trailing_bits()` (7.3.2.11) and checks that only zero bytes follow.
  ///
  /// - Throws: `.truncated`, `.badTrailingBits`.
  public mutating func trailingBits() throws(BitstreamError) {
    let start = bitOffset
    guard try flag("rbsp_stop_one_bit") else { throw BitReader.error(.badTrailingBits, "rbsp_stop_one_bit", start) }
    guard cache == 0, indexOfSetByte(from: position) == nil else {
      throw BitReader.error(.badTrailingBits, "rbsp_alignment_zero_bit", start)
    }
  }

  /// A reader of the next `count` bytes, which this reader skips. The next bit must be the first of a byte.
  ///
  /// - Throws: `.truncated`.
  @_lifetime(copy self)
  public mutating func slice(bytes count: Int, _ element: StaticString) throws(BitstreamError) -> BitReader {
    var part = self
    guard count >= 0, count <= maximumRemainingBits / 8 else { throw fail(.truncated, element) }
    try skip(count * 8, element)
    part.endBit = bitOffset
    return part
  }

  /// Whether the next eight bits are all 1.
  mutating func startsWithOnes() -> Bool {
    if cachedBits < 8 { refill() }
    return cachedBits >= 8 && cache >> 56 == 255
  }

  /// Bits left to a bounded reader.
  var remainingBits: Int { endBit - bitOffset }

  /// Bits in front of `rbsp_trailing_bits()`; nil without a stop bit. Reads each byte once.
  var bitsBeforeTrailingBits: Int? {
    var lastOne: Int?
    if cachedBits > 0, cache != 0 { lastOne = 63 - cache.trailingZeroBitCount }
    var offset = cachedBits
    var run = zeroRun
    for index in position..<bytes.count {
      let byte = bytes[index]
      if byte == 3, run >= 2, removesEmulationPrevention {
        run = 0
        continue
      }
      run = byte == 0 ? run + 1 : 0
      if byte != 0 { lastOne = offset + 7 - byte.trailingZeroBitCount }
      offset += 8
    }
    return lastOne.flatMap { $0 < remainingBits ? $0 : nil }
  }

  /// Index of the first data byte from `start` on that is not zero.
  private func indexOfSetByte(from start: Int) -> Int? {
    var run = zeroRun
    var index = start
    while index < bytes.count {
      let byte = bytes[index]
      index += 1
      if byte == 0 {
        run += 1
      } else if byte == 3, run >= 2, removesEmulationPrevention {
        // cabac_zero_words have emulation prevention bytes between them, which are no data.
        run = 0
      } else {
        return index - 1
      }
    }
    return nil
  }

  // MARK: The cache

  @inline(__always)
  private mutating func consume(_ count: Int) {
    // At most the 63 bits of the longest code.
    cache &<<= UInt64(truncatingIfNeeded: count)
    cachedBits &-= count
  }

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
    while cachedBits <= 56, position < bytes.count {
      let byte = bytes[position]
      position &+= 1
      if byte == 0 {
        zeroRun &+= 1
      } else if byte == 3, zeroRun >= 2, removesEmulationPrevention {
        zeroRun = 0
        continue
      } else {
        zeroRun = 0
      }
      cache |= UInt64(byte) &<< UInt64(truncatingIfNeeded: 56 &- cachedBits)
      cachedBits &+= 8
      loadedBits &+= 8
    }
  }

  @inline(__always)
  func fail(_ reason: BitstreamError.Reason, _ element: StaticString) -> BitstreamError {
    BitReader.error(reason, element, bitOffset)
  }

  // Out of line, so that the reads stay small.
  @inline(never)
  private static func error(
    _ reason: BitstreamError.Reason, _ element: StaticString, _ bitOffset: Int
  ) -> BitstreamError {
    BitstreamError(reason, element, bitOffset: bitOffset)
  }
}

extension BitReader {
  /// Reads `count` whole bytes.
  mutating func bytes(_ count: Int, _ element: StaticString) throws(BitstreamError) -> [UInt8] {
    guard count >= 0, count <= maximumRemainingBits / 8 else { throw fail(.truncated, element) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    for _ in 0..<count { bytes.append(try byte(element)) }
    return bytes
  }

  /// Whether only `rbsp_trailing_bits()` are left.
  mutating func endsProperly() -> Bool {
    do throws(BitstreamError) {
      try trailingBits()
      return true
    } catch {
      return false
    }
  }
}
