// SPDX-License-Identifier: MPL-2.0

internal import H26x

/// The state of a context variable: `pStateIdx` << 1 | `valMps`.
package typealias ContextState = UInt8

/// The arithmetic decoding engine of CABAC in both codecs (9.3.1.2 and 9.3.3.2 of H.264; 9.3.2.5 and 9.3.4.3 of
/// H.265).
///
/// It reads the NAL unit as it is in the stream and drops emulation prevention bytes. Behind the last byte it reads
/// zeros; ``isOverrun`` is true as soon as the decoder of the standard would have read one of them. It never traps.
package struct ArithmeticDecoder: ~Escapable {
  private let bytes: Span<UInt8>
  /// Bytes from here on are not read.
  private var end: Int
  /// The next byte to load.
  private var position: Int
  /// Consecutive zero bytes just before `position`.
  private var zeroRun: Int
  /// `ivlOffset` in bits 54 to 62, and below it `spare` bits of the stream; the bits below those are zero.
  private var value: UInt64 = 0
  /// `ivlCurrRange`, 256 to 510.
  private var range: UInt32 = 510
  /// Bits that are loaded and not part of `ivlOffset`.
  private var spare = -9
  /// Bits loaded so far from the start of the NAL unit, without emulation prevention bytes, with zeros behind the end.
  private var loadedBits: Int
  /// Of these, the zeros behind the end.
  private var paddingBits = 0
  /// The bins so far, of all kinds: calls of `DecodeBin` (9.3.1.2 of H.264; 9.3.4.3 of H.265).
  ///
  /// Loops over coefficients read uncounted bins and add their number, which costs less than counting each of them.
  package private(set) var binCount = 0

  /// Creates an engine and initializes it (9.3.1.2 of H.264; 9.3.2.5 of H.265).
  ///
  /// - Parameters:
  ///   - bytes: the NAL unit.
  ///   - start: the index of the first byte to read.
  ///   - end: the index behind the last byte to read.
  ///   - bitOffset: the place of that byte in bits from the start of the NAL unit, without emulation prevention bytes.
  @_lifetime(copy bytes)
  package init(_ bytes: Span<UInt8>, from start: Int, to end: Int, bitOffset: Int) {
    self.bytes = bytes
    self.end = max(0, min(end, bytes.count))
    position = max(0, min(start, self.end))
    zeroRun = Self.zeros(in: bytes, before: position)
    loadedBits = bitOffset
    refill()
  }

  /// The number of zero bytes before an index, as far as it matters: 0 to 2.
  private static func zeros(in bytes: Span<UInt8>, before index: Int) -> Int {
    guard index >= 1, bytes[index - 1] == 0 else { return 0 }
    return index >= 2 && bytes[index - 2] == 0 ? 2 : 1
  }

  // MARK: Bins

  /// Decodes a bin with a context (9.3.4.3.2). Returns 0 or 1.
  @inline(__always)
  package mutating func bin(_ context: inout ContextState) -> UInt32 {
    binCount &+= 1
    return uncountedBin(&context)
  }

  /// Adds bins that were not counted when they were decoded.
  @inline(__always)
  package mutating func addBins(_ count: Int) { binCount &+= count }

  /// Decodes a bin with a context, which ``addBins(_:)`` counts. Returns 0 or 1.
  @inline(__always)
  package mutating func uncountedBin(_ context: inout ContextState) -> UInt32 {
    let state = UInt32(context)
    let lps = UInt32(ArithmeticTables.lpsRanges[Int((range & 0xC0) &<< 1 | (state & 127))])
    let mps = range &- lps
    let bound = UInt64(mps) &<< 54
    // All ones for the least probable symbol. Both values are below 2^63.
    let mask = UInt64(bitPattern: (Int64(bitPattern: bound) &- 1 &- Int64(bitPattern: value)) &>> 63)
    let narrow = UInt32(truncatingIfNeeded: mask)
    value &-= bound & mask
    range = mps &+ ((lps &- mps) & narrow)
    context = ArithmeticTables.nextStates[Int((state & 127) | (narrow & 128))]
    let shift = range.leadingZeroBitCount &- 23
    range &<<= UInt32(truncatingIfNeeded: shift)
    value &<<= UInt64(truncatingIfNeeded: shift)
    spare &-= shift
    if spare < 0 { refill() }
    return (state ^ narrow) & 1
  }

  /// Decodes a bin with a context (9.3.4.3.2).
  @inline(__always)
  package mutating func decision(_ context: inout ContextState) -> Bool { bin(&context) != 0 }

  /// Decodes a bin with a context, which ``addBins(_:)`` counts.
  @inline(__always)
  package mutating func uncountedDecision(_ context: inout ContextState) -> Bool { uncountedBin(&context) != 0 }

  /// Decodes a bin of equal probabilities (9.3.4.3.4). Returns 0 or 1.
  @inline(__always)
  package mutating func bypassBin() -> UInt32 {
    binCount &+= 1
    return uncountedBypassBin()
  }

  /// Decodes a bin of equal probabilities, which ``addBins(_:)`` counts. Returns 0 or 1.
  @inline(__always)
  package mutating func uncountedBypassBin() -> UInt32 {
    value &<<= 1
    spare &-= 1
    if spare < 0 { refill() }
    let bound = UInt64(range) &<< 54
    let mask = UInt64(bitPattern: (Int64(bitPattern: bound) &- 1 &- Int64(bitPattern: value)) &>> 63)
    value &-= bound & mask
    return UInt32(truncatingIfNeeded: mask) & 1
  }

  /// Decodes a bin of equal probabilities (9.3.4.3.4).
  @inline(__always)
  package mutating func bypass() -> Bool { bypassBin() != 0 }

  /// Decodes up to 32 bins of equal probabilities. The first one is the most significant bit.
  @inline(__always)
  package mutating func bypass(_ count: Int) -> UInt32 {
    if count <= 16 { return shortBypass(count) }
    let high = shortBypass(min(count, 32) &- 16)
    return high &<< 16 | shortBypass(16)
  }

  /// Decodes 0 to 16 bins of equal probabilities.
  @inline(__always)
  private mutating func shortBypass(_ count: Int) -> UInt32 {
    binCount &+= count
    if spare < count { refill() }
    let shift = UInt64(truncatingIfNeeded: count)
    // Long division by the range: `count` quotient bits, since `ivlOffset` is less than the range.
    let window = UInt32(truncatingIfNeeded: value &>> (54 &- shift))
    let quotient = window / max(range, 256)
    value = (value &<< shift) &- (UInt64(quotient &* range) &<< 54)
    spare &-= count
    return quotient
  }

  /// Decodes a bin before termination (9.3.4.3.5). After true, nothing is read until ``restart(at:)``.
  @inline(__always)
  package mutating func terminate() -> Bool {
    binCount &+= 1
    range &-= 2
    guard value < UInt64(range) &<< 54 else { return true }
    if range < 256 {
      range &<<= 1
      value &<<= 1
      spare &-= 1
      if spare < 0 { refill() }
    }
    return false
  }

  /// Aligns the engine before bins of equal probabilities (9.3.4.3.6 of H.265).
  @inline(__always)
  package mutating func alignBypass() { range = 256 }

  // MARK: Place

  /// The place in bits from the start of the NAL unit, without emulation prevention bytes. The standard's decoder
  /// reads nine bits at the start, and one a shift. After ``terminate()`` returned true, the last bit read is the
  /// stop bit or alignment bit.
  package var bitOffset: Int { loadedBits &- spare }

  /// Whether bits behind the end were read.
  package var isOverrun: Bool { paddingBits > spare }

  /// The index of the byte behind the one that holds the last bit read: where bytes begin that are not coded
  /// arithmetically.
  package var nextByte: Int {
    let padding = paddingBits &>> 3
    var left = max(0, (spare &>> 3) &- padding)
    var index = position
    while left > 0, index > 0 {
      index &-= 1
      if bytes[index] == 3, index >= 2, bytes[index &- 1] == 0, bytes[index &- 2] == 0 { continue }
      left &-= 1
    }
    return index
  }

  /// Whether the last bit read is 1 and the rest of its byte is 0, as in front of everything that is aligned to bytes.
  package var endsByteWithStopBit: Bool {
    let rest = bitOffset & 7
    let used = rest == 0 ? 8 : rest
    var index = nextByte &- 1
    // The byte before may be an emulation prevention byte that belongs to the next one.
    if index >= 2, bytes[index] == 3, bytes[index &- 1] == 0, bytes[index &- 2] == 0 { index &-= 1 }
    guard index >= 0, index < bytes.count, !isOverrun else { return false }
    return bytes[index] &<< UInt8(truncatingIfNeeded: used &- 1) == 0x80
  }

  /// Initializes the engine at a byte (9.3.2.5), behind `nextByte` or at the start of a substream.
  ///
  /// - Parameters:
  ///   - start: the index of the byte.
  ///   - end: the index behind the last byte to read.
  ///   - bitOffset: the place of that byte in bits from the start of the NAL unit, without emulation prevention bytes.
  package mutating func restart(from start: Int, to end: Int, bitOffset: Int) {
    self.end = max(0, min(end, bytes.count))
    position = max(0, min(start, self.end))
    zeroRun = Self.zeros(in: bytes, before: position)
    loadedBits = bitOffset
    paddingBits = 0
    value = 0
    range = 510
    spare = -9
    refill()
  }

  /// Initializes the engine behind `count` bytes that are not coded arithmetically, which begin at ``nextByte``.
  ///
  /// - Returns: whether there are so many.
  package mutating func skipBytes(_ count: Int) -> Bool {
    guard !isOverrun else { return false }
    let place = (bitOffset &+ 7) & ~7
    var index = nextByte
    var run = Self.zeros(in: bytes, before: index)
    var left = count
    while left > 0, index < end {
      let byte = bytes[index]
      index &+= 1
      if byte == 3, run >= 2 {
        run = 0
        continue
      }
      run = byte == 0 ? run &+ 1 : 0
      left &-= 1
    }
    guard left <= 0 else { return false }
    restart(from: index, to: end, bitOffset: place &+ 8 &* count)
    return true
  }

  // MARK: Loading

  @inline(__always)
  private mutating func refill() {
    let count = (54 &- spare) & ~7
    let loaded = Self.load(bytes, end: end, position: position, zeroRun: zeroRun, count: count)
    // The first new bit belongs below the spare ones; with a spare of −9 to −1, into `ivlOffset`.
    let shift = 54 &- spare &- count
    value |= loaded.bits &<< UInt64(truncatingIfNeeded: shift)
    position = loaded.position
    zeroRun = loaded.zeroRun & 3
    paddingBits &+= loaded.zeroRun &>> 2
    loadedBits &+= count
    spare &+= count
  }

  /// The next bits.
  private struct Load {
    /// The bits, the last one at the bottom.
    var bits: UInt64
    /// The next byte to load.
    var position: Int
    /// The consecutive zero bytes before it, at most 3, and four times the number of zero bits behind the end.
    var zeroRun: Int
  }

  /// Loads `count` bits, a multiple of 8 up to 64. Takes values, so that an engine can live in registers.
  @inline(never)
  private static func load(_ bytes: Span<UInt8>, end: Int, position: Int, zeroRun: Int, count: Int) -> Load {
    // Bytes without a zero have no emulation prevention byte among them.
    if zeroRun < 2, position <= end &- 8, let word = BulkBytes.bigEndianWord(in: bytes, at: position),
      !BulkBytes.hasZeroByte(word)
    {
      return Load(
        bits: word &>> UInt64(truncatingIfNeeded: 64 &- count), position: position &+ count &>> 3, zeroRun: 0)
    }
    var (bits, position, run, left) = (UInt64(0), position, zeroRun, count)
    while left > 0, position < end {
      let byte = bytes[position]
      position &+= 1
      if byte == 3, run >= 2 {
        run = 0
        continue
      }
      run = byte == 0 ? min(run &+ 1, 2) : 0
      bits = bits &<< 8 | UInt64(byte)
      left &-= 8
    }
    if left > 0 { bits = left >= 64 ? 0 : bits &<< UInt64(truncatingIfNeeded: left) }
    return Load(bits: bits, position: position, zeroRun: run | left &<< 2)
  }
}
