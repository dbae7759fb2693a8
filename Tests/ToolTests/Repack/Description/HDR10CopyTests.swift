// SPDX-License-Identifier: MPL-2.0
import AVFormat
import Foundation
import Testing

/// Colour and HDR10's metadata of the stream, in containers whose source does not state them.
@Suite(.enabled(if: Program.isBuilt)) struct HDR10CopyTests {
  private static let masteringDisplay: [UInt8] =
    Array("mdcv".utf8) + [
      0x33, 0x90, 0x86, 0xC4, 0x1D, 0x4C, 0x0B, 0xB8, 0x84, 0xD0, 0x3E, 0x80, 0x3D, 0x13, 0x40, 0x42, 0x00, 0x98, 0x96,
      0x80, 0x00, 0x00, 0x00, 0x01,
    ]
  private static let contentLight: [UInt8] = Array("clli".utf8) + [0x03, 0xE8, 0x01, 0x90]

  @Test(arguments: ["h264", "ts", "mkv", "mp4", "mov"]) func describesTheDisplayByTheStream(source: String) async throws
  {
    let folder = try Folder()
    try folder.write("plain.h264", SEITextTests.highDynamicRange)
    for arguments in [
      ["edit", "plain.h264", "-o", "hdr.h264", "--colour", "bt2020-pq"], ["repack", "hdr.h264", "-o", "in.\(source)"],
    ] {
      let run = try await Program.run(arguments, in: folder.url)
      try #require(run.status == 0, "\(run.said)")
    }
    for target in ["mp4", "mov", "mkv"] {
      let run = try await Program.run(["repack", "in.\(source)", "-o", "out.\(target)"], in: folder.url)
      #expect(run.status == 0 && !run.said.contains("left behind"), "\(run.said)")
      let stream = try #require(CutCompanionTests.open(folder.url.appending(path: "out.\(target)").path).stream(0))
      let colour = stream.colour
      #expect((colour.primaries, colour.transfer, colour.matrix) == (9, 16, 9), "\(source) to \(target)")
      guard target == "mkv" else {
        for box in [Self.masteringDisplay, Self.contentLight] {
          #expect(folder.bytes("out.\(target)")?.range(of: Data(box)) != nil, "\(source) to \(target)")
        }
        continue
      }
      #expect(Set(stream.sideData.map(\.kind)).isSuperset(of: [.masteringDisplay, .contentLight]), "\(source)")
    }
  }

  /// A message that an edit removes does not come back as a box.
  @Test func writesNoMetadataThatAnEditRemoves() async throws {
    let folder = try Folder()
    try folder.write("in.h264", SEITextTests.highDynamicRange)
    let run = try await Program.run(
      ["edit", "in.h264", "-o", "out.mp4", "--remove-sei", "137"], in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    let file = try #require(folder.bytes("out.mp4"))
    #expect(file.range(of: Data("mdcv".utf8)) == nil && file.range(of: Data(Self.contentLight)) != nil)
  }
}
