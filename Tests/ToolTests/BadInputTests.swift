// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// Bad input: one line on standard error, the right status, and no file lost.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct BadInputTests {
  static let readers: [[String]] = [
    ["info"], ["inspect", "--json"], ["check"], ["report", "-o", "out.html"], ["decode", "-o", "out.yuv"], ["hash"],
    ["repack", "-o", "out.mkv"], ["snapshot", "-o", "out.png"], ["demo", "--sheet", "out.png"],
    ["play", "--immediate", "--sink", "fakesink"],
    ["compare", "--decoder", "avdec_h264"],
  ]

  private func prepared() throws -> (Folder, [BadFiles.Kind]) {
    let folder = try Folder()
    let kinds = try BadFiles.kinds()
    for name in ["folder", "under"] {
      try FileManager.default.createDirectory(
        at: folder.url.appending(path: name), withIntermediateDirectories: false)
    }
    for kind in kinds { if let bytes = kind.bytes { try folder.write(kind.name, bytes) } }
    return (folder, kinds)
  }

  /// Whether it is one line that names the program and its subject.
  private static func expectOneLine(_ run: Program, _ what: Comment) {
    #expect(run.said.hasPrefix("h26x: ") && run.said.filter { $0 == "\n" }.count == 1, what)
  }

  @Test(arguments: readers) func reportsWhatIsWrong(reader: [String]) async throws {
    let (bad, kinds) = try prepared()
    try await Crowd.each(kinds) { kind in
      let folder = try Folder()
      let run = try await Program.run(reader + [bad.url.appending(path: kind.name).path], in: folder.url)
      let what: Comment = "\(reader) \(kind.name): \(run.status) \(run.said)"
      switch kind.verdict {
      case .useless(let said):
        #expect([1, 2].contains(run.status), what)
        // A stream of start codes can be inspected, and check finds errors.
        if run.status == 1 { #expect(run.said.contains(said), what) }
      case .damaged: #expect((0...2).contains(run.status), what)
      case .fine: #expect(run.status == 0, what)
      }
      if run.status == 1 {
        Self.expectOneLine(run, what)
        #expect(folder.names.isEmpty, what)
      } else {
        // And one for each thing that is not copied.
        let lines = run.said.split(separator: "\n").filter { !$0.contains(": left behind: ") }
        #expect(lines.count <= 1, what)
        #expect(folder.names.allSatisfy { $0.hasPrefix("out.") }, what)
      }
    }
  }

  @Test(arguments: [
    ["info"], ["decode", "-o", "out.yuv"], ["repack", "-o", "out.mp4"], ["snapshot", "-o", "out.png"],
  ])
  func takesAnyName(reader: [String]) async throws {
    let clip = try Data(contentsOf: Program.media.appending(path: "clip.mp4"))
    try await Crowd.each(BadFiles.names) { name in
      let folder = try Folder()
      try folder.write(name, clip)
      let run = try await Program.run(reader + ["--", name], in: folder.url)
      #expect(run.status == 0 && run.said.filter { $0 == "\n" }.count <= 1, "\(reader) \(name): \(run.said)")
    }
  }

  // MARK: Pipes

  /// Input through a pipe, as a shell command, and the error message.
  static let pipes: [(line: String, said: String)] = [
    (": |", "standard input: empty"), ("yes text | head -c 100000 |", "standard input: text"),
    ("head -c 500 /dev/zero |", "standard input: nothing but zeros"),
    ("head -c 200 \(Program.media.appending(path: "clip.mp4").path) |", "standard input: MP4"),
  ]

  @Test(arguments: readers.filter { !["demo", "compare"].contains($0[0]) })
  func reportsBrokenPipes(reader: [String]) async throws {
    let lines =
      Self.pipes.map { line, said in ("\(line) h26x \(reader.joined(separator: " ")) -", said) } + [
        ("h26x \(reader.joined(separator: " ")) - <&-", "standard input"),
        ("h26x \(reader.joined(separator: " ")) - < /", "a folder"),
      ]
    try await Crowd.each(lines) { line, said in
      let folder = try Folder()
      let run = try await Program.shell(line, in: folder.url)
      let what: Comment = "\(line): \(run.status) \(run.said)"
      #expect(run.status == 1 && run.said.contains(said), what)
      Self.expectOneLine(run, what)
      #expect(folder.names.isEmpty, what)
    }
  }

  @Test(arguments: ["h264", "mp4", "mkv", "ts", "flv"]) func readsPipes(suffix: String) async throws {
    let clip = Program.media.appending(path: "clip.\(suffix)").path
    let readers = Self.readers.filter { !["demo", "compare"].contains($0[0]) }
    try await Crowd.each(readers) { reader in
      let folder = try Folder()
      let run = try await Program.shell("cat \(clip) | h26x \(reader.joined(separator: " ")) -", in: folder.url)
      #expect(run.status == 0 && run.said.filter { $0 == "\n" }.count <= 1, "\(reader): \(run.status) \(run.said)")
    }
  }

  /// A named pipe, which must be opened once only: closing it would end its writer.
  @Test func readsPipesWithNames() async throws {
    let clip = Program.media.appending(path: "clip.mp4").path
    try await Crowd.each(Self.readers.filter { !["demo", "compare"].contains($0[0]) }) { reader in
      let folder = try Folder()
      let line = "mkfifo in && { cat \(clip) > in & timeout 600 h26x \(reader.joined(separator: " ")) in; }"
      let run = try await Program.shell(line, in: folder.url)
      #expect(run.status == 0 && run.said.filter { $0 == "\n" }.count <= 1, "\(reader): \(run.status) \(run.said)")
    }
  }

  /// MPEG-TS of null packets, for which the demultiplexer posts no message.
  @Test func endsWhereNothingComes() async throws {
    let packet = Data([0x47, 0x1F, 0xFF, 0x10]) + Data(count: 184)
    let stream = (0..<600).reduce(into: Data()) { bytes, _ in bytes += packet }
    try await Crowd.each(["repack - -o out.mkv", "repack null.ts -o out.mkv", "info -"]) { command in
      let folder = try Folder()
      try folder.write("null.ts", stream)
      let run = try await Program.shell("cat null.ts | timeout -k 1 600 h26x \(command)", in: folder.url)
      let what: Comment = "\(command): \(run.status) \(run.said)"
      #expect(run.status == 1 && run.said.contains("without H.264 or H.265 video"), what)
      #expect(folder.names == ["null.ts"], "\(command)")
    }
  }

  /// Files that end within the first bytes by which formats are distinguished. The byte at 4 is the sync byte
  /// of a transport stream whose packets begin with a timestamp.
  @Test func readsFilesOfEachSize() async throws {
    let folder = try Folder()
    let sizes = 0...400
    for size in sizes {
      var bytes = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 | 0x80) })
      if size > 4 { bytes[4] = 0x47 }
      try folder.write("\(size)", bytes)
    }
    let run = try await Program.run(["info"] + sizes.map { "\($0)" }, in: folder.url)
    #expect(run.status == 1 && run.said.filter { $0 == "\n" }.count == sizes.count, "\(run.status) \(run.said)")
  }

  // MARK: Command lines

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

  @Test func namesTheOptionThatIsWrong() async throws {
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

  @Test(arguments: [
    ["--help"], ["-h"], ["help"], ["help", "info"], ["info", "-h"], ["info", "a", "--json", "--help"],
  ])
  func helpsWhoAsks(arguments: [String]) async throws {
    let folder = try Folder()
    let run = try await Program.run(arguments, in: folder.url)
    #expect(run.status == 0 && run.said.isEmpty && run.text.contains("USAGE: h26x"), "\(run.text)\(run.said)")
  }

  /// Requests for parts that the file does not have.
  @Test func reportsPartsThatDoNotExist() async throws {
    let clip = Program.media.appending(path: "clip.mp4").path
    let runs: [(arguments: [String], said: String)] = [
      (["snapshot", clip, "-o", "a.png", "--at", "1:00"], "0:01:00"),
      (["snapshot", clip, "-o", "a.png", "--frame", "62"], "it has 62"),
      (["decode", clip, "-o", "a.yuv", "--start", "60"], "--start"),
    ]
    try await Crowd.each(runs) { arguments, said in
      let folder = try Folder()
      let run = try await Program.run(arguments, in: folder.url)
      #expect(run.status == 1 && run.said.contains(said), "\(arguments): \(run.status) \(run.said)")
      Self.expectOneLine(run, "\(arguments): \(run.said)")
      #expect(folder.names.isEmpty, "\(arguments)")
    }
  }
}
