// SPDX-License-Identifier: MPL-2.0
import H26x

/// Reads the NAL units of samples without the payload of slices: of these the first bytes, which hold the header, and
/// the last one.
struct SampleHeads {
  private let source: FileBytes
  /// The head of the NAL unit that is read now. Small pieces, because the bytes after them are seldom needed.
  private var current = FileWindow(pieceSize: 8 << 10)
  /// Its last byte, and the head of the next one, which follows as a rule.
  private var next = FileWindow(pieceSize: 8 << 10)

  init(_ source: FileBytes) { self.source = source }

  /// Feeds a sample, between the beginning and the end that the caller reports to the analysis.
  ///
  /// - Throws: the error in the length prefixes; see ``LengthPrefixed/NALUnits/next()``.
  mutating func feed(
    _ range: Range<UInt64>, to analysis: inout EitherAnalysis, _ lengthSize: NALLengthSize
  ) throws(BitstreamError) {
    let end = min(range.upperBound, source.size)
    var position = range.lowerBound
    while position < end {
      position = try feedNALUnit(
        position..<end, to: &analysis, lengthSize, offset: Int(clamping: position - range.lowerBound))
    }
  }

  /// Feeds the first NAL unit of a range, unless it is empty. Returns its end.
  ///
  /// - Parameter offset: of the range in the sample, for errors.
  private mutating func feedNALUnit(
    _ range: Range<UInt64>, to analysis: inout EitherAnalysis, _ lengthSize: NALLengthSize, offset: Int
  ) throws(BitstreamError) -> UInt64 {
    let prefix = lengthSize.byteCount
    let headLength = UInt64(prefix) + UInt64(analysis.headLength)
    var part = current.load(range.clamped(to: range.lowerBound..<range.lowerBound + headLength), from: source)
    guard part.count >= prefix else { throw BitstreamError(.truncated, "NALUnitLength", byteOffset: offset) }
    let length = UInt64(lengthSize.read(current.bytes.span, at: part.lowerBound))
    let start = range.lowerBound + UInt64(prefix)
    guard length <= range.upperBound - start, let size = Int(exactly: length) else {
      throw BitstreamError(.lengthOutOfBounds, "NALUnitLength", byteOffset: offset)
    }
    let end = start + length
    guard size > 0 else {
      analysis.feedEmpty(inSampleAt: range.lowerBound)
      return end
    }
    if size > part.count - prefix {
      if analysis.needsWhole(current.bytes.span.extracting(part.dropFirst(prefix))) {
        part = current.load(range.lowerBound..<end, from: source)
      } else {
        let last = next.load(end - 1..<min(end + headLength, source.size), from: source)
        guard !last.isEmpty else { throw BitstreamError(.truncated, "NAL unit", byteOffset: offset) }
        let bytes = current.bytes
        analysis.feed(
          inSample: NALUnitBytes(
            head: bytes.span.extracting(part.dropFirst(prefix)), size: size,
            last: next.bytes[last.lowerBound]),
          at: start, prefix: prefix)
        swap(&current, &next)
        return end
      }
    }
    let whole = part.dropFirst(prefix).prefix(size)
    guard whole.count == size else { throw BitstreamError(.truncated, "NAL unit", byteOffset: offset) }
    let bytes = current.bytes
    analysis.feed(inSample: NALUnitBytes(bytes.span.extracting(whole)), at: start, prefix: prefix)
    return end
  }
}
