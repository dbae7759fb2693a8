// SPDX-License-Identifier: MPL-2.0
import Foundation
import TestSupport
import Testing

/// `h26x cut`: the pictures of the ranges, and how ranges are requested.
@Suite(.enabled(if: Program.isBuilt)) struct CutCommandTests {
  /// Cuts a clip in a folder of its own, and returns the pictures of the target.
  private static func cut(
    _ source: String, _ target: String, _ options: [String]
  ) async throws -> (pictures: [String], said: String) {
    let folder = try Folder()
    let run = try await Program.run(["cut", CutTests.media(source), "-o", target] + options, in: folder.url)
    #expect(run.status == 0, "\(source) to \(target), \(options): \(run.said)")
    return (try await CutTests.pictures(target, in: folder), run.said)
  }

  private static func all(_ source: String) async throws -> [String] {
    try await CutTests.pictures(CutTests.media(source), in: Folder())
  }

  static let sources = ["clip.h264", "clip.mp4", "clip.mkv", "clip.ts", "clip.h265", "clip-h265.mp4", "clip-h265.ts"]

  /// The ranges of a request, in pictures of 1/25 second, of which there are 62.
  typealias Request = (options: [String], pictures: [Range<Int>])

  static let requests: [Request] = [
    (["--range", "0-0.4", "--range", "0.8-1.6"], [0..<10, 20..<40]),
    // Out of order, and twice.
    (["--range", "1.24-1.6", "--range", "0.4-0.48", "--range", "0.4-0.48"], [31..<40, 10..<12, 10..<12]),
    (["--range", "#50-", "--range", "-#1"], [50..<62, 0..<1]), (["--range", "#7-#8"], [7..<8]),
    (["--start", "1.2", "--end", "#60"], [30..<60]), (["--remove", "#3-#40", "--remove", "0-0.04"], [1..<3, 40..<62]),
    (["--remove", "0-1.24"], [31..<62]), (["--every", "1"], [0..<25, 25..<50, 50..<62]),
    // Between pictures.
    (["--range", "0.41-0.81", "--range", "0.81-0.85"], [11..<21, 21..<22]),
  ]

  @Test(arguments: TestScope.rows(sources, usually: 2)) func showsExactlyThePicturesOfTheRanges(
    source: String
  ) async throws {
    let all = try await Self.all(source)
    try #require(all.count == 62)
    try await Crowd.each(TestScope.rows(Self.requests, usually: 6)) { request in
      for target in ["out.mp4", "out.mov"] {
        let (pictures, said) = try await Self.cut(source, target, request.options + ["--mode", "hidden"])
        #expect(pictures == request.pictures.flatMap { all[$0] }, "\(source) \(request.options): \(said)")
      }
    }
  }

  /// Without an edit list, a range begins with a keyframe, and pictures behind its end that others need are shown.
  @Test(arguments: TestScope.rows(sources, usually: 2)) func beginsRangesWithKeyframesWithoutAnEditList(
    source: String
  ) async throws {
    let all = try await Self.all(source)
    let second = source.contains("265") ? 25 : 20
    for target in ["out.mkv", "out.ts", source.contains("265") ? "out.h265" : "out.h264"] {
      let options = ["--range", "0-0.4", "--range", "1.08-1.6", "--mode", "keyframe"]
      let (pictures, said) = try await Self.cut(source, target, options)
      let behind = said.split { ";\n".contains($0) }.filter { $0.contains("after the cut") }
        .compactMap { $0.split(separator: " ").first.flatMap { Int($0) } }.reduce(0, +)
      #expect(behind <= 4 && pictures.count == 10 + 40 - second + behind, "\(source) to \(target): \(said)")
      #expect(pictures.starts(with: all[0..<10]) && pictures.contains(all[second]), "\(said)")
      let inFront = pictures.firstIndex(of: all[second]) ?? 0
      #expect(pictures[inFront...].starts(with: all[second..<40]), "\(source) to \(target): \(said)")
      #expect(said.contains("a keyframe"), "\(said)")
    }
  }

  /// Nothing is encoded between two ranges if the second begins at the end of the first.
  @Test(arguments: [
    (["--range", "0-0.3", "--range", "0.3-#20", "--range", "0.8-"], 62), (["--every", "0.36"], 62),
    (["--range", "#0-#13", "--range", "#13-#20"], 20),
  ])
  func encodesNothingBetweenRangesThatContinueOneAnother(options: [String], count: Int) async throws {
    for target in ["out.mp4", "out.mkv"] {
      let (pictures, said) = try await Self.cut("clip.mp4", target, options + ["--mode", "exact"])
      #expect(pictures == Array(try await Self.all("clip.mp4").prefix(count)), "\(said)")
      #expect(!said.contains("encoded") && !said.contains("range 2"), "\(said)")
    }
    let folder = try Folder()
    let plan = try await Program.run(
      ["cut", CutTests.media("clip.mp4"), "-o", "out.mp4", "--plan"] + options, in: folder.url)
    #expect(plan.text.components(separatedBy: "\"mode\"").count == 2, "\(plan.text)")
  }

  @Test func writesAFileForEachRange() async throws {
    let all = try await Self.all("clip.mp4")
    let folder = try Folder()
    let run = try await Program.run(
      ["cut", CutTests.media("clip.mp4"), "-o", "part-%02d.mp4", "--every", "0.72", "--mode", "hidden"], in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    #expect(folder.names.sorted() == ["part-01.mp4", "part-02.mp4", "part-03.mp4", "part-04.mp4"], "\(folder.names)")
    var pictures: [String] = []
    for name in folder.names.sorted() { pictures += try await CutTests.pictures(name, in: folder) }
    #expect(pictures == all)
  }

  /// The parts that a list keeps, and those that it removes.
  @Test(arguments: [
    ("start,end,name\n0.4,0.8,\"one, two\"\n#30,#31\n", [10..<20, 30..<31]),
    ("0.4\t0.8\t0\n0.8 1.2 1\n1.6 2 3\r\n", [0..<10, 20..<40, 50..<62]),
  ]) func readsLists(text: String, ranges: [Range<Int>]) async throws {
    let all = try await Self.all("clip.mp4")
    let folder = try Folder()
    try folder.write("list", Data(text.utf8))
    let run = try await Program.run(
      ["cut", CutTests.media("clip.mp4"), "-o", "out.mp4", "--list", "list", "--mode", "hidden"], in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    #expect(try await CutTests.pictures("out.mp4", in: folder) == ranges.flatMap { all[$0] })
  }

  /// A list may come through standard input, which cannot also be the video. Outputs do not replace it.
  @Test func readsAListFromStandardInput() async throws {
    let (folder, clip) = (try Folder(), CutTests.media("clip.mp4"))
    let run = try await Program.shell(
      "echo 0.8,1.68 | h26x cut '\(clip)' -o out.mp4 --list - --mode hidden", in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    #expect(try await CutTests.pictures("out.mp4", in: folder) == Array(try await Self.all("clip.mp4")[20..<42]))
    let both = try await Program.run(["cut", "-", "-o", "both.mp4", "--list", "-"], in: folder.url)
    #expect(both.status == 64 && both.said.contains("both are standard input"), "\(both.said)")
    for out in ["1.mp4", "%d.mp4"] {
      try folder.write("1.mp4", Data("0.8,1.68\n".utf8))
      let over = try await Program.run(["cut", clip, "-o", out, "--list", "1.mp4", "--force"], in: folder.url)
      #expect(over.status == 1 && over.said.contains("1.mp4: the output is the input itself"), "\(over.said)")
      #expect(folder.bytes("1.mp4")?.count == 9)
    }
  }

  /// Without a mode, a cut into a pipe begins with a keyframe, because it cannot be made again in another way.
  @Test func plansAPipe() async throws {
    let folder = try Folder()
    let run = try await Program.shell(
      "h26x cut '\(CutTests.media("clip.mp4"))' -o - --format mp4 --range 1-1.6 --plan | cat", in: folder.url)
    for text in [#""mode": "keyframe""#, #""reason": "pipe""#] {
      #expect(run.text.contains(text), "\(run.text)\(run.said)")
    }
    let cut = try await Program.shell(
      "h26x cut '\(CutTests.media("clip.mp4"))' -o - --format mp4 --range 1-1.6 | cat > out.mp4", in: folder.url)
    #expect(
      cut.said.contains("standard output: cut with --mode keyframe, because the output is a pipe; --mode exact"),
      "\(cut.said)")
    let exact = try await Program.shell(
      "h26x cut '\(CutTests.media("clip.mp4"))' -o - --format mp4 --range 1-1.6 --mode exact | cat > out.mp4",
      in: folder.url)
    #expect(!exact.said.contains("because"), "\(exact.said)")
  }

  static let mistakes: [(options: [String], status: Int32, said: String)] = [
    ([], 64, "expected one of --range, --remove"), (["--range", "2-1"], 64, "its end is not after its start"),
    (["--range", "1-1"], 64, "its end is not after its start"), (["--range", "soon"], 64, "expected A-B"),
    (["--range", "3-4"], 1, "the video ends before 0:00:03.000"), (["--range", "#62-"], 1, "it has 62 pictures"),
    (["--remove", "0-"], 1, "nothing is left"), (["--every", "0"], 64, "a time above 0"),
    (["--chapters"], 1, "no chapters"), (["--range", "0-1", "--every", "1"], 64, "expected one of"),
    (["--list", "nowhere.csv"], 1, "nowhere.csv"), (["--list", "/dev/zero"], 1, "more than 1000000 bytes"),
    (["--list", "list"], 1, "list: line 2"),
    (["--range", "0-1", "--mode", "hidden", "--format", "mkv"], 64, "needs an edit list"),
    (["--range", "0-1", "--quality", "0"], 64, "a number from 1 to 51"),
    (["--range", "0-1", "-o", "%d-%03d.mp4"], 64, "expected one number"),
    (["--range", "0-1", "-o", "%d-%d%x.mp4"], 64, "expected one number"),
    (["--range", "3-4", "-o", "%%d-%%d.mp4"], 1, "the video ends before 0:00:03.000"),
  ]

  @Test func refusesRequestsInOneLine() async throws {
    try await Crowd.each(Self.mistakes) { mistake in
      let folder = try Folder()
      try folder.write("list", Data("0,1\nsoon,later\n".utf8))
      let run = try await Program.run(
        ["cut", CutTests.media("clip.mp4"), "-o", "out.mp4"] + mistake.options, in: folder.url)
      #expect(run.status == mistake.status && run.said.contains(mistake.said), "\(mistake): \(run.status) \(run.said)")
      #expect(run.said.filter { $0 == "\n" }.count == 1 && folder.names == ["list"], "\(mistake): \(run.said)")
    }
  }

  @Test func saysWhereEachRangeBegins() async throws {
    let (_, said) = try await Self.cut(
      "clip.mp4", "out.mkv", ["--range", "0-0.4", "--range", "1-1.6", "--mode", "keyframe"])
    let lines = said.split(separator: "\n")
    #expect(lines.first == "h26x: out.mkv: Matroska, H.264", "\(said)")
    let begins = ["1 from 0:00:00.000;", "2 from 0:00:00.800, a keyframe 0.200 s before the requested start;"]
    for begin in begins { #expect(lines.contains { $0.hasPrefix("h26x: out.mkv: range \(begin)") }, "\(said)") }
  }

  /// Pictures are complete behind a joint with another range. A recovery point of H.264 becomes an IDR picture, and a CRA
  /// picture of H.265 a BLA picture.
  @Test(arguments: ["open-gop.h264", "open-gop.h265"]) func continuesWithARecoveryPoint(source: String) async throws {
    let all = try await Self.all(source)
    for mode in ["exact", "hidden"] {
      let (pictures, said) = try await Self.cut(
        source, "out.mp4", ["--range", "#0-#5", "--range", "#12-", "--mode", mode])
      #expect(pictures == Array(all[0..<5] + all[12...]), "\(said)")
      #expect(!said.contains("recovery point"), "\(said)")
    }
  }

  /// A range in which no picture begins leaves the others as they are.
  @Test func leavesOutRangesWithoutAPicture() async throws {
    let all = try await Self.all("clip.mp4")
    let options = ["--range", "1.001-1.002", "--range", "0.8-1.68", "--range", "0.001-0.002", "--mode", "exact"]
    for target in ["out.mp4", "out.mkv"] {
      let (pictures, said) = try await Self.cut("clip.mp4", target, options)
      #expect(pictures == Array(all[20..<42]), "\(said)")
      #expect(said.contains("range 1 has no picture") && said.contains("range 3 has no picture"), "\(said)")
    }
  }

  /// A range behind the end of the video leaves the others as they are, too.
  @Test(arguments: [["0.8-1.68", "9-10"], ["9-10", "0.8-1.68"]]) func leavesOutRangesBehindTheEnd(
    ranges: [String]
  ) async throws {
    let all = try await Self.all("clip.h264")
    let number = ranges[0] == "9-10" ? 1 : 2
    for target in ["out.mp4", "out.ts"] {
      let (pictures, said) = try await Self.cut("clip.h264", target, ranges.flatMap { ["--range", $0] })
      #expect(pictures == Array(all[20..<42]), "\(said)")
      let report = "range \(number) has no picture after 0:00:09.000; the last one ends at 0:00:02.480"
      #expect(said.contains(report), "\(said)")
    }
    let folder = try Folder()
    let command = ["cut", CutTests.media("clip.h264"), "-o", "out.mp4", "--plan"]
    let plan = try await Program.run(command + ranges.flatMap { ["--range", $0] }, in: folder.url)
    let parts = plan.text.components(separatedBy: #""start": "#).filter { $0.contains(#""copied""#) }
    #expect(plan.status == 0 && parts.count == 2, "\(plan.text)\(plan.said)")
    #expect(parts.map { $0.contains("noPicture") } == [number == 1, number == 2], "\(plan.text)")
    let none = try await Program.run(command + ["--range", "9-10"], in: folder.url)
    #expect(none.status == 1 && none.text.isEmpty, "\(none.text)")
    #expect(none.said == "h26x: out.mp4: no range has a picture\n")
  }

  /// A range without a picture has no file, and the others have theirs.
  @Test(arguments: [
    ("clip.mp4", "1.001-1.002", "part-2.mp4: no picture to write"),
    ("clip.h264", "9-10", "no picture after 0:00:09.000"),
  ]) func leavesOutFilesOfRangesWithoutAPicture(source: String, empty: String, said: String) async throws {
    let folder = try Folder()
    let options = ["cut", CutTests.media(source), "-o", "part-%d.mp4", "--mode", "exact", "--range", empty]
    let none = try await Program.run(options, in: folder.url)
    #expect(none.status == 1 && folder.names.isEmpty, "\(none.said)")
    let run = try await Program.run(
      ["cut", CutTests.media(source), "-o", "part-%d.mp4", "--mode", "exact", "--range", "0-0.04", "--range", empty]
        + ["--range", "0.8-1.68"], in: folder.url)
    #expect(run.status == 0 && run.said.contains(said), "\(run.said)")
    #expect(folder.names == ["part-1.mp4", "part-3.mp4"], "\(folder.names)")
  }

  /// No file is written if one of them exists, or would be the source.
  @Test func checksAllNamesFirst() async throws {
    let folder = try Folder()
    try folder.write("part-3.mp4", Data("old".utf8))
    let run = try await Program.run(
      ["cut", CutTests.media("clip.mp4"), "-o", "part-%d.mp4", "--every", "0.72"], in: folder.url)
    #expect(run.status == 1 && run.said.contains("part-3.mp4: already exists"), "\(run.said)")
    #expect(folder.names == ["part-3.mp4"], "\(folder.names)")
    let piped = try await Program.shell(
      "cat \(CutTests.media("clip.ts")) | h26x cut - -o out-%d.mp4 --range 0-0.4 --range 1-2", in: folder.url)
    #expect(piped.status == 1 && piped.said.contains("several ranges need a file"), "\(piped.said)")
  }

  /// The plan of an unwritten cut counts the access units that the cut has.
  @Test func printsAPlanAndWritesNothing() async throws {
    struct Plan: Decodable {
      struct Numbers: Decodable { let count: Int }
      struct Part: Decodable {
        let mode: String
        let copied: Numbers
        let hidden: Numbers
      }
      let schema: Int
      let parts: [Part]
    }
    let folder = try Folder()
    let run = try await Program.run(
      [
        "cut", CutTests.media("clip.ts"), "-o", "out.mp4", "--range", "0-0.4", "--range", "1-1.6", "--plan", "--mode",
        "hidden",
      ],
      in: folder.url)
    let plan = try JSONDecoder().decode(Plan.self, from: Data(run.text.utf8))
    #expect(plan.schema == 1 && plan.parts.map(\.mode) == ["hidden", "hidden"], "\(run.text)")
    #expect(plan.parts.map(\.copied.count) == [10, 15] && plan.parts[1].hidden.count >= 5, "\(run.text)")
    #expect(run.status == 0 && folder.names.isEmpty, "\(run.said)")
  }

  /// Positions count the pictures that the parts of an edit list show, in the cut and in its plan.
  @Test func countsPicturesThatEditsShow() async throws {
    let (folder, hidden) = (try Folder(), ["--mode", "hidden"])
    let made = try await Program.run(
      ["cut", CutTests.media("clip.mp4"), "-o", "in.mp4", "--range", "#16-#31", "--range", "#40-#51"] + hidden,
      in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    let all = try await CutTests.pictures("in.mp4", in: folder)
    for (range, hiddenCount) in [(2..<5, 18), (16..<20, 22), (15..<26, 20)] {
      let options = ["--range", "#\(range.lowerBound)-#\(range.upperBound)", "--force"] + hidden
      let run = try await Program.run(["cut", "in.mp4", "-o", "out.mp4"] + options, in: folder.url)
      #expect(try await CutTests.pictures("out.mp4", in: folder) == Array(all[range]), "\(run.said)")
      let inspect = try await Program.run(["inspect", "out.mp4"], in: folder.url)
      let count = inspect.text.split(separator: "\n").count { $0.hasPrefix("access unit ") }
      #expect(count == range.count + hiddenCount, "\(run.said)")
      let plan = try await Program.run(["cut", "in.mp4", "-o", "out.mp4", "--plan"] + options, in: folder.url)
      let counts = plan.text.components(separatedBy: #""count": "#).dropFirst().map { text in
        Int(text.prefix { $0.isNumber })
      }
      #expect(counts == [range.count, 0, 0, hiddenCount], "\(plan.text)")
    }
    for options in [[], ["--plan"]] {
      let run = try await Program.run(
        ["cut", "in.mp4", "-o", "both.mp4", "--range", "#12-#16"] + options, in: folder.url)
      #expect(run.status == 1 && run.said.contains("a cut must be within one of them"), "\(run.said)")
    }
  }

  @Test func cutsARangeAtTheEndOfTheVideo() async throws {
    let all = try await Self.all("clip.mp4")
    let (pictures, said) = try await Self.cut("clip.mp4", "out.mp4", ["--range", "2-9", "--mode", "hidden"])
    #expect(pictures == Array(all[50...]) && said.contains("ends before 0:00:09.000"), "\(said)")
  }

  /// A range ends with the pictures that are there, and a line reports it. One in front of that has no line.
  @Test(arguments: ["mp4", "mkv"], ["exact", "hidden", "keyframe"]) func cutsARangeAtATruncatedEnd(
    suffix: String, mode: String
  ) async throws {
    guard mode != "hidden" || suffix == "mp4" else { return }
    let (folder, out) = (try Folder(), "out.\(suffix)")
    let made = try await Program.run(
      ["repack", CutTests.media("clip.h264"), "-o", "whole.\(suffix)"], in: folder.url)
    let whole = try #require(folder.bytes("whole.\(suffix)"), "\(made.said)")
    try folder.write("in.\(suffix)", whole.prefix(whole.count * 2 / 3))
    let left = "left behind: everything beyond the end of the source, which is cut off"
    for (range, isEnded) in [("0.8-2.4", true), ("0-0.4", false)] {
      let run = try await Program.run(
        ["cut", "in.\(suffix)", "-o", out, "--range", range, "--mode", mode, "--force"], in: folder.url)
      #expect(run.status == 0 && run.said.contains(left) == isEnded, "\(run.said)")
      let pictures = try await CutTests.pictures(out, in: folder)
      #expect(isEnded ? pictures.count > 5 && pictures.count < 40 : pictures.count >= 10, "\(run.said)")
    }
    let behind = try await Program.run(
      ["cut", "in.\(suffix)", "-o", "behind.\(suffix)", "--range", "2.2-2.4", "--mode", mode], in: folder.url)
    #expect(behind.status == 1 && behind.said.contains("no picture after 0:00:02.200"), "\(behind.said)")
    let joined = try await Program.run(
      ["cut", "in.\(suffix)", "-o", "joined.\(suffix)", "--mode", mode, "--range", "2.2-2.4", "--range", "0-0.8"],
      in: folder.url)
    #expect(joined.status == 0 && joined.said.contains("range 1 has no picture after 0:00:02.200"), "\(joined.said)")
    #expect(try await CutTests.pictures("joined.\(suffix)", in: folder).count >= 20, "\(joined.said)")
    #expect(folder.bytes("behind.\(suffix)") == nil && behind.said.filter { $0 == "\n" }.count == 1, "\(behind.said)")
  }

  @Test func refusesSeveralRangesOfAPipe() async throws {
    let folder = try Folder()
    let run = try await Program.shell(
      "cat \(CutTests.media("clip.ts")) | h26x cut - -o out.mp4 --range 0-0.4 --range 1-2", in: folder.url)
    #expect(run.status == 1 && run.said.contains("several ranges need a file") && folder.names.isEmpty, "\(run.said)")
    let one = try await Program.shell(
      "cat \(CutTests.media("clip.ts")) | h26x cut - -o out.mp4 --range 0.4-0.8", in: folder.url)
    #expect(one.status == 0 && one.said.contains("because the input is a pipe"), "\(one.said)")
    let all = try await Self.all("clip.ts")
    #expect(try await CutTests.pictures("out.mp4", in: folder) == Array(all[10..<20]))
  }
}
