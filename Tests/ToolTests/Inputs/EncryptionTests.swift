// SPDX-License-Identifier: MPL-2.0
import Foundation
import TestSupport
import Testing

/// MP4 whose video is encrypted (ISO/IEC 23001-7): it is no clear video.
@Suite(.enabled(if: Program.isBuilt)) struct EncryptionTests {
  /// The clip with a box `sinf` in its sample entry, whose type may say that samples are encrypted. They are not.
  private static func file(_ entry: String, scheme: String?) throws -> Data {
    let clip = try Data(contentsOf: Program.media.appending(path: "clip.mp4"))
    let type = scheme.map { AddedBoxes.box("schm", [0, 0, 0, 0] + Array($0.utf8) + [0, 1, 0, 0]) } ?? []
    var file = AddedBoxes.add(
      AddedBoxes.box("sinf", AddedBoxes.box("frma", Array("avc1".utf8)) + type),
      to: ["moov", "trak", "mdia", "minf", "stbl", "stsd", "avc1"], of: clip)
    let description = try #require(file.range(of: Data("stsd".utf8)))
    let place = try #require(file.range(of: Data("avc1".utf8), in: description.upperBound..<file.endIndex))
    file.replaceSubrange(place, with: Data(entry.utf8))
    return file
  }

  @Test(
    arguments: TestScope.rows(
      [
        ("encv", "cenc", "cenc"), ("encv", "cbcs", "cbcs"), ("avc1", "cens", "cens"), ("avc1", "cbc1", "cbc1"),
        ("encv", nil, "unknown scheme"),
      ] as [(String, String?, String)], usually: 2)) func refusesEncryptedVideo(
      entry: String, scheme: String?, name: String
    ) async throws
  {
    let folder = try Folder()
    try folder.write("in.mp4", try Self.file(entry, scheme: scheme))
    for line in [
      "decode in.mp4 -o out.yuv", "snapshot in.mp4 -o out.png", "hash in.mp4",
      "compare in.mp4 \(Program.media.appending(path: "clip.mkv").path)", "repack in.mp4 -o out.mkv",
      "repack in.mp4 -o out.h264", "edit in.mp4 --range full -o out.mp4", "cut in.mp4 -o out.mp4 --range 0.4-0.8",
    ] {
      let run = try await Program.shell("h26x \(line)", in: folder.url)
      #expect(
        run.status == 1 && run.output.isEmpty
          && run.said == "h26x: in.mp4: it is encrypted (\(name)), and cannot be decoded or copied\n",
        "\(line): \(run.status) \(run.said)")
      #expect(folder.names == ["in.mp4"], "\(line)")
    }
    let piped = try await Program.shell("cat in.mp4 | h26x hash -", in: folder.url)
    #expect(piped.status == 1 && piped.said.contains("encrypted (\(name))"), "\(piped.said)")
    let info = try await Program.run(["info", "in.mp4"], in: folder.url)
    #expect(info.status == 0 && info.text.contains("Encryption          \(name), "), "\(info.text)\(info.said)")
    let json = try await Program.run(["info", "--json", "in.mp4"], in: folder.url)
    #expect(json.text.contains("\"encryption\": \"\(name)\""), "\(json.text)")
    for command in ["check", "inspect"] {
      let run = try await Program.run([command, "in.mp4"], in: folder.url)
      #expect(run.status == 0 && run.text.contains("62 access units"), "\(command): \(run.said)")
    }
  }

  /// Other protection leaves samples as they are.
  @Test func readsVideoWithOtherProtection() async throws {
    let folder = try Folder()
    try folder.write("in.mp4", try Self.file("avc1", scheme: "rstr"))
    let run = try await Program.run(["hash", "in.mp4"], in: folder.url)
    let clip = try await Program.run(["hash", Program.media.appending(path: "clip.mp4").path], in: folder.url)
    #expect(run.status == 0 && run.output == clip.output, "\(run.said)")
    let info = try await Program.run(["info", "in.mp4"], in: folder.url)
    #expect(!info.text.contains("Encryption"), "\(info.text)")
  }
}
