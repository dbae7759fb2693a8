// SPDX-License-Identifier: MPL-2.0
import H26x

/// Writes report items as JSON, one object a line. `Sources/Inspector/SCHEMA.md` describes it.
public struct JSONLines: Sendable {
  /// The version of the document. It changes when a member is removed or changes its meaning.
  public static let schema = 1

  /// The UTF-8 that was written and not taken yet.
  public private(set) var bytes: [UInt8] = []

  /// Creates a writer.
  public init() {}

  /// Returns the bytes written, and empties ``bytes``.
  public mutating func take() -> [UInt8] {
    var taken: [UInt8] = []
    taken.reserveCapacity(bytes.count)
    swap(&taken, &bytes)
    return taken
  }

  /// Writes an item as a line that ends with a line feed. A line for each of its blocks follows an access unit.
  public mutating func append(_ item: ReportItem) {
    var json = JSONText()
    swap(&json.bytes, &bytes)
    json.open()
    switch item {
    case .stream(let record): json.write(record)
    case .parameterSet(let record): json.write(record)
    case .accessUnit(let record): json.write(record)
    case .finding(let finding): json.write(finding)
    case .summary(let record): json.write(record)
    }
    json.close()
    json.endLine()
    if case .accessUnit(let record) = item {
      for block in record.blocks {
        json.open()
        json.write(block, accessUnit: record.index)
        json.close()
        json.endLine()
      }
    }
    swap(&json.bytes, &bytes)
  }
}

extension JSONText {
  fileprivate mutating func write(_ record: StreamRecord) {
    member("kind", "stream")
    member("schema", JSONLines.schema)
    member("codec", record.codec == .h264 ? "h264" : "h265")
    member("container", record.container.name)
    member("size", record.size)
    member("timescale", record.timescale)
    member("track", record.track)
    if let coding = record.coding { member("coding", string: coding.name) }
    member("rotation", record.rotation)
    member("lengthSize", record.lengthSize)
  }

  fileprivate mutating func write(_ record: ParameterSetRecord) {
    member("kind", "parameterSet")
    member("accessUnit", record.accessUnit)
    if record.isOutOfBand { member("outOfBand", true) }
    if record.isReplacement { member("replaces", true) }
    members(record.nalUnit)
    guard let format = record.format else { return }
    key("format")
    open()
    member("width", format.width)
    member("height", format.height)
    member("codedWidth", format.codedWidth)
    member("codedHeight", format.codedHeight)
    if let profile = format.profile { member("profile", string: profile) }
    if let level = format.level { member("level", string: level) }
    if let tier = format.tier { member("tier", string: tier) }
    member("chromaFormat", format.chromaFormat)
    member("bitDepth", format.bitDepth)
    if let rate = format.frameRate {
      member("frameRate", rate.numerator)
      member("frameRateDivisor", rate.denominator)
    }
    member("maximumBitRate", format.maximumBitRate)
    member("decodedPictureBuffer", format.decodedPictureBuffer)
    member("reorder", format.reorder)
    close()
  }

  fileprivate mutating func write(_ record: AccessUnitRecord) {
    member("kind", "accessUnit")
    member("index", record.index)
    member("offset", record.offset)
    member("size", record.size)
    if let sample = record.sample {
      member("pts", sample.pts)
      member("dts", sample.dts)
      member("duration", sample.duration)
      if let isSync = sample.isSync { member("sync", isSync) }
    }
    if let letter = record.letter { member("type", letterName(letter)) }
    if record.keyframe != .none { member("keyframe", record.keyframe.name) }
    member("reference", record.isReference)
    if record.isField { member("field", record.isFieldPair ? "pair" : record.isSecondField ? "second" : "first") }
    member("sequence", record.sequence)
    member("poc", record.pictureOrderCount)
    member("qp", record.quantizationParameter)
    if !record.references.isEmpty {
      openArray("references")
      for order in record.references { value(Int64(order)) }
      closeArray()
    }
    member("dpb", record.decodedPictures)
    member("cpb", record.bufferFullness)
    member("cpbSize", record.bufferSize)
    if let statistics = record.statistics { member(statistics) }
    openArray("nalUnits")
    for unit in record.nalUnits {
      open()
      members(unit)
      close()
    }
    closeArray()
  }

  private mutating func members(_ unit: NALUnitRecord) {
    member("offset", unit.offset)
    member("prefix", unit.prefix)
    member("size", unit.size)
    member("type", unit.type)
    member("name", unit.name)
    member("refIdc", unit.referenceIDC)
    if let layer = unit.layerID, layer > 0 { member("layer", layer) }
    member("temporalId", unit.temporalID)
    member("id", unit.parameterSetID)
    if let slice = unit.slice {
      key("slice")
      open()
      member("type", letterName(slice.letter))
      member("first", slice.first)
      member("qp", slice.quantizationParameter)
      member("pps", slice.pictureParameterSetID.rawValue)
      member("frameNum", slice.frameNumber)
      close()
    }
    if !unit.messages.isEmpty {
      openArray("messages")
      for type in unit.messages { value(Int64(type)) }
      closeArray()
    }
    if let error = unit.error { member("error", text: ReportText(error)) }
    if !unit.fields.isEmpty {
      openArray("fields")
      for field in unit.fields {
        open(0x5B)
        value(field.name)
        value(field.value)
        value(Int64(field.bitOffset))
        value(Int64(field.bitCount))
        if let meaning = field.meaning { value(text: meaning) }
        closeArray()
      }
      closeArray()
    }
    if !unit.bytes.isEmpty { member("bytes", hex: unit.bytes) }
  }

  fileprivate mutating func write(_ finding: Finding) {
    member("kind", "finding")
    member("severity", finding.rule.severity.name)
    member("rule", finding.rule.name)
    member("clause", finding.clause)
    member("accessUnit", finding.accessUnit)
    member("offset", finding.offset)
    if let place = finding.slicePlace {
      member("slice", place.slice)
      member("block", place.block)
      member("bit", place.bit)
    }
    member("found", text: finding.found)
    member("expected", text: finding.expected)
    member("remedy", finding.rule.remedy)
  }

  fileprivate mutating func write(_ record: SummaryRecord) {
    member("kind", "summary")
    member("accessUnits", record.accessUnits)
    member("bytes", record.bytes)
    member("i", record.intra)
    member("p", record.predicted)
    member("b", record.bidirectional)
    member("keyframes", record.keyframes)
    member("reorder", record.reorder)
    openArray("nalUnits")
    for type in record.nalUnits.indices where record.nalUnits[type] > 0 {
      open()
      member("type", type)
      member("name", type < record.names.count ? record.names[type] : "")
      member("count", record.nalUnits[type])
      member("bytes", record.nalUnitBytes[type])
      close()
    }
    closeArray()
    for severity in Finding.Severity.allCases {
      switch severity {
      case .error: member("errors", record.count(of: severity))
      case .warning: member("warnings", record.count(of: severity))
      case .note: member("notes", record.count(of: severity))
      }
    }
    openArray("rules")
    for rule in Rule.allCases where record.findings[rule.rawValue] > 0 {
      open()
      member("rule", rule.name)
      member("severity", rule.severity.name)
      member("count", record.findings[rule.rawValue])
      close()
    }
    closeArray()
    if let totals = record.sliceData { write(totals) }
    if let statistics = record.statistics { member(statistics) }
  }

  private mutating func write(_ totals: SliceDataTotals) {
    key("sliceData")
    open()
    member("slices", totals.slices)
    member("blocks", totals.blocks)
    member("bits", totals.bits)
    member("damaged", totals.damaged)
    member("otherLayers", totals.otherLayers)
    member("unreadableHeaders", totals.unreadableHeaders)
    member("dependentSegments", totals.dependentSegments)
    member("unsupported", totals.unsupported)
    member("marked", totals.marked)
    member("withZeroWords", totals.withZeroWords)
    member("withoutPartitions", totals.withoutPartitions)
    close()
  }
}

/// `I`, `P` or `B`.
private func letterName(_ letter: UInt8) -> StaticString { letter == 0x49 ? "I" : letter == 0x42 ? "B" : "P" }
