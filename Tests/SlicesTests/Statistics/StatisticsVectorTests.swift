// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

@testable import Slices

/// Statistics of vectors against the tables of another decoder, and against the lists of blocks.
@Suite(.enabled(if: Vectors.isAvailable)) struct StatisticsVectorTests {
  @Test(arguments: Vectors.byteStreams(codec: "hevc"))
  func quantizationMatchesAnotherDecoder(_ file: String) throws {
    guard let lines = try Vectors.table("\(file).csv.gz") else { return }
    // By picture, and by whether skipped units count.
    var expected: [Int: (all: QPDistribution, coded: QPDistribution)] = [:]
    for line in lines.dropFirst() {
      let fields = line.split(separator: ",").compactMap { Int($0) }
      guard fields.count == 9 else { continue }
      var distributions = expected[fields[0]] ?? (QPDistribution(), QPDistribution())
      distributions.all.add(fields[4], area: UInt64(fields[3] * fields[3]))
      if fields[7] != 2 { distributions.coded.add(fields[4], area: UInt64(fields[3] * fields[3])) }
      expected[fields[0]] = distributions
    }
    var sets = H265.ParameterSets()
    var reader = H265.SliceReader()
    var counter = BlockCounter(.h265)
    var frame = -1
    func compare() {
      let statistics = counter.take().statistics
      // The tables do not tell PCM apart.
      guard frame >= 0, statistics.kindAreas[Int(BlockKind.pcm.rawValue)] == 0 else { return }
      #expect(statistics.qp == expected[frame]?.all && statistics.codedQP == expected[frame]?.coded, "\(frame)")
    }
    for unit in try Vectors.nalUnits(file) {
      let type = H265.NALUnitType(headerByte: unit[0])
      if type.isParameterSet { _ = try sets.insert(unit.span) }
      guard type.isSlice, unit[0] & 1 == 0, unit[1] >> 3 == 0 else { continue }
      if H265.SliceSegmentHeader.startsPicture(unit.span) ?? false {
        compare()
        frame += 1
      }
      do throws(SliceDamage) {
        try reader.count(unit.span, parameterSets: sets, in: &counter)
      } catch {
        // The vectors' own damage is the matter of another test.
        return
      }
    }
    compare()
  }

  @Test(arguments: Vectors.byteStreams(codec: "hevc"))
  func listsTheCodingUnitsThatItCounts(_ file: String) throws {
    var sets = H265.ParameterSets()
    var reader = H265.SliceReader()
    var counter = BlockCounter(.h265, keepsBlocks: true)
    for unit in try Vectors.nalUnits(file) {
      let type = H265.NALUnitType(headerByte: unit[0])
      if type.isParameterSet { _ = try? sets.insert(unit.span) }
      guard type.isSlice, unit[0] & 1 == 0, unit[1] >> 3 == 0 else { continue }
      do throws(SliceDamage) { try reader.count(unit.span, parameterSets: sets, in: &counter) } catch { continue }
      check(&counter)
    }
  }

  @Test(arguments: TestScope.rows(Vectors.byteStreams(codec: "h264"), usually: 20))
  func listsTheMacroblocksThatItCounts(_ file: String) throws {
    var sets = H264.ParameterSets()
    var reader = H264.SliceReader()
    var counter = BlockCounter(.h264, keepsBlocks: true)
    for unit in try Vectors.nalUnits(file) {
      let type = H264.NALUnitType(headerByte: unit[0])
      if type == .sequenceParameterSet || type == .pictureParameterSet { _ = try? sets.insert(unit.span) }
      guard type == .slice || type == .idrSlice else { continue }
      reader.beginPicture()
      let none: [UInt8] = []
      do throws(SliceDamage) {
        try reader.count(
          unit.span, partitionB: none.span, partitionC: none.span, parameterSets: sets, in: &counter)
      } catch { continue }
      check(&counter)
    }
  }

  /// Checks that the blocks of a slice have the sums that its statistics have, and empties both.
  private func check(_ counter: inout BlockCounter) {
    let (statistics, blocks) = counter.take()
    var qp = QPDistribution()
    var (area, coefficients, sum, differences): (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    var (bits, skipped): (UInt64, UInt64) = (0, 0)
    for block in blocks {
      let size = UInt64(block.size) * UInt64(block.size)
      area += size
      coefficients += UInt64(block.coefficientCount)
      sum += UInt64(block.coefficientSum)
      differences += UInt64(block.vectorDifferenceSum)
      bits += UInt64(block.bits.total)
      if block.kind == .skip { skipped += size }
      if block.kind != .pcm { qp.add(Int(block.lumaQP), area: size) }
    }
    let counted = statistics.bits
    #expect(statistics.blockCount == UInt64(blocks.count) && statistics.area == area && statistics.qp == qp)
    #expect(statistics.coefficientCount == coefficients && statistics.coefficientSum == sum)
    #expect(statistics.vectorDifferenceSum == differences)
    #expect(counted.header + counted.prediction + counted.motion + counted.luma + counted.chroma == bits)
    #expect(statistics.kindAreas[Int(BlockKind.skip.rawValue)] == skipped)
    var kinds: UInt64 = 0
    for index in statistics.kindAreas.indices { kinds += statistics.kindAreas[index] }
    #expect(kinds == area)
  }
}
