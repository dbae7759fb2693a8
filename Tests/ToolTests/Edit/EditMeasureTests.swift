// SPDX-License-Identifier: MPL-2.0
import Foundation
import TestSupport
import Testing

/// What `edit` announces is true of the pictures, and of the container that it writes.
@Suite(.enabled(if: Program.isBuilt)) struct EditMeasureTests {
  private static func media(_ name: String) -> String { Program.media.appending(path: name).path }

  /// A stream of Baseline at level 3, of pictures of 2 by 2 macroblocks without VUI, each with as much filler data.
  private static func stream(pictures: Int, filler: Int) -> Data {
    var nalUnits = [MinimalStream.sps(), MinimalStream.pps()]
    for _ in 0..<pictures {
      nalUnits += [[0x09, 0x10], MinimalStream.slice(isIDR: true)]
      if filler > 0 { nalUnits.append([0x0C] + Array(repeating: 0xFF, count: filler) + [0x80]) }
    }
    return Data(MinimalStream.annexB(nalUnits))
  }

  private func edit(_ arguments: String..., in folder: Folder) async throws -> Program {
    try await Program.run(["edit"] + arguments, in: folder.url)
  }

  // MARK: Constraint flags

  @Test(arguments: [
    ("clip.h264", "0=1", "CABAC"), ("clip.h264", "1=1", "8x8 transforms"), ("clip.h264", "2=1", "CABAC"),
    ("clip.h264", "3=1", "not an IDR picture"), ("clip.h264", "5=1", "B slices"),
    ("interlaced.h264", "4=1", "frame_mbs_only_flag 0"),
  ])
  func refusesAConstraintThatPicturesContradict(name: String, constraint: String, tool: String) async throws {
    let folder = try Folder()
    let run = try await edit(Self.media(name), "-o", "out.h264", "--constraint-set", constraint, in: folder)
    #expect(run.status == 1, "\(run.said)")
    #expect(run.said.contains(": access unit ") && run.said.contains(tool), "\(run.said)")
    #expect(run.said.contains("constraint_set\(constraint.prefix(1))_flag 1 excludes (H.264 7.4.2.1.1"), "\(run.said)")
    #expect(folder.names.isEmpty)
  }

  @Test func refusesReservedConstraintsAndWritesTrueOnes() async throws {
    let folder = try Folder()
    try folder.write("in.h264", Self.stream(pictures: 2, filler: 0))
    for (constraint, reason) in [("3=1", " at other levels than 1.1"), ("4=1", ""), ("5=1", "")] {
      let run = try await edit("in.h264", "--dry-run", "--constraint-set", constraint, in: folder)
      #expect(
        run.status == 1 && run.said.contains("reserved with profile_idc 66\(reason) (H.264 7.4.2.1.1)"), "\(run.said)")
    }
    let extended = try await edit("in.h264", "--dry-run", "--constraint-set", "2=1", in: folder)
    #expect(extended.status == 0 && extended.text.contains("constraint_set2_flag: 0, now 1"), "\(extended.said)")
    let progressive = try await edit(Self.media("clip.h264"), "--dry-run", "--constraint-set", "4=1", in: folder)
    #expect(progressive.status == 0, "\(progressive.said)")
  }

  // MARK: Levels

  /// 4 Mbit/s, which level 2 has no room for.
  @Test func refusesALevelBelowTheBitRate() async throws {
    let folder = try Folder()
    try folder.write("in.h264", Self.stream(pictures: 50, filler: 20_000))
    let low = try await edit("in.h264", "-o", "out.h264", "--frame-rate", "25", "--level", "2", in: folder)
    #expect(low.status == 1 && low.said.contains("--level 2: access unit "), "\(low.said)")
    #expect(low.said.contains("MaxBR 2000000") && low.said.hasSuffix("with room is 2.1\n"), "\(low.said)")
    #expect(folder.names == ["in.h264"])
    let enough = try await edit("in.h264", "-o", "out.h264", "--frame-rate", "25", "--level", "2.1", in: folder)
    #expect(enough.status == 0, "\(enough.said)")
    let check = try await Program.run(["check", "out.h264"], in: folder.url)
    #expect(!check.text.contains("level-"), "\(check.text)")
    let faster = try await edit("out.h264", "-o", "fast.h264", "--frame-rate", "50", in: folder)
    #expect(faster.status == 0 && faster.said.contains("exceeds the level: access unit "), "\(faster.said)")
    #expect(faster.said.contains("--level auto"))
  }

  /// A picture of 320 kbit, for which a buffer of 350 kbit is enough however short the stream is.
  @Test func measuresAShortStreamByItsBuffer() async throws {
    let folder = try Folder()
    try folder.write("in.h264", Self.stream(pictures: 1, filler: 40_000))
    let run = try await edit("in.h264", "--dry-run", "--frame-rate", "25", "--level", "auto", in: folder)
    #expect(run.status == 0 && run.text.contains("level_idc: 30, now 11"), "\(run.text)\(run.said)")
  }

  @Test func measuresLevelsByTheContainersRate() async throws {
    let folder = try Folder()
    let clip = try Data(contentsOf: Program.media.appending(path: "clip.h264"))
    try folder.write("in.h264", RawStreamTests.withoutVUI(clip))
    for suffix in ["mkv", "mp4"] {
      let make = try await Program.run(
        ["repack", "in.h264", "-o", "in.\(suffix)", "--framerate", "60"], in: folder.url)
      try #require(make.status == 0, "\(make.said)")
      let auto = try await edit("in.\(suffix)", "--dry-run", "--level", "auto", in: folder)
      #expect(auto.status == 0 && auto.text.contains("level_idc: 12, now 21"), "\(suffix): \(auto.text)\(auto.said)")
      let low = try await edit("in.\(suffix)", "--dry-run", "--level", "1.3", in: folder)
      #expect(low.status == 1 && low.said.contains("14400 macroblocks a second"), "\(suffix): \(low.said)")
      #expect(
        low.said.contains("MaxMBPS is 11880") && low.said.hasSuffix("with room is 2.1\n"), "\(suffix): \(low.said)")
    }
  }

  private static let tiles = Vectors.path("h265/g2b_tiles.h265")

  @Test(.enabled(if: tiles != nil)) func countsTilesForTheLevel() async throws {
    let folder = try Folder()
    let tiles = try #require(Self.tiles)
    let auto = try await edit(tiles, "--dry-run", "--level", "auto", in: folder)
    #expect(auto.status == 0 && auto.text.contains(", now 90\n"), "\(auto.text)\(auto.said)")
    let low = try await edit(tiles, "--dry-run", "--level", "2", in: folder)
    #expect(low.status == 1 && low.said.contains("MaxTileCols is 1 (H.265 table A.8)"), "\(low.said)")
    #expect(low.said.hasSuffix("the lowest level with room is 3\n"), "\(low.said)")
  }

  // MARK: Containers

  @Test func timesAByteStreamByTheNewRate() async throws {
    let folder = try Folder()
    let clip = try Data(contentsOf: Program.media.appending(path: "clip.h264"))
    try folder.write("with.h264", clip)
    try folder.write("without.h264", RawStreamTests.withoutVUI(clip))
    let none = try await edit("without.h264", "-o", "out.mp4", "--colour", "bt709", in: folder)
    #expect(none.status == 1 && none.said.contains("set it with --frame-rate, such as 25"), "\(none.said)")
    for name in ["with", "without"] {
      let run = try await edit("\(name).h264", "-o", "\(name).mp4", "--frame-rate", "10", in: folder)
      #expect(run.status == 0, "\(run.said)")
      let info = try await Program.run(["info", "\(name).mp4"], in: folder.url)
      #expect(info.text.contains("Duration            0:00:06.200"), "\(name): \(info.text)")
    }
    #expect(folder.names == ["with.h264", "with.mp4", "without.h264", "without.mp4"])
  }

  @Test func keepsTheTimesOfAContainerAndReportsIt() async throws {
    let folder = try Folder()
    let run = try await edit(Self.media("clip.mp4"), "-o", "out.mp4", "--frame-rate", "10", in: folder)
    #expect(run.status == 0 && run.said.contains("the container's times stay the same"), "\(run.said)")
    let info = try await Program.run(["info", "out.mp4"], in: folder.url)
    #expect(info.text.contains("Duration            0:00:02.480"), "\(info.text)")
  }

  @Test func listsContainerChangesInADryRun() async throws {
    let folder = try Folder()
    let run = try await edit(
      Self.media("clip.mp4"), "--dry-run", "--colour", "bt2020-pq", "--sample-aspect", "4:3", in: folder)
    #expect(run.status == 0 && run.text.contains("container: colour: now 9:16:9, limited range\n"), "\(run.text)")
    #expect(run.text.contains("container: sample aspect ratio: now 4:3\n"), "\(run.text)")
  }

  // MARK: Words

  @Test func namesTheGivenOptionInMessages() async throws {
    let folder = try Folder()
    let rate = try await edit(Self.media("clip.h264"), "--dry-run", "--frame-rate", "50", in: folder)
    #expect(rate.status == 1 && rate.said.contains(": --frame-rate: more frames than MaxMBPS"), "\(rate.said)")
    #expect(!rate.said.contains("time_scale") && rate.said.hasSuffix("--level auto finds a level with room\n"))
    let name = try await edit(Self.media("clip.h264"), "-o", "out.h265", "--colour", "bt2020-pq", in: folder)
    #expect(
      name.status == 0 && name.said.contains("out.h265: the contents are H.264, despite the file's name\n"),
      "\(name.said)")
    let depth = try await edit(Self.media("open-gop.h264"), "--dry-run", "--latency", "0", in: folder)
    #expect(
      depth.said.contains(" 1 picture that precedes it") || depth.said.contains(" pictures that precede it"),
      "\(depth.said)")
  }

  /// Light that is in a box and in the container's side data is named once.
  @Test func listsEachLossOnce() async throws {
    let folder = try Folder()
    let make = [
      "h26x edit \(Self.media("clip-h265.mp4")) -o light.mp4 --insert-sei "
        + "137=33c286c41d4c0bb884d03e803d134042009896800000000a --insert-sei 144=03e80190",
      "gst-launch-1.0 -q filesrc location=light.mp4 ! qtdemux ! swifth265parse ! matroskamux ! filesink location=in.mkv",
      "h26x repack in.mkv -o in.mp4", "h26x edit in.mp4 -o out.mp4 --remove-sei 137,144",
    ]
    let run = try await Program.shell(make.joined(separator: " && "), in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    let bytes = try #require(folder.bytes("in.mp4"))
    try #require(bytes.range(of: Data("clli".utf8)) != nil && bytes.range(of: Data("mdcv".utf8)) != nil)
    #expect(run.said.contains("left behind: the container's content light level"), "\(run.said)")
    #expect(run.said.contains("left behind: the container's mastering display"), "\(run.said)")
    #expect(!run.said.contains("clli") && !run.said.contains("mdcv"), "\(run.said)")
  }
}
