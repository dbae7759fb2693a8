// SPDX-License-Identifier: MPL-2.0

/// The bits of a parameter set. An edit replaces the bits that it changes and keeps all others: reserved bits,
/// extensions that this library does not read, and everything after them.
struct RBSPBits: Sendable {
  /// The NAL unit header.
  private let header: [UInt8]
  /// The bits that were read, without the trailing bits.
  private var read: [Bool] = []
  /// The bits that follow them, up to `rbsp_trailing_bits()`.
  private var unread: [Bool] = []
  /// Zero bytes behind the trailing bits.
  private var trailingZeros = 0

  /// Takes the bits of a NAL unit.
  ///
  /// - Parameters:
  ///   - nalUnit: the NAL unit, header included.
  ///   - headerLength: bytes of the header.
  ///   - end: the end of reading, in bits from the start of the NAL unit, without emulation prevention bytes.
  init(_ nalUnit: Span<UInt8>, headerLength: Int, end: Int) throws(BitstreamError) {
    header = [UInt8](copying: nalUnit.extracting(first: min(headerLength, nalUnit.count)))
    var reader = BitReader(nalUnit, from: headerLength)
    while reader.bitOffset < end { read.append(try reader.flag("parameter set")) }
    for _ in 0..<(reader.bitsBeforeTrailingBits ?? 0) { unread.append(try reader.flag("extension_data_flag")) }
    while trailingZeros < nalUnit.count, nalUnit[nalUnit.count - 1 - trailingZeros] == 0 { trailingZeros += 1 }
  }

  /// Replaces the bits in which two versions of the bits read differ.
  ///
  /// - Parameters:
  ///   - old: writes the bits that were read.
  ///   - new: writes the bits that replace them.
  mutating func replace(_ old: (inout BitWriter) -> Void, with new: (inout BitWriter) -> Void) {
    let (before, after) = (Self.bits(old), Self.bits(new))
    let start = Self.sharedPrefix(before, after)
    let shorter = min(before.count, after.count)
    let tail = min(Self.sharedPrefix(before.reversed(), after.reversed()), shorter - start)
    let replacement = after[start..<after.count - tail]
    if read.count == before.count || Self.sharedPrefix(read, before) >= before.count - tail {
      read.replaceSubrange(start..<before.count - tail, with: replacement)
    } else if Self.sharedPrefix(read.reversed(), before.reversed()) >= before.count - start {
      read.replaceSubrange(read.count - before.count + start..<read.count - tail, with: replacement)
    } else {
      // The stream has a longer code for something on both sides of the change, which is lost.
      read = after
    }
  }

  /// Replaces the first of the bits that were not read.
  ///
  /// - Throws: `.truncated` if there are fewer in front of the trailing bits.
  mutating func replaceUnread(_ count: Int, with writer: BitWriter) throws(BitstreamError) {
    guard 0...unread.count ~= count else {
      throw BitstreamError(.truncated, "rbsp_trailing_bits", bitOffset: 8 * header.count + read.count + unread.count)
    }
    unread.replaceSubrange(0..<count, with: Self.bits(writer))
  }

  /// How many bits at the front are the same.
  private static func sharedPrefix(_ first: some Collection<Bool>, _ second: some Collection<Bool>) -> Int {
    zip(first, second).prefix { $0 == $1 }.count
  }

  /// The NAL unit with emulation prevention bytes.
  var nalUnit: [UInt8] {
    var writer = BitWriter()
    writer.append(header)
    for bit in read { writer.flag(bit) }
    for bit in unread { writer.flag(bit) }
    writer.trailingBits()
    return writer.bytes + [UInt8](repeating: 0, count: trailingZeros)
  }

  private static func bits(_ write: (inout BitWriter) -> Void) -> [Bool] {
    var writer = BitWriter(addsEmulationPrevention: false)
    write(&writer)
    return bits(writer)
  }

  /// - Parameter writer: one that adds no emulation prevention.
  private static func bits(_ writer: BitWriter) -> [Bool] {
    var writer = writer
    let count = writer.bitCount
    writer.align()
    let bytes = writer.bytes
    return (0..<count).map { bytes[$0 >> 3] & (0x80 >> UInt8($0 & 7)) != 0 }
  }
}
