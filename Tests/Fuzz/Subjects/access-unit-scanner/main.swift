// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import H26x

private struct Found: Equatable {
  var finding: ScannerFinding
  var contents: AccessUnitContents
  var end: Int
}

/// The findings when the data grows by `step` bytes at a time. Returns nil if parameter sets after the first picture
/// were used: the amount of data determines whether they replace unreadable sets before it.
@discardableResult
private func scan<Scanner: AccessUnitScanning>(
  _ bytes: Span<UInt8>, growing step: Int, _ scanner: Scanner, marksEach period: Int = .max
) -> [Found]? {
  var scanner = scanner
  var looksAhead = false
  var result: [Found] = []
  var (begin, end) = (0, min(step, bytes.count))
  while begin < bytes.count {
    let data = bytes.extracting(begin..<end)
    let finding = scanner.next(in: data, isMarked: end % period == 0, isDraining: end == bytes.count)
    for case .lateParameterSets in scanner.takeNotices() { looksAhead = true }
    if case .needsMoreData = finding {
      guard end < bytes.count else { break }
      end = min(end + step, bytes.count)
      continue
    }
    require(finding.size > 0 && finding.size <= data.count, "scanner: a finding of \(finding.size) bytes")
    let unit = scanner.takeAccessUnit()
    require(unit.end <= finding.size, "scanner: a NAL unit ends behind its unit")
    var listed = 0
    for nalUnit in unit.nalUnits {
      require(listed <= nalUnit.start && nalUnit.start <= nalUnit.range.lowerBound, "scanner: listed out of order")
      listed = nalUnit.range.upperBound
    }
    require(listed <= finding.size, "scanner: listed beyond the unit")
    result.append(Found(finding: finding, contents: unit.contents, end: unit.end))
    begin += finding.size
    end = max(end, min(begin + 1, bytes.count))
  }
  return looksAhead ? nil : result
}

// A byte stream or packets in every alignment. The access units of a byte stream do not depend on its pieces.
private func check<Scanner: AccessUnitScanning>(_ bytes: Span<UInt8>, _: Scanner.Type) {
  for cutsNALUnits in [false, true] {
    var scanner = Scanner()
    scanner.cutsNALUnits = cutsNALUnits
    scanner.listsNALUnits = !cutsNALUnits
    scanner.sliceDepth = .referenceMarking
    let whole = scan(bytes, growing: bytes.count, scanner)
    if bytes.count < 2000, let whole, let pieces = scan(bytes, growing: 1 + bytes.count / 7 % 61, scanner) {
      require(
        whole.filter(\.isUnit) == pieces.filter(\.isUnit), "scanner: pieces are cut otherwise than the whole")
    }
    for alignment in [ScannerInputAlignment.nalUnits, .accessUnit] {
      scanner.inputAlignment = alignment
      scan(bytes, growing: bytes.count, scanner)
      if bytes.count < 2000 { scan(bytes, growing: 1 + bytes.count / 7 % 61, scanner, marksEach: 3) }
    }
    for lengthSize in [NALLengthSize.one, .two, .four] {
      scanner.packaging = .lengthPrefixed(lengthSize)
      scan(bytes, growing: bytes.count, scanner)
    }
  }
}

fuzz { bytes in
  check(bytes, H264.AccessUnitScanner.self)
  check(bytes, H265.AccessUnitScanner.self)
}

extension Found {
  /// Garbage findings depend on the pieces of the data.
  var isUnit: Bool { if case .accessUnit = finding { true } else { false } }
}
