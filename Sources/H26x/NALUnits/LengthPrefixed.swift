// SPDX-License-Identifier: MPL-2.0

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

    /// The range of the next NAL unit, without its length; nil after the last one. Empty NAL units are skipped.
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
  /// The NAL units that a muxer has made one of: those between start codes, and anything in front of the first.
  static func separated(_ nalUnit: [UInt8]) -> [[UInt8]] {
    guard let first = AnnexB.startCode(in: nalUnit.span) else { return [nalUnit] }
    var result: [[UInt8]] = []
    var end = first
    while end > 0, nalUnit[end - 1] == 0 { end -= 1 }
    if end > 0 { result.append([UInt8](nalUnit[..<end])) }
    var units = AnnexB.NALUnits(nalUnit.span)
    while let unit = units.next() { result.append([UInt8](nalUnit[unit.range])) }
    return result
  }

  /// Whether bytes at a bad length may be a truncated NAL unit, rather than padding or other data.
  ///
  /// - Parameter rest: the packet from the length on, to its end.
  package static func mayBeTruncatedNALUnit(_ rest: Span<UInt8>, lengthSize: NALLengthSize) -> Bool {
    // No NAL unit has 16 MiB, and none begins with forbidden_zero_bit.
    guard rest.count > 0, lengthSize != .four || rest[0] == 0 else { return false }
    guard rest.count <= lengthSize.byteCount || rest[lengthSize.byteCount] & 0x80 == 0 else { return false }
    return rest.indices.contains { rest[$0] != 0 }
  }

  /// Whether a NAL unit holds a start code, which no legal one does: a muxer has made one of several.
  public static func holdsStartCode(_ bytes: Span<UInt8>, in range: Range<Int>) -> Bool {
    guard range.lowerBound >= 0, range.upperBound <= bytes.count else { return false }
    return AnnexB.startCode(in: bytes.extracting(range)) != nil
  }
}
