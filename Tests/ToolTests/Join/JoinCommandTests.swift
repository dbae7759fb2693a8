// SPDX-License-Identifier: MPL-2.0
import AVFormat
import Foundation
import Glibc
import TestSupport
import Testing

/// `h26x join`: all pictures of all files, in containers with and without a description of the video.
@Suite(.enabled(if: Program.isBuilt)) struct JoinCommandTests {
  private static func join(
    _ sources: [String], _ target: String, in folder: Folder
  ) async throws -> (pictures: [String], said: String) {
    let run = try await Program.run(["join"] + sources + ["-o", target, "--force"], in: folder.url)
    #expect(run.status == 0, "\(sources) to \(target): \(run.said)")
    return (try await CutTests.pictures(target, in: folder), run.said)
  }

  private static func pictures(_ names: [String], in folder: Folder) async throws -> [String] {
    var pictures: [String] = []
    for name in names { pictures += try await CutTests.pictures(name, in: folder) }
    return pictures
  }

  private static func expectNoErrors(in name: String, _ folder: Folder) async throws {
    let check = try await Program.run(["check", name], in: folder.url)
    #expect(check.text.contains(", 0 errors"), "\(check.text)")
  }

  // MARK: Pieces

  static let pieces = [
    ("clip.mp4", "mp4", "hidden"), ("clip.mkv", "mkv", "exact"), ("clip-h265.mp4", "mp4", "hidden"),
    ("clip.ts", "ts", "exact"), ("clip.h264", "h264", "exact"), ("clip-h265.ts", "ts", "exact"),
    ("clip-h265.mp4", "mov", "exact"), ("clip.mp4", "mov", "exact"),
  ]

  @Test(arguments: TestScope.rows(pieces, usually: 3)) func joinsPiecesOfAFile(
    source: String, suffix: String, mode: String
  ) async throws {
    let folder = try Folder()
    let cut = try await Program.run(
      ["cut", CutTests.media(source), "-o", "part-%03d.\(suffix)", "--every", "0.25", "--mode", mode], in: folder.url)
    let parts = folder.names
    try #require(cut.status == 0 && parts.count == 10, "\(cut.said)")
    let expected = try await Self.pictures(parts, in: folder)
    let (pictures, said) = try await Self.join(parts, "whole.\(suffix)", in: folder)
    #expect(pictures == expected && pictures.count == 62, "\(said)")
    if mode == "hidden" {
      #expect(try await CutTests.pictures(CutTests.media(source), in: folder) == pictures, "\(said)")
    }
    try await Self.expectNoErrors(in: "whole.\(suffix)", folder)
  }

  // MARK: Different streams

  /// Streams of different encoders, sizes, containers and frame rates. All have the id 0 for their SPS and PPS.
  private static func makeStreams(in folder: Folder) async throws {
    func made(_ caps: String, _ encoder: String, _ name: String) -> String {
      "gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=20 ! video/x-raw,format=I420,\(caps) ! \(encoder) "
        + "! video/x-h264,stream-format=byte-stream,alignment=au ! filesink location=\(name)"
    }
    let run = try await Program.shell(
      """
      set -e
      \(made("width=64,height=48,framerate=25/1", "x264enc cabac=false dct8x8=false bframes=0", "plain.h264"))
      \(made("width=96,height=64,framerate=30000/1001", "x264enc bframes=3 ref=4 key-int-max=7", "deep.h264"))
      \(made("width=64,height=48,framerate=50/1", "x264enc option-string=slices=3:nal-hrd=vbr vbv-buf-capacity=500 "
        + "bitrate=300 key-int-max=5", "hrd.h264"))
      h26x repack deep.h264 -o deep.mkv
      h26x repack hrd.h264 -o hrd.mp4
      """, in: folder.url)
    try #require(run.status == 0, "\(run.said)")
  }

  static let targets = ["mp4", "mkv", "ts", "h264", "mov", "flv"]

  @Test(arguments: TestScope.rows(targets, usually: 2)) func joinsStreamsOfDifferentEncoders(
    target: String
  ) async throws {
    let folder = try Folder()
    try await Self.makeStreams(in: folder)
    let clips = ["clip.ts", "small-slices.h264", "wide.h264", "intra-refresh.h264"].map(CutTests.media)
    let streams = ["plain.h264", "deep.mkv", "hrd.mp4"] + clips
    let pairs = streams.flatMap { first in streams.map { [first, $0] } }
    try await Self.expectAllPictures(of: TestScope.rows(pairs, usually: 6) + [streams], in: target, folder)
  }

  @Test(arguments: TestScope.rows(["mp4", "h265", "mkv", "ts", "mov"], usually: 2)) func joinsStreamsOfH265(
    target: String
  ) async throws {
    let folder = try Folder()
    let streams = ["clip-h265.mp4", "open-gop.h265", "wide.h265", "clip-h265.ts"].map(CutTests.media)
    let pairs = streams.flatMap { first in streams.map { [first, $0] } }
    try await Self.expectAllPictures(of: TestScope.rows(pairs, usually: 4), in: target, folder)
  }

  private static func expectAllPictures(of joins: [[String]], in target: String, _ folder: Folder) async throws {
    // Most streams are in several joins.
    var known: [String: [String]] = [:]
    for name in Set(joins.joined()) { known[name] = try await CutTests.pictures(name, in: folder) }
    for sources in joins {
      let (pictures, said) = try await join(sources, "out.\(target)", in: folder)
      #expect(pictures == sources.flatMap { known[$0] ?? [] }, "\(sources) to \(target): \(said)")
      try await expectNoErrors(in: "out.\(target)", folder)
    }
  }

  @Test func reportsSizesThatDiffer() async throws {
    let folder = try Folder()
    let (_, said) = try await Self.join(
      [CutTests.media("clip.mp4"), CutTests.media("wide.h264")], "out.mp4", in: folder)
    #expect(said.contains("the picture size changes: 320x180 (") && said.contains("128x70 ("), "\(said)")
    let (_, same) = try await Self.join([CutTests.media("clip.mp4"), CutTests.media("clip.ts")], "out.mp4", in: folder)
    #expect(!same.contains("size") && !same.contains("rotation") && !same.contains("range"), "\(same)")
  }

  /// A file is closed before the next one is read.
  @Test(.enabled(if: FormatLibrary.isAvailable), arguments: ["clip.ts", "clip.h264"]) func joinsMoreFilesThanMayBeOpen(
    source: String
  ) async throws {
    let folder = try Folder()
    let files = [String](repeating: "'\(CutTests.media(source))'", count: 40).joined(separator: " ")
    let run = try await Program.shell("ulimit -n 100; h26x join \(files) -o out.mp4", in: folder.url)
    #expect(run.status == 0 && !run.said.contains("CRITICAL"), "\(run.said)")
    let check = try await Program.run(["check", "out.mp4"], in: folder.url)
    #expect(check.text.contains("out.mp4: 2480 access units, 0 errors"), "\(check.text)")
  }

  /// A container has one rotation, and players choose one dynamic range.
  @Test(.enabled(if: FormatLibrary.isAvailable)) func reportsRotationsAndDynamicRangesThatDiffer() async throws {
    let folder = try Folder()
    try folder.write("turned.mp4", try ContainerTests.turnedClip())
    let made = try await Program.run(
      ["edit", CutTests.media("clip.mp4"), "-o", "pq.mp4", "--colour", "bt2020-pq"], in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    let clip = CutTests.media("clip.mp4")
    let (pictures, said) = try await Self.join([clip, "turned.mp4", "turned.mp4"], "out.mp4", in: folder)
    #expect(pictures.count == 186)
    #expect(
      said.contains(
        "out.mp4: the rotation differs: upright (\(clip)) and 90 degrees clockwise (turned.mp4 and 1 other); all "
          + "pictures get that of \(clip)"), "\(said)")
    let (_, other) = try await Self.join(["pq.mp4", clip], "out.mkv", in: folder)
    #expect(
      other.contains("out.mkv: the dynamic range changes: PQ (pq.mp4) and SDR (\(clip))")
        && !other.contains("rotation"), "\(other)")
  }

  /// Sets of one id within a file cannot be side by side in a description.
  @Test func leavesSetsThatChangeWithinAFileWithTheirPictures() async throws {
    let folder = try Folder()
    let parts = ["small-slices.h264", "wide.h264"].map(CutTests.media)
    try folder.write(
      "both.h264", try parts.reduce(into: Data()) { $0 += try Data(contentsOf: URL(fileURLWithPath: $1)) })
    let expected = try await Self.pictures([CutTests.media("clip.mp4")] + parts, in: folder)
    for target in ["out.mp4", "out.mkv", "out.ts"] {
      let (pictures, said) = try await Self.join([CutTests.media("clip.mp4"), "both.h264"], target, in: folder)
      #expect(pictures == expected, "\(target): \(said)")
      #expect(said.contains("parameter sets stay with their pictures") == !target.hasSuffix("ts"), "\(said)")
    }
  }

  /// What an edit list hides stays hidden, or is left out.
  @Test func showsWhatEditListsShow() async throws {
    let folder = try Folder()
    let command = ["cut", CutTests.media("clip.mp4"), "-o", "parts.mp4", "--mode", "hidden"]
    let cut = try await Program.run(command + ["--range", "0.4-0.88", "--range", "1.4-1.8"], in: folder.url)
    try #require(cut.status == 0, "\(cut.said)")
    let files = ["parts.mp4", CutTests.media("clip.ts"), "parts.mp4"]
    let expected = try await Self.pictures(files, in: folder)
    try #require(expected.count == 22 + 62 + 22)
    let (pictures, said) = try await Self.join(files, "out.mp4", in: folder)
    #expect(pictures == expected && !said.contains("encoded"), "\(said)")
    let (shown, encoded) = try await Self.join(files, "out.mkv", in: folder)
    guard !encoded.contains("there is no encoder") else { return }
    try #require(shown.count == expected.count && encoded.contains("encoded"), "\(encoded)")
    #expect(shown[22..<84] == expected[22..<84], "\(encoded)")
  }

  // MARK: Sound

  /// The packets of all files follow one another.
  @Test(.enabled(if: FormatLibrary.isAvailable), arguments: ["mp4", "mkv", "mov"]) func continuesSound(
    target: String
  ) async throws {
    let folder = try Folder()
    let made = try await Program.shell(
      """
      set -e
      gst-launch-1.0 -q qtmux name=m ! filesink location=in.mov \
        filesrc location=\(CutTests.media("clip.mp4")) ! qtdemux ! h264parse ! queue ! m. \
        audiotestsrc num-buffers=116 wave=saw ! audio/x-raw,rate=48000,channels=2 ! avenc_aac ! aacparse \
        ! queue ! m.
      h26x repack in.mov -o in.mkv
      """, in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    let (pictures, said) = try await Self.join(["in.mov", "in.mkv", "in.mov"], "out.\(target)", in: folder)
    #expect(pictures.count == 186 && !said.contains("left behind: in.mkv"), "\(said)")
    let contents = try CutCompanionTests.Contents(folder.url.appending(path: "out.\(target)").path)
    let times = try #require(contents.packets[.audio]).map(\.time)
    let frame = 1024.0 / 48_000
    // Each packet is within half a packet of its place: the sound of a file is shorter than its video.
    let gaps = zip(times, times.dropFirst()).map { $1 - $0 - frame }
    #expect(gaps.allSatisfy { abs($0) < frame / 2 }, "\(gaps.filter { abs($0) >= frame / 2 })")
    #expect(abs(Double(times.count) * frame - 186 * 0.04) < 0.1, "\(times.count)")
  }

  @Test(.enabled(if: FormatLibrary.isAvailable)) func listsSoundThatCannotContinue() async throws {
    let folder = try Folder()
    let made = try await Program.shell(
      """
      gst-launch-1.0 -q matroskamux name=m ! filesink location=in.mkv \
        filesrc location=\(CutTests.media("clip.mp4")) ! qtdemux ! h264parse ! queue ! m. \
        audiotestsrc num-buffers=116 ! audio/x-raw,rate=48000,channels=2 ! flacenc ! queue ! m.
      """, in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    let (pictures, said) = try await Self.join([CutTests.media("clip.mp4"), "in.mkv"], "out.mkv", in: folder)
    #expect(pictures.count == 124 && said.contains("left behind: in.mkv: audio (FLAC"), "\(said)")
  }

  // MARK: Requests

  static let mistakes: [(arguments: [String], status: Int32, said: String)] = [
    (["clip.mp4", "-o", "out.mp4"], 64, "two files or more"), (["clip.mp4", "clip.ts", "-o", "out"], 64, "suffix"),
    (["clip.mp4", "nowhere.mp4", "-o", "out.mp4"], 1, "nowhere.mp4: no such file"),
    (["clip.mp4", "clip-h265.mp4", "-o", "out.mp4"], 1, "clip-h265.mp4: H.265, but clip.mp4 has H.264"),
    (["clip.h265", "ten-bit.h265", "-o", "out.ts"], 1, "ten-bit.h265: 10 bits, but clip.h265 has 8 bits"),
    (["ten-bit.h265", "clip.h265", "-o", "out.mkv"], 1, "clip.h265: 8 bits, but ten-bit.h265 has 10 bits"),
    (["clip.mp4", "make-media.sh", "-o", "out.mp4"], 1, "make-media.sh"),
    (["clip.mp4", "clip.ts", "-o", "clip.mp4", "--force"], 1, "the output is the input itself"),
    (["clip.mp4", "clip.ts", "-o", "old.mp4"], 1, "old.mp4: already exists"),
    (["clip.mp4", "clip.ts", "-o", "out.mp4", "--quality", "0"], 64, "a number from 1 to 51"),
  ]

  @Test func refusesRequestsInOneLine() async throws {
    try await Crowd.each(Self.mistakes) { mistake in
      let folder = try Folder()
      let names = ["clip.mp4", "clip.ts", "clip-h265.mp4", "clip.h265", "ten-bit.h265", "make-media.sh"]
      for name in names { try folder.write(name, try Data(contentsOf: Program.media.appending(path: name))) }
      try folder.write("old.mp4", Data("old".utf8))
      let run = try await Program.run(["join"] + mistake.arguments, in: folder.url)
      #expect(run.status == mistake.status && run.said.contains(mistake.said), "\(mistake): \(run.status) \(run.said)")
      #expect(run.said.filter { $0 == "\n" }.count == 1, "\(mistake): \(run.said)")
      #expect(folder.names == (names + ["old.mp4"]).sorted(), "\(folder.names)")
    }
  }

  @Test func refusesAPipe() async throws {
    let folder = try Folder()
    let (clip, other) = (CutTests.media("clip.ts"), CutTests.media("clip.mp4"))
    let run = try await Program.shell("cat \(clip) | h26x join \(other) - -o out.mp4", in: folder.url)
    #expect(run.status == 1 && run.said.contains("a pipe is read once") && folder.names.isEmpty, "\(run.said)")
    // A file as standard input, and a pipe as output.
    let file = try await Program.shell(
      "h26x join \(other) - -o - --format ts < \(clip) > out.ts && h26x join \(other) \(clip) -o - --format mp4 | cat > out.mp4",
      in: folder.url)
    #expect(file.status == 0, "\(file.said)")
    let expected = try await Self.pictures([other, clip], in: folder)
    for name in ["out.ts", "out.mp4"] { #expect(try await CutTests.pictures(name, in: folder) == expected, "\(name)") }
  }

  private struct Plan: Decodable {
    struct Renumbering: Decodable, Equatable {
      let kind: String
      let from: Int
      let to: Int
    }
    struct Sets: Decodable {
      let shared: Int
      let renumbered: [Renumbering]
    }
    struct Input: Decodable {
      let file: String
      let width: Int
      let height: Int
      let start: Double
      let duration: Double
      let mode: String
      let copied: Int
      let encoded: Int
      let hidden: Int
      let leftOut: Int
      let parameterSets: Sets
    }
    let schema: Int
    let codec: String
    let inputs: [Input]
  }

  /// The plan of an unwritten join counts the access units, and lists the ids that change.
  @Test func printsAPlanAndWritesNothing() async throws {
    let folder = try Folder()
    let files = ["small-slices.h264", "wide.h264", "wide.h264"].map(CutTests.media)
    let run = try await Program.run(["join"] + files + ["-o", "out.mp4", "--plan"], in: folder.url)
    let plan = try JSONDecoder().decode(Plan.self, from: Data(run.text.utf8))
    #expect(plan.schema == 1 && plan.codec == "H.264" && plan.inputs.map(\.file) == files, "\(run.text)")
    #expect(plan.inputs.map(\.copied) == [50, 25, 25] && plan.inputs.allSatisfy { $0.encoded == 0 }, "\(run.text)")
    #expect(plan.inputs.map(\.start) == [0, 2, 3] && plan.inputs.map(\.duration) == [2, 1, 1], "\(run.text)")
    #expect(plan.inputs[1].width == 128 && plan.inputs[1].height == 70, "\(run.text)")
    let moved = [
      Plan.Renumbering(kind: "SPS", from: 0, to: 1), Plan.Renumbering(kind: "PPS", from: 0, to: 1),
    ]
    let sets = plan.inputs.map(\.parameterSets)
    #expect(sets.map(\.shared) == [0, 0, 2] && sets[0].renumbered.isEmpty, "\(run.text)")
    #expect(sets[1].renumbered == moved && sets[2].renumbered == moved, "\(run.text)")
    #expect(run.status == 0 && folder.names.isEmpty, "\(run.said)")
  }

  /// A later file begins without the leading pictures of its recovery point, which becomes an IDR picture.
  @Test func plansTheAccessUnitsOfLaterFiles() async throws {
    let (folder, source) = (try Folder(), CutTests.media("open-gop.h264"))
    let made = try await Program.run(
      ["cut", source, "-o", "late.mkv", "--range", "#30-#60", "--mode", "keyframe"], in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    for files in [["late.mkv", source], [source, "late.mkv"]] {
      let command = ["join"] + files + ["-o", "out.mkv", "--force"]
      let run = try await Program.run(command + ["--plan"], in: folder.url)
      let plan = try JSONDecoder().decode(Plan.self, from: Data(run.text.utf8))
      let join = try await Program.run(command, in: folder.url)
      let inspect = try await Program.run(["inspect", "out.mkv"], in: folder.url)
      let count = inspect.text.split(separator: "\n").count { $0.hasPrefix("access unit ") }
      #expect(count == (files[0] == source ? 137 : 138), "\(join.said)")
      #expect(plan.inputs.reduce(0) { $0 + $1.copied + $1.hidden } == count, "\(run.text)")
      #expect(plan.inputs.reduce(0) { $0 + $1.leftOut } == 138 - count, "\(run.text)")
    }
  }

  /// The measurements of a camera, such as positions, go along with the pictures of each file.
  @Test(arguments: ["mp4", "mov"]) func keepsTheMeasurementsOfACamera(suffix: String) async throws {
    let folder = try Folder()
    let made = try await Program.run(
      ["repack", Program.media.appending(path: "subtitles.mkv").path, "-o", "text.mp4"], in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    // The sample entry and the handler of GoPro's tracks, in place of those of timed text.
    var movie = try #require(folder.bytes("text.mp4"))
    for (old, new) in [("tx3g", "gpmd"), ("sbtl", "meta")] {
      while let place = movie.firstRange(of: Data(old.utf8)) { movie.replaceSubrange(place, with: Data(new.utf8)) }
    }
    try folder.write("camera.mp4", movie)
    let run = try await Program.run(["join", "camera.mp4", "camera.mp4", "-o", "out.\(suffix)"], in: folder.url)
    #expect(run.status == 0 && run.said.contains("H.264, sensors") && !run.said.contains("left behind"), "\(run.said)")
    func count(_ name: String) -> Int {
      var (rest, count) = (folder.bytes(name) ?? Data(), 0)
      while let place = rest.firstRange(of: Data("one word".utf8)) {
        rest = rest[place.upperBound...]
        count += 1
      }
      return count
    }
    #expect(count("camera.mp4") == 3 && count("out.\(suffix)") == 2 * count("camera.mp4"))
  }

  /// The file has all pictures up to the signal, of the first file or of both.
  @Test(arguments: TestScope.rows([0.1, 1.2], usually: 1)) func completesTheFileWhenInterrupted(files: Double)
    async throws
  {
    let folder = try Folder()
    let once = try Data(contentsOf: Program.media.appending(path: "clip.h264"))
    try folder.write("long", (0..<600).reduce(into: Data()) { data, _ in data += once })
    let size = Int(Double(once.count) * 600 * files)
    let isLong = Program.Signal(number: SIGINT) { _ in folder.size(ofNamesEnding: ".part") > size }
    let run = try await Program.run(["join", "long", "long", "-o", "out.mp4"], in: folder.url, signal: isLong)
    #expect(run.status == 128 + SIGINT, "\(run.said)")
    let said = try #require(
      run.said.firstMatch(of: /incomplete, interrupted after ([0-9]+) access units/), "\(run.said)")
    let info = try await Program.run(["info", "--count", "--json", "out.mp4"], in: folder.url)
    #expect(info.text.contains("\"pictures\": \(said.1)"), "\(run.said) \(info.text)")
    #expect(folder.names == ["long", "out.mp4"], "\(folder.names)")
  }
}
