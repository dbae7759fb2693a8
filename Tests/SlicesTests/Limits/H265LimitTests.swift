// SPDX-License-Identifier: MPL-2.0

import H26x
import Testing

@testable import Slices

/// Slice segments that can be read, and keep or break a limit by one.
@Suite struct H265LimitTests {
  private func check(_ writer: H265SliceWriter, _ slice: H265SliceWriter.Slice) throws -> LimitChecker {
    let (bytes, sets) = (writer.nalUnit(slice), try writer.parameterSets())
    var reader = H265.SliceReader()
    var checker = LimitChecker()
    let extent = try reader.check(bytes.span, parameterSets: sets, with: &checker)
    #expect(extent.blockCount == slice.count)
    return checker
  }

  @Test func vectorDifferences() throws {
    let writer = H265SliceWriter(width: 64, height: 32)
    for (x, y) in [(32767, -32768), (-32768, 32767), (1, -2), (0, 0)] {
      let checker = try check(writer, .init(count: 8, vectors: [5: (x, y)]))
      #expect(!checker.hasViolations, "\(x), \(y)")
    }
    for (x, y) in [(32768, 0), (0, 32768), (-32769, 0), (0, -32769)] {
      let checker = try check(writer, .init(count: 8, vectors: [5: (x, y), 7: (x, y)]))
      let violation = try #require(checker.violation(of: .vectorDifference))
      #expect(violation.block == 5 && violation.count == 2 && violation.value == x + y)
      #expect(violation.least == -32768 && violation.most == 32767)
    }
  }

  /// 256 luma and 128 chroma samples of 8 bits, by 5/3.
  @Test(arguments: [5120, 5121]) func bitsOfCodingTreeUnits(_ bits: Int) throws {
    let writer = H265SliceWriter(width: 64, height: 32)
    func slice(_ long: Int, _ longer: Int = 0) -> H265SliceWriter.Slice {
      .init(count: 3, crowded: [2: (long, longer)])
    }
    func count(_ slice: H265SliceWriter.Slice) -> Int { writer.treeUnitBits(slice)[2] }
    var long = 100
    while long < 200, count(slice(long + 1)) <= bits { long += 1 }
    let whole = slice(long, bits - count(slice(long)))
    #expect(count(whole) == bits)
    let checker = try check(writer, whole)
    let violation = checker.violation(of: .blockBits)
    #expect((violation == nil) == (bits == 5120))
    guard let violation else { return }
    #expect(violation.block == 2 && violation.value == 5121 && violation.most == 5120 && violation.count == 1)
  }

  /// Its samples are no bits of arithmetic coding.
  @Test func pcmIsNotLimited() throws {
    var writer = H265SliceWriter(width: 64, height: 32)
    writer.sps.pcm = .init(
      lumaBitDepth: 8, chromaBitDepth: 8, log2MinimumBlockSize: 4, log2BlockSizeRange: 0, disablesLoopFilter: false)
    let checker = try check(writer, .init(count: 8, pcm: [0, 3]))
    #expect(!checker.hasViolations)
  }
}
