// SPDX-License-Identifier: MPL-2.0

/// Writes syntax elements bit by bit: the inverse of ``BitReader``.
public struct BitWriter: Sendable {
  /// The bytes written so far, without bits of an incomplete byte.
  public private(set) var bytes: [UInt8] = []
  private let addsEmulationPrevention: Bool
  private var cache: UInt64 = 0
  private var cachedBits = 0
  private var zeroRun = 0
  private var payloadBytes = 0

  /// Creates an empty writer.
  ///
  /// - Parameter addsEmulationPrevention: whether `emulation_prevention_three_byte`s are inserted (7.4.1.1), as NAL
  ///   units need them.
  public init(addsEmulationPrevention: Bool = true) {
    self.addsEmulationPrevention = addsEmulationPrevention
  }

  /// Bits written, without emulation prevention bytes.
  public var bitCount: Int { payloadBytes * 8 + cachedBits }

  /// Whether the next bit is the first one of a byte.
  public var isByteAligned: Bool { cachedBits == 0 }

  /// The bits behind the last whole byte, 0 to 7, in the lowest places.
  var incompleteByte: (bits: UInt8, count: Int) { (UInt8(truncatingIfNeeded: cache), cachedBits) }

  /// Writes the `count` lowest bits of `value`, most significant first.
  ///
  /// - Parameters:
  ///   - count: 0 to 32; nothing is written for less, 32 bits for more.
  ///   - value: the bits; those above the `count` lowest are ignored.
  public mutating func u(_ count: Int, _ value: UInt32) {
    let count = max(0, min(count, 32))
    guard count > 0 else { return }
    let masked = UInt64(value) & ((1 << UInt64(count)) - 1)
    // At most seven bits wait, so that no more than 39 are held.
    cache = cache << UInt64(count) | masked
    cachedBits += count
    while cachedBits >= 8 {
      cachedBits -= 8
      put(UInt8(truncatingIfNeeded: cache >> UInt64(cachedBits)))
    }
    cache &= (1 << UInt64(cachedBits)) - 1
  }

  /// Writes one bit.
  public mutating func flag(_ value: Bool) { u(1, value ? 1 : 0) }

  /// Writes whole bytes. Fast when the writer is byte aligned.
  public mutating func append(_ values: some Sequence<UInt8>) {
    for value in values {
      if cachedBits == 0 { put(value) } else { u(8, UInt32(value)) }
    }
  }

  /// Writes `rbsp_trailing_bits()`: a one and zeros up to the end of the byte (7.3.2.11).
  public mutating func trailingBits() {
    flag(true)
    align()
  }

  /// Fills the byte up with zero bits.
  public mutating func align() {
    if cachedBits > 0 { u(8 - cachedBits, 0) }
  }

  private mutating func put(_ byte: UInt8) {
    payloadBytes += 1
    if addsEmulationPrevention {
      if zeroRun >= 2, byte <= 3 {
        bytes.append(3)
        zeroRun = 0
      }
      zeroRun = byte == 0 ? zeroRun + 1 : 0
    }
    bytes.append(byte)
  }

  // MARK: Exp-Golomb codes (9.1)

  /// Writes `ue(v)` (9.1).
  ///
  /// - Parameter value: 0 to 2³² − 2. 2³² − 1, which has no code, is written as 2³² − 2.
  public mutating func ue(_ value: UInt32) {
    let code = UInt64(min(value, UInt32.max - 1)) + 1
    let length = 64 - code.leadingZeroBitCount
    u(length - 1, 0)
    // length is at most 32, since the code number is at most 2³² − 1.
    u(length, UInt32(truncatingIfNeeded: code))
  }

  /// Writes `se(v)` (9.1.1).
  ///
  /// - Parameter value: any but `Int32.min`, which has no code and is written as `Int32.min + 1`.
  public mutating func se(_ value: Int32) {
    let value = max(value, Int32.min + 1)
    ue(value > 0 ? 2 * value.magnitude - 1 : 2 * value.magnitude)
  }
}
