// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// Bits of a parameter set that are kept as they are: `sps_extension_data_flag` and the like, and extensions that
  /// this library does not read.
  public struct ExtensionData: Sendable, Hashable {
    /// The bits, the first one at the top of the first byte; the last byte is padded with zeros.
    public private(set) var bytes: [UInt8] = []
    /// Number of bits.
    public private(set) var bitCount = 0

    /// Creates one without bits.
    public init() {}

    /// Reads everything up to `rbsp_trailing_bits()`.
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
