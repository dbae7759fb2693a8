// SPDX-License-Identifier: MPL-2.0
import Foundation
import TestSupport
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

  @Test(arguments: TestScope.rows(readers, usually: 3)) func reportsBadInputInOneLine(reader: [String]) async throws {
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
  func acceptsAnyFileName(reader: [String]) async throws {
    let clip = try Data(contentsOf: Program.media.appending(path: "clip.mp4"))
    try await Crowd.each(BadFiles.names) { name in
      let folder = try Folder()
      try folder.write(name, clip)
      let run = try await Program.run(reader + ["--", name], in: folder.url)
      #expect(run.status == 0 && run.said.filter { $0 == "\n" }.count <= 1, "\(reader) \(name): \(run.said)")
    }
  }

  /// A recording whose beginning, with the first keyframe, was cut off.
  @Test(arguments: [["info"], ["decode", "-o", "out.yuv"]]) func reportsMissingParameterSets(
    command: [String]
  ) async throws {
    let folder = try Folder()
    let stream = try Data(contentsOf: Program.media.appending(path: "clip.h264"))
    let end = try #require(stream.range(of: Data([0, 0, 1, 0x41]))).lowerBound
    try folder.write("late.h264", stream[end...].prefix(3000))
    let run = try await Program.run(command + ["late.h264"], in: folder.url)
    #expect(run.status == 1 && run.said.contains("no parameter sets"), "\(run.said)")
    #expect(folder.names == ["late.h264"])
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

  @Test(arguments: TestScope.rows(["h264", "mp4", "mkv", "ts", "flv"], usually: 3)) func readsPipes(suffix: String)
    async throws
  {
    let clip = Program.media.appending(path: "clip.\(suffix)").path
    let readers = Self.readers.filter { !["demo", "compare"].contains($0[0]) }
    try await Crowd.each(readers) { reader in
      let folder = try Folder()
      let run = try await Program.shell("cat \(clip) | h26x \(reader.joined(separator: " ")) -", in: folder.url)
      #expect(run.status == 0 && run.said.filter { $0 == "\n" }.count <= 1, "\(reader): \(run.status) \(run.said)")
    }
  }

  /// A named pipe, which must be opened once only: closing it would end its writer.
  @Test func readsNamedPipes() async throws {
    let clip = Program.media.appending(path: "clip.mp4").path
    try await Crowd.each(Self.readers.filter { !["demo", "compare"].contains($0[0]) }) { reader in
      let folder = try Folder()
      let line = "mkfifo in && { cat \(clip) > in & timeout 600 h26x \(reader.joined(separator: " ")) in; }"
      let run = try await Program.shell(line, in: folder.url)
      #expect(run.status == 0 && run.said.filter { $0 == "\n" }.count <= 1, "\(reader): \(run.status) \(run.said)")
    }
  }

  /// MPEG-TS of null packets, for which the demultiplexer posts no message.
  @Test func failsForAStreamOfNullPackets() async throws {
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
  @Test func reportsShortFilesOfEverySize() async throws {
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

  /// Requests for parts that the file does not have.
  @Test func reportsTimesAndPicturesBehindTheEnd() async throws {
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
