// SPDX-License-Identifier: MPL-2.0
import Foundation
import TestSupport
import Testing

/// What `repack --start --end` shows is what its source shows in that span.
@Suite(.enabled(if: Program.isBuilt)) struct CutTests {
  static func media(_ name: String) -> String { Program.media.appending(path: name).path }

  /// The hashes of all pictures of a file.
  static func pictures(_ name: String, in folder: Folder) async throws -> [String] {
    let run = try await Program.run(["hash", "--each", name], in: folder.url)
    return run.text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { String($0.suffix(32)) }
  }

  /// A cut of a stream of 25 pictures a second, and the pictures that it is about.
  typealias Span = (start: String, end: String?, pictures: Range<Int>)

  static let spans: [Span] = [
    ("0", "0.4", 0..<10), ("0.8", "1.6", 20..<40),
    // Half way through the picture.
    ("1.26", "1:01", 31..<62),
    ("0:00:02", "2.04", 50..<51),
  ]

  /// The keyframes of the clips.
  private static func keyframe(_ name: String, before picture: Int) -> Int {
    (name.contains("265") ? [0, 25, 50] : [0, 20, 42]).last { $0 <= picture } ?? 0
  }

  static let sources: [(name: String, targets: [String])] = [
    ("clip.h264", ["h264", "mkv"]), ("clip.mp4", ["mov", "ts"]), ("clip.mkv", ["mkv", "mp4"]),
    ("clip.ts", ["ts", "flv"]), ("clip.flv", ["h264"]), ("clip.h265", ["h265", "ts"]),
    ("clip-h265.mp4", ["mp4", "h265"]), ("clip-h265.ts", ["mkv", "mov"]),
  ]

  /// Other players take an edit that lasts 0 for one that shows nothing.
  @Test func givesAVeryShortCutADuration() async throws {
    let folder = try Folder()
    let run = try await Program.run(
      ["repack", Self.media("clip.h264"), "-o", "out.mp4", "--end", "0.01"], in: folder.url)
    let file = try #require(folder.bytes("out.mp4"), "\(run.said)")
    let list = try #require(file.range(of: Data("elst".utf8)))
    // Behind version, flags and the number of edits, the duration in 64 bits.
    let duration = file[(list.upperBound + 8)..<(list.upperBound + 16)]
    #expect(file[list.upperBound] == 1 && duration.contains { $0 > 0 })
  }

  @Test(arguments: TestScope.rows(sources, usually: 2)) func keepsThePicturesOfTheSpan(
    source: (name: String, targets: [String])
  ) async throws {
    let base = try Folder()
    let all = try await Self.pictures(Self.media(source.name), in: base)
    try #require(all.count == 62)
    try await Crowd.each(TestScope.rows(Self.spans, usually: 4)) { span in
      let folder = try Folder()
      for target in source.targets {
        for mode in ["keyframe", "hidden"] where mode == "keyframe" || ["mp4", "mov"].contains(target) {
          let out = "\(mode).\(target)"
          let run = try await Program.run(
            ["repack", Self.media(source.name), "-o", out, "--start", span.start, "--cut", mode]
              + (span.end.map { ["--end", $0] } ?? []), in: folder.url)
          let what: Comment = "\(source.name) to \(out) from \(span.start): \(run.said)"
          let remarks = run.said.split(separator: "\n").filter { !$0.contains(": left behind: ") }
          #expect(run.status == 0 && remarks.count == 1, what)
          let first =
            mode == "hidden" ? span.pictures.lowerBound : Self.keyframe(source.name, before: span.pictures.lowerBound)
          let shown = try await Self.pictures(out, in: folder)
          let expected = Array(all[first..<span.pictures.upperBound])
          // Without an edit list, those behind the end that others need are shown, and counted.
          let behind = Self.number(in: run.said, before: "after the cut")
          #expect(shown.dropLast(behind) == expected[...], what)
          #expect(["mp4", "mov"].contains(target) ? behind == 0 : behind <= 2, what)
          #expect(run.said.contains("a keyframe") == (first < span.pictures.lowerBound), what)
        }
      }
      let cuts = folder.names.filter { !$0.hasPrefix(".") }
      let checked = try await Program.run(["check"] + cuts, in: folder.url)
      #expect(checked.status == 0, "\(checked.text)")
    }
  }

  /// The number of pictures that are said to be somewhere.
  static func number(in text: String, before words: String) -> Int {
    let part = text.split(separator: ";").first { $0.contains(words) }
    return part?.split(separator: " ").first.flatMap { Int($0) } ?? 0
  }

  /// How far off the keyframe is.
  @Test func reportsWhereTheCutBegins() async throws {
    let folder = try Folder()
    func said(_ arguments: [String]) async throws -> String {
      let run = try await Program.run(
        ["repack", Self.media("clip.mp4"), "-o", "out.mp4", "--force"] + arguments, in: folder.url)
      #expect(run.status == 0, "\(run.said)")
      return run.said
    }
    #expect(
      try await said(["--start", "1.24"])
        == "h26x: out.mp4: MP4, H.264; from 0:00:00.800, a keyframe 0.440 s before the requested start\n")
    #expect(try await said(["--start", "0.8"]) == "h26x: out.mp4: MP4, H.264; from 0:00:00.800\n")
    #expect(
      try await said(["--start", "1.24", "--cut", "hidden"])
        == "h26x: out.mp4: MP4, H.264; from 0:00:01.240; 11 pictures before the cut, hidden\n")
  }

  /// Leading pictures of a keyframe that refer to what was cut off. Keyframes of both are random access points that are no
  /// IDR pictures. Of H.264, another leading picture refers to one of them: an edit list hides both.
  @Test(arguments: [
    ("open-gop.h264", "0.96", 24..<35, 1, 1), ("open-gop.h264", "0.48", 12..<35, 1, 0),
    ("open-gop.h265", "0.48", 12..<35, 3, 0),
  ])
  func neverShowsBrokenLeadingPictures(
    _ name: String, _ start: String, _ span: Range<Int>, _ dropped: Int, _ kept: Int
  ) async throws {
    let folder = try Folder()
    let all = try await Self.pictures(Self.media(name), in: folder)
    for target in ["mp4", "mkv", "ts", name] {
      let out = target == name ? "out-\(name)" : "out.\(target)"
      let run = try await Program.run(
        ["repack", Self.media(name), "-o", out, "--start", start, "--end", "1.4"], in: folder.url)
      #expect(run.status == 0, "\(run.said)")
      #expect(run.said.contains("without \(dropped) leading picture"), "\(run.said)")
      #expect(
        run.said.contains("with 1 leading picture that refers to pictures that were cut off") == (kept > 0),
        "\(run.said)")
      let behind = Self.number(in: run.said, before: "after the cut")
      #expect(try await Self.pictures(out, in: folder).dropLast(behind) == all[span], "\(out): \(run.said)")
      let checked = try await Program.run(["check", out], in: folder.url)
      #expect(checked.status == 0 && checked.text.contains(" 0 errors"), "\(checked.text)")
    }
  }

  /// An edit list that begins with a keyframe hides earlier pictures, and the leading pictures that refer to them.
  /// Containers without edit lists need none of these.
  @Test func omitsHiddenPicturesThatNothingNeeds() async throws {
    let folder = try Folder()
    let all = try await Self.pictures(Self.media("open-gop.h265"), in: folder)
    let made = try await Program.run(["repack", Self.media("open-gop.h265"), "-o", "base.mp4"], in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    let movie = try MovieFileTests.withMovieBehind(try #require(folder.bytes("base.mp4")))
    try folder.write("in.mp4", try EditListTests.edited(movie, [(20, 12)]))
    for target in ["mkv", "ts", "h265", "mov"] {
      let run = try await Program.run(["repack", "in.mp4", "-o", "out.\(target)"], in: folder.url)
      #expect(run.status == 0 && !run.said.contains("in front of"), "\(run.said)")
      let behind = Self.number(in: run.said, before: "after the shown part of the source")
      #expect(try await Self.pictures("out.\(target)", in: folder).dropLast(behind) == all[12..<32], "\(run.said)")
      let counted = try await Program.run(["info", "--count", "out.\(target)"], in: folder.url)
      if target != "mov" { #expect(counted.text.contains("Pictures            \(20 + behind)\n"), "\(counted.text)") }
    }
  }

  /// What an edit list of the source hides is no part of the presentation that is cut.
  @Test func countsTimesFromTheFirstShownPicture() async throws {
    let folder = try Folder()
    let all = try await Self.pictures(Self.media("clip.mp4"), in: folder)
    _ = try await Program.run(
      ["repack", Self.media("clip.mp4"), "-o", "first.mp4", "--start", "1", "--end", "2.2", "--cut", "hidden"],
      in: folder.url)
    for (target, mode) in [("mp4", "hidden"), ("mkv", "keyframe"), ("mp4", "keyframe")] {
      let run = try await Program.run(
        ["repack", "first.mp4", "-o", "again.\(target)", "--start", "0.84", "--end", "1", "--cut", mode, "--force"],
        in: folder.url)
      #expect(run.status == 0, "\(run.said)")
      let behind = Self.number(in: run.said, before: "after the cut")
      let shown = try await Self.pictures("again.\(target)", in: folder)
      #expect(shown.dropLast(behind) == all[(mode == "hidden" ? 46 : 42)..<50], "\(run.said)")
    }
  }

  @Test func cutsPipesLikeFiles() async throws {
    let folder = try Folder()
    for suffix in ["h264", "mp4", "mkv", "ts"] {
      let options = "--start 0.84 --end 1.2 --force"
      let piped = try await Program.shell(
        "cat \(Self.media("clip.\(suffix)")) | h26x repack - -o piped.\(suffix) \(options)", in: folder.url)
      let run = try await Program.shell(
        "h26x repack \(Self.media("clip.\(suffix)")) -o file.\(suffix) \(options)", in: folder.url)
      #expect(piped.status == 0 && run.status == 0, "\(piped.said)\(run.said)")
      let shown = try await Self.pictures("piped.\(suffix)", in: folder)
      #expect(try await shown == Self.pictures("file.\(suffix)", in: folder) && shown.count >= 10, "\(suffix)")
    }
  }

  /// Options that make no sense, and what is said of them.
  static let mistakes: [(options: [String], target: String, status: Int32, said: String)] = [
    (["--start", "2", "--end", "1"], "mp4", 64, "--end 0:00:01.000 is not after --start 0:00:02.000"),
    (["--start", "1", "--end", "1"], "mp4", 64, "--end 0:00:01.000 is not after"),
    (["--end", "0"], "mp4", 64, "--end 0:00:00.000 is not after"),
    (["--start", "-1"], "mp4", 64, "--start"), (["--start", "1:99"], "mp4", 64, "1:99"),
    (["--start", "soon"], "mp4", 64, "soon"), (["--start", "nan"], "mp4", 64, "nan"),
    (["--end", "1e400"], "mp4", 64, "1e400"), (["--start", ""], "mp4", 64, "--start"),
    (["--cut", "hidden"], "mp4", 64, "--cut hidden needs --start or --end"),
    (["--start", "1", "--cut", "exact"], "mp4", 64, "exact"),
    (["--start", "1", "--cut", "hidden"], "mkv", 64, "an edit list, which Matroska does not have"),
    (["--start", "1", "--cut", "hidden"], "h264", 64, "an edit list, which Annex B byte stream does not have"),
    (["--start", "2.48"], "mp4", 1, "no picture after 0:00:02.480; the last one ends at 0:00:02.480"),
    (["--start", "999999999"], "ts", 1, "no picture after 277777:46:39.000; the last one"),
  ]

  @Test func refusesInvalidSpans() async throws {
    try await Crowd.each(Self.mistakes) { mistake in
      let folder = try Folder()
      for source in ["clip.mp4", "clip.h264", "clip.ts"] {
        let run = try await Program.run(
          ["repack", Self.media(source), "-o", "out.\(mistake.target)"] + mistake.options, in: folder.url)
        #expect(
          run.status == mistake.status && run.said.contains(mistake.said), "\(mistake): \(run.status) \(run.said)")
        #expect(run.said.filter { $0 == "\n" }.count == 1 && folder.names.isEmpty, "\(mistake): \(run.said)")
      }
    }
  }

  /// Several parts of an edit list: a cut within one of them, and one that is not.
  @Test func refusesCutsAcrossPartsOfAnEditList() async throws {
    let folder = try Folder()
    let all = try await Self.pictures(Self.media("clip.mp4"), in: folder)
    let made = try await Program.run(["repack", Self.media("clip.h264"), "-o", "base.mp4"], in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    let movie = try MovieFileTests.withMovieBehind(try #require(folder.bytes("base.mp4")))
    try folder.write("in.mp4", try EditListTests.edited(movie, [(10, 0), (20, 31)]))
    let within = try await Program.run(
      ["repack", "in.mp4", "-o", "out.mp4", "--start", "0.6", "--end", "0.8", "--cut", "hidden"], in: folder.url)
    #expect(within.status == 0, "\(within.said)")
    #expect(try await Self.pictures("out.mp4", in: folder) == Array(all[36..<41]), "\(within.said)")
    let across = try await Program.run(
      ["repack", "in.mp4", "-o", "across.mp4", "--start", "0.2", "--end", "0.8"], in: folder.url)
    #expect(across.status == 1 && across.said.contains("its edit list shows 2 parts"), "\(across.said)")
    #expect(across.said.filter { $0 == "\n" }.count == 1 && folder.bytes("across.mp4") == nil)
  }

  @Test func refusesToCutPicturesWithoutTimes() async throws {
    let folder = try Folder()
    try folder.write("raw.h264", ContainerTests.untimed)
    let run = try await Program.run(["repack", "raw.h264", "-o", "out.h264", "--start", "0.1"], in: folder.url)
    #expect(run.status == 1 && run.said.contains("a cut needs") && run.said.contains("--framerate"), "\(run.said)")
    #expect(folder.names == ["raw.h264"])
    let timed = try await Program.run(
      ["repack", "raw.h264", "-o", "out.h264", "--end", "0.06", "--framerate", "25"], in: folder.url)
    #expect(timed.status == 0, "\(timed.said)")
    let counted = try await Program.run(["info", "--count", "out.h264"], in: folder.url)
    #expect(counted.text.contains("Pictures            2\n"), "\(counted.text)")
  }
}
