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

/// The format of MP4 and Matroska: each NAL unit after its length, in big-endian order (ISO/IEC 14496-15).
public enum LengthPrefixed {
  /// The NAL units of one packet.
  public struct NALUnits: ~Escapable {
    private let bytes: Span<UInt8>
    private let lengthSize: NALLengthSize

    /// The end of the last good NAL unit, in bytes.
    public private(set) var position: Int

    /// Iterates over `bytes[offset...]`.
    @_lifetime(copy bytes)
    public init(_ bytes: Span<UInt8>, lengthSize: NALLengthSize, from offset: Int = 0) {
      self.bytes = bytes
      self.lengthSize = lengthSize
      position = max(0, min(offset, bytes.count))
    }

    /// The range of the next NAL unit, without its length; nil after the last one. Empty ones are skipped.
    ///
    /// - Throws: `.truncated` when a length is truncated, `.lengthOutOfBounds` when it points past the end. The
    ///   iteration is then over, at ``position``.
    public mutating func next() throws(BitstreamError) -> Range<Int>? {
      while position < bytes.count {
        let start = position + lengthSize.byteCount
        guard start <= bytes.count else {
          throw BitstreamError(.truncated, "NALUnitLength", byteOffset: position)
        }
        guard let length = Int(exactly: lengthSize.read(bytes, at: position)), length <= bytes.count - start else {
          throw BitstreamError(.lengthOutOfBounds, "NALUnitLength", byteOffset: position)
        }
        position = start + length
        if length > 0 { return start..<position }
      }
      return nil
    }
  }
}

extension LengthPrefixed {
  /// Whether a NAL unit holds a start code, which no legal one does: a muxer has made one of several.
  public static func holdsStartCode(_ bytes: Span<UInt8>, in range: Range<Int>) -> Bool {
    guard range.lowerBound >= 0, range.upperBound <= bytes.count else { return false }
    return AnnexB.startCode(in: bytes.extracting(range)) != nil
  }
}
