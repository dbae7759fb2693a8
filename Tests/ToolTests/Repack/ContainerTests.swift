// SPDX-License-Identifier: MPL-2.0
import AVFormat
import Foundation
import TestSupport
import Testing

/// Streams in containers: inspected without a parser, and repackaged completely.
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

  /// POC, type and NAL unit types of access units, without the delimiters that MPEG-TS requires.
  private func pictures(_ items: [[String: Any]]) -> [String] {
    items.filter { $0["kind"] as? String == "accessUnit" }.map { unit in
      let types = (unit["nalUnits"] as? [[String: Any]] ?? []).compactMap { $0["type"] as? Int }
        .filter { $0 != 9 && $0 != 35 }
      return "\(unit["poc"] ?? "-") \(unit["type"] ?? "-") \(unit["keyframe"] ?? "-") \(types)"
    }
  }

  @Test(
    arguments: TestScope.rows(
      [
        ("clip.mkv", "matroska", "clip.mp4"), ("clip.flv", "flv", "clip.mp4"), ("clip.ts", "mpegts", "clip.h264"),
        ("clip-h265.mkv", "matroska", "clip-h265.mp4"), ("clip-h265.ts", "mpegts", "clip.h265"),
      ], usually: 2)) func inspectsStreamsInContainers(name: String, container: String, like reference: String)
    async throws
  {
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

  /// Three I pictures of H.264, 32x32, without a frame rate.
  static let untimed = Data(
    [
      [0x67, 0x42, 0xC0, 0x1E, 0xDA, 0x25, 0x90], [0x68, 0xCE, 0x38, 0x80], [0x65, 0xB8, 0x4A, 0xAB, 0xAB, 0x80],
      [0x61, 0xB8, 0xAA, 0xAB, 0x80], [0x61, 0xB9, 0x2A, 0xAB, 0x80],
    ].flatMap { [0, 0, 0, 1] + $0 })

  /// Matroska's muxer drops what has no time without a word.
  @Test(arguments: ["mkv", "flv", "ts", "mp4"]) func refusesPicturesWithoutTimes(suffix: String) async throws {
    let folder = try Folder()
    try folder.write("raw.h264", Self.untimed)
    let run = try await Program.run(["repack", "raw.h264", "-o", "out.\(suffix)"], in: folder.url)
    #expect(run.status == 1 && run.said.contains("--framerate"), "\(run.said)")
    #expect(run.said.filter { $0 == "\n" }.count == 1 && folder.names == ["raw.h264"], "\(run.said)")
    let timed = try await Program.run(
      ["repack", "raw.h264", "-o", "out.\(suffix)", "--framerate", "25"], in: folder.url)
    #expect(timed.status == 0, "\(timed.said)")
    let checked = try await Program.run(["check", "out.\(suffix)"], in: folder.url)
    #expect(!checked.text.contains("container-"), "\(checked.text)")
  }

  /// Pictures and groups are those of the stream, whatever it is in: two fields are one picture, and a picture of I
  /// slices is one to begin at.
  @Test(arguments: ["interlaced.h264", "interlaced.h265", "untimed"]) func countsTheSamePicturesInEachContainer(
    name: String
  ) async throws {
    let folder = try Folder()
    try folder.write(
      "raw", name == "untimed" ? Self.untimed : try Data(contentsOf: URL(filePath: Self.media(name))))
    var files = ["raw"]
    for suffix in ["mp4", "mkv", "ts"] {
      files.append("out.\(suffix)")
      let run = try await Program.run(
        ["repack", "raw", "-o", "out.\(suffix)", "--framerate", "25"], in: folder.url)
      #expect(run.status == 0, "\(run.said)")
    }
    let run = try await Program.run(["info", "--json", "--count"] + files, in: folder.url)
    let documents = try #require(try JSONSerialization.jsonObject(with: run.output) as? [[String: Any]])
    let counts = documents.map { document in
      let video = document["video"] as? [String: Any]
      return [video?["pictures"] as? Int, video?["groups"] as? Int]
    }
    #expect(counts == Array(repeating: name == "untimed" ? [3, 3] : [25, 3], count: files.count), "\(run.text)")
    let piped = try await Program.shell(
      "h26x info --json --count - < out.ts; cat out.ts | h26x info --json --count -", in: folder.url)
    #expect(piped.text.split(separator: "\n").filter { $0.contains("\"pictures\"") }.count == 2, "\(piped.text)")
  }

  /// A damaged picture inside of Matroska is found.
  @Test func findsDamageInMatroska() async throws {
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

  @Test(arguments: ["clip", "clip-h265"]) func reportsTheSameFormatForAllContainers(name: String) async throws {
    let folder = try Folder()
    let raw = name == "clip" ? "clip.h264" : "clip.h265"
    let reference = try #require(
      try await document(["--count", Self.media(raw)], in: folder)["video"] as? [String: Any])
    for suffix in ["mp4", "mkv", "ts"] {
      let document = try await document(["--count", Self.media("\(name).\(suffix)")], in: folder)
      let video = try #require(document["video"] as? [String: Any])
      for key in reference.keys where !["stream-format", "bitrate", "peak-bitrate"].contains(key) {
        #expect("\(video[key] ?? "-")" == "\(reference[key] ?? "-")", "\(suffix): \(key)")
      }
      #expect(document["duration"] as? Double == 2.48)
    }
  }

  /// The clip, rotated by 90 degrees.
  static func turnedClip() throws -> Data {
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
    try folder.write("turned.mp4", try Self.turnedClip())
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
    #expect(own.first?["channels"] as? Int == 2, "\(own)")
    for suffix in ["mp4", "mov", "mkv", "ts", "flv"] {
      let run = try await Program.run(["repack", "in.mp4", "-o", "out.\(suffix)"], in: folder.url)
      #expect(run.status == 0 && run.said.contains("H.264 and"), "\(suffix): \(run.said)")
      let streams = try #require(try await document(["out.\(suffix)"], in: folder)["streams"] as? [[String: Any]])
      #expect(streams.count == 1 && streams.first?["kind"] as? String == "audio", "\(suffix): \(streams)")
      // FLV cannot have a language.
      if suffix != "flv" { #expect(streams.first?["language"] as? String != nil, "\(suffix): \(streams)") }
    }
    let silent = try await Program.run(["repack", "--no-audio", "in.mp4", "-o", "silent.mkv"], in: folder.url)
    #expect(silent.status == 0 && silent.said.contains("left behind: audio"), "\(silent.said)")
  }

  /// MP4 takes PCM from FFmpeg 6.1 on.
  private static let takesPCM = FormatLibrary.version.map { $0.major > 60 } ?? false

  /// Two seconds of audio: how it is made, containers that take it with video, and containers that do not.
  /// Not every pair: each kind once where it is packed in another way, each container once that refuses.
  static let sounds: [(name: String, encoder: String, from: String, goesInto: [String], not: [String])] = [
    ("AAC in MPEG-TS", "avenc_aac ! aacparse", "mpegtsmux", ["mp4", "mov", "mkv", "ts", "flv"], ["h264"]),
    ("AAC in FLV", "avenc_aac ! aacparse", "flvmux", ["mp4", "ts"], []),
    ("AC-3", "avenc_ac3 ! ac3parse", "matroskamux", ["mp4", "ts"], ["flv"]),
    ("AC-3 in MPEG-TS", "avenc_ac3 ! ac3parse", "mpegtsmux", ["mov", "mkv"], []),
    ("MP2 in MPEG-TS", "avenc_mp2 ! mpegaudioparse", "mpegtsmux", ["mp4", "ts"], []),
    ("Opus", "opusenc", "matroskamux", ["mp4", "ts"], []),
    ("FLAC", "flacenc ! flacparse", "matroskamux", ["mkv", "mp4"], ["ts"]),
    ("Vorbis", "vorbisenc", "matroskamux", ["mkv"], ["ts"]),
    (
      "PCM", "audio/x-raw,format=S16LE", "matroskamux", ["mov", "mkv"] + (takesPCM ? ["mp4"] : []),
      takesPCM ? [] : ["mp4"]
    ),
    ("PCM of 24 bits", "audio/x-raw,format=S24LE", "matroskamux", ["mov", "mkv"], []),
    ("PCM in QuickTime", "audio/x-raw,format=S16BE", "qtmux", ["mov", "mkv"], []),
  ]

  /// Audio is written where the container supports it; else only video is, with a message.
  @Test func keepsAudioOfManyCodecs() async throws {
    try await Crowd.each(Self.sounds) { sound in
      let folder = try Folder()
      let made = try await Program.shell(
        "gst-launch-1.0 -q \(sound.from) name=m ! filesink location=in filesrc location=\(Self.media("clip.mp4")) "
          + "! qtdemux ! h264parse ! queue ! m. audiotestsrc num-buffers=110 ! audio/x-raw,rate=48000,channels=2 "
          + "! audioconvert ! \(sound.encoder) ! queue ! m.", in: folder.url)
      try #require(made.status == 0 && folder.bytes("in") != nil, "\(sound.name): \(made.said)")
      let suffixes = sound.goesInto + sound.not
      for suffix in suffixes {
        let what: Comment = "\(sound.name) to \(suffix)"
        let run = try await Program.run(["repack", "in", "-o", "out.\(suffix)"], in: folder.url)
        let isCarried = sound.goesInto.contains(suffix)
        let lines = run.said.split(separator: "\n").filter { !$0.contains("left behind: metadata") }
        #expect(run.status == 0 && lines.count == (isCarried ? 1 : 2), "\(what): \(run.said)")
        #expect(run.said.contains("left behind: audio") == !isCarried, "\(what): \(run.said)")
      }
      let info = try await Program.run(["info", "--json", "--count"] + suffixes.map { "out.\($0)" }, in: folder.url)
      let files = try #require(try JSONSerialization.jsonObject(with: info.output) as? [[String: Any]])
      #expect(files.count == suffixes.count, "\(sound.name): \(info.said)")
      for (file, suffix) in zip(files, suffixes) {
        let kinds = (file["streams"] as? [[String: Any]] ?? []).compactMap { $0["kind"] as? String }
        #expect(kinds == (sound.goesInto.contains(suffix) ? ["audio"] : []), "\(sound.name) to \(suffix)")
        #expect((file["video"] as? [String: Any])?["pictures"] as? Int == 62, "\(sound.name) to \(suffix)")
      }
    }
  }

  /// A container without presentation times is refused, with a workaround.
  @Test func refusesToRepackAVIWithoutTimes() async throws {
    let folder = try Folder()
    let made = try await Program.shell(
      "gst-launch-1.0 -q filesrc location=\(Self.media("clip.h264")) ! h264parse ! video/x-h264,stream-format=byte-stream "
        + "! avimux ! filesink location=in.avi", in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    for suffix in ["mp4", "mkv", "ts", "flv"] {
      let run = try await Program.run(["repack", "in.avi", "-o", "out.\(suffix)"], in: folder.url)
      #expect(run.status == 1 && run.said.contains("-o FILE.h264"), "\(suffix): \(run.said)")
    }
    let run = try await Program.run(["repack", "in.avi", "-o", "out.h264"], in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    #expect(folder.names == ["in.avi", "out.h264"])
    #expect(try await document(["--count", "in.avi"], in: folder)["duration"] as? Double ?? 0 > 2)
    // Its caps do not signal start codes.
    let checked = try await Program.run(["check", "in.avi"], in: folder.url)
    #expect(checked.status == 0 && checked.text.contains("62 access units, 0 errors"), "\(checked.text)\(checked.said)")
  }

  /// Tags come from the file, and must not command the terminal.
  @Test func printsNoControlCharacters() async throws {
    let folder = try Folder()
    let made = try await Program.shell(
      "gst-launch-1.0 -q filesrc location=\(Self.media("clip.mp4")) ! qtdemux ! h264parse ! matroskamux name=m "
        + "! filesink location=in.mkv audiotestsrc num-buffers=20 ! taginject tags=language-code=de ! vorbisenc ! m.",
      in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    var bytes = try #require(folder.bytes("in.mkv"))
    let element = try #require(bytes.range(of: Data([0x22, 0xB5, 0x9C])))
    let language = try #require(bytes.range(of: Data("ger".utf8), in: element.upperBound..<element.upperBound + 8))
    bytes.replaceSubrange(language, with: Data("\u{1B}[m".utf8))
    try folder.write("in.mkv", bytes)
    let run = try await Program.run(["info", "in.mkv"], in: folder.url)
    #expect(run.status == 0 && run.text.contains("?[m") && !run.text.contains("\u{1B}"), "\(run.text)\(run.said)")
  }

  /// A Matroska file whose video track has no block, as recorders leave it.
  @Test(arguments: ["info", "check"]) func reportsAnEmptyTrack(command: String) async throws {
    let folder = try Folder()
    let clip = try Data(contentsOf: URL(filePath: Self.media("clip.mkv")))
    let cluster = try #require(clip.range(of: Data([0x1F, 0x43, 0xB6, 0x75])))
    try folder.write("in.mkv", clip[..<cluster.lowerBound])
    let run = try await Program.shell("h26x \(command) in.mkv", in: folder.url)
    #expect(run.status == 1 && run.said.contains("Matroska that is cut off"), "\(run.said)")
    #expect(folder.names == ["in.mkv"])
  }

  /// A sample entry type that names no codec, as QuickTime has for AVC-Intra.
  @Test(arguments: ["inspect --json", "check", "report -o out.html"])
  func readsAVCIntra(command: String) async throws {
    let folder = try Folder()
    var clip = try Data(contentsOf: URL(filePath: Self.media("clip.mp4")))
    let entry = try #require(clip.range(of: Data("avc1".utf8), options: .backwards))
    clip.replaceSubrange(entry, with: Data("ai12".utf8))
    let type = try #require(clip.range(of: Data("isom".utf8)))
    clip.replaceSubrange(type, with: Data("qt  ".utf8))
    try folder.write("in.mov", clip)
    let run = try await Program.shell("h26x \(command) in.mov", in: folder.url)
    #expect(run.status == 0, "\(run.said)")
  }

  @Test func reportsInterlacingInEachContainer() async throws {
    let folder = try Folder()
    var said: [String] = []
    for suffix in ["h264", "mp4", "mkv", "ts", "flv"] {
      let made = try await Program.run(
        ["repack", Self.media("interlaced.h264"), "-o", "in.\(suffix)"], in: folder.url)
      try #require(made.status == 0, "\(made.said)")
      let run = try await Program.run(["info", "in.\(suffix)"], in: folder.url)
      said += run.text.split(separator: "\n").filter { $0.hasPrefix("Interlacing") }.map { "\(suffix) \($0)" }
    }
    #expect(said.count == 5, "\(said)")
  }
}
