// SPDX-License-Identifier: MPL-2.0

/// How NAL units are packaged.
public enum NALPackaging: Sendable, Hashable {
  /// With start codes: byte-stream.
  case annexB
  /// With length prefixes: avc, avc3, hvc1, hev1.
  case lengthPrefixed(NALLengthSize)

  /// With lengths of this size; with start codes for nil.
  package init(lengthSize: NALLengthSize?) {
    self = lengthSize.map { .lengthPrefixed($0) } ?? .annexB
  }

  /// Bytes written in front of each NAL unit: 4 for start codes.
  public var prefixLength: Int {
    switch self {
    case .annexB: 4
    case .lengthPrefixed(let size): size.byteCount
    }
  }

  /// Appends a NAL unit, with a start code of four bytes or its length in front.
  ///
  /// - Throws: `.lengthNotRepresentable`, with nothing appended.
  public func append(_ nalUnit: Span<UInt8>, to bytes: inout [UInt8]) throws(BitstreamError) {
    if case .lengthPrefixed(let size) = self { try size.check(nalUnit.count, at: bytes.count) }
    let start = bytes.count
    bytes.append(contentsOf: repeatElement(0, count: prefixLength + nalUnit.count))
    var output = bytes.mutableSpan
    try writePrefix(length: nalUnit.count, to: &output, at: start)
    guard BulkBytes.copy(nalUnit, 0..<nalUnit.count, to: &output, at: start + prefixLength) else {
      throw BitstreamError(.outputTooSmall, "NAL unit", byteOffset: start)
    }
  }

  /// Writes a start code of four bytes or a length prefix.
  ///
  /// - Parameters:
  ///   - length: of the NAL unit, in bytes.
  ///   - output: the bytes to write to.
  ///   - offset: of the first byte in `output`.
  /// - Throws: `.lengthNotRepresentable`, `.outputTooSmall`.
  public func writePrefix(
    length: Int, to output: inout MutableSpan<UInt8>, at offset: Int
  ) throws(BitstreamError) {
    switch self {
    case .annexB:
      guard offset >= 0, offset <= output.count - 4 else {
        throw BitstreamError(.outputTooSmall, "start_code_prefix_one_3bytes", byteOffset: max(0, output.count))
      }
      output[offset] = 0
      output[offset + 1] = 0
      output[offset + 2] = 0
      output[offset + 3] = 1
    case .lengthPrefixed(let size): try size.write(length, to: &output, at: offset)
    }
  }

  /// A NAL unit with a start code of four bytes, or its length prefix, in front.
  ///
  /// - Parameter nalUnit: header and payload, with emulation prevention bytes.
  /// - Throws: `.lengthNotRepresentable` when it is too long for the length prefix.
  public func packaged(_ nalUnit: [UInt8]) throws(BitstreamError) -> [UInt8] {
    var bytes: [UInt8] = []
    try append(nalUnit.span, to: &bytes)
    return bytes
  }

  /// Visits the NAL units of an access unit, headers included, up to the first bad length. Returns the error in it;
  /// nil if there is none.
  @inline(__always)
  package func forEachNALUnit(of accessUnit: Span<UInt8>, _ visit: (Range<Int>) -> Void) -> BitstreamError? {
    switch self {
    case .annexB:
      var nalUnits = AnnexB.NALUnits(accessUnit)
      while let nalUnit = nalUnits.next() { visit(nalUnit.range) }
    case .lengthPrefixed(let size):
      var nalUnits = LengthPrefixed.NALUnits(accessUnit, lengthSize: size)
      do throws(BitstreamError) {
        while let range = try nalUnits.next() { visit(range) }
      } catch {
        return error
      }
    }
    return nil
  }

  /// The ranges of an access unit's NAL units, headers included, up to the first bad length.
  package func nalUnits(of accessUnit: Span<UInt8>) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    _ = forEachNALUnit(of: accessUnit) { ranges.append($0) }
    return ranges
  }
}
