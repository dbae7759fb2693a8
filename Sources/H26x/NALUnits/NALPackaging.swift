// SPDX-License-Identifier: MPL-2.0

/// How the NAL units of an access unit follow each other.
public enum NALPackaging: Sendable, Hashable {
  /// Behind start codes: byte-stream.
  case annexB
  /// Behind lengths: avc, avc3, hvc1, hev1.
  case lengthPrefixed(NALLengthSize)

  /// The bytes in front of each NAL unit that is written: 4 for start codes.
  public var prefixLength: Int {
    switch self {
    case .annexB: 4
    case .lengthPrefixed(let size): size.byteCount
    }
  }

  /// Appends a NAL unit, with its start code of four bytes or its length in front.
  ///
  /// - Throws: `.lengthNotRepresentable`; nothing is appended then.
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

  /// Writes what stands in front of a NAL unit.
  ///
  /// - Parameters:
  ///   - length: of the NAL unit, in bytes.
  ///   - output: where it goes.
  ///   - offset: in `output`, in bytes.
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
}
