// SPDX-License-Identifier: MPL-2.0
import H26x
import Slices

extension JSONText {
  /// The member `statistics`.
  mutating func member(_ statistics: borrowing PictureStatistics) {
    key("statistics")
    open()
    member("slices", statistics.sliceCount)
    if statistics.damagedSliceCount > 0 { member("damagedSlices", statistics.damagedSliceCount) }
    member("blocks", statistics.blockCount)
    member("area", statistics.area)
    let bits = statistics.bits
    key("bits")
    open()
    member("header", bits.header)
    member("prediction", bits.prediction)
    member("motion", bits.motion)
    member("luma", bits.luma)
    member("chroma", bits.chroma)
    close()
    member("qp", statistics.qp)
    member("codedQP", statistics.codedQP)
    member("kinds", StatisticsNames.kinds(), statistics.kindAreas)
    member("sizes", StatisticsNames.sizes(), statistics.sizeAreas)
    member("partitions", StatisticsNames.partitions(statistics.codec), statistics.partitionAreas)
    member("intraSizes", StatisticsNames.intraSizes(), statistics.intraSizeAreas)
    member("transforms", StatisticsNames.transforms(), statistics.transformAreas)
    openArray("references")
    for list in 0..<2 {
      open(0x5B)
      for area in statistics.referenceAreas(ofList: list) { value(Int64(clamping: area)) }
      closeArray()
    }
    closeArray()
    key("distances")
    open()
    for entry in statistics.referenceDistances.entries {
      key(number: Int64(entry.distance))
      value(Int64(clamping: entry.area))
    }
    close()
    member("vectorDifferences", count: statistics.vectorDifferenceCount, sum: statistics.vectorDifferenceSum)
    member("coefficients", count: statistics.coefficientCount, sum: statistics.coefficientSum)
    close()
  }

  private mutating func member(_ name: StaticString, count: UInt64, sum: UInt64) {
    key(name)
    open()
    member("count", count)
    member("sum", sum)
    close()
  }

  private mutating func member(_ name: StaticString, _ qp: QPDistribution) {
    guard qp.area > 0 else { return }
    key(name)
    open()
    member("average", thousandths: qp.average)
    member("deviation", thousandths: qp.deviation)
    member("minimum", qp.minimum)
    member("maximum", qp.maximum)
    close()
  }

  /// Areas by name, without those that are 0.
  private mutating func member<let count: Int>(
    _ name: StaticString, _ names: [StaticString], _ areas: [count of UInt64]
  ) {
    key(name)
    open()
    for index in areas.indices where areas[index] > 0 && index < names.count { member(names[index], areas[index]) }
    close()
  }

  /// The members of a block.
  mutating func write(_ block: borrowing BlockRecord, accessUnit: UInt64) {
    member("kind", "block")
    member("accessUnit", accessUnit)
    member("x", block.x)
    member("y", block.y)
    member("size", block.size)
    member("type", block.kind.name)
    member("partition", block.partition.name)
    if block.isField { member("field", true) }
    member("qp", block.lumaQP)
    member("cbQP", block.cbQP)
    member("crQP", block.crQP)
    if block.transformSize > 0 { member("transform", block.transformSize) }
    for list in 0..<2 {
      let references = block.references(ofList: list)
      guard !references.isEmpty else { continue }
      openArray(list == 0 ? "references0" : "references1")
      for index in references { value(Int64(index)) }
      closeArray()
    }
    if block.vectorDifferenceCount > 0 {
      member("vectorDifferences", count: UInt64(block.vectorDifferenceCount), sum: UInt64(block.vectorDifferenceSum))
    }
    if block.coefficientCount > 0 {
      member("coefficients", count: UInt64(block.coefficientCount), sum: UInt64(block.coefficientSum))
    }
    member("firstBit", block.firstBit)
    let bits = block.bits
    key("bits")
    open()
    member("header", bits.header)
    member("prediction", bits.prediction)
    member("motion", bits.motion)
    member("luma", bits.luma)
    member("chroma", bits.chroma)
    close()
  }
}
