// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// Access unit delimiters come and go, and what is in front of them makes streams of layers and of high bit rates.
@Suite(.enabled(if: Program.isBuilt)) struct EditDelimiterTests {
  private static func media(_ name: String) -> String { Program.media.appending(path: name).path }

  /// clip.h265 with a NAL unit at the end of each of its access units but the last.
  private func write(_ name: String, adding nalUnit: [UInt8], in folder: Folder) async throws {
    let made = try await Program.run(
      ["edit", Self.media("clip.h265"), "-o", "delimited.h265", "--aud", "insert"], in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    let stream = try Data(contentsOf: folder.url.appending(path: "delimited.h265"))
    let delimiter = Data([0, 0, 0, 1, 0x46, 1])
    var (output, position) = (Data(), stream.startIndex)
    while let range = stream.range(of: delimiter, in: position + 1..<stream.endIndex) {
      output += stream[position..<range.lowerBound] + [0, 0, 0, 1] + nalUnit
      position = range.lowerBound
    }
    try folder.write(name, output + stream[position...])
  }

  @Test(arguments: ["clip.h264", "clip.h265", "interlaced.h264", "interlaced.h265", "open-gop.h265"])
  func insertsAndRemovesDelimiters(name: String) async throws {
    let folder = try Folder()
    let (source, suffix) = (Self.media(name), name.suffix(4))
    func edit(_ source: String, _ target: String, _ value: String) async throws {
      let run = try await Program.run(["edit", source, "-o", target, "--aud", value], in: folder.url)
      try #require(run.status == 0, "\(run.said)")
    }
    try await edit(source, "bare.\(suffix)", "remove")
    try await edit("bare.\(suffix)", "with.\(suffix)", "insert")
    let inspect = try await Program.run(["inspect", "with.\(suffix)"], in: folder.url)
    let lines = inspect.text.split(separator: "\n")
    let accessUnits = lines.count(where: { $0.hasPrefix("access unit ") })
    #expect(accessUnits > 0 && lines.count(where: { $0.contains(/AUD \([0-9]+\),/) }) == accessUnits, "\(inspect.text)")
    let check = try await Program.run(["check", "with.\(suffix)"], in: folder.url)
    #expect(!check.text.contains("delimiter") && !check.text.contains("nal-unit-order"), "\(check.text)")
    try await edit("with.\(suffix)", "again.\(suffix)", "insert")
    try await edit("with.\(suffix)", "kept.\(suffix)", "keep")
    try await edit("with.\(suffix)", "back.\(suffix)", "remove")
    for (one, other) in [("again", "with"), ("kept", "with"), ("back", "bare")] {
      #expect(folder.bytes("\(one).\(suffix)") == folder.bytes("\(other).\(suffix)"), "\(one)")
    }
    // The others have no delimiters.
    if name != "clip.h264" {
      #expect(try folder.bytes("back.\(suffix)") == Data(contentsOf: URL(filePath: source)))
    }
  }

  /// Layers are named for every container, and by `check`.
  @Test func reportsLayersInEveryContainer() async throws {
    let folder = try Folder()
    // A slice of layer 1 that nothing reads.
    try await write("layers.h265", adding: [0x02, 0x09, 0xD0, 0x88, 0x88, 0x80], in: folder)
    for name in ["layers.mkv", "layers.ts", "layers.mp4"] {
      let run = try await Program.run(["repack", "layers.h265", "-o", name], in: folder.url)
      try #require(run.status == 0, "\(run.said)")
    }
    for name in ["layers.h265", "layers.mkv", "layers.ts", "layers.mp4"] {
      let info = try await Program.run(["info", name], in: folder.url)
      #expect(info.text.contains("\nLayers              layer 1\n"), "\(name): \(info.text)")
      let check = try await Program.run(["check", name], in: folder.url)
      #expect(check.text.contains("decoder-layers") && check.text.contains("layer 1"), "\(check.text)")
    }
    let check = try await Program.run(["check", Self.media("clip.h265")], in: folder.url)
    #expect(!check.text.contains("layer 1"), "\(check.text)")
  }

  /// The Main tier of level 4 has 12 Mbit/s, and a buffer of as many bits.
  @Test func refusesTheMainTierAboveItsBitRate() async throws {
    let folder = try Folder()
    // 20 Mbit/s of filler data.
    try await write("in.h265", adding: [0x4C, 0x01] + Array(repeating: 0xFF, count: 100_000) + [0x80], in: folder)
    let high = try await Program.run(
      ["edit", "in.h265", "-o", "high.h265", "--level", "4", "--tier", "high"], in: folder.url)
    try #require(high.status == 0, "\(high.said)")
    let main = try await Program.run(["edit", "high.h265", "-o", "main.h265", "--tier", "main"], in: folder.url)
    #expect(main.status == 1 && main.said.contains("--tier main: access unit "), "\(main.said)")
    #expect(main.said.contains(" comes too late at MaxBR 12000000 bit/s ") && main.said.contains("(H.265 A.4.2)"))
    let higher = try await Program.run(
      ["edit", "high.h265", "--dry-run", "--tier", "main", "--level", "auto"], in: folder.url)
    #expect(higher.status == 0 && higher.text.contains("general_tier_flag: 1, now 0"), "\(higher.said)")
    let low = try await Program.run(
      ["edit", Self.media("clip.h265"), "-o", "low.h265", "--tier", "main"], in: folder.url)
    #expect(low.status == 0, "\(low.said)")
  }

  /// What claims that there is no frame packing is compared with the stream.
  @Test func refusesNonPackedForAPackedStream() async throws {
    let folder = try Folder()
    let packed = try await Program.run(
      ["edit", Self.media("clip.h265"), "-o", "packed.h265", "--insert-sei", "45=81830000000000"], in: folder.url)
    try #require(packed.status == 0, "\(packed.said)")
    let claim = try await Program.run(
      ["edit", "packed.h265", "--dry-run", "--constraint", "non-packed=1"], in: folder.url)
    #expect(claim.status == 1 && claim.said.contains("access unit 0 has frame packing SEI"), "\(claim.said)")
    let right = try await Program.run(
      ["edit", Self.media("clip.h265"), "--dry-run", "--constraint", "non-packed=1"], in: folder.url)
    #expect(right.status == 0, "\(right.said)")
    #expect(right.text.contains("SPS 0: general_non_packed_constraint_flag: 0, now 1"), "\(right.text)")
    #expect(right.text.contains("VPS 0: general_non_packed_constraint_flag: 0, now 1"), "\(right.text)")
  }
}
