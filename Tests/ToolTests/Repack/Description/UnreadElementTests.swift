// SPDX-License-Identifier: MPL-2.0
import AVFormat
import Foundation
import Testing

@testable import Containers

/// What libavformat does not read of Matroska is listed.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct UnreadElementTests {
  /// An element, whose size has eight bytes.
  private static func element(_ id: UInt32, _ content: [UInt8]) -> [UInt8] {
    let name: [UInt8] = (0..<4).map { UInt8(truncatingIfNeeded: id >> (24 - 8 * $0)) }.filter { $0 != 0 }
    let size: [UInt8] = (1..<8).map { UInt8(truncatingIfNeeded: content.count >> (56 - 8 * $0)) }
    return name + [1] + size + content
  }

  private static func number(_ id: UInt32, _ value: UInt8) -> [UInt8] { element(id, [value]) }

  /// The clip with further elements of its track, of the track's video, and of the segment.
  private static func clip(track: [UInt8] = [], video: [UInt8] = [], segment: [UInt8] = []) throws -> Data {
    let bytes = [UInt8](try Data(contentsOf: Program.media.appending(path: "clip.mkv")))
    func whole(_ part: MatroskaElement) -> [UInt8] { element(part.id, Array(bytes[part.content])) }
    let top = MatroskaElement.all(in: bytes.indices, of: bytes)
    var file = whole(try #require(top.first))
    let parts = try #require(top.last).children(bytes).flatMap { part -> [UInt8] in
      switch part.id {
      // The index, and what fills room in front of it.
      case 0x114D_9B74, 0x1C53_BB6B, 0xEC, 0xBF: return []
      case 0x1654_AE6B:
        let entries = part.children(bytes).filter { $0.id == 0xAE }.flatMap { entry -> [UInt8] in
          let fields = entry.children(bytes).flatMap { field -> [UInt8] in
            guard field.id == 0xE0 else { return field.id == 0x22B59C ? [] : whole(field) }
            return element(field.id, Array(bytes[field.content]) + video)
          }
          return element(entry.id, fields + track)
        }
        return element(part.id, entries) + segment
      default: return whole(part)
      }
    }
    file += element(0x1853_8067, parts)
    return Data(file)
  }

  private static let crop = number(0x54BB, 2) + number(0x54DD, 6)

  private static func chapter(_ id: UInt8, titles: Int = 1, _ inner: [UInt8] = []) -> [UInt8] {
    let title = element(0x80, element(0x85, Array("title".utf8)) + element(0x437C, Array("eng".utf8)))
    return element(
      0xB6, number(0x73C4, id) + number(0x91, 0) + (0..<titles).flatMap { _ in title } + inner)
  }

  private static func chapters(_ editions: [[UInt8]]) -> [UInt8] {
    element(0x1043_A770, editions.flatMap { element(0x45B9, $0) })
  }

  private static func language(code: String? = nil, tag: String) -> [UInt8] {
    let legacy = code.map { element(0x22B59C, Array($0.utf8)) } ?? []
    return legacy + element(0x22B59D, Array(tag.utf8))
  }

  struct Source {
    var track: [UInt8] = []
    var video: [UInt8] = []
    var segment: [UInt8] = []
    var lines: [String] = []
  }

  static let sources: [Source] = {
    let nested = chapter(1, titles: 3, chapter(2) + chapter(3, chapter(4)))
    let ordered = number(0x45DD, 1) + chapter(5)
    return [
      Source(),
      // libavformat reads and writes it from 7.1 on.
      Source(
        video: crop, lines: FormatLibrary.keepsGeometry ? [] : ["cropping (left 0, top 2, right 6, bottom 0)"]),
      Source(track: language(code: "ger", tag: "de")),
      Source(track: language(code: "ger", tag: "de-CH"), lines: ["language of stream 0 (de-CH)"]),
      Source(track: language(tag: "fr"), lines: ["language of stream 0 (fr)"]),
      Source(segment: chapters([chapter(1)])),
      Source(
        segment: chapters([nested, ordered]),
        lines: [
          "3 nested chapters", "2 further titles of chapters", "the order in which chapters are played",
          "2 editions, whose chapters become one list",
        ]),
    ]
  }()

  @Test(arguments: sources) func listsUnreadElements(source: Source) async throws {
    let folder = try Folder()
    try folder.write("in.mkv", try Self.clip(track: source.track, video: source.video, segment: source.segment))
    let run = try await Program.run(["repack", "in.mkv", "-o", "out.mkv"], in: folder.url)
    let lines = run.said.split(separator: "\n").compactMap { line in
      line.range(of: ": left behind: ").map { String(line[$0.upperBound...]) }
    }
    #expect(run.status == 0 && lines.filter { !$0.hasPrefix("when ") } == source.lines, "\(run.said)")
  }

  /// A BlockAdditionMapping with the content of a box of MP4.
  private static func addition(_ type: String, _ content: [UInt8]) -> [UInt8] {
    element(0x41E4, element(0x41E7, Array(type.utf8)) + element(0x41ED, content))
  }

  /// The configurations of Dolby Vision and of its enhancement layer are boxes in MP4, with all of their bits.
  /// Matroska keeps the first, with its reserved bits: libavformat writes no other. The second may be alone.
  @Test(arguments: [true, false]) func keepsAdditionsThatAreBoxesInMP4(hasRecord: Bool) async throws {
    let folder = try Folder()
    var record = Array(AddedBoxes.dolbyVision("dvcC", profile: 9, compatibility: 2)[8...])
    record[7] = 1
    let layer: [UInt8] = [1, 100, 0, 30, 0xFF, 0xE0, 0]
    let first = hasRecord ? Self.addition("dvvC", record) : []
    let track = first + Self.addition("avcE", layer) + Self.addition("abcd", [1])
    try folder.write("in.mkv", try Self.clip(track: track))
    for (target, lines) in [
      ("out.mp4", []), ("out.mov", []), ("out.mkv", ["avcE in the description of the video"]),
    ] {
      let run = try await Program.run(["repack", "in.mkv", "-o", target], in: folder.url)
      let left = run.said.split(separator: "\n").compactMap { line in
        line.range(of: ": left behind: ").map { String(line[$0.upperBound...]) }
      }
      // The clip's track has a title.
      #expect(run.status == 0 && left.filter { !$0.hasPrefix("metadata ") } == lines, "\(run.said)")
      let boxes = (hasRecord ? [AddedBoxes.box("dvvC", record)] : []) + [AddedBoxes.box("avcE", layer)]
      for bytes in lines.isEmpty ? boxes : hasRecord ? [record] : [] {
        #expect(folder.bytes(target)?.range(of: Data(bytes)) != nil, "\(target)")
      }
    }
  }

  /// libavformat 59 neither reads nor writes this type of record.
  @Test func listsARecordOfAnotherType() async throws {
    let folder = try Folder()
    let record = Array(AddedBoxes.dolbyVision("dvwC", profile: 20, compatibility: 0)[8...])
    try folder.write("in.mkv", try Self.clip(track: Self.addition("dvwC", record)))
    for target in ["out.mkv", "out.mp4"] {
      let run = try await Program.run(["repack", "in.mkv", "-o", target], in: folder.url)
      let isKept = folder.bytes(target)?.range(of: Data("dvwC".utf8)) != nil
      let isListed = run.said.contains(": left behind: the configuration of Dolby Vision\n")
      #expect(run.status == 0 && isListed != isKept && (isKept || target == "out.mkv"), "\(run.said)")
    }
  }

  /// IDs and sizes of any length, and what is none.
  @Test func readsElementHeaders() {
    func header(_ bytes: [UInt8]) -> [UInt64?]? {
      MatroskaElement.Header(bytes).map { [UInt64($0.id), UInt64($0.length), $0.size] }
    }
    #expect(header([0xEC, 0x81]) == [0xEC, 2, 1] && header([0x42, 0x86, 0x40, 5, 9]) == [0x4286, 4, 5])
    #expect(header([0x18, 0x53, 0x80, 0x67, 1, 255, 255, 255, 255, 255, 255, 255]) == [0x1853_8067, 12, nil])
    #expect(header([0xEC, 0xFF]) == [0xEC, 2, nil] && header([0xEC, 1, 0, 0, 0, 0, 0, 0, 7]) == [0xEC, 9, 7])
    for bytes: [UInt8] in [[], [0xEC], [0], [8, 1, 1, 1, 1, 0x81], [0xEC, 0], [0xEC, 1, 0, 0], [0x42]] {
      #expect(header(bytes) == nil)
    }
    // The second one is longer than what it is in.
    let bytes: [UInt8] = [0xEC, 0x81, 7, 0xEC, 0x85, 1, 2]
    #expect(MatroskaElement.all(in: bytes.indices, of: bytes).map(\.content) == [2..<3])
  }
}
