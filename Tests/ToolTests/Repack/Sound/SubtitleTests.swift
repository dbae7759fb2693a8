// SPDX-License-Identifier: MPL-2.0
import AVFormat
import Foundation
import Testing

@testable import Containers

/// Text subtitles in containers that hold another codec of them.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct SubtitleTests {
  /// Subtitles in SubRip, ASS and WebVTT, in this order.
  private static let source = Program.media.appending(path: "subtitles.mkv")

  private struct Line: Hashable {
    var text: String
    /// In milliseconds.
    var start: Int64
    var duration: Int64
  }

  /// The lines of all subtitle streams of a Matroska file, as they are.
  private func lines(_ folder: Folder, _ name: String) throws -> [[Line]] {
    let input = try CutCompanionTests.open(folder.url.appending(path: name).path)
    var lines: [Int: [Line]] = [:]
    var packet = try MediaPacket()
    while try input.read(into: &packet) {
      guard let stream = input.stream(packet.stream), stream.kind == .subtitle, let time = packet.presentation else {
        continue
      }
      lines[stream.index, default: []].append(
        Line(
          text: String(decoding: packet.copiedBytes(), as: UTF8.self),
          start: stream.timeBase.nanoseconds(time) / 1_000_000,
          duration: stream.timeBase.nanoseconds(packet.duration) / 1_000_000))
    }
    return lines.sorted { $0.key < $1.key }.map(\.value)
  }

  private static let expected = [
    Line(text: "one <i>word</i>", start: 200, duration: 1000), Line(text: "two\r\nlines", start: 1400, duration: 800),
  ]

  @Test(arguments: ["mp4", "mov"]) func convertsToTimedTextAndBackToSubRip(format: String) async throws {
    let folder = try Folder()
    let there = try await Program.run(["repack", Self.source.path, "-o", "out.\(format)"], in: folder.url)
    #expect(
      there.status == 0
        && there.said.hasSuffix(
          ": \(format == "mp4" ? "MP4" : "QuickTime"), H.264, SubRip as timed text, ASS as timed text and WebVTT as timed text\n"
        ),
      "\(there.said)")
    let back = try await Program.run(["repack", "out.\(format)", "-o", "back.mkv"], in: folder.url)
    #expect(back.status == 0 && back.said.hasSuffix(" and timed text as SubRip\n"), "\(back.said)")
    let lines = try lines(folder, "back.mkv")
    #expect(lines == [[Line]](repeating: Self.expected, count: 3))
    let info = try await Program.run(["info", "back.mkv"], in: folder.url)
    // QuickTime has a number for each language, which libavformat translates into one code.
    for language in ["ger", "eng", format == "mp4" ? "fre" : "fra"] {
      #expect(info.text.contains("SubRip, \(language), "), "\(info.text)")
    }
  }

  /// The subtitles with none that is shown by default, and the second stream forced.
  private static func marked() throws -> Data {
    var file = try Data(contentsOf: source)
    // FlagLacing of the first track of subtitles, and the language of the second one.
    let first = try #require(file.range(of: Data([0xD7, 0x81, 0x02]))).upperBound
    let lacing = try #require(file.range(of: Data([0x9C, 0x81, 0x00]), in: first..<file.endIndex))
    file.replaceSubrange(lacing, with: [0x88, 0x81, 0x00])
    let language = try #require(file.range(of: Data([0x22, 0xB5, 0x9C, 0x83] + Array("eng".utf8))))
    file.replaceSubrange(language, with: [0x55, 0xAA, 0x81, 0x01, 0xEC, 0x81, 0x00])
    return file
  }

  /// What a container cannot mark is listed, and nothing is marked that was not.
  @Test(arguments: ["mp4", "mov", "mkv"]) func keepsDefaultAndForcedMarks(format: String) async throws {
    let folder = try Folder()
    try folder.write("in.mkv", Self.marked())
    let run = try await Program.run(["repack", "in.mkv", "-o", "out.\(format)"], in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    let marks = try CutCompanionTests.open(folder.url.appending(path: "out.\(format)").path).streams.map(\.disposition)
    try #require(marks.count == 4)
    #expect(marks[0].contains(.isDefault))
    #expect(marks[1...].allSatisfy { !$0.contains(.isDefault) }, "\(marks)")
    let isForced = marks[2].contains(.forced)
    // QuickTime has no place for it.
    #expect(isForced == (format != "mov"))
    #expect(run.said.contains("left behind: marks of stream 2 (forced)\n") == !isForced, "\(run.said)")
    #expect(!run.said.contains("marks of stream 1"), "\(run.said)")
  }

  /// Matroska holds all three as they are.
  @Test func keepsSubtitlesInMatroska() async throws {
    let folder = try Folder()
    let run = try await Program.run(["repack", Self.source.path, "-o", "out.mkv"], in: folder.url)
    #expect(run.status == 0 && run.said.hasSuffix(" Matroska, H.264, SubRip, ASS and WebVTT\n"), "\(run.said)")
    try folder.write("in.mkv", Data(contentsOf: Self.source))
    #expect(try lines(folder, "out.mkv").map { $0.map(\.text) } == lines(folder, "in.mkv").map { $0.map(\.text) })
  }

  /// libavformat writes fragments without the durations of subtitles.
  @Test func listsSubtitlesThatFragmentsCannotHold() async throws {
    let folder = try Folder()
    let run = try await Program.shell(
      "h26x repack \(Self.source.path) -o - --format mp4 | cat > out.mp4", in: folder.url)
    #expect(run.said.contains("left behind: subtitles (SubRip, ger), stream 1"), "\(run.said)")
  }

  /// Text that is not UTF-8 is counted, and what follows is kept.
  @Test func countsUnreadableSubtitles() async throws {
    let folder = try Folder()
    var bytes = try Data(contentsOf: Self.source)
    let place = try #require(bytes.range(of: Data("one <i>".utf8)))
    bytes.replaceSubrange(place.lowerBound..<place.lowerBound + 3, with: [0xFF, 0xFE, 0xC0])
    try folder.write("in.mkv", bytes)
    let run = try await Program.run(["repack", "in.mkv", "-o", "out.mp4"], in: folder.url)
    #expect(run.status == 0 && run.said.contains("left behind: 1 subtitle that cannot be read\n"), "\(run.said)")
    let back = try await Program.run(["repack", "out.mp4", "-o", "back.mkv"], in: folder.url)
    #expect(back.status == 0, "\(back.said)")
    #expect(try lines(folder, "back.mkv").first == [Self.expected[1]])
  }
}
