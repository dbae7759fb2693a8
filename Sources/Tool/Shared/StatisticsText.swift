// SPDX-License-Identifier: MPL-2.0
import Containers
import H26x
import Slices
import StreamReport

/// Statistics and blocks as text.
enum StatisticsText {
  /// Indented lines.
  static func lines(_ statistics: PictureStatistics) -> String {
    let noun = statistics.codec == .h264 ? "macroblock" : "coding unit"
    var text = "  \(Text.count(Int(clamping: statistics.sliceCount), "slice")), "
    text += Text.count(Int(clamping: statistics.blockCount), noun)
    if statistics.damagedSliceCount > 0 {
      text += ", \(Text.count(Int(clamping: statistics.damagedSliceCount), "slice")) not read to the end"
    }
    text += "\n"
    let area = statistics.area
    text += line("kinds", shares(StatisticsNames.kinds(), statistics.kindAreas, of: area))
    if statistics.qp.area > 0 {
      text += "  QP \(values(statistics.qp))"
      if statistics.codedQP.area > 0, statistics.codedQP != statistics.qp {
        text += ", without skipped blocks \(values(statistics.codedQP))"
      }
      text += "\n"
    }
    let bits = statistics.bits
    text += "  bits: header \(bits.header), prediction \(bits.prediction), motion \(bits.motion), luma \(bits.luma), "
    text += "chroma \(bits.chroma)\n"
    if statistics.codec == .h265 {
      text += line("sizes", squares(StatisticsNames.sizes(), statistics.sizeAreas, of: area))
    }
    text += line("intra", squares(StatisticsNames.intraSizes(), statistics.intraSizeAreas, of: area))
    text += line(
      "partitions", shares(StatisticsNames.partitions(statistics.codec), statistics.partitionAreas, of: area))
    text += line("transforms", squares(StatisticsNames.transforms(), statistics.transformAreas, of: area))
    for list in 0..<2 {
      let areas = statistics.referenceAreas(ofList: list)
      let parts = areas.enumerated().map { "index \($0) \(share($1, of: area))" }
      text += line("references of list \(list)", parts)
    }
    text += line(
      "references by POC distance",
      statistics.referenceDistances.entries.map { "\($0.distance) \(share($0.area, of: area))" })
    if statistics.vectorDifferenceCount > 0 {
      let average = Double(statistics.vectorDifferenceSum) / Double(statistics.vectorDifferenceCount)
      text += "  \(Text.count(Int(clamping: statistics.vectorDifferenceCount), "vector difference")), "
      text += "\(Text.fixed(average, 2)) quarter samples on average\n"
    }
    text += "  \(Text.count(Int(clamping: statistics.coefficientCount), "coefficient")), "
    return text + "sum of magnitudes \(statistics.coefficientSum)\n"
  }

  private static func line(_ name: String, _ parts: [String]) -> String {
    parts.isEmpty ? "" : "  \(name): \(parts.joined(separator: ", "))\n"
  }

  private static func shares<let count: Int>(
    _ names: [StaticString], _ areas: [count of UInt64], of area: UInt64, name: (String) -> String = { $0 }
  ) -> [String] {
    areas.indices.filter { areas[$0] > 0 && $0 < names.count }
      .map { "\(name("\(names[$0])")) \(share(areas[$0], of: area))" }
  }

  /// Shares of square blocks.
  private static func squares<let count: Int>(
    _ names: [StaticString], _ areas: [count of UInt64], of area: UInt64
  ) -> [String] {
    shares(names, areas, of: area) { "\($0)x\($0)" }
  }

  private static func share(_ part: UInt64, of area: UInt64) -> String {
    "\(Text.fixed(area > 0 ? 100 * Double(part) / Double(area) : 0, 1)) %"
  }

  /// "27.512 ± 1.204, 20 to 33".
  private static func values(_ qp: QPDistribution) -> String {
    "\(Text.fixed(Double(qp.average) / 1000, 3)) ± \(Text.fixed(Double(qp.deviation) / 1000, 3)), "
      + "\(qp.minimum) to \(qp.maximum)"
  }

  /// An indented line for each block.
  static func lines(_ blocks: [BlockRecord]) -> String {
    var text = ""
    for block in blocks {
      text += "  \(block.x),\(block.y) \(block.size)x\(block.size) \(block.kind.name)"
      if block.partition != .whole { text += " \(block.partition.name)" }
      if block.isField { text += " field" }
      if block.kind != .pcm { text += ", QP \(block.lumaQP) \(block.cbQP) \(block.crQP)" }
      for list in 0..<2 {
        let references = block.references(ofList: list)
        guard !references.isEmpty else { continue }
        text += ", list \(list): \(references.map { $0 < 0 ? "-" : "\($0)" }.joined(separator: " "))"
      }
      if block.vectorDifferenceCount > 0 {
        text += ", \(Text.count(Int(block.vectorDifferenceCount), "vector difference")) of \(block.vectorDifferenceSum)"
      }
      if block.coefficientCount > 0 { text += ", \(Text.count(Int(block.coefficientCount), "coefficient"))" }
      text += ", \(Text.count(Int(block.bits.total), "bit")) at \(block.firstBit)\n"
    }
    return text
  }
}
