// SPDX-License-Identifier: MPL-2.0
import AVFormat
import Foundation
import H26x
import TestSupport
import Testing

/// Colour and HDR10's metadata of the stream, in containers whose source does not state them.
@Suite(.enabled(if: Program.isBuilt)) struct HDR10CopyTests {
  private static let masteringDisplay: [UInt8] =
    Array("mdcv".utf8) + [
      0x33, 0x90, 0x86, 0xC4, 0x1D, 0x4C, 0x0B, 0xB8, 0x84, 0xD0, 0x3E, 0x80, 0x3D, 0x13, 0x40, 0x42, 0x00, 0x98, 0x96,
      0x80, 0x00, 0x00, 0x00, 0x01,
    ]
  private static let contentLight: [UInt8] = Array("clli".utf8) + [0x03, 0xE8, 0x01, 0x90]

  @Test(arguments: TestScope.rows(["h264", "ts", "mkv", "mp4", "mov"], usually: 2)) func describesTheDisplayByTheStream(
    source: String
  ) async throws {
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

  /// The ambient viewing environment is a box in MP4 and MOV, and has no place in Matroska.
  @Test func describesTheAmbientViewingEnvironment() async throws {
    let folder = try Folder()
    let box = AddedBoxes.ambientViewing
    let message = (type: SEIPayloadType(rawValue: 148), payload: Array(box[8...]))
    let sei = seiNALUnit([message], header: [0x4E, 0x01])
    try folder.write("in.h265", try AddedMetadata.clip(front: { $0 == 0 ? [sei] : [] }))
    for (source, target, hasBox) in [
      ("in.h265", "out.mp4", true), ("in.h265", "out.ts", false), ("out.ts", "out.mov", true),
      ("out.mp4", "out.mkv", false), ("out.mkv", "again.mp4", true), ("out.mov", "again.mov", true),
    ] {
      let run = try await Program.run(["repack", source, "-o", target], in: folder.url)
      #expect(run.status == 0 && !run.said.contains("left behind"), "\(run.said)")
      #expect((folder.bytes(target)?.range(of: Data(box)) != nil) == hasBox, "\(source) to \(target)")
    }
    let edit = try await Program.run(
      ["edit", "out.mp4", "-o", "edited.mp4", "--remove-sei", "148"], in: folder.url)
    #expect(edit.status == 0 && folder.bytes("edited.mp4")?.range(of: Data("amve".utf8)) == nil, "\(edit.said)")
    // A box alone.
    let clip = try Data(contentsOf: Program.media.appending(path: "clip-h265.mp4"))
    try folder.write("box.mp4", AddedBoxes.add(box, to: AddedBoxes.entry, of: clip))
    for (target, isKept) in [("kept.mp4", true), ("kept.mov", true), ("lost.mkv", false), ("lost.ts", false)] {
      let run = try await Program.run(["repack", "box.mp4", "-o", target], in: folder.url)
      #expect(run.said.contains("left behind: amve in the description of the video") != isKept, "\(run.said)")
      #expect((folder.bytes(target)?.range(of: Data(box)) != nil) == isKept, "\(target)")
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
