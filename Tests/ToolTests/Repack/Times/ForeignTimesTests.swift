// SPDX-License-Identifier: MPL-2.0
import Foundation
import TestSupport
import Testing

/// Times and durations as other programs write them.
@Suite(.enabled(if: Program.isBuilt)) struct ForeignTimesTests {
  private func lines(_ file: String, in folder: Folder) async throws -> [String] {
    let run = try await Program.run(["hash", "--each", file], in: folder.url)
    #expect(run.status == 0, "\(file): \(run.said)")
    return run.text.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
  }

  /// The clip with composition offsets below 0, as phones record it and CMAF wants it: by the file's times, samples are
  /// decoded after they are shown.
  private func negativeOffsets() throws -> Data {
    var clip = try Data(contentsOf: Program.media.appending(path: "clip.mp4"))
    let table = try #require(clip.range(of: Data("ctts".utf8))).upperBound
    func word(_ place: Int) -> UInt32 { clip[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) } }
    func set(_ value: UInt32, at place: Int) {
      clip.replaceSubrange(place..<place + 4, with: [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) })
    }
    let first = word(table + 12)
    try #require(first > 0)
    for entry in 0..<Int(word(table + 4)) {
      let place = table + 12 + entry * 8
      set(word(place) &- first, at: place)
    }
    // Version 1 has signed numbers.
    clip[table] = 1
    let list = try #require(clip.range(of: Data("elst".utf8))).upperBound
    set(word(list + 12) - first, at: list + 12)
    return clip
  }

  /// Some writers of FLV have composition times below 0: by the file's times, too, samples are decoded after they are shown.
  @Test(arguments: TestScope.rows([40, 80, 200], usually: 1)) func keepsTimesOfNegativeCompositionTimesInFLV(delay: Int)
    async throws
  {
    let folder = try Folder()
    let clip = [UInt8](try Data(contentsOf: Program.media.appending(path: "clip.flv")))
    try folder.write("plain.flv", Data(clip))
    try folder.write("negative.flv", Data(FlashTimes.decodedLater(clip, by: delay)))
    let expected = try await lines("plain.flv", in: folder)
    try #require(expected.count == 62)
    #expect(try await lines("negative.flv", in: folder) == expected)
    for target in ["mp4", "mov", "mkv", "ts", "flv"] {
      for name in ["plain", "negative"] {
        let run = try await Program.run(["repack", "\(name).flv", "-o", "\(name)-out.\(target)"], in: folder.url)
        #expect(run.status == 0, "\(run.said)")
      }
      let copies = try await lines("plain-out.\(target)", in: folder)
      #expect(try await lines("negative-out.\(target)", in: folder) == copies, "\(target)")
    }
  }

  @Test func keepsTimesOfNegativeCompositionOffsetsInMP4() async throws {
    let folder = try Folder()
    try folder.write("plain.mp4", Data(contentsOf: Program.media.appending(path: "clip.mp4")))
    try folder.write("negative.mp4", negativeOffsets())
    let expected = try await lines("plain.mp4", in: folder)
    try #require(expected.count == 62)
    let decoded = try await lines("negative.mp4", in: folder)
    #expect(decoded == expected)
    for arguments in [[], ["--drop", "sei"]] {
      for target in ["out.mp4", "out.mov", "out.mkv", "out.ts"] {
        let run = try await Program.run(
          ["repack"] + arguments + ["negative.mp4", "-o", target, "--force"], in: folder.url)
        #expect(run.status == 0, "\(run.said)")
        let reference = try await Program.run(
          ["repack"] + arguments + ["plain.mp4", "-o", "plain-\(target)", "--force"], in: folder.url)
        #expect(reference.status == 0, "\(reference.said)")
        let (copy, plain) = (try await lines(target, in: folder), try await lines("plain-\(target)", in: folder))
        #expect(copy == plain && copy.count == 62, "\(arguments) \(target)")
      }
    }
    for time in ["0.04", "0.2"] {
      for name in ["plain", "negative"] {
        let run = try await Program.run(
          ["snapshot", "\(name).mp4", "-o", "\(name)-\(time).png", "--at", time], in: folder.url)
        #expect(run.status == 0, "\(run.said)")
      }
      #expect(folder.bytes("plain-\(time).png") == folder.bytes("negative-\(time).png"), "\(time)")
    }
  }

  /// A transport stream of video without a frame rate has no durations, and neither has Matroska that is made of it.
  @Test func showsTheLastPictureWithoutAFrameRate() async throws {
    let folder = try Folder()
    let clip = try Data(contentsOf: Program.media.appending(path: "clip.h264"))
    try folder.write("in.h264", RawStreamTests.withoutVUI(clip))
    let made = try await Program.run(["repack", "in.h264", "-o", "in.ts", "--framerate", "25"], in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    let expected = try await Program.run(["hash", "in.h264"], in: folder.url)
    for (source, target) in [
      ("in.ts", "out.mkv"), ("in.ts", "out.mp4"), ("in.ts", "out.mov"), ("out.mkv", "again.mp4"),
    ] {
      let run = try await Program.run(["repack", source, "-o", target], in: folder.url)
      #expect(run.status == 0, "\(run.said)")
      let copy = try await Program.run(["hash", target], in: folder.url)
      #expect(copy.output == expected.output, "\(source) to \(target)")
    }
  }

  /// The frame rate of a time code's track is a fraction.
  @Test func keepsATimeCodeOfAFractionalFrameRate() async throws {
    let folder = try Folder()
    let clip = Program.media.appending(path: "clip.h264").path
    for arguments in [
      ["edit", clip, "--frame-rate", "30000/1001", "--level", "2", "-o", "rate.h264"],
      ["repack", "rate.h264", "-o", "plain.flv"],
    ] {
      let run = try await Program.run(arguments, in: folder.url)
      try #require(run.status == 0, "\(run.said)")
    }
    let plain = try #require(folder.bytes("plain.flv"))
    try folder.write(
      "in.flv", plain.prefix(13) + AddedBoxes.flashMetadata("timecode", "00:00:10:00") + plain.dropFirst(13))
    let run = try await Program.run(["repack", "--drop", "sei", "in.flv", "-o", "out.mov"], in: folder.url)
    #expect(run.status == 0 && !run.said.contains("timecode"), "\(run.said)")
  }

  /// In joined streams, a picture may have the time of the previous picture.
  @Test(arguments: ["mkv", "mp4", "ts"]) func keepsPicturesWithRepeatedPresentationTimes(suffix: String) async throws {
    let folder = try Folder()
    let clip = [UInt8](try Data(contentsOf: Program.media.appending(path: "clip.ts")))
    let times = TransportStreamTimes(clip)
    let (first, last) = (try #require(times.first), try #require(times.last))
    try folder.write("joined.ts", Data(clip + TransportStreamTimes.moved(clip, by: last - first)))
    let run = try await Program.run(["repack", "joined.ts", "-o", "out.\(suffix)"], in: folder.url)
    try #require(run.status == 0, "\(run.said)")
    let expected = try await Program.run(["hash", "joined.ts"], in: folder.url)
    let copy = try await Program.run(["hash", "out.\(suffix)"], in: folder.url)
    #expect(copy.output == expected.output, "\(copy.said)")
  }

  /// FLV may give several access units one decoding time.
  @Test func keepsTimesDespiteRepeatedDecodingTimes() async throws {
    let folder = try Folder()
    try folder.write("in.flv", Data(contentsOf: Program.media.appending(path: "clip.flv")))
    let expected = try await lines("in.flv", in: folder)
    for arguments in [["in.flv", "-o", "out.ts"], ["--drop", "sei", "in.flv", "-o", "out.mp4"]] {
      let run = try await Program.run(["repack"] + arguments, in: folder.url)
      #expect(run.status == 0, "\(run.said)")
      let times = try await lines(arguments.last ?? "", in: folder).map { $0.split(separator: ",")[1] }
      #expect(times == expected.map { $0.split(separator: ",")[1] }, "\(arguments)")
      let check = try await Program.run(["check", arguments.last ?? ""], in: folder.url)
      #expect(!check.text.contains("container-timestamps"), "\(check.text)")
    }
  }

  /// Stock's muxer of program streams has no decoding times below those of the first picture, and leaves one out there.
  @Test func keepsTimesDespiteMissingDecodingTimes() async throws {
    let folder = try Folder()
    try folder.write("in.mp4", Data(contentsOf: Program.media.appending(path: "clip.mp4")))
    let made = try await Program.shell(
      "gst-launch-1.0 -q filesrc location=in.mp4 ! qtdemux ! h264parse ! mpegpsmux ! filesink location=in.mpg",
      in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    let expected = try await lines("in.mp4", in: folder)
    #expect(try await lines("in.mpg", in: folder) == expected)
    let run = try await Program.run(["repack", "in.mpg", "-o", "out.mkv"], in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    #expect(try await lines("out.mkv", in: folder) == expected)
    // Program streams mark no sync samples.
    let check = try await Program.run(["check", "in.mpg"], in: folder.url)
    #expect(check.status == 0 && !check.text.contains("container-sync"), "\(check.text)")
  }
}
