// SPDX-License-Identifier: MPL-2.0
import H26x
import Slices

/// Writes statistics or blocks of report items as comma-separated values (RFC 4180, with line feeds).
/// `Sources/Inspector/SCHEMA.md` describes the columns.
public struct CSVLines: Sendable {
  /// The rows of a table.
  public enum Rows: UInt8, Sendable {
    /// An access unit each, and the total.
    case statistics
    /// A macroblock or coding unit each.
    case blocks
  }

  /// The UTF-8 that was written and not taken yet.
  public private(set) var bytes: [UInt8] = []
  private let rows: Rows
  private var codec = FormatDescription.Codec.h264

  /// Creates a writer.
  public init(_ rows: Rows) { self.rows = rows }

  /// Returns the bytes written, and empties ``bytes``.
  public mutating func take() -> [UInt8] {
    var taken: [UInt8] = []
    swap(&taken, &bytes)
    return taken
  }

  /// Writes the rows of an item: the names of the columns for the stream, which comes first.
  public mutating func append(_ item: ReportItem) {
    switch (item, rows) {
    case (.stream(let stream), .statistics):
      codec = stream.codec
      appendStatisticsNames()
    case (.stream, .blocks): appendBlockNames()
    case (.accessUnit(let accessUnit), .statistics):
      if let statistics = accessUnit.statistics { append(statistics, of: accessUnit) }
    case (.accessUnit(let accessUnit), .blocks):
      for block in accessUnit.blocks { append(block, accessUnit.index) }
    case (.summary(let summary), .statistics):
      if let statistics = summary.statistics { append(statistics, of: nil) }
    default: break
    }
  }

  // MARK: Statistics

  private mutating func appendStatisticsNames() {
    bytes.append("accessUnit,type,poc,size,slices,damagedSlices,blocks,area,")
    bytes.append("headerBits,predictionBits,motionBits,lumaBits,chromaBits,qp,qpDeviation,qpMinimum,qpMaximum,")
    bytes.append("codedQP,codedQPDeviation,codedQPMinimum,codedQPMaximum")
    append(StatisticsNames.kinds(), prefix: "")
    append(StatisticsNames.sizes(), prefix: "size")
    append(StatisticsNames.partitions(codec), prefix: "partition")
    append(StatisticsNames.intraSizes(), prefix: "intra")
    append(StatisticsNames.transforms(), prefix: "transform")
    bytes.append(
      ",vectorDifferences,vectorDifferenceSum,coefficients,coefficientSum,references0,references1,distances\n")
  }

  private mutating func append(_ names: [StaticString], prefix: StaticString) {
    for name in names {
      bytes.append(0x2C)
      bytes.append(prefix)
      bytes.append(name)
    }
  }

  /// - Parameter accessUnit: nil for the total.
  private mutating func append(_ statistics: PictureStatistics, of accessUnit: AccessUnitRecord?) {
    if let accessUnit {
      bytes.append(decimal: Int64(clamping: accessUnit.index))
      bytes.append(0x2C)
      if let letter = accessUnit.letter { bytes.append(letter) }
      bytes.append(0x2C)
      if let order = accessUnit.pictureOrderCount { bytes.append(decimal: Int64(order)) }
      bytes.append(0x2C)
      bytes.append(decimal: Int64(clamping: accessUnit.size))
    } else {
      bytes.append("total,,,")
    }
    let bits = statistics.bits
    append([statistics.sliceCount, statistics.damagedSliceCount, statistics.blockCount, statistics.area])
    append([bits.header, bits.prediction, bits.motion, bits.luma, bits.chroma])
    append(statistics.qp)
    append(statistics.codedQP)
    append(statistics.kindAreas, count: StatisticsNames.kinds().count)
    append(statistics.sizeAreas, count: StatisticsNames.sizes().count)
    append(statistics.partitionAreas, count: StatisticsNames.partitions(codec).count)
    append(statistics.intraSizeAreas, count: StatisticsNames.intraSizes().count)
    append(statistics.transformAreas, count: StatisticsNames.transforms().count)
    append([statistics.vectorDifferenceCount, statistics.vectorDifferenceSum])
    append([statistics.coefficientCount, statistics.coefficientSum])
    for list in 0..<2 {
      bytes.append(0x2C)
      append(list: statistics.referenceAreas(ofList: list).map { Int64(clamping: $0) })
    }
    bytes.append(0x2C)
    for (index, entry) in statistics.referenceDistances.entries.enumerated() {
      if index > 0 { bytes.append(0x20) }
      bytes.append(decimal: Int64(entry.distance))
      bytes.append(0x3A)
      bytes.append(decimal: Int64(clamping: entry.area))
    }
    bytes.append(0x0A)
  }

  private mutating func append(_ numbers: [UInt64]) {
    for number in numbers {
      bytes.append(0x2C)
      bytes.append(decimal: Int64(clamping: number))
    }
  }

  private mutating func append<let size: Int>(_ areas: [size of UInt64], count: Int) {
    for index in 0..<min(size, count) {
      bytes.append(0x2C)
      bytes.append(decimal: Int64(clamping: areas[index]))
    }
  }

  private mutating func append(_ qp: QPDistribution) {
    guard qp.area > 0 else { return bytes.append(",,,,") }
    bytes.append(0x2C)
    bytes.append(thousandths: qp.average)
    bytes.append(0x2C)
    bytes.append(thousandths: qp.deviation)
    bytes.append(0x2C)
    bytes.append(decimal: Int64(qp.minimum))
    bytes.append(0x2C)
    bytes.append(decimal: Int64(qp.maximum))
  }

  /// Numbers with spaces between them: a field.
  private mutating func append(list numbers: [Int64]) {
    for (index, number) in numbers.enumerated() {
      if index > 0 { bytes.append(0x20) }
      bytes.append(decimal: number)
    }
  }

  // MARK: Blocks

  private mutating func appendBlockNames() {
    bytes.append("accessUnit,x,y,size,type,partition,field,qp,cbQP,crQP,transform,references0,references1,")
    bytes.append("vectorDifferences,vectorDifferenceSum,coefficients,coefficientSum,firstBit,")
    bytes.append("headerBits,predictionBits,motionBits,lumaBits,chromaBits\n")
  }

  private mutating func append(_ block: borrowing BlockRecord, _ accessUnit: UInt64) {
    bytes.append(decimal: Int64(clamping: accessUnit))
    append([UInt64(block.x), UInt64(block.y), UInt64(block.size)])
    bytes.append(0x2C)
    bytes.append(block.kind.name)
    bytes.append(0x2C)
    bytes.append(block.partition.name)
    bytes.append(0x2C)
    bytes.append(decimal: block.isField ? 1 : 0)
    for qp in [block.lumaQP, block.cbQP, block.crQP] {
      bytes.append(0x2C)
      bytes.append(decimal: Int64(qp))
    }
    append([UInt64(block.transformSize)])
    for list in 0..<2 {
      bytes.append(0x2C)
      append(list: block.references(ofList: list).map { Int64($0) })
    }
    append([UInt64(block.vectorDifferenceCount), UInt64(block.vectorDifferenceSum)])
    append([UInt64(block.coefficientCount), UInt64(block.coefficientSum), UInt64(clamping: block.firstBit)])
    let bits = block.bits
    append([bits.header, bits.prediction, bits.motion, bits.luma, bits.chroma].map { UInt64($0) })
    bytes.append(0x0A)
  }
}
