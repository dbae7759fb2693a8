// SPDX-License-Identifier: MPL-2.0
import AVFormat
import Foundation
import H26x
import TestSupport
import Testing

/// The configuration of Dolby Vision in copies of sources that have metadata in the stream alone.
@Suite(.enabled(if: Program.isBuilt)) struct DolbyVisionCopyTests {
  /// `clip.h265` with metadata behind the slices of each picture.
  private static func stream(profile: UInt8) throws -> Data {
    let rpu = try AddedMetadata.rpu(profile: profile)
    return try AddedMetadata.clip(behind: { _ in [rpu] })
  }

  @Test(
    arguments: TestScope.rows(
      [(8, "bt2020-pq", 1), (8, "bt2020-hlg", 4), (8, "bt709", 2), (5, "bt2020-pq", 0)]
        as [(UInt8, String, UInt8)], usually: 2))
  func makesTheConfigurationOfTheStream(profile: UInt8, colour: String, compatibility: UInt8) async throws {
    let folder = try Folder()
    try folder.write("plain.h265", try Self.stream(profile: profile))
    let edit = try await Program.run(["edit", "plain.h265", "-o", "in.h265", "--colour", colour], in: folder.url)
    try #require(edit.status == 0, "\(edit.said)")
    let record = DolbyVision.Configuration(profile: profile, level: 1, compatibilityID: compatibility)
    let box = Data("\(record.boxType)".utf8) + record.bytes
    let descriptors = Data([5, 4] + Array("DOVI".utf8) + [0xB0, 5] + record.bytes.prefix(5))
    let line = "the configuration of Dolby Vision is made from the stream: profile \(profile).\(compatibility), level 1"
    for (source, target) in [
      ("in.h265", "out.mp4"), ("in.h265", "out.mov"), ("in.h265", "in.ts"), ("in.ts", "again.mp4"),
      ("in.ts", "out.mkv"), ("out.mkv", "back.mp4"), ("in.ts", "again.ts"), ("out.mp4", "other.ts"),
      ("out.mkv", "further.ts"),
    ] {
      let run = try await Program.run(["repack", source, "-o", target], in: folder.url)
      #expect(run.status == 0 && !run.said.contains("left behind"), "\(source) to \(target): \(run.said)")
      #expect(run.said.contains(line) == (source == "in.h265"), "\(run.said)")
      if target.hasSuffix("ts") {
        #expect(folder.bytes(target)?.range(of: descriptors) != nil, "\(source) to \(target)")
        let stream = try #require(CutCompanionTests.open(folder.url.appending(path: target).path).stream(0))
        #expect(stream.sideData.contains { $0.kind == .dolbyVision && Array($0.bytes.prefix(8)) == record.values })
        #expect(try await Program.run(["check", target], in: folder.url).status == 0, "\(target)")
      }
      guard target.hasSuffix("mp4") || target.hasSuffix("mov") else { continue }
      let file = try #require(folder.bytes(target))
      #expect(file.range(of: box) != nil, "\(source) to \(target)")
      #expect((file.range(of: Data("dvh1".utf8)) != nil) == (profile == 5), "\(source) to \(target)")
    }
    let matroska = try #require(CutCompanionTests.open(folder.url.appending(path: "out.mkv").path).stream(0))
    #expect(matroska.sideData.contains { $0.kind == .dolbyVision })
    let piped = try await Program.shell("h26x repack in.h265 -o - --format ts | cat > piped.ts", in: folder.url)
    #expect(piped.said.contains(line) && folder.bytes("piped.ts")?.range(of: descriptors) != nil, "\(piped.said)")
    // A record of a profile that libavformat does not know stays.
    guard profile == 8 else { return }
    var other = try #require(folder.bytes("out.mp4"))
    let place = try #require(other.range(of: box)).lowerBound
    other.replaceSubrange(place..<place + 7, with: Data("dvwC".utf8) + record.bytes.prefix(2) + [20 << 1])
    try folder.write("other.mp4", other)
    let copy = try await Program.run(["repack", "other.mp4", "-o", "copy.mp4"], in: folder.url)
    #expect(copy.status == 0 && !copy.said.contains("is made from the stream"), "\(copy.said)")
    #expect(folder.bytes("copy.mp4")?.range(of: other[place..<place + box.count]) != nil)
  }

  /// The record's reserved bits, which libavformat neither reads nor writes.
  @Test func keepsAllBitsOfTheRecord() async throws {
    let folder = try Folder()
    let clip = try Data(contentsOf: Program.media.appending(path: "clip-h265.mp4"))
    var box = AddedBoxes.dolbyVision("dvvC", profile: 8, compatibility: 1)
    box[12] |= 5
    box[20] = 7
    try folder.write("in.mp4", AddedBoxes.add(box, to: AddedBoxes.entry, of: clip))
    for (source, target) in [
      ("in.mp4", "out.mp4"), ("in.mp4", "out.mov"), ("in.mp4", "out.ts"), ("in.mp4", "out.mkv"),
      ("out.mkv", "back.mkv"), ("back.mkv", "back.mp4"),
    ] {
      let run = try await Program.run(["repack", source, "-o", target], in: folder.url)
      #expect(run.status == 0 && !run.said.contains(": left behind: "), "\(run.said)")
      let kept = target.hasSuffix("ts") ? box[8..<21] : target.hasSuffix("mkv") ? box[8...] : box[...]
      #expect(folder.bytes(target)?.range(of: Data(kept)) != nil, "\(target)")
    }
    let (expected, hashes) = try await (
      Program.run(["hash", "in.mp4"], in: folder.url), Program.run(["hash", "back.mkv"], in: folder.url)
    )
    #expect(hashes.text == expected.text && !hashes.text.isEmpty, "\(hashes.said)")
    let piped = try await Program.shell(
      "h26x repack in.mp4 -o - --format mkv | cat > piped.mkv; h26x repack in.mp4 -o - --format mp4 | cat > piped.mp4",
      in: folder.url)
    #expect(piped.said.contains("left behind: reserved bits of the configuration of Dolby Vision"), "\(piped.said)")
    #expect(folder.bytes("piped.mkv")?.range(of: Data(box[8...])) != nil, "\(piped.said)")
  }

  /// The record of an enhancement layer in a track of its own has no descriptor.
  @Test func listsARecordWithoutBaseLayer() async throws {
    let folder = try Folder()
    let clip = try Data(contentsOf: Program.media.appending(path: "clip-h265.mp4"))
    var box = AddedBoxes.dolbyVision("dvcC", profile: 7, compatibility: 6)
    box[11] ^= 3
    try folder.write("in.mp4", AddedBoxes.add(box, to: AddedBoxes.entry, of: clip))
    let run = try await Program.run(["repack", "in.mp4", "-o", "out.ts"], in: folder.url)
    #expect(run.status == 0 && run.said.contains(": left behind: the configuration of Dolby Vision"), "\(run.said)")
  }
}
