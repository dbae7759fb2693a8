// SPDX-License-Identifier: MPL-2.0
import Foundation
import TestSupport
import Testing

/// `h26x hash` prints what FFmpeg 5.1 prints for the same file; the expected sums and lines are FFmpeg's.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct HashTests {
  private static func media(_ name: String) -> String { Program.media.appending(path: name).path }

  /// `ffmpeg -i clip.mp4 -map 0:v:0 -vsync passthrough -fflags +bitexact -f framemd5 -`, its first lines.
  private static let beginning = """
    #format: frame checksums
    #version: 2
    #hash: MD5
    #tb 0: 1/25
    #media_type 0: video
    #codec_id 0: rawvideo
    #dimensions 0: 320x180
    #sar 0: 1/1
    #stream#, dts,        pts, duration,     size, hash
    0,          0,          0,        1,    86400, 6dbfdccd2f85bd57346bbe52fe558567
    0,          1,          1,        1,    86400, 5017f0963e647095bc556d1c10309919
    0,          2,          2,        1,    86400, c6db3afbf838aa3948aea5cbc581c76b

    """

  @Test(arguments: TestScope.rows(Program.clipSuffixes, usually: 2)) func listsEachPictureAsFFmpegDoes(suffix: String)
    async throws
  {
    let folder = try Folder()
    let clip = Self.media("clip.\(suffix)")
    let run = try await Program.run(["hash", "--each", clip], in: folder.url)
    #expect(run.status == 0 && run.said.isEmpty, "\(run.said)")
    #expect(run.text.hasPrefix(Self.beginning), "\(run.text.prefix(600))")
    #expect(run.text.split(separator: "\n").count == 9 + 62)
    let piped = try await Program.shell("cat \(clip) | h26x hash --each -", in: folder.url)
    #expect(piped.output == run.output, "\(piped.said)")
    let all = try await Program.run(["hash", clip], in: folder.url)
    #expect(all.text == "MD5=3f1a3e4dbe966a3f73dae322394a458d\n", "\(all.text)\(all.said)")
  }

  /// The checksums of Tests/Media, FFmpeg's too.
  @Test(arguments: ["ten-bit", "interlaced", "formats/gbrp10le", "formats/yuv422p10le", "formats/gray"])
  func hashesEveryLayout(name: String) async throws {
    let folder = try Folder()
    let sums = try String(contentsOf: Program.media.appending(path: "checksums-h265.md5"), encoding: .utf8)
    let sum = try #require(sums.split(separator: "\n").first { $0.hasSuffix("  \(name).h265") }).prefix(32)
    let run = try await Program.run(["hash", Self.media("\(name).h265")], in: folder.url)
    #expect(run.text == "MD5=\(sum)\n", "\(run.text)\(run.said)")
  }

  @Test func hashesWithSHA256() async throws {
    let folder = try Folder()
    let clip = Self.media("clip.mp4")
    let all = try await Program.run(["hash", clip, "--algorithm", "sha256"], in: folder.url)
    #expect(all.text == "SHA256=f82803955324730737a54fffe92eaa6ac7811f9c8c4684b1cfe48e18294c22f2\n", "\(all.said)")
    let each = try await Program.run(["hash", clip, "--algorithm", "sha256", "--each"], in: folder.url)
    let lines = each.text.split(separator: "\n")
    #expect(lines.count == 9 + 62 && lines[2] == "#hash: SHA256", "\(each.said)")
    #expect(
      lines[9]
        == "0,          0,          0,        1,    86400, 790749152d89b764b56f7ed362c77c3d69dea10597b2d41ea8e4c39b97a84666"
    )
  }

  /// The options are those of decode, and choose the same pictures.
  @Test func choosesPicturesAsDecodeDoes() async throws {
    let folder = try Folder()
    let options = ["--start", "1", "--duration", "0.4", "--size", "160x90", "--pixel-format", "nv12"]
    let decoded = try await Program.shell(
      "h26x decode \(Self.media("clip.mkv")) -o - \(options.joined(separator: " ")) | md5sum", in: folder.url)
    let run = try await Program.run(["hash", Self.media("clip.mkv")] + options, in: folder.url)
    #expect(run.status == 0 && run.text == "MD5=\(decoded.text.prefix(32))\n", "\(run.text)\(run.said)")
    let each = try await Program.run(
      ["hash", "--each", "--frames", "3", Self.media("clip.mkv"), "--start", "1"], in: folder.url)
    let lines = each.text.split(separator: "\n").dropFirst(9)
    #expect(lines.map { $0.prefix(36) } == [25, 26, 27].map { "0,         \($0),         \($0),        1," })
  }

  /// Ticks fit all times, whatever most durations are. Every duration of 120 ms behind the first 600 ms is a multiple
  /// of 40 ms, and every duration of 60 ms a multiple of 20 ms. Matroska and FLV have rounded times.
  @Test(arguments: [(3, 1, "1/25", "1/25"), (3, 2, "1/50", "1/1000000000")])
  func choosesTicksThatHoldVariableRates(factor: Int, divisor: Int, table: String, others: String) async throws {
    let folder = try Folder()
    let clip = [UInt8](try Data(contentsOf: URL(filePath: Self.media("clip.flv"))))
    let changed = FlashTimes.changed(clip) { $0 <= 600 ? $0 : 600 + ($0 - 600) * factor / divisor }
    try folder.write("in.flv", Data(changed))
    let ticks = factor * 40 / divisor
    let expected = (0..<62).map { $0 <= 15 ? 40 * $0 : 600 + ($0 - 15) * ticks }
    for (name, base) in [("out.mp4", table), ("out.mkv", others), ("in.flv", others)] {
      if name != "in.flv" {
        let run = try await Program.run(["repack", "in.flv", "-o", name], in: folder.url)
        try #require(run.status == 0, "\(run.said)")
      }
      let lines = try await Program.run(["hash", "--each", name], in: folder.url).text.split(separator: "\n")
      #expect(lines.count == 9 + 62 && lines[3] == "#tb 0: \(base)", "\(name): \(lines.prefix(12))")
      let scale = base.split(separator: "/").last.flatMap { Double($0) } ?? 0
      let times = lines.dropFirst(9).compactMap { line in
        Double(line.split(separator: ",")[2].trimmingCharacters(in: .whitespaces)).map {
          Int(($0 * 1000 / scale).rounded())
        }
      }
      #expect(times == expected, "\(name): \(times)")
    }
  }

  /// A list needs times, which a byte stream without a frame rate has not.
  @Test func refusesPicturesWithoutTimesInLists() async throws {
    let folder = try Folder()
    try folder.write("raw.h264", ContainerTests.untimed)
    let run = try await Program.run(["hash", "--each", "raw.h264"], in: folder.url)
    #expect(run.status == 1 && run.said.contains("--framerate") && run.text.isEmpty, "\(run.text)\(run.said)")
    let one = try await Program.run(["hash", "--each", "--frames", "1", "raw.h264"], in: folder.url)
    #expect(one.text.split(separator: "\n").count == 10, "\(one.text)\(one.said)")
    let timed = try await Program.run(["hash", "--each", "raw.h264", "--framerate", "30"], in: folder.url)
    #expect(timed.status == 0 && timed.text.contains("#tb 0: 1/30\n"), "\(timed.text)\(timed.said)")
    let all = try await Program.run(["hash", "raw.h264"], in: folder.url)
    #expect(all.status == 0 && all.text.hasPrefix("MD5="), "\(all.said)")
  }

  @Test func reportsDamage() async throws {
    let folder = try Folder()
    let stream = try Data(contentsOf: Program.media.appending(path: "open-gop.h264"))
    let slice = try #require(stream.firstRange(of: Data([0, 0, 1, 0x41])))
    try folder.write("cut.h264", stream[slice.lowerBound...])
    let run = try await Program.run(["hash", "cut.h264"], in: folder.url)
    #expect(run.status == 0 && run.text.hasPrefix("MD5=") && run.said.contains("unreadable"), "\(run.said)")
    let strict = try await Program.run(["hash", "cut.h264", "--strict"], in: folder.url)
    #expect(strict.status == 2 && strict.text == run.text, "\(strict.said)")
    let text = Data("neither of the two".utf8)
    try folder.write("text", text)
    let none = try await Program.run(["hash", "text"], in: folder.url)
    #expect(none.status == 1 && none.output.isEmpty && none.said.filter { $0 == "\n" }.count == 1, "\(none.said)")
  }
}
