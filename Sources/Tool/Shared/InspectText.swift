// SPDX-License-Identifier: MPL-2.0
import Containers
import H26x
import StreamReport

/// Report items as text.
enum InspectText {
  static func text(_ item: ReportItem) -> String {
    switch item {
    case .stream(let stream): line(stream)
    case .parameterSet(let set): line(set)
    case .accessUnit(let accessUnit): lines(accessUnit)
    case .finding(let finding): "  " + line(finding) + "\n"
    case .summary(let summary): lines(summary)
    }
  }

  /// One line: severity, rule, found and expected values.
  static func line(_ finding: Finding) -> String {
    // Rules that the Recommendation does not have, such as a container's, have no clause.
    let clause = "\(finding.clause)" == "-" ? "" : " (\(finding.clause))"
    return "\(finding.rule.severity.name): \(finding.rule.name)\(clause): \(string(finding.found)); "
      + "expected \(string(finding.expected))"
  }

  private static func line(_ stream: StreamRecord) -> String {
    var text = "\(stream.codec.name), \(name(stream.container))"
    if let coding = stream.coding { text += " \(coding.name)" }
    if let track = stream.track { text += ", track \(track)" }
    if let timescale = stream.timescale { text += ", \(timescale) ticks a second" }
    if let size = stream.size { text += ", \(size) bytes" }
    return text + "\n"
  }

  private static func name(_ container: StreamRecord.Container) -> String {
    switch container {
    case .annexB: "byte stream"
    case .mp4: "MP4"
    case .matroska: "Matroska"
    case .mpegTS: "MPEG-TS"
    case .flv: "FLV"
    case .avi: "AVI"
    case .other: "another container"
    }
  }

  private static func line(_ set: ParameterSetRecord) -> String {
    var text = "\(set.nalUnit.name) \(set.nalUnit.parameterSetID.map { "\($0)" } ?? "?")"
    text += set.isReplacement ? " changed" : " new"
    if set.isOutOfBand { text += " (container)" }
    if let format = set.format {
      text += ": \(format.width)x\(format.height)"
      if let profile = format.profile { text += ", \(profile)" }
      if let level = format.level { text += " level \(level)" }
      text += ", \(format.bitDepth) bit"
      if let rate = format.frameRate {
        let decimal = Text.fixed(Double(rate.numerator) / Double(rate.denominator), 3)
        text += ", \(rate.denominator == 1 ? "\(rate.numerator)" : decimal) frames a second"
      }
    }
    return text + "\n"
  }

  private static func lines(_ accessUnit: AccessUnitRecord) -> String {
    var text = "access unit \(accessUnit.index) at \(accessUnit.offset), \(accessUnit.size) bytes"
    if let letter = accessUnit.letter { text += ", \(Character(Unicode.Scalar(letter)))" }
    if accessUnit.keyframe != .none { text += " keyframe (\(accessUnit.keyframe))" }
    if accessUnit.isField {
      text += accessUnit.isFieldPair ? " field pair" : accessUnit.isSecondField ? " second field" : " field"
    }
    if let order = accessUnit.pictureOrderCount { text += ", POC \(order)" }
    if let sample = accessUnit.sample { text += ", PTS \(sample.pts)" + (sample.dts.map { " DTS \($0)" } ?? "") }
    if let value = accessUnit.quantizationParameter { text += ", QP \(value)" }
    if !accessUnit.references.isEmpty {
      text += ", refers to \(accessUnit.references.map { "\($0)" }.joined(separator: " "))"
    }
    text += "\n"
    if let statistics = accessUnit.statistics {
      // Without NAL units: a picture may have hundreds.
      return text + StatisticsText.lines(statistics) + StatisticsText.lines(accessUnit.blocks)
    }
    for nalUnit in accessUnit.nalUnits {
      text += "  \(nalUnit.offset)  \(nalUnit.name) (\(nalUnit.type)), \(nalUnit.size) bytes"
      if let layer = nalUnit.layerID, layer > 0 { text += ", layer \(layer)" }
      if let id = nalUnit.parameterSetID { text += ", id \(id)" }
      if let slice = nalUnit.slice {
        text += ", \(Character(Unicode.Scalar(slice.letter))) from \(slice.first)"
        if let value = slice.quantizationParameter { text += ", QP \(value)" }
      }
      if !nalUnit.messages.isEmpty {
        let names = nalUnit.messages.map { SEIText.name($0, isH264: nalUnit.referenceIDC != nil) }
        text += ", \(names.joined(separator: ", "))"
      }
      if let error = nalUnit.error { text += ", cannot be read: \(error)" }
      text += "\n" + SEIText.lines(nalUnit.fields)
    }
    return text
  }

  private static func lines(_ summary: SummaryRecord) -> String {
    var text = "\(Text.count(Int(clamping: summary.accessUnits), "access unit")) (\(summary.intra) I, "
    text += "\(summary.predicted) P, \(summary.bidirectional) B), "
    text += "\(Text.count(Int(clamping: summary.keyframes), "keyframe")), \(summary.bytes) bytes, "
    text += "\(Text.count(summary.reorder, "frame")) out of order at most\n"
    for type in summary.nalUnits.indices where summary.nalUnits[type] > 0 {
      text += "  \(summary.names[type]) (\(type)): \(summary.nalUnits[type]), \(summary.nalUnitBytes[type]) bytes\n"
    }
    text += "\(counts(summary))\n"
    guard let statistics = summary.statistics else { return text }
    return text + "total\n" + StatisticsText.lines(statistics)
  }

  /// "2 errors, 1 warning, 0 notes".
  static func counts(_ summary: SummaryRecord) -> String {
    Finding.Severity.allCases.map { Text.count(Int(clamping: summary.count(of: $0)), "\($0.name)") }
      .joined(separator: ", ")
  }

  /// How much slice data was read, and what was skipped.
  static func line(_ totals: SliceDataTotals) -> String {
    func slices(_ count: UInt64) -> String { Text.count(Int(clamping: count), "slice") }
    let blocks = Text.count(Int(clamping: totals.blocks), "block")
    var text = "\(slices(totals.slices)) read to the last bit (\(blocks), \(totals.bits) bits)"
    if totals.damaged > 0 { text += ", \(totals.damaged) damaged" }
    let reasons: [(UInt64, String)] = [
      (totals.otherLayers, "of other layers"), (totals.unreadableHeaders, "with unreadable headers"),
      (totals.dependentSegments, "that depend on damaged ones"), (totals.unsupported, "that are not supported"),
    ]
    let skipped = reasons.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    if !skipped.isEmpty { text += "; \(slices(totals.skipped)) skipped: \(skipped.joined(separator: ", "))" }
    if totals.withoutPartitions > 0 { text += "; \(totals.withoutPartitions) without data partition B or C" }
    return text
  }

  static func string(_ text: ReportText) -> String { Terminal.printable(String(decoding: text.bytes, as: UTF8.self)) }
}
