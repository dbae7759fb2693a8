// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// The scripts of `pipelines/`.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct PipelinesTests {
  static let names = [
    "annexb-to-mp4", "camera-to-file", "checksum", "file-to-raw", "keyframes", "many", "mosaic", "mp4-to-annexb",
    "rtp-receive", "rtp-send", "show", "transcode",
  ]

  private func clip(_ suffix: String) -> String { Program.media.appending(path: "clip.\(suffix)").path }
  private func script(_ name: String, _ arguments: [String], in folder: Folder) async throws -> Program {
    try await Program.run(arguments, in: folder.url, executable: Program.root.appending(path: "pipelines/\(name)"))
  }

  @Test func testsEveryScript() async throws {
    let there = try FileManager.default.contentsOfDirectory(atPath: Program.root.appending(path: "pipelines").path)
    #expect(there.filter { $0 != "common.sh" }.sorted() == Self.names)
  }

  @Test(arguments: names) func printsItsHelp(name: String) async throws {
    let run = try await script(name, ["--help"], in: Folder())
    #expect(run.status == 0 && run.text.contains("  \(name) "), "\(run.text)\(run.said)")
    #expect(!run.text.contains("SPDX") && !run.text.contains("gst-launch"), "\(run.text)")
  }

  @Test func decodesAndRepackages() async throws {
    let folder = try Folder()
    let sum = "3f1a3e4dbe966a3f73dae322394a458d"
    #expect(try await script("file-to-raw", [clip("mkv"), "a.yuv"], in: folder).status == 0)
    let rawSize = 62 * 320 * 180 * 3 / 2
    #expect(folder.bytes("a.yuv")?.count == rawSize)
    #expect(try await script("checksum", [clip("ts")], in: folder).text.contains(sum))
    #expect(try await script("annexb-to-mp4", [clip("h264"), "a.mp4"], in: folder).status == 0)
    #expect(try await script("mp4-to-annexb", ["a.mp4", "a.h264"], in: folder).status == 0)
    #expect(try await script("checksum", ["a.h264"], in: folder).text.contains(sum))
    #expect(try await script("keyframes", [clip("mp4"), "k-%02d.png"], in: folder).status == 0)
    #expect(folder.bytes("k-00.png")?.starts(with: [0x89, 0x50, 0x4e, 0x47]) == true)
  }

  /// What a script is not for: arguments, in which `keep` is an existing file, and words of the message.
  private static let refusals: [(name: String, arguments: [String], said: String)] = {
    let (h264, h265) = (
      Program.media.appending(path: "clip.h264").path, Program.media.appending(path: "clip.h265").path
    )
    let (mp4, other) = (Program.media.appending(path: "clip.mp4").path, "\(Program.media.path)/clip-h265.mp4")
    return [
      ("annexb-to-mp4", ["nothere.h264", "keep"], "nothere.h264: no such file"),
      ("annexb-to-mp4", [h264, "keep"], "keep: already exists"), ("annexb-to-mp4", [h265, "a.mp4"], "H.265"),
      ("annexb-to-mp4", [mp4, "a.mp4"], "video/quicktime"), ("annexb-to-mp4", [".", "a.mp4"], "a folder"),
      ("annexb-to-mp4", ["keep", "a.mp4"], "no readable H.264 or H.265"),
      ("annexb-to-mp4", [h264, "nothere/a.mp4"], "nothere/a.mp4: its folder"),
      ("mp4-to-annexb", [other, "a.h264"], "H.265"), ("mp4-to-annexb", [h264, "a.h264"], "expected video/quicktime"),
      ("mp4-to-annexb", [mp4, "keep"], "keep: already exists"),
      ("file-to-raw", ["nothere", "keep"], "no such file"), ("file-to-raw", [mp4, "keep"], "keep: already exists"),
      ("transcode", ["nothere", "keep"], "no such file"), ("transcode", [mp4, "keep"], "keep: already exists"),
      ("transcode", [mp4, "a.mp4", "fast"], "bitrate"), ("checksum", ["nothere"], "no such file"),
      ("keyframes", [mp4, "a.png"], "number"), ("mosaic", [mp4, mp4, mp4, "nothere", "a.mp4"], "no such file"),
      ("mosaic", [mp4, mp4, mp4, mp4, "keep"], "keep: already exists"), ("rtp-send", ["nothere"], "no such file"),
      ("rtp-receive", ["keep"], "keep: already exists"), ("camera-to-file", ["keep"], "keep: already exists"),
      ("camera-to-file", ["a.mp4", "/dev/nothere"], "/dev/nothere"), ("show", ["nothere"], "no such file"),
    ] + names.map { ($0, [], "see --help") }
  }()

  /// One line gives the reason, and nothing is written.
  @Test func refusesUnsuitableArguments() async throws {
    for (name, arguments, said) in Self.refusals {
      let folder = try Folder()
      try folder.write("keep", Data("text".utf8))
      let run = try await script(name, arguments, in: folder)
      let what: Comment = "\(name) \(arguments): \(run.status) \(run.said)"
      #expect(run.status != 0 && run.status != 124 && run.said.contains(said), what)
      #expect(run.said.filter { $0 == "\n" }.count == 1, what)
      #expect(folder.names.filter { $0 != "many.log" } == ["keep"] && folder.bytes("keep") == Data("text".utf8), what)
    }
  }

  @Test func reportsSoundThatIsLeftBehind() async throws {
    let folder = try Folder()
    let made = try await Program.shell(
      "gst-launch-1.0 -q mp4mux name=m ! filesink location=in.mp4 filesrc location=\(clip("mp4")) ! qtdemux ! h264parse "
        + "! queue ! m. audiotestsrc num-buffers=100 ! avenc_aac ! aacparse ! queue ! m.", in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    for (name, output) in [("mp4-to-annexb", "a.h264"), ("transcode", "t.mp4")] {
      let run = try await script(name, ["in.mp4", output], in: folder)
      #expect(run.status == 0 && run.said == "\(name): in.mp4: its sound (audio/mpeg) is left behind\n", "\(run.said)")
    }
    #expect(folder.names == ["a.h264", "in.mp4", "t.mp4"])
  }

  /// Scripts that decode take either codec.
  @Test func decodesBothCodecs() async throws {
    let folder = try Folder()
    for (name, output) in [("file-to-raw", ["a.yuv"]), ("keyframes", ["k-%d.png"]), ("transcode", ["t.mp4", "300"])] {
      let run = try await script(name, [clip("h265")] + output, in: folder)
      #expect(run.status == 0 && run.said.isEmpty, "\(name): \(run.said)")
    }
    let rawSize = folder.bytes("a.yuv")?.count ?? 0
    #expect(rawSize > 0 && rawSize % (320 * 180 * 3 / 2) == 0)
    #expect(folder.bytes("k-0.png") != nil && folder.bytes("t.mp4") != nil)
  }

  @Test func transcodesAndMakesMosaics() async throws {
    let folder = try Folder()
    #expect(try await script("transcode", [clip("flv"), "t.mp4", "300"], in: folder).status == 0)
    let files = [clip("mp4"), clip("ts"), clip("mkv"), "t.mp4"]
    #expect(try await script("mosaic", files + ["m.mp4"], in: folder).status == 0)
    let info = try await Program.run(["info", "--count", "t.mp4", "m.mp4"], in: folder.url)
    #expect(info.text.contains("320x180") && info.text.contains("1280x720"), "\(info.text)\(info.said)")
  }

  @Test func runsManyJobsAndResumes() async throws {
    let folder = try Folder()
    for name in ["a b.mp4", "it's.mp4"] {
      try folder.write(name, try Data(contentsOf: URL(filePath: clip("mp4"))))
    }
    try folder.write("bad.mp4", Data("text".utf8))
    let jobs = ["--jobs", "2", "repack", "{}", "-o", "{.}.mkv", ":::", "a b.mp4", "bad.mp4", "it's.mp4"]
    let first = try await script("many", jobs, in: folder)
    #expect(first.status == 1 && first.said.contains("2 done, 1 failed"), "\(first.said)")
    #expect(folder.names == ["a b.mkv", "a b.mp4", "bad.mp4", "it's.mkv", "it's.mp4", "many.log"])
    // Only failed jobs are run again: an existing output file would be an error.
    try folder.write("bad.mp4", try Data(contentsOf: URL(filePath: clip("mp4"))))
    let second = try await script("many", jobs, in: folder)
    #expect(second.status == 0 && second.said.contains("3 done, 0 failed"), "\(second.said)")
  }

  /// Names with everything that ends a line or a word, read again from the log.
  @Test func runsJobsOnFilesWhoseNamesHaveLineFeeds() async throws {
    let folder = try Folder()
    let names = ["new\nline.mp4", "\n\n.mp4", "it's \"so\" $(x)\n'\n.mp4", "back\\slash.mp4", "plain.mp4"]
    for name in names { try folder.write(name, try Data(contentsOf: URL(filePath: clip("mp4")))) }
    let many = Program.root.appending(path: "pipelines/many").path
    for _ in 0..<2 {
      // The second time, an existing output would be an error.
      let run = try await Program.shell(
        "find . -name '*.mp4' -print0 | '\(many)' --null repack {} -o {.}.mkv", in: folder.url)
      #expect(run.status == 0 && run.said.hasSuffix("5 done, 0 failed\n"), "\(run.said)")
    }
    #expect(
      folder.names.filter { $0.hasSuffix(".mkv") }
        == names.map { $0.replacingOccurrences(of: ".mp4", with: ".mkv") }.sorted())
  }

  /// The log knows commands, not their numbers: other work with the same log is done too.
  @Test func runsOtherJobsWithTheSameLog() async throws {
    let folder = try Folder()
    for name in ["b.mp4", "tab\t.mp4"] { try folder.write(name, try Data(contentsOf: URL(filePath: clip("mp4")))) }
    let repack = ["--jobs=2", "repack", "{}", "-o", "{.}.mkv", ":::"]
    let first = try await script("many", repack + ["b.mp4", "tab\t.mp4"], in: folder)
    #expect(first.status == 0 && first.said.contains("2 done, 0 failed\n"), "\(first.said)")
    try folder.write("a.mp4", try Data(contentsOf: URL(filePath: clip("mp4"))))
    let second = try await script("many", repack + ["a.mp4", "b.mp4", "tab\t.mp4"], in: folder)
    #expect(second.status == 0 && second.said.contains("3 done, 0 failed\n"), "\(second.said)")
    try folder.write("names", Data("a.mp4\0tab\t.mp4\0".utf8))
    let many = Program.root.appending(path: "pipelines/many").path
    let third = try await Program.shell("'\(many)' --null repack {} -o {.}.ts < names", in: folder.url)
    #expect(third.status == 0 && third.said.contains("2 done, 0 failed\n"), "\(third.said)")
    #expect(
      folder.names == [
        "a.mkv", "a.mp4", "a.ts", "b.mkv", "b.mp4", "many.log", "names", "tab\t.mkv", "tab\t.mp4", "tab\t.ts",
      ])
    for arguments in [["info"], ["--log", "b.mp4", "info", ":::", "b.mp4"], []] {
      let refused = try await script("many", arguments, in: folder)
      #expect(refused.status != 0 && !refused.said.contains(" done"), "\(refused.said)")
    }
  }

  /// On another machine, which is this one: jobs run there by SSH, and the log has their results.
  @Test func runsJobsOverSSH() async throws {
    let folder = try Folder()
    let port = 20_000 + Int.random(in: 0..<10_000)
    let server = Program.root.appending(path: "Tests/Scripts/SSH/server").path
    let started = try await Program.shell("mkdir ssh && exec '\(server)' ssh \(port)", in: folder.url)
    // No sshd is available.
    guard started.status != 77 else { return print("no sshd here, and none to be had") }
    try #require(started.status == 0, "\(started.said)")
    for name in ["a b.mp4", "it's.mp4"] {
      try folder.write(name, try Data(contentsOf: URL(filePath: clip("mp4"))))
    }
    try folder.write("bad.mp4", Data("text".utf8))
    let many = Program.root.appending(path: "pipelines/many").path
    let run = try await Program.shell(
      "trap 'kill $(cat ssh/pid)' EXIT; '\(many)' --jobs 2 --sshlogin \"$(cat ssh/sshlogin)\" "
        + "repack $PWD/{} -o $PWD/{.}.mkv ::: *.mp4", in: folder.url)
    #expect(run.status == 1 && run.said.contains("2 done, 1 failed"), "\(run.said)")
    #expect(folder.names == ["a b.mkv", "a b.mp4", "bad.mp4", "it's.mkv", "it's.mp4", "many.log", "ssh"])
  }
}
