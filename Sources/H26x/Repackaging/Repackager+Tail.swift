// SPDX-License-Identifier: MPL-2.0

extension Repackager {
  /// The end of an access unit that is written as it is.
  package struct Tail {
    /// The first of ``entries`` that is in it.
    let index: Int
    /// Its bytes in the input.
    package let range: Range<Int>
  }

  /// The end of the input, behind all that is changed, that is written as it is; nil for none.
  ///
  /// - Parameters:
  ///   - byteCount: of the bytes that were scanned.
  ///   - packaging: of input and output.
  ///   - isInserting: whether NAL units are put in front.
  package func tail(of byteCount: Int, _ packaging: NALPackaging, isInserting: Bool) -> Tail? {
    var index = splices.last.map { $0.replaces ? $0.index + 1 : $0.index } ?? 0
    // Insertions come behind a delimiter.
    while isInserting, index < entries.count, entries[index].type == layout.accessUnitDelimiter { index += 1 }
    guard index < entries.count else { return nil }
    let start = entries[index].range.lowerBound - packaging.prefixLength
    var end = start
    for entry in entries[index...] {
      guard entry.prefixLength == packaging.prefixLength, entry.range.lowerBound == end + entry.prefixLength else {
        return nil
      }
      end = entry.range.upperBound
    }
    return end == byteCount ? Tail(index: index, range: start..<end) : nil
  }
}
