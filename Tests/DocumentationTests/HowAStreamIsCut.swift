// SPDX-License-Identifier: MPL-2.0
import H26x

// The code of the article, checked by ArticleTests.

/// Types and sizes of the NAL units of a byte stream.
func nalUnits(of stream: [UInt8]) -> [(type: H264.NALUnitType, size: Int)] {
  var found: [(type: H264.NALUnitType, size: Int)] = []
  var nalUnits = AnnexB.NALUnits(stream.span)
  while let nalUnit = nalUnits.next() {
    found.append((H264.NALUnitType(headerByte: stream[nalUnit.range.lowerBound]), nalUnit.range.count))
  }
  return found
}

/// Sizes of the access units of a byte stream that arrives in pieces.
func accessUnitSizes(of stream: [UInt8], inPiecesOf pieceSize: Int) -> [Int] {
  var scanner = H264.Scanner()
  var sizes: [Int] = []
  var (start, end) = (0, 0)
  while start < stream.count {
    let bytes = stream.span.extracting(start..<end)
    switch scanner.next(in: bytes, isMarked: false, isDraining: end == stream.count) {
    case .accessUnit(let size):
      sizes.append(size)
      start += size
    case .garbage(let size), .unusable(let size):
      start += size
    case .needsMoreData:
      guard end < stream.count else { return sizes }
      end = min(stream.count, end + pieceSize)
    }
  }
  return sizes
}
