// SPDX-License-Identifier: MPL-2.0

/// How many bytes the length in front of a NAL unit has: `lengthSizeMinusOne` + 1
/// (ISO/IEC 14496-15, 5.3.3.1 and 8.3.3.1). Three is not legal.
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

  /// The longest NAL unit whose length fits, in bytes.
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
  ///   - offset: where it stands, in bytes, for the error.
  /// - Throws: `.lengthNotRepresentable`.
  package func check(_ length: Int, at offset: Int = 0) throws(BitstreamError) {
    guard length <= maximumNALUnitLength else {
      throw BitstreamError(.lengthNotRepresentable, "NALUnitLength", byteOffset: offset)
    }
  }

  /// The only place where lengths are written.
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
          throw BitstreamError(.truncated, "NALUnitLength", byteOffset: position)
        }
        var value: UInt32 = 0
        for index in position..<start { value = value << 8 | UInt32(bytes[index]) }
        guard let length = Int(exactly: value), length <= bytes.count - start else {
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
  /// Whether a NAL unit holds a start code, which no legal one does: it was cut wrongly by a muxer.
  public static func holdsStartCode(_ bytes: Span<UInt8>, in range: Range<Int>) -> Bool {
    guard range.lowerBound >= 0, range.upperBound <= bytes.count else { return false }
    return AnnexB.startCode(in: bytes.extracting(range)) != nil
  }

  /// Whether a whole packet that should be length-prefixed is a byte stream instead: it begins with a start code, and
  /// its lengths do not add up.
  public static func isAnnexB(_ bytes: Span<UInt8>, lengthSize: NALLengthSize) -> Bool {
    guard let first = AnnexB.startCode(in: bytes), first <= 1, first == 0 || bytes[0] == 0 else { return false }
    var units = NALUnits(bytes, lengthSize: lengthSize)
    do throws(BitstreamError) {
      while try units.next() != nil {}
      return false
    } catch {
      return true
    }
  }
}
