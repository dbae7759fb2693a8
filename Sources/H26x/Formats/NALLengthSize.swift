// SPDX-License-Identifier: MPL-2.0

/// Size of the length prefix of a NAL unit: `lengthSizeMinusOne` + 1 (ISO/IEC 14496-15, 5.3.3.1 and 8.3.3.1). Three is
/// illegal.
public enum NALLengthSize: UInt8, Sendable, CaseIterable {
  /// One byte.
  case one = 1
  /// Two bytes.
  case two = 2
  /// Four bytes.
  case four = 4

  /// The size in bytes.
  @inline(__always)
  public var byteCount: Int { Int(rawValue) }

  /// The longest NAL unit that the prefix allows, in bytes.
  public var maximumNALUnitLength: Int {
    switch self {
    case .one: 0xFF
    case .two: 0xFFFF
    case .four: Int(clamping: UInt32.max)
    }
  }

  /// Checks that a length fits.
  ///
  /// - Parameters:
  ///   - length: of a NAL unit, in bytes.
  ///   - offset: of the prefix in bytes, for the error.
  /// - Throws: `.lengthNotRepresentable`.
  package func check(_ length: Int, at offset: Int = 0) throws(BitstreamError) {
    guard length <= maximumNALUnitLength else {
      throw BitstreamError(.lengthNotRepresentable, "NALUnitLength", byteOffset: offset)
    }
  }

  /// The value of a length prefix. There must be a whole prefix at the offset.
  package func read(_ bytes: Span<UInt8>, at offset: Int) -> UInt32 {
    var value: UInt32 = 0
    for index in offset..<offset + byteCount { value = value << 8 | UInt32(bytes[index]) }
    return value
  }

  /// Writes a length prefix at a byte offset of `output`.
  ///
  /// - Throws: `.lengthNotRepresentable`, `.outputTooSmall`.
  public func write(_ length: Int, to output: inout MutableSpan<UInt8>, at offset: Int) throws(BitstreamError) {
    try check(length, at: offset)
    guard offset >= 0, offset <= output.count - byteCount else {
      throw BitstreamError(.outputTooSmall, "NALUnitLength", byteOffset: max(0, output.count))
    }
    var rest = UInt32(truncatingIfNeeded: length) << UInt32(32 - 8 * byteCount)
    for index in 0..<byteCount {
      output[offset + index] = UInt8(rest >> 24)
      rest <<= 8
    }
  }
}
