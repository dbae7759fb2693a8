// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// The streams of a container that are read, by number, program and language.
@Suite(.enabled(if: Program.isBuilt)) struct StreamSelectionTests {
  private static let clips = ["clip.h264", "clip.h265"].map { Program.media.appending(path: $0).path }

  /// The hash of the first pictures of a file.
  private static func hash(_ arguments: [String], in folder: Folder) async throws -> String {
    let run = try await Program.run(["hash", "--frames", "3"] + arguments, in: folder.url)
    #expect(run.status == 0 && run.text.hasPrefix("MD5="), "\(arguments): \(run.said)")
    return run.text
  }

  /// Two videos, and sound in German and French.
  private static func make(_ name: String, _ muxer: String, in folder: Folder) async throws {
    let sounds = ["de", "fr"].map { language in
      "audiotestsrc num-buffers=40 ! audio/x-raw,rate=48000,channels=2 ! avenc_aac "
        + "! taginject tags=language-code=\(language) ! aacparse ! queue ! m."
    }
    let videos = [("clip.mp4", 264), ("clip-h265.mp4", 265)].map { name, codec in
      "filesrc location=\(Program.media.appending(path: name).path) ! qtdemux ! h\(codec)parse ! queue ! m."
    }
    let made = try await Program.shell(
      "gst-launch-1.0 -q \(muxer) name=m ! filesink location=\(name) \((videos + sounds).joined(separator: " "))",
      in: folder.url)
    try #require(made.status == 0, "\(made.said)")
  }

  /// Numbers, kinds and languages of the streams of a file.
  private static func streams(_ name: String, in folder: Folder) async throws -> [String] {
    let run = try await Program.run(["info", "--json", name], in: folder.url)
    let files = try #require(try JSONSerialization.jsonObject(with: run.output) as? [[String: Any]], "\(run.said)")
    let video = files.first?["video"] as? [String: Any]
    let others = files.first?["streams"] as? [[String: Any]] ?? []
    return ["\(video?["stream"] ?? "-") video \(video?["codec"] ?? "-")"]
      + others.map { "\($0["stream"] ?? "-") \($0["kind"] ?? "-") \($0["language"] ?? "-")" }
  }

  @Test(arguments: [("in.mkv", "matroskamux"), ("in.mp4", "mp4mux")])
  func choosesStreamsByNumberAndLanguage(name: String, muxer: String) async throws {
    let folder = try Folder()
    try await Self.make(name, muxer, in: folder)
    let listed = try await Self.streams(name, in: folder)
    let (german, french) = (
      try #require(listed.first { $0.contains("audio de") || $0.contains("audio ger") }).prefix(1),
      try #require(listed.first { $0.contains("audio fr") }).prefix(1)
    )
    #expect(listed.first == "0 video H.264" && listed.filter { $0.contains(" video") }.count == 2, "\(listed)")
    let (first, second) = (
      try await Self.hash([Self.clips[0]], in: folder), try await Self.hash([Self.clips[1]], in: folder)
    )
    #expect(try await Self.hash([name], in: folder) == first)
    #expect(try await Self.hash([name, "--stream", "0"], in: folder) == first)
    #expect(try await Self.hash([name, "--stream", "1"], in: folder) == second)
    let shot = try await Program.run(["snapshot", name, "-o", "shot.png", "--stream", "1"], in: folder.url)
    let decoded = try await Program.run(
      ["decode", name, "-o", "out.yuv", "--stream", "1", "--frames", "1"], in: folder.url)
    #expect(shot.status == 0 && decoded.status == 0, "\(shot.said)\(decoded.said)")

    let chosen = try await Program.run(
      ["repack", name, "-o", "chosen.mkv", "--streams", "\(french),1"], in: folder.url)
    #expect(
      chosen.status == 0 && chosen.said.hasPrefix("h26x: chosen.mkv: Matroska, H.265 and AAC\n"), "\(chosen.said)")
    #expect(chosen.said.contains("h26x: chosen.mkv: left behind: video (H.264"), "\(chosen.said)")
    #expect(chosen.said.contains("), stream \(german)\n"), "\(chosen.said)")
    #expect(chosen.said.filter { $0 == "\n" }.count == 3, "\(chosen.said)")
    #expect(try await Self.hash(["chosen.mkv"], in: folder) == second)
    #expect(try await Self.streams("chosen.mkv", in: folder).last?.contains("audio fr") == true)

    for code in ["ger", "deu", "DEU"] {
      let run = try await Program.run(
        ["repack", name, "-o", "language.mkv", "--language", code, "--force"], in: folder.url)
      #expect(run.status == 0 && run.said.contains("left behind: audio (AAC, fr"), "\(run.said)")
      #expect(!run.said.contains("stream \(german)"), "\(run.said)")
    }
  }

  @Test func choosesAProgramme() async throws {
    let folder = try Folder()
    let made = try await Program.shell(
      "gst-launch-1.0 -q mpegtsmux name=m prog-map=program_map,sink_65=1,sink_66=7,sink_67=7 "
        + "! filesink location=two.ts filesrc location=\(Self.clips[0]) ! h264parse ! queue ! m.sink_65 "
        + "filesrc location=\(Self.clips[1]) ! h265parse ! queue ! m.sink_66 "
        + "audiotestsrc num-buffers=40 ! audio/x-raw,rate=48000 ! avenc_aac ! aacparse ! queue ! m.sink_67",
      in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    let info = try await Program.run(["info", "two.ts"], in: folder.url)
    let row = try #require(info.text.split(separator: "\n").first { $0.hasPrefix("Programs") })
    #expect(row.contains(" 1 (stream ") && row.contains(" 7 (streams "), "\(row)")
    let (first, second) = (
      try await Self.hash([Self.clips[0]], in: folder), try await Self.hash([Self.clips[1]], in: folder)
    )
    #expect(try await Self.hash(["two.ts"], in: folder) == first)
    #expect(try await Self.hash(["two.ts", "--program", "7"], in: folder) == second)
    for (options, hash, left) in [([], first, "7"), (["--program", "7"], second, "1")] {
      let run = try await Program.run(["repack", "two.ts", "-o", "out.mp4", "--force"] + options, in: folder.url)
      #expect(run.status == 0 && run.said.hasSuffix("out.mp4: left behind: program \(left)\n"), "\(run.said)")
      #expect(run.said.contains("AAC") == (left == "1"), "\(run.said)")
      #expect(try await Self.hash(["out.mp4"], in: folder) == hash)
    }
  }

  @Test func reportsOtherProgrammes() async throws {
    let folder = try Folder()
    let made = try await Program.shell(
      "gst-launch-1.0 -q mpegtsmux name=m prog-map=program_map,sink_65=1,sink_66=7 ! filesink location=two.ts "
        + "filesrc location=\(Self.clips[0]) ! h264parse ! queue ! m.sink_65 "
        + "filesrc location=\(Self.clips[0]) ! h264parse ! queue ! m.sink_66", in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    let info = try await Program.run(["info", "two.ts"], in: folder.url)
    #expect(info.status == 0 && info.text.contains("Programs            2, of which one is read"), "\(info.text)")
    let document = try await Program.run(["info", "--json", "two.ts"], in: folder.url)
    let files = try #require(try JSONSerialization.jsonObject(with: document.output) as? [[String: Any]])
    #expect(files.first?["programs"] as? [Int] == [1, 7])
    let run = try await Program.run(["repack", "two.ts", "-o", "one.mp4"], in: folder.url)
    #expect(run.status == 0 && run.said.contains("left behind: program 7\n"), "\(run.said)")
  }

  /// Choices of streams that are not there.
  static let mistakes: [(options: [String], status: Int32, said: String)] = [
    (["--streams", "9"], 1, "no stream 9; it has 0 video (H.264)"),
    (["--streams", "2"], 1, "have no H.264 or H.265 video; the file has 0 video (H.264), 1 video (H.265)"),
    (["--program", "3"], 1, "no program 3; "), (["--language", "swe"], 1, "in swe; it has "),
    (["--streams", "0,,1"], 64, "0,,1"), (["--streams", "-1"], 64, "--streams"), (["--streams", ""], 64, "--streams"),
    (["--streams", "99999999999999999999"], 64, "99999999999999999999"),
  ]

  @Test(arguments: [("in.mkv", "matroskamux"), ("in.mp4", "mp4mux")])
  func reportsMissingStreams(name: String, muxer: String) async throws {
    let base = try Folder()
    try await Self.make(name, muxer, in: base)
    try await Crowd.each(Self.mistakes) { mistake in
      let folder = try Folder()
      let run = try await Program.run(
        ["repack", base.url.appending(path: name).path, "-o", "out.mkv"] + mistake.options, in: folder.url)
      #expect(run.status == mistake.status && run.said.contains(mistake.said), "\(mistake): \(run.said)")
      #expect(run.said.filter { $0 == "\n" }.count == 1 && folder.names.isEmpty, "\(mistake): \(run.said)")
    }
    let raw = try await Program.run(["hash", Self.clips[0], "--stream", "0"], in: base.url)
    #expect(raw.status == 64 && raw.said.contains("streams can be selected only in containers"), "\(raw.said)")
  }
}
