// SPDX-License-Identifier: MPL-2.0
import AVFormat
import Foundation
import H26x
import TestSupport
import Testing

@testable import Containers

/// When pictures are shown whose ranges follow one another, or that are shown before the first access unit.
@Suite(.enabled(if: Program.isBuilt && FormatLibrary.isAvailable)) struct RangeTimesTests {
  /// The pictures of a file last a 25th of a second each.
  private static func expectEvenTimes(in name: String, _ folder: Folder, count: Int, _ what: Comment) throws {
    let packets = try CutCompanionTests.Contents(folder.url.appending(path: name).path).packets[.video] ?? []
    let times = packets.map(\.time).sorted()
    // Matroska's ticks are milliseconds.
    let wrong = times.enumerated().filter { abs($1 - Double($0) * 0.04) > 0.0011 }
    #expect(times.count == count && wrong.isEmpty, "\(name): \(wrong.prefix(3)) of \(times.count): \(what)")
  }

  /// The edits of the video in an MP4 file whose first edit list it is.
  private static func editCount(_ name: String, in folder: Folder) throws -> Int {
    let file = try #require(folder.bytes(name))
    let list = try #require(file.range(of: Data("elst".utf8))).upperBound
    return Int(file[list + 7])
  }

  // MARK: Joints

  /// Streams without reordered pictures, with B pictures, and with B pictures that others refer to.
  static let joins = [
    ["intra-refresh.h264", "clip.mp4", "small-slices.h264", "clip.ts"], ["wide.h264", "open-gop.h264", "clip.mp4"],
    ["wide.h265", "open-gop.h265", "clip-h265.mp4", "wide.h265"],
  ]

  @Test(arguments: TestScope.rows(["mp4", "mov", "mkv", "ts"], usually: 2), joins) func filesFollowOneAnotherAtOnce(
    target: String, sources: [String]
  ) async throws {
    let folder = try Folder()
    let out = "out.\(target)"
    var count = 0
    for source in sources { count += try await CutTests.pictures(CutTests.media(source), in: folder).count }
    let run = try await Program.run(["join", "-o", out] + sources.map(CutTests.media), in: folder.url)
    try #require(run.status == 0, "\(run.said)")
    try Self.expectEvenTimes(in: out, folder, count: count, "\(run.said)")
    if ["mp4", "mov"].contains(target) { #expect(try Self.editCount(out, in: folder) == 1, "\(run.said)") }
  }

  /// Encoded pictures are decoded in the order of presentation, copied ones are not.
  @Test(arguments: ["mp4", "mkv", "ts"]) func rangesFollowOneAnotherAtOnce(target: String) async throws {
    let folder = try Folder()
    let out = "out.\(target)"
    let ranges = ["#2-#9", "#12-#21", "#37-#41", "#24-#33"].flatMap { ["--range", $0] }
    let run = try await Program.run(["cut", CutTests.media("open-gop.h265"), "-o", out] + ranges, in: folder.url)
    try #require(run.status == 0, "\(run.said)")
    guard run.said.contains("encoded") else { return }
    try Self.expectEvenTimes(in: out, folder, count: 7 + 9 + 4 + 9, "\(run.said)")
    if target == "mp4" { #expect(try Self.editCount(out, in: folder) == 1, "\(run.said)") }
  }

  /// The last picture of a range is shown up to the next one of the source. Its sample has another duration.
  @Test(arguments: ["mp4", "mkv", "ts"]) func rangesEndWithTheNextPicture(target: String) async throws {
    let folder = try Folder()
    let made = try await Program.run(["repack", CutTests.media("clip.h264"), "-o", "even.mp4"], in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    let movie = try MovieFileTests.withMovieBehind(try #require(folder.bytes("even.mp4")))
    try folder.write("in.mp4", try UnevenSamples.made(of: movie))
    let out = "out.\(target)"
    let ranges = ["#20-#24", "#0-#8", "#20-#42"].flatMap { ["--range", $0] }
    let run = try await Program.run(["cut", "in.mp4", "-o", out] + ranges, in: folder.url)
    try #require(run.status == 0, "\(run.said)")
    guard run.said.contains("encoded") else { return }
    try Self.expectEvenTimes(in: out, folder, count: 4 + 8 + 22, "\(run.said)")
  }

  /// Hidden pictures follow the last picture of the range in front, which is shown longer than its sample lasts.
  @Test(arguments: ["h264", "h265"], TestScope.rows(["mp4", "mov"], usually: 1))
  func hidesPicturesBehindTheRangeInFront(
    codec: String, target: String
  ) async throws {
    let folder = try Folder()
    let made = try await Program.run(["repack", CutTests.media("clip.\(codec)"), "-o", "even.mp4"], in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    let movie = try MovieFileTests.withMovieBehind(try #require(folder.bytes("even.mp4")))
    try folder.write("in.mp4", try UnevenSamples.made(of: movie, groupSize: 8))
    let all = try await CutTests.pictures("in.mp4", in: folder)
    let ranges = [20..<24, 2..<5, 30..<32, 7..<9]
    let options = ranges.flatMap { ["--range", "#\($0.lowerBound)-#\($0.upperBound)"] }
    let out = "out.\(target)"
    let run = try await Program.run(["cut", "in.mp4", "-o", out, "--mode", "hidden"] + options, in: folder.url)
    try #require(run.status == 0 && all.count == 62, "\(run.said)")
    #expect(try await CutTests.pictures(out, in: folder) == ranges.flatMap { all[$0] }, "\(run.said)")
  }

  /// The sound of several ranges ends within half a packet of their pictures.
  @Test(.enabled(if: FormatLibrary.isAvailable), arguments: ["#40-#55", "#41-#55", "#43-#55"])
  func soundEndsWithTheLastRange(last: String) async throws {
    let folder = try Folder()
    let made = try await Program.shell(
      """
      gst-launch-1.0 -q qtmux name=m ! filesink location=in.mov \
        filesrc location=\(CutTests.media("clip.mp4")) ! qtdemux ! h264parse ! queue ! m. \
        audiotestsrc num-buffers=140 wave=saw ! audio/x-raw,rate=48000,channels=2 ! avenc_aac ! aacparse ! queue ! m.
      """, in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    let ranges = ["#3-#10", "#20-#31", last].flatMap { ["--range", $0] }
    let run = try await Program.run(["cut", "in.mov", "-o", "out.mp4", "--mode", "hidden"] + ranges, in: folder.url)
    try #require(run.status == 0, "\(run.said)")
    let contents = try CutCompanionTests.Contents(folder.url.appending(path: "out.mp4").path)
    let (frame, end) = (1024.0 / 48_000, try #require(contents.packets[.audio]?.last?.time))
    let first = try #require(Int(last.dropFirst().prefix(2)))
    #expect(abs(end + frame - Double(7 + 11 + 55 - first) * 0.04) <= frame / 2 + 0.001, "\(end)")
  }

  /// Behind a range that ends with silence, the sound of the next range begins within half a packet of its place. The
  /// sound of the source ends at 1.28 s.
  @Test(
    .enabled(if: FormatLibrary.isAvailable), arguments: [("avenc_aac ! aacparse", "mkv"), ("opusenc", "mp4")],
    [["#42-#62", "#20-#42"], ["#20-#42", "#42-#62", "#20-#42"]])
  func soundBeginsWithItsRangeBehindSilence(sound: (encoder: String, target: String), ranges: [String]) async throws {
    let folder = try Folder()
    let made = try await Program.shell(
      """
      gst-launch-1.0 -q matroskamux name=m ! filesink location=in.mkv \
        filesrc location=\(CutTests.media("clip.mp4")) ! qtdemux ! h264parse ! queue ! m. \
        audiotestsrc num-buffers=60 ! audio/x-raw,rate=48000,channels=2 ! audioconvert ! \(sound.encoder) ! queue ! m.
      """, in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    let out = "out.\(sound.target)"
    let run = try await Program.run(
      ["cut", "in.mkv", "-o", out] + ranges.flatMap { ["--range", $0] }, in: folder.url)
    try #require(run.status == 0, "\(run.said)")
    let packets = try #require(try CutCompanionTests.Contents(folder.url.appending(path: out).path).packets[.audio])
    // Sound of the range in front ends at 0.48 s.
    let first = try #require(packets.first { $0.time > 0.6 })
    let start = ranges.count == 2 ? 0.8 : 1.68
    // Packets of AAC last 21.3 ms, and Matroska's ticks are milliseconds.
    #expect(abs(first.time - start) < 0.0125, "\(first.time): \(run.said)")
  }

  // MARK: Leading pictures

  /// A stream of 50 pictures with CRA pictures at 12, 24, 36 and 48, whose three leading pictures can be decoded from it,
  /// by their types.
  ///
  /// - Parameter isCut: whether it begins with the second CRA picture.
  private static func leadingStream(isCut: Bool) throws -> Data {
    let clip = [UInt8](try Data(contentsOf: Program.media.appending(path: "open-gop.h265")))
    var (bytes, entries): ([UInt8], Int) = ([], 0)
    for range in NALPackaging.annexB.nalUnits(of: clip.span) {
      var nalUnit = Array(clip[range])
      let type = H265.NALUnitType(headerByte: nalUnit[0])
      if type == .cra { entries += 1 }
      let isSet = type == .videoParameterSet || type == .sequenceParameterSet || type == .pictureParameterSet
      guard !isCut || entries > 0 || isSet else { continue }
      // RADL_N and RADL_R for RASL_N and RASL_R.
      if type.isSkippedLeading { nalUnit[0] -= 2 << 1 }
      bytes += [0, 0, 0, 1] + nalUnit
    }
    return Data(bytes)
  }

  /// Leading pictures that can be decoded from the first access unit are shown before it.
  @Test(arguments: TestScope.rows(["mp4", "mov", "mkv", "ts"], usually: 2))
  func showsLeadingPicturesInFrontOfTheFirstKeyframe(
    target: String
  ) async throws {
    let folder = try Folder()
    try folder.write("whole.h265", try Self.leadingStream(isCut: false))
    try folder.write("in.h265", try Self.leadingStream(isCut: true))
    let commands = [
      ("repacked.\(target)", ["repack", "in.h265"], 41), ("again.\(target)", ["repack", "repacked.\(target)"], 41),
      ("stream.ts", ["repack", "in.h265"], 41), ("from-stream.\(target)", ["repack", "stream.ts"], 41),
      ("cut.\(target)", ["cut", "whole.h265", "--range", "#9-#21"], 12),
      ("parts.\(target)", ["cut", "whole.h265", "--range", "#33-#45", "--range", "#9-#21"], 24),
      ("joined.\(target)", ["join", "in.h265", "in.h265"], 82),
    ]
    for (out, arguments, count) in commands {
      let run = try await Program.run(arguments + ["-o", out], in: folder.url)
      try #require(run.status == 0 && !run.said.contains("encoded"), "\(run.said)")
      #expect(try await CutTests.pictures(out, in: folder).count == count, "\(run.said)")
      try Self.expectEvenTimes(in: out, folder, count: count, "\(run.said)")
    }
  }

  /// Fragments in a pipe have no room for an edit list that begins with them.
  @Test(arguments: ["mp4", "mov"]) func showsLeadingPicturesInFragments(target: String) async throws {
    let folder = try Folder()
    try folder.write("in.h265", try Self.leadingStream(isCut: true))
    let run = try await Program.shell(
      "h26x repack in.h265 -o - --format \(target) | cat > piped.\(target)", in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    #expect(try await CutTests.pictures("piped.\(target)", in: folder).count == 41, "\(run.said)")
  }

  // MARK: Decoding times

  /// Decoding times ascend from the last one to the presentation, wherever all of them are.
  @Test func decodingTimesOfARangeAscend() {
    var random = SeededGenerator(state: 11)
    for _ in 0..<500 {
      let presentation = Int64.random(in: -1_000_000_000...1_000_000_000, using: &random)
      let last = presentation - Int64.random(in: 1_000...100_000_000, using: &random)
      let first = last - Int64.random(in: 0...1_000_000_000, using: &random)
      guard let overlap = DecodingOverlap(from: first, behind: last, before: presentation) else {
        Issue.record("\(first) \(last) \(presentation)")
        continue
      }
      let step = max((presentation - first) / 17, 1)
      let times = stride(from: first, through: presentation + 3 * step, by: Int(step)).map(overlap.moved)
      #expect(times[0] > last && zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "\(first) \(last) \(times)")
      #expect(times[..<17].allSatisfy { $0 <= presentation }, "\(first) \(last) \(presentation)")
    }
  }

  @Test func decodingTimesThatAscendStay() {
    #expect(DecodingOverlap(from: 5, behind: 4, before: 9) == nil)
    #expect(DecodingOverlap(from: 4, behind: 4, before: 9)?.moved(12) == 12)
  }

  /// Files may have any times.
  @Test func takesAnyDecodingTimes() {
    let times: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]
    for (first, last, presentation) in times.flatMap({ a in times.flatMap { b in times.map { (a, b, $0) } } }) {
      guard let overlap = DecodingOverlap(from: first, behind: last, before: presentation) else { continue }
      #expect(times.allSatisfy { overlap.moved($0) <= presentation || overlap.moved($0) == $0 })
    }
  }
}
