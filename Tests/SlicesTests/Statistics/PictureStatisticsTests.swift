// SPDX-License-Identifier: MPL-2.0

import H26x
import Testing

@testable import Slices

@Suite struct PictureStatisticsTests {
  private func statistics(_ macroblocks: [H264.Macroblock]) -> PictureStatistics {
    var statistics = PictureStatistics(.h264)
    for macroblock in macroblocks { statistics.add(macroblock) }
    return statistics
  }

  private func macroblock(_ kind: H264.Macroblock.Kind, _ change: (inout H264.Macroblock) -> Void = { _ in })
    -> H264.Macroblock
  {
    var macroblock = H264.Macroblock()
    macroblock.kind = kind
    macroblock.lumaQP = 30
    change(&macroblock)
    return macroblock
  }

  @Test func countsKindsOfMacroblocks() {
    let all: [H264.Macroblock.Kind] = [
      .intra4x4, .intra8x8, .intra16x16, .pcm, .switchingIntra, .predictedSkip, .directSkip, .direct, .inter16x16,
      .inter16x8, .inter8x16, .inter8x8,
    ]
    let counted = statistics(all.map { macroblock($0) })
    #expect(counted.blockCount == 12 && counted.area == 12 * 256)
    #expect(Array(counted.kindAreas) == [4, 1, 0, 4, 1, 2].map { $0 * 256 })
    #expect(Array(counted.intraSizeAreas) == [512, 256, 256, 0, 0])
    #expect(Array(counted.partitionAreas) == [256, 256, 256, 256, 0, 0, 0, 0])
    #expect(Array(counted.sizeAreas) == [0, 12 * 256, 0, 0])
    // PCM has no QP.
    #expect(counted.qp.area == 11 * 256 && counted.codedQP.area == 9 * 256)
  }

  @Test func countsSubMacroblocks() {
    let predicted = macroblock(.inter8x8) {
      $0.typeNumber = 3
      $0.subTypes = [0, 1, 2, 3]
    }
    #expect(Array(statistics([predicted]).partitionAreas) == [0, 0, 0, 64, 64, 64, 64, 0])
    let bidirectional = macroblock(.inter8x8) {
      $0.typeNumber = 22
      $0.subTypes = [0, 8, 9, 12]
    }
    let counted = statistics([bidirectional])
    #expect(Array(counted.partitionAreas) == [0, 0, 0, 0, 64, 64, 64, 0])
    #expect(counted.kindAreas[Int(BlockKind.direct.rawValue)] == 64)
    #expect(counted.kindAreas[Int(BlockKind.inter.rawValue)] == 192)
  }

  @Test func countsReferencesDifferencesAndCoefficients() {
    let counted = statistics([
      macroblock(.inter16x8) {
        $0.referenceIndices = [0, 0, 2, 2, -1, -1, 1, 1]
        ($0.vectorDifferenceCount, $0.vectorDifferenceSum) = (3, 70)
        ($0.coefficientCount, $0.coefficientSum) = (5, 9)
        $0.codedBlockPattern = 0x25
        $0.bits.motion = 40
        $0.bits.luma = 60
      }
    ])
    #expect(counted.referenceAreas[0] == 128 && counted.referenceAreas[2] == 128 && counted.referenceAreas[33] == 128)
    #expect(counted.vectorDifferenceCount == 3 && counted.vectorDifferenceSum == 70)
    #expect(counted.coefficientCount == 5 && counted.coefficientSum == 9)
    #expect(Array(counted.transformAreas) == [128, 0, 0, 0])
    #expect(counted.bits.motion == 40 && counted.bits.luma == 60 && counted.bits.header == 0)
  }

  @Test func countsReferencesByDistance() {
    let frame = macroblock(.inter16x16) { $0.referenceIndices = [1, 1, 1, 1, 0, 0, 0, 0] }
    let field = macroblock(.inter16x16) {
      $0.referenceIndices = [3, 3, 3, 3, -1, -1, -1, -1]
      $0.isField = true
    }
    let earlier = statistics([frame])
    var counted = earlier
    counted.add(frame)
    counted.add(field)
    // Of a frame, field macroblocks have two indices.
    counted.addDistances(since: earlier, SliceReferences(list0: [-2, -4], list1: [2]))
    #expect(counted.referenceDistances.entries == [.init(distance: -4, area: 512), .init(distance: 2, area: 256)])
    // A missing picture has no distance, nor has an index behind the list.
    counted.addDistances(since: earlier, SliceReferences(list0: [-1, nil], list1: [500], areFrames: false))
    #expect(counted.referenceDistances.entries.map { $0.distance } == [-4, 2, 128])
    var total = counted
    total.add(counted)
    #expect(total.referenceDistances.entries.map { $0.area } == [1024, 512, 512])
  }

  @Test func countsUnevenPartitionsOfCodingUnits() {
    var unit = H265.CodingUnit()
    (unit.mode, unit.partition, unit.log2Size, unit.qpY) = (.inter, .lowerQuarter, 5, 28)
    unit.predictions[0].references = (1, -1)
    unit.predictions[0].difference0 = (-3, 4)
    // Values of an earlier unit do not count in a merged one.
    unit.predictions[1].references = (0, 0)
    unit.predictions[1].isMerged = true
    unit.codedBlocks = [2, 0, 1, 0]
    var statistics = PictureStatistics(.h265)
    statistics.add(unit)
    #expect(statistics.kindAreas[Int(BlockKind.inter.rawValue)] == 768)
    #expect(statistics.kindAreas[Int(BlockKind.direct.rawValue)] == 256)
    #expect(statistics.partitionAreas[5] == 1024 && statistics.sizeAreas[2] == 1024)
    #expect(statistics.referenceAreas[1] == 768 && statistics.referenceAreas[0] == 0)
    #expect(statistics.vectorDifferenceCount == 1 && statistics.vectorDifferenceSum == 7)
    #expect(Array(statistics.transformAreas) == [32, 0, 256, 0])
    var twice = statistics
    twice.add(statistics)
    #expect(twice.area == 2048 && twice.referenceAreas[1] == 1536 && twice.blockCount == 2)
    #expect(twice.qp.average == 28_000 && twice.codedQP.area == 2048)
  }

  @Test func countsIntraSizesOfCodingUnits() {
    var statistics = PictureStatistics(.h265)
    var unit = H265.CodingUnit()
    (unit.log2Size, unit.partition) = (3, .quarters)
    statistics.add(unit)
    (unit.log2Size, unit.partition) = (6, .whole)
    statistics.add(unit)
    unit.isPCM = true
    statistics.add(unit)
    #expect(Array(statistics.intraSizeAreas) == [64, 0, 0, 0, 4096])
    #expect(statistics.kindAreas[Int(BlockKind.pcm.rawValue)] == 4096)
  }
}

extension Array {
  /// The elements of an inline array.
  fileprivate init<let count: Int>(_ elements: [count of Element]) { self = elements.indices.map { elements[$0] } }
}
