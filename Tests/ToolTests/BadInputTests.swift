// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// Whatever is wrong: one line, the right status, and nothing lost.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct BadInputTests {
  static let readers: [[String]] = [
    ["info"], ["decode", "-o", "out.yuv"], ["repack", "-o", "out.mp4"], ["snapshot", "-o", "out.png"], ["demo"],
    ["play", "--sink", "fakesink"], ["compare", "--decoder", "avdec_h264"],
  ]

  /// Names of bad files, and what is said of them.
  static let inputs: [(name: String, said: String)] = [
    ("missing", "no such file"), ("folder", "a folder"), ("empty", "an empty file"), ("text", "text"),
    ("zeros", "zeros"), ("picture.h264", "a PNG picture"), ("sound.wav", "RIFF"), ("noise", "no H.264"),
    ("moov.mp4", "no playable streams"), ("starts.h264", "no H.264"), ("under/missing", "no such file"),
    ("text/below", "Not a directory"),
  ]

  private func prepared() throws -> Folder {
    let folder = try Folder()
    try FileManager.default.createDirectory(
      at: folder.url.appending(path: "folder"), withIntermediateDirectories: false)
    try folder.write("empty", Data())
    try folder.write("text", Data("Not a video.\n".utf8))
    try folder.write("zeros", Data(count: 100_000))
    try folder.write("picture.h264", Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 1, 13]))
    try folder.write("sound.wav", Data("RIFF\u{24}\0\0\0WAVEfmt ".utf8))
    try folder.write("noise", Data((0..<4000).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 7 | 0x80) }))
    try folder.write("moov.mp4", try Data(contentsOf: Program.media.appending(path: "clip.mp4")).prefix(40))
    try folder.write("starts.h264", Data((0..<400).flatMap { _ in [0, 0, 1, 0x1f] as [UInt8] }))
    return folder
  }

  @Test(arguments: readers) func saysWhatIsWrong(reader: [String]) async throws {
    let folder = try prepared()
    let before = folder.names
    for (name, said) in Self.inputs {
      let run = try await Program.run(reader + [name], in: folder.url)
      #expect(run.status == 1, "\(reader) \(name): \(run.said)")
      #expect(run.said.contains(said), "\(reader) \(name): \(run.said)")
      #expect(run.said.hasPrefix("h26x: ") && run.said.filter { $0 == "\n" }.count == 1, "\(run.said)")
      #expect(folder.names == before, "\(reader) \(name)")
    }
  }

  /// Command lines that make no sense, and the word that the line names.
  static let typos: [(arguments: [String], said: String)] = [
    (["decode"], "file"), (["decode", "a"], "-o"), (["decode", "a", "-o", "b", "--start", "x"], "--start"),
    (["decode", "a", "-o", "b", "--size", "0x1"], "--size"), (["decode", "a", "-o", "b", "--frames", "0"], "--frames"),
    (["decode", "a", "-o", "b", "--threads", "99"], "--threads"), (["decode", "a", "-o", "b.png"], "%04d"),
    (["decode", "a", "-o", "b", "--pixel-format", "nope"], "--pixel-format"),
    (["decode", "a", "-o", "b", "--y4m"], "--y4m"), (["repack", "a", "-o", "b.xyz"], "b.xyz"),
    (["repack", "a", "-o", "-", "--format", "mp4"], "mp4"), (["repack", "a", "-o", "b.ts", "--drop", "x"], "--drop"),
    (["repack", "a", "-o", "b.mp4", "--framerate", "0"], "--framerate"), (["snapshot", "a", "-o", "b"], "-o b"),
    (["snapshot", "a", "-o", "b.png", "--at", "1", "--frame", "2"], "exclude"),
    (["snapshot", "a", "-o", "b.png", "--sheet", "90x90"], "--sheet"), (["compare", "a"], "--decoder"),
    (["receive", "http://a"], "http://a"), (["receive", "--payload", "200"], "--payload"), (["info"], "files"),
    (["inf", "a"], "inf"), (["info", "--jsn", "a"], "--jsn"),
  ]

  @Test func namesTheOptionThatIsWrong() async throws {
    let folder = try Folder()
    for (arguments, said) in Self.typos {
      let run = try await Program.run(arguments, in: folder.url)
      #expect(run.status == 64, "\(arguments): \(run.said)")
      #expect(run.said.contains(said), "\(arguments): \(run.said)")
      #expect(run.said.filter { $0 == "\n" }.count == 1, "\(arguments): \(run.said)")
    }
    #expect(folder.names.isEmpty)
  }

  @Test(arguments: [["decode"], ["repack", "--format", "mkv"]]) func destroysNothing(writer: [String]) async throws {
    let folder = try Folder()
    let clip = Program.media.appending(path: "clip.mp4").path
    try folder.write("there", Data("precious".utf8))
    try FileManager.default.createDirectory(
      at: folder.url.appending(path: "folder"), withIntermediateDirectories: false)
    func run(_ arguments: String...) async throws -> Program {
      try await Program.run(writer + arguments, in: folder.url)
    }

    #expect(try await run(clip, "-o", "there").said.contains("--force"))
    #expect(folder.bytes("there") == Data("precious".utf8))
    // Fails half-way, in spite of --force.
    try folder.write("cut.mp4", try Data(contentsOf: URL(filePath: clip)).prefix(30))
    #expect(try await run("cut.mp4", "-o", "there", "--force").status == 1)
    #expect(folder.bytes("there") == Data("precious".utf8))
    #expect(try await run(clip, "-o", "folder").said.contains("a folder"))
    #expect(try await run(clip, "-o", "nowhere/out").said.contains("No such file"))
    let own = try Data(contentsOf: URL(filePath: clip))
    try folder.write("own.mp4", own)
    #expect(try await run("own.mp4", "-o", "own.mp4", "--force").said.contains("the input itself"))
    #expect(folder.bytes("own.mp4") == own)
    // A link stays a link, and what it names is replaced only when asked.
    try FileManager.default.createSymbolicLink(
      atPath: folder.url.appending(path: "link").path, withDestinationPath: "there")
    #expect(try await run(clip, "-o", "link").said.contains("--force"))
    #expect(try await run(clip, "-o", "link", "--force").status == 0)
    #expect(
      try FileManager.default.destinationOfSymbolicLink(atPath: folder.url.appending(path: "link").path) == "there")
    #expect(folder.bytes("there").map { $0.count > 1000 } == true)
    // A device is written into.
    #expect(try await run(clip, "-o", "/dev/null").status == 0)
    #expect(folder.names == ["cut.mp4", "folder", "link", "own.mp4", "there"])
  }
}
