// SPDX-License-Identifier: MPL-2.0
import H26x

/// Files with the HDR10+ metadata of each picture.
package enum HDR10PlusFile: Sendable {
  /// A JSON document, as hdr10plus_tool and x265 read and write it. It has the usual syntax elements only.
  case document
  /// A JSON object a line, with all syntax elements.
  case lines

  /// The format that a file name's suffix means.
  package init(fileName: [UInt8]) {
    let suffix: [UInt8] = Array(fileName.suffix(6)).map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }
    self = EditText.isEqual(suffix[...], ".jsonl") ? .lines : .document
  }

  /// Reads a file.
  ///
  /// - Returns: the payloads of SEI messages; one for each picture.
  /// - Throws: for a file that is cut off, is no such file, or has values that the syntax elements have no room for.
  package func messages(_ source: consuming some ByteSource) throws(MetadataFileError) -> PictureMessageStore {
    var reader = JSONReader(source)
    var store = PictureMessageStore()
    switch self {
    case .document: try Document.read(&reader, into: &store)
    case .lines: try Lines.read(&reader, into: &store)
    }
    guard store.count > 0 else {
      throw reader.error("no picture", expected: self == .lines ? "an object for each picture" : "SceneInfo")
    }
    return store
  }

  fileprivate static func add(
    _ metadata: HDR10PlusMetadata, to store: inout PictureMessageStore, _ reader: borrowing JSONReader
  ) throws(MetadataFileError) {
    let payload: [UInt8]
    do throws(BitstreamError) { payload = try metadata.userData().payload } catch {
      throw reader.error(ReportText(error), expected: "metadata that the syntax has room for")
    }
    guard store.append(payload) else {
      throw reader.error("a message of \(payload.count) bytes", expected: "fewer")
    }
  }
}

/// The most values of syntax elements with these numbers of bits.
private enum Limit {
  static let (percentage, luminance, target): (Int64, Int64, Int64) = (1 << 7 - 1, 1 << 17 - 1, 1 << 27 - 1)
  static let (fraction, knee, anchor, weight): (Int64, Int64, Int64, Int64) = (
    1 << 10 - 1, 1 << 12 - 1, 1 << 10 - 1, 1 << 6 - 1
  )
  /// Percentiles, and anchors of a curve.
  static let count = 15
}

// MARK: The document

extension HDR10PlusFile {
  /// Reads the document of hdr10plus_tool.
  private struct Document {
    private var version: UInt8 = 1
    private var hasScenes = false

    static func read(
      _ reader: inout JSONReader, into store: inout PictureMessageStore
    ) throws(MetadataFileError) {
      var (document, messages) = (Document(), PictureMessageStore())
      try reader.object(
        ["JSONInfo", "SceneInfo", "SceneInfoSummary", "ToolInfo"]
      ) { reader, member throws(MetadataFileError) in
        switch member {
        case 0: try document.readInfo(&reader)
        case 1: try document.readScenes(&reader, into: &messages)
        default: try reader.skip()
        }
      }
      guard document.hasScenes else { throw reader.error("no SceneInfo", expected: "the JSON of hdr10plus_tool") }
      reader.picture = nil
      guard try reader.next() == .end else { throw reader.error("more text", expected: "the end of the file") }
      store = messages
    }

    private mutating func readInfo(_ reader: inout JSONReader) throws(MetadataFileError) {
      var version = version
      try reader.object(["Version", "HDR10plusProfile"]) { reader, member throws(MetadataFileError) in
        guard member == 0 else { return try reader.skip() }
        let text = try reader.string("Version")
        guard let first = text.first, first == 0x30 || first == 0x31, text.count == 1 || text[1] == 0x2E else {
          throw reader.error("Version \(ReportText(bytes: text))", expected: "0.0 or 1.0")
        }
        version = first - 0x30
      }
      guard version == self.version || !hasScenes else {
        throw reader.error("Version \(version).0 behind SceneInfo", expected: "JSONInfo in front of it")
      }
      self.version = version
    }

    private mutating func readScenes(
      _ reader: inout JSONReader, into store: inout PictureMessageStore
    ) throws(MetadataFileError) {
      hasScenes = true
      let version = version
      var messages = PictureMessageStore()
      var next: Int64?
      try reader.array("SceneInfo") { reader throws(MetadataFileError) in
        reader.picture = messages.count
        var picture = Picture(version)
        try picture.read(&reader)
        let index = picture.index ?? next ?? 0
        if let next, index != next { throw reader.error("SequenceFrameIndex \(index)", expected: "\(next)") }
        next = index &+ 1
        try HDR10PlusFile.add(picture.metadata, to: &messages, reader)
      }
      store = messages
    }
  }

  /// An element of `SceneInfo`.
  private struct Picture {
    private(set) var metadata: HDR10PlusMetadata
    /// `SequenceFrameIndex`.
    private(set) var index: Int64?
    private var window = HDR10PlusMetadata.Window()

    init(_ version: UInt8) { metadata = HDR10PlusMetadata(version: version) }

    mutating func read(_ reader: inout JSONReader) throws(MetadataFileError) {
      var picture = self
      var (hasLuminance, hasWindows, hasTarget) = (false, false, false)
      try reader.object([
        "BezierCurveData", "LuminanceParameters", "NumberOfWindows", "TargetedSystemDisplayMaximumLuminance",
        "SequenceFrameIndex", "SceneFrameIndex", "SceneId",
      ]) { reader, member throws(MetadataFileError) in
        switch member {
        case 0: picture.window.toneMapping = try Self.curve(&reader)
        case 1:
          try picture.readLuminance(&reader)
          hasLuminance = true
        case 2:
          let count = try reader.number("NumberOfWindows", in: 1...3)
          guard count == 1 else {
            throw reader.error("NumberOfWindows \(count), without members of the others", expected: "1")
          }
          hasWindows = true
        case 3:
          picture.metadata.targetedMaximumLuminance = UInt32(
            truncatingIfNeeded: try reader.number("TargetedSystemDisplayMaximumLuminance", in: 0...Limit.target))
          hasTarget = true
        case 4: picture.index = try reader.number("SequenceFrameIndex", in: 0...Int64(UInt32.max))
        default: try reader.skip()
        }
      }
      guard hasLuminance else { throw reader.error("no LuminanceParameters", expected: "them") }
      guard hasWindows else { throw reader.error("no NumberOfWindows", expected: "it") }
      guard hasTarget else { throw reader.error("no TargetedSystemDisplayMaximumLuminance", expected: "it") }
      picture.metadata.windows = [picture.window]
      self = picture
    }

    private static func curve(
      _ reader: inout JSONReader
    ) throws(MetadataFileError) -> HDR10PlusMetadata.ToneMapping? {
      var (x, y, anchors): (UInt16?, UInt16?, [UInt16]?) = (nil, nil, nil)
      let hasCurve = try reader.objectOrNull(
        ["Anchors", "KneePointX", "KneePointY"]
      ) { reader, member throws(MetadataFileError) in
        switch member {
        case 0:
          anchors = try reader.numbers("Anchors", in: 0...Limit.anchor, limit: Limit.count).map {
            UInt16(truncatingIfNeeded: $0)
          }
        case 1: x = UInt16(truncatingIfNeeded: try reader.number("KneePointX", in: 0...Limit.knee))
        default: y = UInt16(truncatingIfNeeded: try reader.number("KneePointY", in: 0...Limit.knee))
        }
      }
      guard hasCurve else { return nil }
      guard let x, let y, let anchors else {
        throw reader.error("an incomplete curve", expected: "Anchors, KneePointX and KneePointY")
      }
      return HDR10PlusMetadata.ToneMapping(kneePointX: x, kneePointY: y, anchors: anchors)
    }

    private mutating func readLuminance(_ reader: inout JSONReader) throws(MetadataFileError) {
      var window = window
      var (hasAverage, hasMaxima, hasDistribution) = (false, false, false)
      try reader.object(
        ["AverageRGB", "LuminanceDistributions", "MaxScl"]
      ) { reader, member throws(MetadataFileError) in
        switch member {
        case 0:
          window.averageMaximum = UInt32(
            truncatingIfNeeded: try reader.number("AverageRGB", in: 0...Limit.luminance))
          hasAverage = true
        case 1:
          window.distribution = try Self.distribution(&reader)
          hasDistribution = true
        default:
          window.maximumComponents = try HDR10PlusFile.maxima("MaxScl", &reader)
          hasMaxima = true
        }
      }
      guard hasAverage, hasMaxima, hasDistribution else {
        throw reader.error(
          "incomplete LuminanceParameters", expected: "AverageRGB, LuminanceDistributions and MaxScl")
      }
      self.window = window
    }

    private static func distribution(
      _ reader: inout JSONReader
    ) throws(MetadataFileError) -> [HDR10PlusMetadata.Percentile] {
      var (percentages, values): ([Int64], [Int64]) = ([], [])
      try reader.object(
        ["DistributionIndex", "DistributionValues"]
      ) { reader, member throws(MetadataFileError) in
        if member == 0 {
          percentages = try reader.numbers("DistributionIndex", in: 0...Limit.percentage, limit: Limit.count)
        } else {
          values = try reader.numbers("DistributionValues", in: 0...Limit.luminance, limit: Limit.count)
        }
      }
      return try HDR10PlusFile.distribution(percentages, values, reader)
    }
  }

  fileprivate static func maxima(
    _ name: StaticString, _ reader: inout JSONReader
  ) throws(MetadataFileError) -> [UInt32] {
    let maxima = try reader.numbers(name, in: 0...Limit.luminance, limit: 3)
    guard maxima.count == 3 else { throw reader.error("\(maxima.count) numbers in \(name)", expected: "3") }
    return maxima.map { UInt32(truncatingIfNeeded: $0) }
  }

  fileprivate static func distribution(
    _ percentages: [Int64], _ values: [Int64], _ reader: borrowing JSONReader
  ) throws(MetadataFileError) -> [HDR10PlusMetadata.Percentile] {
    guard percentages.count == values.count else {
      throw reader.error(
        "\(percentages.count) percentages, \(values.count) percentiles", expected: "as many of both")
    }
    return zip(percentages, values).map {
      HDR10PlusMetadata.Percentile(
        percentage: UInt8(truncatingIfNeeded: $0), luminance: UInt32(truncatingIfNeeded: $1))
    }
  }
}

// MARK: Lines

extension HDR10PlusFile {
  /// Reads an object for each picture.
  private enum Lines {
    static func read(_ reader: inout JSONReader, into store: inout PictureMessageStore) throws(MetadataFileError) {
      while !reader.isAtEnd() {
        reader.picture = store.count
        let metadata = try picture(&reader, store.count)
        try HDR10PlusFile.add(metadata, to: &store, reader)
      }
    }

    private static func picture(
      _ reader: inout JSONReader, _ number: Int
    ) throws(MetadataFileError) -> HDR10PlusMetadata {
      var metadata = HDR10PlusMetadata(windows: [])
      var (hasVersion, hasTarget) = (false, false)
      try reader.object(HDR10PlusFile.names) { reader, member throws(MetadataFileError) in
        switch member {
        case 0:
          let found = try reader.number("picture", in: 0...Int64(UInt32.max))
          guard found == number else { throw reader.error("picture \(found)", expected: "\(number)") }
        case 1:
          metadata.version = UInt8(truncatingIfNeeded: try reader.number("application-version", in: 0...1))
          hasVersion = true
        case 2:
          try reader.array("windows") { reader throws(MetadataFileError) in
            guard metadata.windows.count < 3 else { throw reader.error("more than 3 windows", expected: "fewer") }
            metadata.windows.append(try window(&reader, isFirst: metadata.windows.isEmpty))
          }
        case 3:
          metadata.targetedMaximumLuminance = UInt32(
            truncatingIfNeeded: try reader.number(
              "targeted-system-display-maximum-luminance", in: 0...Limit.target))
          hasTarget = true
        case 4: metadata.targetedPeakLuminance = try peaks(&reader)
        case 5: metadata.masteringPeakLuminance = try peaks(&reader)
        default:
          let text = try reader.string("trailing-bits")
          guard text.allSatisfy({ $0 == 0x30 || $0 == 0x31 }) else {
            throw reader.error("trailing-bits", expected: "0s and 1s")
          }
          metadata.trailingBits = UnreadBits(text.map { $0 == 0x31 })
        }
      }
      guard hasVersion, hasTarget, !metadata.windows.isEmpty else {
        throw reader.error(
          "an incomplete object",
          expected: "application-version, windows and targeted-system-display-maximum-luminance")
      }
      return metadata
    }

    private static func window(
      _ reader: inout JSONReader, isFirst: Bool
    ) throws(MetadataFileError) -> HDR10PlusMetadata.Window {
      var window = HDR10PlusMetadata.Window()
      var region = RegionMembers()
      var (hasMaxima, hasAverage) = (false, false)
      var (percentages, values): ([Int64], [Int64]) = ([], [])
      var (knee, anchors): ([Int64]?, [Int64]?) = (nil, nil)
      let names = HDR10PlusFile.windowNames + HDR10PlusFile.pointNames + HDR10PlusFile.regionNames
      try reader.object(names) { reader, member throws(MetadataFileError) in
        switch member {
        case 0:
          window.maximumComponents = try HDR10PlusFile.maxima("maxscl", &reader)
          hasMaxima = true
        case 1:
          window.averageMaximum = UInt32(
            truncatingIfNeeded: try reader.number("average-maxrgb", in: 0...Limit.luminance))
          hasAverage = true
        case 2:
          percentages = try reader.numbers(
            "distribution-maxrgb-percentages", in: 0...Limit.percentage, limit: Limit.count)
        case 3:
          values = try reader.numbers(
            "distribution-maxrgb-percentiles", in: 0...Limit.luminance, limit: Limit.count)
        case 4:
          window.fractionBrightPixels = UInt16(
            truncatingIfNeeded: try reader.number("fraction-bright-pixels", in: 0...Limit.fraction))
        case 5: knee = try reader.pair("knee-point", in: 0...Limit.knee)
        case 6: anchors = try reader.numbers("bezier-curve-anchors", in: 0...Limit.anchor, limit: Limit.count)
        case 7:
          window.colourSaturationWeight = UInt8(
            truncatingIfNeeded: try reader.number("color-saturation-weight", in: 0...Limit.weight))
        default: try region.read(member - HDR10PlusFile.windowNames.count, &reader)
        }
      }
      guard hasMaxima, hasAverage else {
        throw reader.error("an incomplete window", expected: "maxscl and average-maxrgb")
      }
      window.distribution = try HDR10PlusFile.distribution(percentages, values, reader)
      if let knee {
        window.toneMapping = HDR10PlusMetadata.ToneMapping(
          kneePointX: UInt16(truncatingIfNeeded: knee[0]), kneePointY: UInt16(truncatingIfNeeded: knee[1]),
          anchors: (anchors ?? []).map { UInt16(truncatingIfNeeded: $0) })
      } else if anchors != nil {
        throw reader.error("bezier-curve-anchors without knee-point", expected: "both")
      }
      if !isFirst { window.region = try region.region(reader) }
      return window
    }

    private static func peaks(
      _ reader: inout JSONReader
    ) throws(MetadataFileError) -> HDR10PlusMetadata.PeakLuminance? {
      var (rows, columns, values): (Int64, Int64, [Int64]) = (0, 0, [])
      let hasPeaks = try reader.objectOrNull(
        ["rows", "columns", "values"]
      ) { reader, member throws(MetadataFileError) in
        switch member {
        case 0: rows = try reader.number("rows", in: 0...31)
        case 1: columns = try reader.number("columns", in: 0...31)
        default: values = try reader.numbers("values", in: 0...15, limit: 31 * 31)
        }
      }
      guard hasPeaks else { return nil }
      guard Int64(values.count) == rows * columns else {
        throw reader.error("\(values.count) values", expected: "\(rows * columns)")
      }
      return HDR10PlusMetadata.PeakLuminance(
        rows: UInt8(truncatingIfNeeded: rows), columns: UInt8(truncatingIfNeeded: columns),
        values: values.map { UInt8(truncatingIfNeeded: $0) })
    }
  }

  /// The members of a window's region.
  private struct RegionMembers {
    private var points: [[Int64]?] = [nil, nil, nil]
    private var numbers: [Int64?] = [nil, nil, nil, nil, nil]

    /// Reads a member.
    ///
    /// - Parameter member: the index of its name, of the points first.
    mutating func read(_ member: Int, _ reader: inout JSONReader) throws(MetadataFileError) {
      if points.indices.contains(member) {
        points[member] = try reader.pair(HDR10PlusFile.pointNames[member], in: 0...0xFFFF)
      } else {
        let index = member - points.count
        numbers[index] = try reader.number(
          HDR10PlusFile.regionNames[index], in: 0...(index == 0 ? 0xFF : index == 4 ? 1 : 0xFFFF))
      }
    }

    func region(_ reader: borrowing JSONReader) throws(MetadataFileError) -> HDR10PlusMetadata.Region {
      guard let upperLeft = points[0], let lowerRight = points[1], let centre = points[2], let angle = numbers[0],
        let inner = numbers[1], let outer = numbers[2], let minor = numbers[3], let isLayered = numbers[4]
      else { throw reader.error("a second window without all members of its region", expected: "them") }
      func point(_ pair: [Int64]) -> HDR10PlusMetadata.Point {
        HDR10PlusMetadata.Point(x: UInt16(truncatingIfNeeded: pair[0]), y: UInt16(truncatingIfNeeded: pair[1]))
      }
      return HDR10PlusMetadata.Region(
        upperLeft: point(upperLeft), lowerRight: point(lowerRight), centre: point(centre),
        rotationAngle: UInt8(truncatingIfNeeded: angle), internalSemimajorAxis: UInt16(truncatingIfNeeded: inner),
        externalSemimajorAxis: UInt16(truncatingIfNeeded: outer),
        externalSemiminorAxis: UInt16(truncatingIfNeeded: minor), isLayered: isLayered == 1)
    }
  }

  /// The members of a picture.
  static let names: [StaticString] = [
    "picture", "application-version", "windows", "targeted-system-display-maximum-luminance",
    "targeted-system-display-actual-peak-luminance", "mastering-display-actual-peak-luminance", "trailing-bits",
  ]
  /// The members of a window.
  static let windowNames: [StaticString] = [
    "maxscl", "average-maxrgb", "distribution-maxrgb-percentages", "distribution-maxrgb-percentiles",
    "fraction-bright-pixels", "knee-point", "bezier-curve-anchors", "color-saturation-weight",
  ]
  /// The points of a window but the first.
  static let pointNames: [StaticString] = [
    "window-upper-left-corner", "window-lower-right-corner", "center-of-ellipse",
  ]
  /// The numbers of a window but the first.
  static let regionNames: [StaticString] = [
    "rotation-angle", "semimajor-axis-internal-ellipse", "semimajor-axis-external-ellipse",
    "semiminor-axis-external-ellipse", "overlap-process-option",
  ]
}

extension JSONReader {
  /// Reads an array of two numbers.
  fileprivate mutating func pair(
    _ name: StaticString, in range: ClosedRange<Int64>
  ) throws(MetadataFileError) -> [Int64] {
    let numbers = try numbers(name, in: range, limit: 2)
    guard numbers.count == 2 else { throw error("\(numbers.count) numbers in \(name)", expected: "2") }
    return numbers
  }
}
