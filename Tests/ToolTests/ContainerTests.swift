// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// Streams inside of containers: looked into without a parser in between, and carried from one to another whole.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct ContainerTests {
  private static func media(_ name: String) -> String { Program.media.appending(path: name).path }

  private func objects(_ run: Program) throws -> [[String: Any]] {
    try run.text.split(separator: "\n").map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
    }
  }

  private func document(_ arguments: [String], in folder: Folder) async throws -> [String: Any] {
    let run = try await Program.run(["info", "--json"] + arguments, in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    return try #require((try JSONSerialization.jsonObject(with: run.output) as? [[String: Any]])?.first)
  }

  /// Access units by picture order count, type and NAL unit types, without the delimiters that MPEG-TS wants.
  private func pictures(_ items: [[String: Any]]) -> [String] {
    items.filter { $0["kind"] as? String == "accessUnit" }.map { unit in
      let types = (unit["nalUnits"] as? [[String: Any]] ?? []).compactMap { $0["type"] as? Int }
        .filter { $0 != 9 && $0 != 35 }
      return "\(unit["poc"] ?? "-") \(unit["type"] ?? "-") \(unit["keyframe"] ?? "-") \(types)"
    }
  }

  @Test(arguments: [
    ("clip.mkv", "matroska", "clip.mp4"), ("clip.flv", "flv", "clip.mp4"), ("clip.ts", "mpegts", "clip.h264"),
    ("clip-h265.mkv", "matroska", "clip-h265.mp4"), ("clip-h265.ts", "mpegts", "clip.h265"),
  ]) func inspectsWhatIsInside(name: String, container: String, like reference: String) async throws {
    let folder = try Folder()
    let run = try await Program.run(["inspect", "--json", Self.media(name)], in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    let items = try objects(run)
    #expect(items.first?["container"] as? String == container)
    #expect(items.last?["accessUnits"] as? Int == 62 && items.last?["errors"] as? Int == 0)
    let expected = try objects(try await Program.run(["inspect", "--json", Self.media(reference)], in: folder.url))
    #expect(pictures(items) == pictures(expected))
    let piped = try await Program.shell("cat \(Self.media(name)) | h26x inspect --json -", in: folder.url)
    #expect(pictures(try objects(piped)) == pictures(items), "\(piped.said)")
    let checked = try await Program.run(["check", Self.media(name)], in: folder.url)
    #expect(checked.status == 0 && checked.text.contains("62 access units, 0 errors"), "\(checked.text)\(checked.said)")
  }

  /// A damaged picture inside of Matroska is found.
  @Test func findsDamageInside() async throws {
    let folder = try Folder()
    var stream = try Data(contentsOf: URL(filePath: Self.media("clip.h264")))
    let delimiter = Data([0, 0, 0, 1, 9])
    let second = try #require(stream.range(of: delimiter, in: delimiter.count..<stream.count))
    let third = try #require(stream.range(of: delimiter, in: second.upperBound..<stream.count))
    stream.removeSubrange(second.lowerBound..<third.lowerBound)
    try folder.write("lost.h264", stream)
    #expect(try await Program.run(["repack", "lost.h264", "-o", "lost.mkv"], in: folder.url).status == 0)
    let run = try await Program.run(["check", "lost.mkv", Self.media("clip.ts")], in: folder.url)
    #expect(run.status == 2 && run.text.contains("missing-reference"), "\(run.text)\(run.said)")
    #expect(run.text.contains("clip.ts: 62 access units, 0 errors"))
  }

  @Test(arguments: ["clip", "clip-h265"]) func saysTheSameOfAllContainers(name: String) async throws {
    let folder = try Folder()
    let raw = name == "clip" ? "clip.h264" : "clip.h265"
    let reference = try #require(
      try await document(["--count", Self.media(raw)], in: folder)["video"] as? [String: Any])
    for suffix in ["mp4", "mkv", "ts"] {
      let document = try await document(["--count", Self.media("\(name).\(suffix)")], in: folder)
      let video = try #require(document["video"] as? [String: Any])
      for key in reference.keys where !["stream-format", "bitrate"].contains(key) {
        #expect("\(video[key] ?? "-")" == "\(reference[key] ?? "-")", "\(suffix): \(key)")
      }
      #expect(document["duration"] as? Double == 2.48)
    }
  }

  /// The clip, turned by a quarter.
  private func turnedClip() throws -> Data {
    var clip = try Data(contentsOf: URL(filePath: Self.media("clip.mp4")))
    let box = try #require(clip.range(of: Data("tkhd".utf8), options: .backwards))
    let matrix: [UInt32] = [0, 1 << 16, 0, 0 &- 1 << 16, 0, 0, 180 << 16, 0, 1 << 30]
    let bytes = matrix.flatMap { number in stride(from: 24, through: 0, by: -8).map { UInt8(number >> $0 & 255) } }
    let start = box.lowerBound + 44
    clip.replaceSubrange(start..<start + 36, with: bytes)
    return clip
  }

  @Test func keepsRotation() async throws {
    let folder = try Folder()
    try folder.write("turned.mp4", try turnedClip())
    for suffix in ["mp4", "mov"] {
      let run = try await Program.run(["repack", "turned.mp4", "-o", "out.\(suffix)"], in: folder.url)
      #expect(run.status == 0 && !run.said.contains("left behind"), "\(run.said)")
      let video = try #require(try await document(["out.\(suffix)"], in: folder)["video"] as? [String: Any])
      #expect(video["rotation"] as? String == "rotate-90")
      let shot = try await Program.run(["snapshot", "out.\(suffix)", "-o", "\(suffix).png"], in: folder.url)
      #expect(shot.status == 0, "\(shot.said)")
      // Width and height in the header.
      #expect(folder.bytes("\(suffix).png")?[16..<24].map(\.self) == [0, 0, 0, 180, 0, 0, 1, 64])
    }
    let other = try await Program.run(["repack", "turned.mp4", "-o", "out.ts"], in: folder.url)
    #expect(other.status == 0 && other.said.contains("left behind: rotation (rotate-90)"), "\(other.said)")
  }

  @Test func keepsSoundAndItsLanguage() async throws {
    let folder = try Folder()
    let clip = Self.media("clip.mp4")
    let made = try await Program.shell(
      "gst-launch-1.0 -q mp4mux name=m ! filesink location=in.mp4 filesrc location=\(clip) ! qtdemux ! h264parse ! m. "
        + "audiotestsrc num-buffers=100 ! audio/x-raw,rate=48000,channels=2 ! avenc_aac "
        + "! taginject tags=language-code=de ! aacparse ! m.", in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    let own = try #require(try await document(["in.mp4"], in: folder)["streams"] as? [[String: Any]])
    #expect(own.first?["codec"] as? String == "AAC" && own.first?["rate"] as? Int == 48000, "\(own)")
    #expect((own.first?["language"] as? String)?.hasPrefix("de") == true, "\(own)")
    for suffix in ["mp4", "mov", "mkv", "ts", "flv"] {
      let run = try await Program.run(["repack", "in.mp4", "-o", "out.\(suffix)"], in: folder.url)
      #expect(run.status == 0 && run.said.contains("H.264 and"), "\(suffix): \(run.said)")
      let streams = try #require(try await document(["out.\(suffix)"], in: folder)["streams"] as? [[String: Any]])
      #expect(streams.count == 1 && streams.first?["kind"] as? String == "audio", "\(suffix): \(streams)")
      // FLV has no place for a language.
      if suffix != "flv" { #expect(streams.first?["language"] as? String != nil, "\(suffix): \(streams)") }
    }
    let silent = try await Program.run(["repack", "--no-audio", "in.mp4", "-o", "silent.mkv"], in: folder.url)
    #expect(silent.status == 0 && silent.said.contains("left behind: audio"), "\(silent.said)")
  }
}
