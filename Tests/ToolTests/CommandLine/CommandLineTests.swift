// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// Wrong command lines, and arguments that look like options.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct CommandLineTests {
  /// Wrong command lines, and a word that the message must have.
  static let typos: [(arguments: [String], said: String)] = [
    (["decode"], "file"), (["decode", "a"], "-o"), (["decode", "a", "-o", "b", "--start", "x"], "--start"),
    (["decode", "a", "-o", "b", "--start=-1"], "--start"),
    (["decode", "a", "-o", "b", "--duration", "1:99"], "--duration"),
    (["decode", "a", "-o", "b", "--size", "0x1"], "--size"),
    (["decode", "a", "-o", "b", "--size", "99999x1"], "--size"),
    (["decode", "a", "-o", "b", "--size", "64"], "--size"), (["decode", "a", "-o", "b", "--frames", "0"], "--frames"),
    (["decode", "a", "-o", "b", "--frames", "many"], "--frames"),
    (["decode", "a", "-o", "b", "--threads", "99"], "--threads"),
    (["decode", "a", "-o", "b", "--threads=-1"], "--threads"),
    (["check", "a", "--threads", "17"], "--threads"), (["inspect", "a", "--threads=-1"], "--threads"),
    (["decode", "a", "-o", "b.png"], "%04d"), (["decode", "a", "-o", "b", "--format", "gif"], "--format"),
    (["decode", "a", "-o", "b", "--pixel-format", "nope"], "--pixel-format"),
    (["decode", "a", "-o", "b.y4m", "--pixel-format", "RGB"], "--pixel-format"),
    (["decode", "a", "-o", "b-%d.png", "--pixel-format", "RGB"], "--pixel-format"),
    (["decode", "a", "-o", "b", "--framerate", "1/0"], "--framerate"),
    (["decode", "a", "-o", "b", "--framerate", "0.001"], "--framerate"),
    (["decode", "a", "-o", "b", "--y4m"], "--y4m"),
    (["decode", "a", "b", "-o", "c"], "b"), (["decode", "", "-o", "c"], "name"), (["decode", "a", "-o", ""], "-o"),
    (["repack", "a", "-o", "b.xyz"], "b.xyz"), (["repack", "a", "-o", "b"], "--format"),
    (["repack", "a", "-o", "-", "--format", "mp4", "--start", "1", "--cut", "hidden"], "--cut"),
    (["repack", "a", "-o", "b.ts", "--drop", "x"], "--drop"),
    (["repack", "a", "-o", "b.mp4", "--framerate", "0"], "--framerate"), (["snapshot", "a", "-o", "b"], "-o b"),
    (["edit", "a", "--dry-run", "--remove", "dolby-vision", "--dolby-vision", "record"], contradiction("record")),
    (["edit", "a", "--dry-run", "--remove", "captions,dolby-vision", "--dolby-vision", "8.1"], contradiction("8.1")),
    (
      ["edit", "a", "--dry-run", "--dolby-vision", "8.1", "--insert-dolby-vision", "b"],
      "--dolby-vision 8.1 and --insert-dolby-vision exclude"
    ), (["edit", "a", "--dry-run", "--keep-sei", "4,5", "--remove-sei", "5"], "--remove-sei and --keep-sei"),
    (["edit", "a", "--dry-run", "--insert-dolby-vision", "b", "--dv-profile", "99.9"], profiles),
    (["edit", "a", "--dry-run", "--insert-dolby-vision", "b", "--dv-profile", "8.3"], profiles),
    (["edit", "a", "--dry-run", "--insert-dolby-vision", "b", "--dv-profile", "10"], profiles),
    (["snapshot", "a", "-o", "b.png", "--at", "1", "--frame", "2"], "exclude"),
    (["snapshot", "a", "-o", "b.png", "--frame=-1"], "--frame"), (["snapshot", "a", "-o", "b.png", "--at=-1"], "--at"),
    (["snapshot", "a", "-o", "b.png", "--sheet", "90x90"], "--sheet"),
    (["snapshot", "a", "-o", "b.png", "--sheet", "3"], "--sheet"), (["compare", "a"], "--decoder"),
    (["compare", "-", "-"], "standard input"), (["compare", "a", "--decoder", "no-such"], "--decoder"),
    (["demo", "-"], "standard input"), (["demo", "a", "--sheet", "b"], "--sheet"),
    (["play", "a", "--sink", "no-such"], "no-such"), (["play", "a", "--start", "x"], "--start"),
    (["receive", "http://a"], "http://a"), (["receive", "udp://a"], "udp://a"),
    (["receive", "udp://a:99999"], "udp://a"),
    (["receive", "--payload", "200"], "--payload"), (["receive", "--latency", "70000"], "--latency"),
    (["receive", "--codec", "h263"], "--codec"), (["receive", "-o", "b.txt"], "b.txt"), (["info"], "files"),
    (["inspect"], "file"), (["inspect", "a", "--range", "3-1"], "--range"),
    (["inspect", "a", "--range", "x"], "--range"),
    (["inspect", "a", "--type", ""], "--type"), (["check"], "files"), (["report", "a"], "-o"), (["inf", "a"], "inf"),
    (["info", "--jsn", "a"], "--jsn"), (["--jsn"], "--jsn"),
    // One dash: no cluster of options, even with an h among its letters.
    (["info", "-dash.mp4"], "-dash.mp4: to name a file, write ./-dash.mp4"), (["info", "-x"], "-x"),
    (["decode", "-dash.mp4", "-o", "-"], "-dash.mp4"), (["info", "-jh", "a"], "-jh"), (["-hx"], "-hx"), (["-x"], "-x"),
    (["snapshot", "a", "-o", "-h.png"], "./-h.png"), (["info", "-o", "a"], "-o"),
    (["decode", "a", "-ob.y4m"], "write -o b.y4m"), (["repack", "-framerate", "25", "a"], "write --framerate"),
    (["snapshot", "a", "-o", "b.png", "--frame", "-1"], "--frame"),
    ([], "expected a subcommand: info"), (["inof", "a", "b"], "unknown subcommand inof: did you mean info?"),
    (["snap"], "did you mean snapshot?"), (["a.mp4"], "unknown subcommand a.mp4: expected info, "),
    (["help", "inof"], "did you mean info?"), (["inof", "--help"], "did you mean info?"), (["--help", "a"], "a"),
    (["help", "info", "check"], "not info and check"),
  ]

  private static func contradiction(_ record: String) -> String {
    "--dolby-vision \(record) and --remove dolby-vision exclude each other"
  }
  private static let profiles = "4, 4.2, 5, 5.0, 7, 7.6, 8, 8.1, 8.2, 8.4, 9, 9.2, 20, 20.0 or 20.4"

  @Test func namesTheWrongOption() async throws {
    try await Crowd.each(Self.typos) { arguments, said in
      let folder = try Folder()
      let run = try await Program.run(arguments, in: folder.url)
      #expect(run.status == 64 && run.said.contains(said), "\(arguments): \(run.status) \(run.said)")
      #expect(run.said.filter { $0 == "\n" }.count == 1, "\(arguments): \(run.said)")
      #expect(folder.names.isEmpty, "\(arguments)")
    }
  }

  @Test func readsFilesWhoseNamesBeginWithADash() async throws {
    let folder = try Folder()
    try folder.write("-dash.mp4", try Data(contentsOf: Program.media.appending(path: "clip.mp4")))
    for name in [["./-dash.mp4"], ["--", "-dash.mp4"]] {
      let run = try await Program.run(["info"] + name, in: folder.url)
      #expect(run.status == 0 && run.text.contains("320x180"), "\(name): \(run.text)\(run.said)")
    }
    let unread = try await Program.run(["info", "--", "-h"], in: folder.url)
    #expect(unread.status == 1 && unread.said == "h26x: -h: no such file\n", "\(unread.text)\(unread.said)")
  }
}
