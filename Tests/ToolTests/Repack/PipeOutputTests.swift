// SPDX-License-Identifier: MPL-2.0
import Foundation
import TestSupport
import Testing

/// `repack` into a pipe, which is written once and in order.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct PipeOutputTests {
  private static func media(_ name: String) -> String { Program.media.appending(path: name).path }

  /// The pictures of a file with their times.
  private func pictures(_ file: String, in folder: Folder) async throws -> String {
    let run = try await Program.run(["hash", "--each", file], in: folder.url)
    #expect(run.status == 0 && run.said.isEmpty, "\(run.said)")
    return run.text
  }

  @Test(
    arguments: TestScope.rows(
      [
        ("clip.mp4", "mp4"), ("clip.mkv", "mov"), ("clip-h265.mp4", "mp4"), ("open-gop.h264", "mp4"),
        ("interlaced.h265", "mov"),
      ], usually: 2)) func writesMoviesInFragments(name: String, format: String) async throws
  {
    let folder = try Folder()
    let rate = name.hasSuffix("h264") || name.hasSuffix("h265") ? "--framerate 25" : ""
    let source = Self.media(name)
    let piped = try await Program.shell(
      "h26x repack \(source) \(rate) -o - --format \(format) | cat > piped.\(format)", in: folder.url)
    #expect(piped.status == 0, "\(piped.said)")
    let bytes = try #require(folder.bytes("piped.\(format)"))
    #expect(bytes.contains(text: "moof"))
    let copied = try await Program.shell("h26x repack \(source) \(rate) -o copied.\(format)", in: folder.url)
    #expect(copied.status == 0, "\(copied.said)")
    #expect(
      try await pictures("piped.\(format)", in: folder) == pictures("copied.\(format)", in: folder))
    let check = try await Program.run(["check", "piped.\(format)"], in: folder.url)
    #expect(check.status == 0, "\(check.text)")
  }

  @Test func keepsSound() async throws {
    let folder = try Folder()
    let run = try await Program.shell(
      """
      set -e
      gst-launch-1.0 -q matroskamux name=m ! filesink location=source.mkv \
        filesrc location=\(Self.media("clip.mp4")) ! qtdemux ! h264parse ! queue ! m. \
        audiotestsrc num-buffers=116 ! audio/x-raw,rate=48000 ! avenc_aac ! aacparse ! queue ! m.
      h26x repack source.mkv -o - --format mp4 | cat > piped.mp4
      h26x repack source.mkv -o copied.mp4
      for file in piped copied; do
        gst-launch-1.0 -q filesrc location=$file.mp4 ! qtdemux ! audio/mpeg ! filesink location=$file.aac
      done
      cmp piped.aac copied.aac
      """, in: folder.url)
    #expect(run.status == 0, "\(run.text)\(run.said)")
    #expect(folder.bytes("piped.aac")?.isEmpty == false)
  }

  /// A damaged sample behind what was written has its packaging read: the file does not begin once more.
  @Test(arguments: ["mkv", "mp4"]) func beginsOnceDespiteADamagedSample(format: String) async throws {
    let folder = try Folder()
    let clip = try Data(contentsOf: Program.media.appending(path: "wide.h264"))
    try folder.write("long.h264", Data((0..<40).flatMap { _ in clip }))
    let made = try await Program.shell("h26x repack long.h264 --framerate 25 -o long.mp4", in: folder.url)
    #expect(made.status == 0, "\(made.said)")
    var bytes = try #require(folder.bytes("long.mp4"))
    let start = try #require(bytes.range(of: Data("mdat".utf8))).upperBound
    // A NAL unit in the last quarter has a length that is too great.
    var place = start
    while place < bytes.count * 3 / 4 {
      place += 4 + bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
    }
    bytes.replaceSubrange(place..<place + 4, with: [0x7F, 0xFF, 0xFF, 0xFF])
    try folder.write("damaged.mp4", bytes)
    let run = try await Program.shell(
      "h26x repack damaged.mp4 -o - --format \(format) | cat > piped.\(format)", in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    let piped = try #require(folder.bytes("piped.\(format)"))
    let beginning = format == "mkv" ? Data([0x1A, 0x45, 0xDF, 0xA3]) : Data("ftyp".utf8)
    let first = try #require(piped.range(of: beginning))
    #expect(piped.count > bytes.count / 2)
    #expect(piped[first.upperBound...].range(of: beginning) == nil)
  }

  @Test func refusesAHiddenCutIntoAPipe() async throws {
    let folder = try Folder()
    let run = try await Program.shell(
      "h26x repack \(Self.media("clip.mp4")) --start 1 --cut hidden -o - --format mp4 | cat > out", in: folder.url)
    #expect(run.said.contains("--cut hidden needs a file"), "\(run.said)")
    #expect(folder.bytes("out")?.isEmpty == true)
  }
}

extension Data {
  fileprivate func contains(text: String) -> Bool { range(of: Data(text.utf8)) != nil }
}
