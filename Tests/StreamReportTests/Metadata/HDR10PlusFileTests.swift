// SPDX-License-Identifier: MPL-2.0
import H26x
import TestSupport
import Testing

@testable import StreamReport

@Suite struct HDR10PlusFileTests {
  private static func window(_ random: inout SeededGenerator, isUsual: Bool) -> HDR10PlusMetadata.Window {
    var window = HDR10PlusMetadata.Window()
    window.maximumComponents = (0..<3).map { _ in .random(in: 0..<1 << 17, using: &random) }
    window.averageMaximum = .random(in: 0..<1 << 17, using: &random)
    for _ in 0..<Int.random(in: 0...15, using: &random) {
      window.distribution.append(
        .init(
          percentage: .random(in: 0..<128, using: &random), luminance: .random(in: 0..<1 << 17, using: &random)))
    }
    if Bool.random(using: &random) {
      window.toneMapping = .init(
        kneePointX: .random(in: 0..<4096, using: &random), kneePointY: .random(in: 0..<4096, using: &random),
        anchors: (0..<Int.random(in: 0...15, using: &random)).map { _ in .random(in: 0..<1024, using: &random) })
    }
    guard !isUsual else { return window }
    window.fractionBrightPixels = .random(in: 0..<1024, using: &random)
    if Bool.random(using: &random) { window.colourSaturationWeight = .random(in: 0..<64, using: &random) }
    return window
  }

  private static func peaks(_ random: inout SeededGenerator) -> HDR10PlusMetadata.PeakLuminance? {
    guard Bool.random(using: &random) else { return nil }
    let (rows, columns) = (UInt8.random(in: 0...31, using: &random), UInt8.random(in: 0...31, using: &random))
    return .init(
      rows: rows, columns: columns,
      values: (0..<Int(rows) * Int(columns)).map { _ in .random(in: 0...15, using: &random) })
  }

  private static func metadata(_ random: inout SeededGenerator, isUsual: Bool) -> HDR10PlusMetadata {
    var metadata = HDR10PlusMetadata(version: isUsual ? 1 : .random(in: 0...1, using: &random))
    metadata.windows = [window(&random, isUsual: isUsual)]
    metadata.targetedMaximumLuminance = .random(in: 0..<1 << 27, using: &random)
    guard !isUsual else { return metadata }
    func number() -> UInt16 { .random(in: 0 ... .max, using: &random) }
    for _ in 0..<Int.random(in: 0...2, using: &random) {
      var next = window(&random, isUsual: false)
      next.region = .init(
        upperLeft: .init(x: number(), y: number()), lowerRight: .init(x: number(), y: number()),
        centre: .init(x: number(), y: number()), rotationAngle: UInt8(truncatingIfNeeded: number()),
        internalSemimajorAxis: number(), externalSemimajorAxis: number(), externalSemiminorAxis: number(),
        isLayered: Bool.random(using: &random))
      metadata.windows.append(next)
    }
    metadata.targetedPeakLuminance = peaks(&random)
    metadata.masteringPeakLuminance = peaks(&random)
    metadata.trailingBits = UnreadBits(
      (0..<Int.random(in: 0...40, using: &random)).map { _ in
        Bool.random(using: &random)
      })
    return metadata
  }

  private static func append(_ message: [UInt8], to messages: inout PictureMessageStore) throws {
    let hasRoom = messages.append(message)
    try #require(hasRoom)
  }

  private static func written(_ format: HDR10PlusFile, _ messages: PictureMessageStore) -> [UInt8] {
    var file: [UInt8] = []
    format.write(messages, version: "1.2.3") { file += $0 }
    return file
  }

  /// Every message comes back bit for bit, also those that repeat the one before.
  @Test(arguments: [HDR10PlusFile.document, .lines]) func readsWhatItWrites(format: HDR10PlusFile) throws {
    var random = SeededGenerator(state: 7)
    var messages = PictureMessageStore()
    var all: [[UInt8]] = []
    for _ in 0..<300 {
      let metadata = Self.metadata(&random, isUsual: format == .document)
      #expect(format.obstacle(metadata) == nil)
      let payload = try metadata.userData().payload
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        try Self.append(payload, to: &messages)
        all.append(payload)
      }
    }
    let file = Self.written(format, messages)
    let read = try format.messages(BytesSource(file))
    #expect(read.count == all.count)
    for (picture, payload) in all.enumerated() { #expect(read.message(at: picture) == payload, "\(picture)") }
    #expect(Self.written(format, read) == file)
  }

  /// The document has the members of hdr10plus_tool, in its order.
  @Test func writesTheDocumentOfOthers() throws {
    var window = HDR10PlusMetadata.Window()
    window.maximumComponents = [7768, 6589, 6912]
    window.averageMaximum = 263
    window.distribution = [.init(percentage: 1, luminance: 0), .init(percentage: 99, luminance: 5843)]
    window.toneMapping = .init(kneePointX: 164, kneePointY: 240, anchors: [143])
    var metadata = HDR10PlusMetadata(windows: [window], targetedMaximumLuminance: 400)
    var messages = PictureMessageStore()
    try Self.append(try metadata.userData().payload, to: &messages)
    messages.repeatLast()
    metadata.targetedMaximumLuminance = 500
    try Self.append(try metadata.userData().payload, to: &messages)
    let text = String(decoding: Self.written(.document, messages).filter { $0 > 0x20 }, as: UTF8.self)
    let curve = "\"BezierCurveData\":{\"Anchors\":[143],\"KneePointX\":164,\"KneePointY\":240}"
    let luminance =
      "\"LuminanceParameters\":{\"AverageRGB\":263,\"LuminanceDistributions\":{\"DistributionIndex\":[1,99],"
      + "\"DistributionValues\":[0,5843]},\"MaxScl\":[7768,6589,6912]},\"NumberOfWindows\":1"
    func picture(_ target: Int, _ index: Int, scene: Int, _ number: Int) -> String {
      "{\(curve),\(luminance),\"TargetedSystemDisplayMaximumLuminance\":\(target),\"SceneFrameIndex\":\(index),"
        + "\"SceneId\":\(scene),\"SequenceFrameIndex\":\(number)}"
    }
    #expect(
      text == "{\"JSONInfo\":{\"HDR10plusProfile\":\"B\",\"Version\":\"1.0\"},\"SceneInfo\":["
        + [picture(400, 0, scene: 0, 0), picture(400, 1, scene: 0, 1), picture(500, 0, scene: 1, 2)]
        .joined(separator: ",")
        + "],\"SceneInfoSummary\":{\"SceneFirstFrameIndex\":[0,2],\"SceneFrameNumbers\":[2,1]},"
        + "\"ToolInfo\":{\"Tool\":\"h26x\",\"Version\":\"1.2.3\"}}")
  }

  /// A name that an object has twice is refused at its line, as hdr10plus_tool refuses it. Unknown names may come twice.
  @Test(
    arguments: [
      ("JSONInfo", 11), ("SceneInfo", 11), ("ToolInfo", 11), ("Version", 2), ("BezierCurveData", 7),
      ("NumberOfWindows", 7), ("SequenceFrameIndex", 7), ("SceneId", 7), ("Anchors", 4), ("KneePointY", 4),
      ("AverageRGB", 5), ("MaxScl", 5), ("DistributionIndex", 6), ("DistributionValues", 6), ("Other", nil),
    ] as [(String, Int?)]) func refusesMembersThatComeTwice(name: String, line: Int?) throws
  {
    let values = [
      "JSONInfo": "{}", "SceneInfo": "[]", "ToolInfo": "{}", "Version": "\"1.0\"", "BezierCurveData": "null",
      "Anchors": "[1]", "MaxScl": "[1, 2, 3]", "DistributionIndex": "[1]", "DistributionValues": "[1]",
    ]
    let more = ", \"\(name)\": \(values[name] ?? "1")"
    func end(_ number: Int) -> String { line == nil || line == number ? (line == nil ? more + more : more) : "" }
    let text = """
      {
      "JSONInfo": {"Version": "1.0"\(end(2))},
      "SceneInfo": [{
      "BezierCurveData": {"Anchors": [1], "KneePointX": 1, "KneePointY": 1\(end(4))},
      "LuminanceParameters": {"AverageRGB": 1, "MaxScl": [1, 2, 3]\(end(5)),
      "LuminanceDistributions": {"DistributionIndex": [1], "DistributionValues": [1]\(end(6))}},
      "NumberOfWindows": 1, "TargetedSystemDisplayMaximumLuminance": 400, "SequenceFrameIndex": 0, "SceneId": 0\(end(7))
      }],
      "SceneInfoSummary": {},
      "ToolInfo": {}
      \(end(11))}
      """
    do throws(MetadataFileError) {
      let messages = try HDR10PlusFile.document.messages(BytesSource(Array(text.utf8)))
      #expect(line == nil && messages.count == 1)
    } catch {
      #expect(error.place == .line(line ?? 0))
      #expect(String(decoding: error.found.bytes, as: UTF8.self) == "a second \(name)")
    }
  }

  @Test(arguments: ["picture", "windows", "maxscl", "average-maxrgb", "rows"])
  func refusesMembersOfLinesThatComeTwice(name: String) throws {
    let values = ["windows": "[]", "maxscl": "[1, 2, 3]"]
    func more(_ names: [String]) -> String { names.contains(name) ? ", \"\(name)\": \(values[name] ?? "0")" : "" }
    func text(_ more: ([String]) -> String) -> [UInt8] {
      Array(
        """
        {"picture": 0, "application-version": 1, "windows": [
        {"maxscl": [1, 2, 3], "average-maxrgb": 5\(more(["maxscl", "average-maxrgb"]))}],
        "targeted-system-display-maximum-luminance": 400,
        "targeted-system-display-actual-peak-luminance": {"rows": 0, "columns": 0, "values": []\(more(["rows"]))}
        \(more(["picture", "windows"]))}
        """.utf8)
    }
    #expect(try HDR10PlusFile.lines.messages(BytesSource(text { _ in "" })).count == 1)
    do throws(MetadataFileError) {
      _ = try HDR10PlusFile.lines.messages(BytesSource(text(more)))
      Issue.record("no error")
    } catch { #expect(String(decoding: error.found.bytes, as: UTF8.self) == "a second \(name)") }
  }

  /// Every prefix of a file is refused, and no change of a byte is a trap.
  @Test(arguments: [HDR10PlusFile.document, .lines]) func survivesDamage(format: HDR10PlusFile) throws {
    var random = SeededGenerator(state: 3)
    var messages = PictureMessageStore()
    for _ in 0..<2 { try Self.append(try Self.metadata(&random, isUsual: true).userData().payload, to: &messages) }
    let file = Self.written(format, messages)
    for count in stride(from: 0, to: file.count - 2, by: 7) where format == .document {
      #expect(throws: MetadataFileError.self) { try format.messages(BytesSource(Array(file.prefix(count)))) }
    }
    for _ in 0..<2000 {
      var damaged = file
      let place = Int.random(in: damaged.indices, using: &random)
      damaged[place] = UInt8.random(in: 0 ... .max, using: &random)
      _ = try? format.messages(BytesSource(damaged))
    }
  }

  @Test func storesManyMessages() throws {
    var store = PictureMessageStore()
    let messages = (0..<5000).map { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: $0 % 300) }
    for message in messages { try Self.append(message, to: &store) }
    try Self.append([UInt8](repeating: 1, count: PictureMessageStore.messageLimit), to: &store)
    let hasRoom = store.append([UInt8](repeating: 1, count: PictureMessageStore.messageLimit + 1))
    #expect(!hasRoom)
    for (number, message) in messages.enumerated() { #expect(store.message(at: number) == message) }
    #expect(store.message(at: 5001) == nil && store.message(at: -1) == nil && store.count == 5001)
  }
}
