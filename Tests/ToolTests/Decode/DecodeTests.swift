// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// `h26x decode`: pictures, formats of the output, and damage.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct DecodeTests {
  private func clip(_ suffix: String) -> String { Program.media.appending(path: "clip.\(suffix)").path }

  /// 62 pictures of 320x180, planar.
  private static let rawSize = 62 * 320 * 180 * 3 / 2

  @Test(arguments: Program.clipSuffixes) func decodesTheSamePicturesFromEachContainer(suffix: String) async throws {
    let folder = try Folder()
    let first = try await Program.run(["decode", clip("h264"), "-o", "a.yuv"], in: folder.url)
    #expect(first.status == 0 && first.said.contains("62 pictures, 320x180 I420"), "\(first.said)")
    #expect(folder.bytes("a.yuv")?.count == Self.rawSize)
    let run = try await Program.run(["decode", clip(suffix), "-o", "-"], in: folder.url)
    #expect(run.status == 0 && run.output == folder.bytes("a.yuv"), "\(run.said)")
  }

  @Test func writesYUV4MPEG() async throws {
    let folder = try Folder()
    for (name, header) in [
      ("clip.mp4", "YUV4MPEG2 W320 H180 F25:1 Ip A1:1 C420mpeg2\n"),
      ("interlaced.h264", "YUV4MPEG2 W96 H64 F25:1 Ib A1:1 C420mpeg2\n"),
    ] {
      let run = try await Program.run(
        ["decode", Program.media.appending(path: name).path, "-o", "-", "--format", "y4m", "--frames", "3"],
        in: folder.url)
      #expect(run.status == 0 && run.output.starts(with: Data(header.utf8)), "\(run.said)")
      #expect(run.output.dropFirst(header.utf8.count).starts(with: Data("FRAME\n".utf8)))
    }
  }

  @Test func decodesASpanInAnotherSizeAndFormat() async throws {
    let folder = try Folder()
    let cutSize = 10 * 160 * 90 * 3 / 2
    let run = try await Program.run(
      [
        "decode", clip("mp4"), "-o", "-", "--start", "1", "--duration", "0.4", "--size", "160x90", "--pixel-format",
        "nv12",
      ], in: folder.url)
    #expect(run.status == 0 && run.output.count == cutSize, "\(run.said)")
    let pictures = try await Program.run(["decode", clip("mkv"), "-o", "p-%02d.png", "--frames", "3"], in: folder.url)
    #expect(pictures.status == 0, "\(pictures.said)")
    #expect(folder.names == ["p-01.png", "p-02.png", "p-03.png"])
  }

  /// Slices before the first parameter sets never reach the decoder.
  @Test func reportsSlicesBeforeParameterSets() async throws {
    let folder = try Folder()
    let stream = try Data(contentsOf: Program.media.appending(path: "open-gop.h264"))
    let slice = try #require(stream.firstRange(of: Data([0, 0, 1, 0x41])))
    try folder.write("cut.h264", stream[slice.lowerBound...])
    let run = try await Program.run(["decode", "cut.h264", "-o", "/dev/null", "--strict"], in: folder.url)
    #expect(run.status == 2 && run.said.contains(" slices unreadable"), "\(run.said)")
  }
}
