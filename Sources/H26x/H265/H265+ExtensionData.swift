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

    /// Takes everything up to `rbsp_trailing_bits()`, which stay unread.
    init(_ reader: inout BitReader) throws(BitstreamError) {
      bitCount = reader.bitsBeforeTrailingBits ?? 0
      bytes.reserveCapacity((bitCount + 7) / 8)
      var left = bitCount
      while left > 0 {
        let count = min(8, left)
        bytes.append(try reader.u8(count, "extension_data_flag") << UInt8(8 - count))
        left -= count
      }
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
