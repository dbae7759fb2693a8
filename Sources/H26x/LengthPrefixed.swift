// SPDX-License-Identifier: MPL-2.0

/// How many bytes the length in front of a NAL unit has: `lengthSizeMinusOne` + 1
/// (ISO/IEC 14496-15, 5.3.3.1 and 8.3.3.1). Three is not legal.
public enum NALLengthSize: UInt8, Sendable, CaseIterable {
  case one = 1
  case two = 2
  case four = 4

  /// The size in bytes.
  @inline(__always)
  public var byteCount: Int { Int(rawValue) }

  /// The longest NAL unit whose length fits.
  public var maximumNALUnitLength: Int {
    switch self {
    case .one: 0xFF
    case .two: 0xFFFF
    case .four: 0xFFFF_FFFF
    }
  }
}

/// The format of MP4 and Matroska: each NAL unit behind its big-endian length (ISO/IEC 14496-15).
public enum LengthPrefixed {
  /// The NAL units of one packet.
  public struct NALUnits: ~Escapable {
    private let bytes: Span<UInt8>
    private let lengthSize: NALLengthSize

    /// The end of the last good NAL unit: everything before it can be trusted.
    public private(set) var position: Int

    /// Iterates over `bytes[offset...]`.
    @_lifetime(copy bytes)
    public init(_ bytes: Span<UInt8>, lengthSize: NALLengthSize, from offset: Int = 0) {
      self.bytes = bytes
      self.lengthSize = lengthSize
      position = max(0, min(offset, bytes.count))
    }

    /// The place of the next NAL unit's bytes, without its length; nil after the last one. Empty ones are skipped.
    ///
    /// - Throws: `.truncated` when a length is cut off, `.lengthOutOfBounds` when it points past the end. The
    ///   iteration cannot go on then; ``position`` tells how far the data was good.
    public mutating func next() throws(BitstreamError) -> Range<Int>? {
      while position < bytes.count {
        let start = position + lengthSize.byteCount
        guard start <= bytes.count else {
          throw BitstreamError(.truncated, "NALUnitLength", bitOffset: position * 8)
        }
        var length = 0
        for index in position..<start { length = length << 8 | Int(bytes[index]) }
        guard length <= bytes.count - start else {
          throw BitstreamError(.lengthOutOfBounds, "NALUnitLength", bitOffset: position * 8)
        }
        position = start + length
        if length > 0 { return start..<position }
      }
      return nil
    }
  }
}
