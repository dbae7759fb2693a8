// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// Files of other programs, with features that this project's clips lack.
@Suite(.enabled(if: Program.isBuilt)) struct ForeignFileTests {
  private static let clip = Program.media.appending(path: "clip.h264").path

  /// A recording whose beginning, with the first keyframe, was cut off.
  @Test(arguments: [["info"], ["decode", "-o", "out.yuv"]]) func saysThatParameterSetsAreMissing(
    command: [String]
  ) async throws {
    let folder = try Folder()
    let stream = try Data(contentsOf: URL(filePath: Self.clip))
    let end = try #require(stream.range(of: Data([0, 0, 1, 0x41]))).lowerBound
    try folder.write("late.h264", stream[end...].prefix(3000))
    let run = try await Program.run(command + ["late.h264"], in: folder.url)
    #expect(run.status == 1 && run.said.contains("no parameter sets"), "\(run.said)")
    #expect(folder.names == ["late.h264"])
  }

  /// A file that was cut without encoding anew has pictures before its edit that are needed but not shown.
  @Test(arguments: ["cut.h264", "cut.mkv", "cut.ts", "cut-again.mp4"])
  func carriesWhatTheFirstShownPictureNeeds(target: String) async throws {
    let folder = try Folder()
    var clip = try Data(contentsOf: Program.media.appending(path: "clip.mp4"))
    let list = try #require(clip.range(of: Data("elst".utf8))).upperBound
    // From the 31st picture on, ten after a keyframe: media_time in ticks, a hundred a picture.
    clip.replaceSubrange(list + 8..<list + 16, with: [0, 0, 0x0C, 0x80, 0, 0, 0x0C, 0x80])
    try folder.write("cut.mp4", clip)
    let repacked = try await Program.run(["repack", "cut.mp4", "-o", target], in: folder.url)
    #expect(repacked.status == 0, "\(repacked.said)")
    let all = try await Program.run(
      ["decode", Self.clip, "-o", "-", "--pixel-format", "I420"], in: folder.url)
    let cut = try await Program.run(["decode", target, "-o", "-", "--pixel-format", "I420"], in: folder.url)
    let size: Int = 320 * 180 * 3 / 2
    #expect(cut.output.count == 42 * size, "\(cut.said)")
    #expect(all.output.suffix(cut.output.count) == cut.output)
    #expect(!repacked.said.contains("left behind"), "\(repacked.said)")
    // A pipe cannot be read ahead for it.
    let piped = try await Program.shell("cat cut.mp4 | h26x repack - -o piped-\(target)", in: folder.url)
    #expect(piped.status == 0 && piped.said.contains("left behind: 30 pictures in front of what"), "\(piped.said)")
  }

  @Test func tellsOfOtherProgrammes() async throws {
    let folder = try Folder()
    let made = try await Program.shell(
      "gst-launch-1.0 -q mpegtsmux name=m prog-map=program_map,sink_65=1,sink_66=7 ! filesink location=two.ts "
        + "filesrc location=\(Self.clip) ! h264parse ! queue ! m.sink_65 "
        + "filesrc location=\(Self.clip) ! h264parse ! queue ! m.sink_66", in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    let info = try await Program.run(["info", "two.ts"], in: folder.url)
    #expect(info.status == 0 && info.text.contains("Programmes          2, of which one is read"), "\(info.text)")
    let document = try await Program.run(["info", "--json", "two.ts"], in: folder.url)
    let files = try #require(try JSONSerialization.jsonObject(with: document.output) as? [[String: Any]])
    #expect(files.first?["programs"] as? [Int] == [1, 7])
    let run = try await Program.run(["repack", "two.ts", "-o", "one.mp4"], in: folder.url)
    #expect(run.status == 0 && run.said.contains("left behind: 1 other programme\n"), "\(run.said)")
  }

  @Test func inspectSaysWhatItDoesNotFind() async throws {
    let folder = try Folder()
    let unknown = try await Program.run(["inspect", "--type", "SPS,banana", Self.clip], in: folder.url)
    #expect(unknown.status == 64 && unknown.said.contains("--type banana"), "\(unknown.said)")
    let beyond = try await Program.run(["inspect", "--range", "5000-", Self.clip], in: folder.url)
    #expect(beyond.status == 1 && beyond.said.contains("no access unit 5000; it has 62"), "\(beyond.said)")
    let idr = try await Program.run(["inspect", "--type", "idr", "--range", "0", Self.clip], in: folder.url)
    #expect(idr.status == 0 && idr.text.contains("IDR slice (5)"), "\(idr.text)")
    #expect(!idr.text.contains("  SPS"), "\(idr.text)")
  }

  /// After a change of size, matroskamux of GStreamer 1.22 ends with an error.
  @Test func saysWhoCanHoldAChangeOfFormat() async throws {
    let folder = try Folder()
    var stream = try Data(contentsOf: URL(filePath: Self.clip))
    let made = try await Program.shell(
      "gst-launch-1.0 -q videotestsrc num-buffers=5 ! video/x-raw,width=64,height=48 ! x264enc ! h264parse "
        + "! video/x-h264,stream-format=byte-stream ! filesink location=small.h264", in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    stream.append(try #require(folder.bytes("small.h264")))
    try folder.write("two.h264", stream)
    let matroska = try await Program.run(["repack", "two.h264", "-o", "two.mkv"], in: folder.url)
    if matroska.status == 0 {
      // matroskamux of GStreamer 1.26 continues: then every picture must be there.
      let whole = try await Program.run(["info", "--count", "two.mkv"], in: folder.url)
      #expect(whole.text.contains("Pictures            67"), "\(whole.text)")
    } else {
      #expect(matroska.status == 1 && matroska.said.contains(".ts and .mp4 do"), "\(matroska.said)")
    }
    let taken = try await Program.run(["repack", "two.h264", "-o", "two.ts"], in: folder.url)
    #expect(taken.status == 0, "\(taken.said)")
  }

  @Test func checkNamesEachOfSeveralFiles() async throws {
    let folder = try Folder()
    let files = [Self.clip, Program.media.appending(path: "clip.h265").path]
    let run = try await Program.run(["check", "--json"] + files, in: folder.url)
    var (names, summaries) = ([String](), 0)
    for line in run.text.split(separator: "\n") {
      let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      if object["kind"] as? String == "file" { names.append(object["name"] as? String ?? "") }
      if object["kind"] as? String == "summary" { summaries += 1 }
      #expect(names.count >= summaries)
    }
    #expect(names == files && summaries == 2, "\(run.text)")
  }

  /// Output into a pipe that nobody reads cannot be finished: a message says how to end the program.
  @Test func saysThatASecondSignalEnds() async throws {
    let folder = try Folder()
    let program = Program.executable.path
    let run = try await Program.shell(
      """
      mkfifo pipe; sleep 100 < pipe & reader=$!; trap "kill $reader" EXIT
      '\(program)' decode '\(Self.clip)' -o - > pipe 2> said & program=$!
      for try in $(seq 50); do [ $(ls /proc/$program/task | wc -l) -gt 6 ] && break; sleep 0.2; done; sleep 1
      kill -TERM $program
      for try in $(seq 300); do grep -q 'second signal' said && break; sleep 0.2; done
      kill -TERM $program; wait $program; echo "status $?"
      """, in: folder.url)
    #expect(run.text.contains("status 143"), "\(run.text) \(run.said)")
    let said = String(decoding: folder.bytes("said") ?? Data(), as: UTF8.self)
    #expect(said.contains("a second signal ends it at once"), "\(said)")
  }

  /// Of a shorter stream, the pictures that exist are compared, and the result is printed.
  @Test func compareTellsOfTheShorter() async throws {
    let folder = try Folder()
    let stream = try Data(contentsOf: URL(filePath: Self.clip))
    try folder.write("short.h264", stream.prefix(30_000))
    let run = try await Program.run(["compare", Self.clip, "short.h264"], in: folder.url)
    #expect(run.status == 2 && run.said.contains("has more than the "), "\(run.said)")
    #expect(run.text.contains(" of them different; PSNR Y"), "\(run.text)")
  }
}
