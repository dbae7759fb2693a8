// SPDX-License-Identifier: MPL-2.0
import Foundation
import TestSupport
import Testing

/// `h26x repack` between containers, files and pipes.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct RepackTests {
  private func clip(_ suffix: String) -> String { Program.media.appending(path: "clip.\(suffix)").path }

  @Test(arguments: TestScope.rows(Program.clipSuffixes, usually: 2)) func keepsPicturesBetweenContainers(from: String)
    async throws
  {
    let folder = try Folder()
    let reference = try await Program.run(["decode", clip("h264"), "-o", "-"], in: folder.url).output
    for to in Program.clipSuffixes + ["mov"] {
      let run = try await Program.run(["repack", clip(from), "-o", "out.\(to)"], in: folder.url)
      #expect(run.status == 0, "\(from) to \(to): \(run.said)")
      let decoded = try await Program.run(["decode", "out.\(to)", "-o", "-"], in: folder.url)
      #expect(decoded.output == reference, "\(from) to \(to): \(decoded.said)")
    }
  }

  @Test func readsAndWritesPipes() async throws {
    let folder = try Folder()
    let run = try await Program.run(
      ["repack", "-", "-o", "-", "--format", "annexb"], in: folder.url, input: URL(filePath: clip("mkv")))
    #expect(run.status == 0, "\(run.said)")
    try folder.write("out.h264", run.output)
    let compared = try await Program.run(["compare", "out.h264", clip("mp4")], in: folder.url)
    #expect(compared.status == 0 && compared.text.contains("62 pictures, 0 of them different"), "\(compared.said)")
  }

  /// A file that was cut without encoding anew has pictures before its edit that are needed but not shown.
  @Test(arguments: ["cut.h264", "cut.mkv", "cut.ts", "cut-again.mp4"])
  func copiesPicturesThatTheFirstShownPictureNeeds(target: String) async throws {
    let folder = try Folder()
    var clip = try Data(contentsOf: Program.media.appending(path: "clip.mp4"))
    let list = try #require(clip.range(of: Data("elst".utf8))).upperBound
    // From the 31st picture on, ten after a keyframe: media_time in ticks, a hundred a picture.
    clip.replaceSubrange(list + 8..<list + 16, with: [0, 0, 0x0C, 0x80, 0, 0, 0x0C, 0x80])
    try folder.write("cut.mp4", clip)
    let repacked = try await Program.run(["repack", "cut.mp4", "-o", target], in: folder.url)
    #expect(repacked.status == 0, "\(repacked.said)")
    let all = try await Program.run(
      ["decode", self.clip("h264"), "-o", "-", "--pixel-format", "I420"], in: folder.url)
    let cut = try await Program.run(["decode", target, "-o", "-", "--pixel-format", "I420"], in: folder.url)
    let size: Int = 320 * 180 * 3 / 2
    // An edit list hides the ten again; other containers cannot.
    let hides = target.hasSuffix(".mp4")
    #expect(cut.output.count == (hides ? 32 : 42) * size, "\(cut.said)")
    #expect(all.output.suffix(cut.output.count) == cut.output)
    // Transport and byte streams have no place for the time of recording.
    let isTimeless = target.hasSuffix(".ts") || target.hasSuffix(".h264")
    let lost = isTimeless ? ["h26x: \(target): left behind: metadata (creation_time)"] : []
    #expect(
      repacked.said.split(separator: "\n").filter { $0.contains("left behind") } == lost.map { $0[...] },
      "\(repacked.said)")
    #expect(repacked.said.contains("; 10 pictures before the shown part of the source") == !hides, "\(repacked.said)")
    let piped = try await Program.shell("cat cut.mp4 | h26x repack - -o piped-\(target)", in: folder.url)
    #expect(piped.status == 0 && folder.bytes("piped-\(target)") == folder.bytes(target), "\(piped.said)")
  }

  /// After a change of size, matroskamux of GStreamer 1.22 ends with an error.
  @Test func namesContainersThatSupportAChangeOfFormat() async throws {
    let folder = try Folder()
    var stream = try Data(contentsOf: URL(filePath: clip("h264")))
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
      #expect(matroska.status == 1 && matroska.said.contains(".ts and .mp4 can"), "\(matroska.said)")
    }
    let taken = try await Program.run(["repack", "two.h264", "-o", "two.ts"], in: folder.url)
    #expect(taken.status == 0, "\(taken.said)")
  }
}
