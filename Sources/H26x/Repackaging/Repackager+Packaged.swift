// SPDX-License-Identifier: MPL-2.0

extension Repackager {
  /// An access unit in another packaging: finds its NAL units, leaves out those to ``drop``, and writes the others.
  ///
  /// ```
  /// var repackager = Repackager(codec: .h264)
  /// let sample = try repackager.packaged(accessUnit.span, from: .annexB, as: .lengthPrefixed(.four))
  /// ```
  ///
  /// - Parameters:
  ///   - bytes: the access unit.
  ///   - input: its packaging.
  ///   - output: the packaging of the result.
  ///   - insertions: NAL units to put in front, behind an access unit delimiter of the input.
  /// - Throws: `.truncated` or `.lengthOutOfBounds` at a bad length of the input; `.lengthNotRepresentable` when a NAL
  ///   unit is too long for the output's length prefixes.
  public mutating func packaged(
    _ bytes: Span<UInt8>, from input: NALPackaging, as output: NALPackaging, inserting insertions: [[UInt8]] = []
  ) throws(BitstreamError) -> [UInt8] {
    switch input {
    case .annexB: scanAnnexB(bytes)
    case .lengthPrefixed(let size): try scanLengthPrefixed(bytes, lengthSize: size)
    }
    var result = [UInt8](repeating: 0, count: try outputSize(output, inserting: insertions))
    var target = result.mutableSpan
    try write(bytes, as: output, inserting: insertions, to: &target)
    return result
  }
}
