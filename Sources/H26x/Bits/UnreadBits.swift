// SPDX-License-Identifier: MPL-2.0

/// Bits of a structure that this library does not read, kept to be written again.
public struct UnreadBits: Sendable, Hashable {
  /// The bits, first one at the top. Those behind the last one are 0.
  public private(set) var bytes: [UInt8] = []
  /// The number of bits.
  public private(set) var count = 0

  /// Creates a row of no bits.
  public init() {}

  /// Creates a row of bits, the first one at the top of the first byte.
  package init(_ bits: [Bool]) {
    for bit in bits {
      if count & 7 == 0 { bytes.append(0) }
      if bit { bytes[bytes.count - 1] |= 0x80 >> UInt8(count & 7) }
      count += 1
    }
  }

  /// The bits, first one first.
  package var bits: [Bool] { (0..<count).map { bytes[$0 >> 3] << UInt8($0 & 7) & 0x80 != 0 } }

  /// Reads the bits up to the end of a bounded reader.
  init(_ reader: inout BitReader, _ element: StaticString) throws(BitstreamError) {
    count = reader.remainingBits
    bytes = try reader.bytes(count / 8, element)
    let rest = count & 7
    if rest > 0 { bytes.append(try reader.u8(rest, element) << UInt8(8 - rest)) }
  }

  /// Whether all bits are 0.
  package var isZero: Bool { bytes.allSatisfy { $0 == 0 } }

  /// Writes the bits.
  func write(to writer: inout BitWriter) {
    writer.append(bytes.prefix(count / 8))
    let rest = count & 7
    if rest > 0, let last = bytes.last { writer.u(rest, UInt32(last >> UInt8(8 - rest))) }
  }
}
