// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// The colour that a container states holds where the stream describes none.
@Suite(.enabled(if: Program.isBuilt)) struct ContainerColourTests {
  private static let entry = ["moov", "trak", "mdia", "minf", "stbl", "stsd", "avc1"]
  /// BT.601 of 525 lines, of full range.
  private static let colour = AddedBoxes.box("colr", Array("nclx".utf8) + [0, 6, 0, 6, 0, 6, 0x80])

  /// The clip with that colour in its container, and Matroska that is made of it.
  private static func files(_ stream: Data, in folder: Folder) async throws {
    try folder.write("in.h264", stream)
    let made = try await Program.run(["repack", "in.h264", "-o", "plain.mp4", "--framerate", "25"], in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    let movie = try MovieFileTests.withMovieBehind(try #require(folder.bytes("plain.mp4")))
    try folder.write("in.mp4", AddedBoxes.add(colour, to: entry, of: movie))
    let copied = try await Program.run(["repack", "in.mp4", "-o", "in.mkv"], in: folder.url)
    try #require(copied.status == 0, "\(copied.said)")
  }

  private func header(_ file: String, in folder: Folder) async throws -> String {
    let run = try await Program.run(["decode", file, "-o", "-", "--format", "y4m", "--frames", "1"], in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    return String(decoding: run.output.prefix { $0 != 10 }, as: UTF8.self)
  }

  @Test func usesTheContainersColourIfTheStreamHasNone() async throws {
    let folder = try Folder()
    let clip = try Data(contentsOf: Program.media.appending(path: "clip.h264"))
    try await Self.files(RawStreamTests.withoutVUI(clip), in: folder)
    #expect(try await !header("plain.mp4", in: folder).contains("XCOLORRANGE"))
    let stock = try await Program.run(["snapshot", "plain.mp4", "-o", "plain.png"], in: folder.url)
    try #require(stock.status == 0, "\(stock.said)")
    for file in ["in.mp4", "in.mkv"] {
      #expect(try await header(file, in: folder).hasSuffix(" XCOLORRANGE=FULL"), "\(file)")
      let info = try await Program.run(["info", "--json", file], in: folder.url)
      #expect(info.text.contains("\"colorimetry\": \"1:4:16:4\""), "\(info.text)")
      let run = try await Program.run(["snapshot", file, "-o", "\(file).png"], in: folder.url)
      try #require(run.status == 0, "\(run.said)")
      #expect(folder.bytes("\(file).png") != folder.bytes("plain.png"), "\(file)")
    }
    #expect(folder.bytes("in.mp4.png") == folder.bytes("in.mkv.png"))
  }

  @Test func prefersTheStreamsColour() async throws {
    let folder = try Folder()
    try await Self.files(Data(contentsOf: Program.media.appending(path: "clip.h264")), in: folder)
    for file in ["in.mp4", "in.mkv"] {
      #expect(try await !header(file, in: folder).contains("XCOLORRANGE"), "\(file)")
      let info = try await Program.run(["info", "--json", file], in: folder.url)
      #expect(info.text.contains("\"colorimetry\": \"bt709\""), "\(info.text)")
    }
  }
}
