// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// Bits of a parameter set that are kept as they came: `sps_extension_data_flag` and the like, and extensions of
  /// which this library needs nothing.
  public struct ExtensionData: Sendable, Hashable {
    /// The bits, first one at the top of the first byte; the last byte is filled up with zeros.
    public private(set) var bytes: [UInt8] = []
    /// How many bits there are.
    public private(set) var bitCount = 0

    /// No bits.
    public init() {}

    /// Takes everything up to `rbsp_trailing_bits()`, which stay unread. Each byte is looked at once, whatever it is.
    init(_ reader: inout BitReader) throws(BitstreamError) {
      var ahead = reader
      while ahead.moreBits(8) { bytes.append(try ahead.byte("extension_data_flag")) }
      var rest: UInt8 = 0
      var restCount = 0
      while ahead.moreBits(1) {
        rest |= try ahead.u8(1, "extension_data_flag") << UInt8(7 - restCount)
        restCount += 1
      }
      if restCount > 0 { bytes.append(rest) }
      while bytes.last == 0 { bytes.removeLast() }
      // The last one bit is the stop bit.
      guard let last = bytes.popLast() else { return }
      bitCount = bytes.count * 8 + 7 - last.trailingZeroBitCount
      let kept = last & (last &- 1)
      if bitCount & 7 != 0 { bytes.append(kept) }
      try reader.skip(bitCount, "extension_data_flag")
    }

    func write(to writer: inout BitWriter) {
      var left = bitCount
      for byte in bytes {
        let count = min(8, left)
        writer.u(count, UInt32(byte) >> UInt32(8 - count))
        left -= count
      }
    }
  }
}

extension BitReader {
  /// Whether so many bits can be read, emulation prevention bytes left out.
  fileprivate func moreBits(_ count: Int) -> Bool {
    var copy = self
    do throws(BitstreamError) {
      _ = try copy.u(count, "")
      return true
    } catch {
      return false
    }
  }
}
