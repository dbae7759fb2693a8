// SPDX-License-Identifier: MPL-2.0
import AVFormat
import Foundation
import TestSupport
import Testing

/// `edit` changes headers, and not a picture.
@Suite(.enabled(if: Program.isBuilt)) struct EditTests {
  private static func media(_ name: String) -> String { Program.media.appending(path: name).path }

  private static let sources: [(name: String, targets: [String])] = [
    ("clip.h264", ["h264", "mp4", "ts"]), ("clip.mp4", ["mp4", "h264"]), ("clip.mkv", ["mkv"]), ("clip.ts", ["ts"]),
    ("clip.flv", ["mov"]), ("clip.h265", ["h265", "mkv"]), ("clip-h265.mp4", ["mp4"]), ("clip-h265.ts", ["ts"]),
    ("clip-h265.mkv", ["mov"]),
  ]

  private func pictures(_ name: String, in folder: Folder) async throws -> [String] {
    let run = try await Program.run(["hash", "--each", name], in: folder.url)
    return run.text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { String($0.suffix(32)) }
  }

  /// The values of a syntax element in the parameter sets of a file.
  private func values(_ element: String, _ name: String, in folder: Folder) async throws -> Set<Substring> {
    let run = try await Program.run(["inspect", "--fields", "--type", "SPS", name], in: folder.url)
    return Set(
      run.text.split(separator: "\n").filter { $0.contains(" \(element) = ") }.compactMap {
        $0.split(separator: "= ").last?.split(separator: " ").first
      })
  }

  @Test(arguments: TestScope.rows(sources, usually: 2)) func writesColourAndKeepsPictures(
    source: (name: String, targets: [String])
  ) async throws {
    let folder = try Folder()
    let before = try await pictures(Self.media(source.name), in: folder)
    try #require(before.count == 62)
    for target in source.targets {
      let out = "out.\(target)"
      let run = try await Program.run(
        ["edit", Self.media(source.name), "-o", out, "--colour", "bt2020-pq", "--range", "full", "--level", "5.1"],
        in: folder.url)
      #expect(run.status == 0, "\(source.name) to \(target): \(run.said)")
      #expect(try await pictures(out, in: folder) == before, "\(source.name) to \(target)")
      // inspect lists the fields of parameter sets that are in the stream.
      var stream = out
      if ["mp4", "mov", "mkv"].contains(target) {
        stream = source.name.contains("265") ? "stream.h265" : "stream.h264"
        let unpacked = try await Program.run(["repack", out, "-o", stream, "--force"], in: folder.url)
        #expect(unpacked.status == 0, "\(unpacked.said)")
      }
      for (element, value) in [
        ("colour_primaries", "9"), ("transfer_characteristics", "16"), ("video_full_range_flag", "1"),
      ] {
        #expect(
          try await values(element, stream, in: folder) == [Substring(value)], "\(source.name) to \(target): \(element)"
        )
      }
      let info = try await Program.run(["info", out], in: folder.url)
      #expect(info.text.contains("level 5.1"), "\(source.name) to \(target): \(info.text)")
    }
  }

  /// The boxes of MP4 have the same values.
  @Test func writesColourAndShapeIntoTheBoxes() async throws {
    let folder = try Folder()
    let run = try await Program.run(
      ["edit", Self.media("clip.mp4"), "-o", "out.mp4", "--colour", "9:16:9", "--sample-aspect", "4:3"], in: folder.url)
    try #require(run.status == 0, "\(run.said)")
    let bytes = try #require(folder.bytes("out.mp4"))
    #expect(bytes.range(of: Data("colrnclx".utf8) + Data([0, 9, 0, 16, 0, 9])) != nil)
    #expect(bytes.range(of: Data("pasp".utf8) + Data([0, 0, 0, 4, 0, 0, 0, 3])) != nil)
  }

  @Test(arguments: [("clip.h264", "0,0,0,12"), ("clip.h265", "0,0,0,4")])
  func restoresTheFileByTheInverseEdit(name: String, crop: String) async throws {
    let folder = try Folder()
    let original = try Data(contentsOf: Program.media.appending(path: name))
    for (there, back) in [
      (["--colour", "bt2020-hlg"], ["--colour", "bt709"]), (["--crop", "2,2,2,14"], ["--crop", crop]),
    ] {
      let first = try await Program.run(["edit", Self.media(name), "-o", "a.264", "--force"] + there, in: folder.url)
      #expect(first.status == 0, "\(first.said)")
      let second = try await Program.run(["edit", "a.264", "-o", "b.264", "--force"] + back, in: folder.url)
      #expect(second.status == 0, "\(second.said)")
      #expect(folder.bytes("a.264") != original && folder.bytes("b.264") == original, "\(there)")
    }
  }

  @Test func listsFieldsInADryRunAndWritesNothing() async throws {
    let folder = try Folder()
    for name in ["clip.h264", "clip.mp4", "clip.ts", "clip.mkv"] {
      let run = try await Program.run(
        ["edit", Self.media(name), "--dry-run", "--transfer", "18", "--keep-sei", "none"], in: folder.url)
      #expect(run.status == 0 && run.said.isEmpty, "\(name): \(run.said)")
      #expect(run.text.contains("SPS 0: transfer_characteristics: "), "\(name): \(run.text)")
      #expect(run.text.contains(", now 18\n") && run.text.contains("SEI: "), "\(name): \(run.text)")
    }
    #expect(folder.names.isEmpty)
  }

  @Test func insertsAndRemovesSEI() async throws {
    let folder = try Folder()
    let insert = try await Program.run(
      ["edit", Self.media("clip.h264"), "-o", "a.h264", "--insert-sei", "content_light_level_info=03e80190"],
      in: folder.url)
    #expect(insert.status == 0, "\(insert.said)")
    let fields = try await Program.run(["inspect", "--fields", "--type", "SEI", "a.h264"], in: folder.url)
    let levels = fields.text.split(separator: "\n").filter { $0.contains("max_content_light_level = 1000") }
    #expect(levels.count == 3)
    let remove = try await Program.run(
      ["edit", "a.h264", "-o", "b.h264", "--remove-sei", "content_light_level_info"], in: folder.url)
    #expect(remove.status == 0, "\(remove.said)")
    #expect(folder.bytes("b.h264") == (try Data(contentsOf: Program.media.appending(path: "clip.h264"))))
  }

  /// Containers repeat what SEI has of the display's light: what an edit makes wrong is not copied.
  @Test(arguments: ["mkv", "mp4"]) func removesLightMetadataFromTheContainer(_ target: String) async throws {
    let folder = try Folder()
    let make = [
      "h26x edit \(Self.media("clip-h265.mp4")) -o light.mp4 --insert-sei "
        + "137=33c286c41d4c0bb884d03e803d134042009896800000000a --insert-sei 144=03e80190",
      "gst-launch-1.0 -q filesrc location=light.mp4 ! qtdemux ! swifth265parse ! matroskamux ! filesink location=in.mkv",
      "h26x edit in.mkv -o out.\(target) --remove-sei 137,144",
    ]
    let run = try await Program.shell(make.joined(separator: " && "), in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    func light(_ name: String) throws -> [SideData.Kind] {
      let streams = try CutCompanionTests.open(folder.url.appending(path: name).path).streams
      return streams[0].sideData.map(\.kind).filter { [.masteringDisplay, .contentLight].contains($0) }
    }
    #expect(try light("in.mkv").count == 2)
    #expect(try light("out.\(target)").isEmpty)
  }

  /// Another edit is refused at every level: the message is its own, not that the stream keeps to none.
  @Test func namesAnEditThatNoLevelAllows() async throws {
    let folder = try Folder()
    let sps = MinimalStream.sps(nalBuffers: 1, vclBuffers: 1)
    let stream = MinimalStream.annexB([sps, MinimalStream.pps(), MinimalStream.slice(isIDR: true)])
    try folder.write("in.h264", Data(stream))
    let run = try await Program.run(
      ["edit", "in.h264", "--dry-run", "--level", "auto", "--frame-rate", "25", "--keep-sei", "none"], in: folder.url)
    #expect(run.status == 1 && run.said.contains("H.264 D.2.2"), "\(run.said)")
  }

  @Test func measuresLatency() async throws {
    let folder = try Folder()
    for name in ["clip.h264", "clip.h265"] {
      let auto = try await Program.run(
        ["edit", Self.media(name), "-o", "a.264", "--force", "--latency", "auto"], in: folder.url)
      #expect(auto.status == 0, "\(auto.said)")
      let check = try await Program.run(["check", "a.264"], in: folder.url)
      #expect(!check.text.contains("reorder-depth") && !check.text.contains("output-order"), "\(check.text)")
      #expect(try await pictures("a.264", in: folder) == pictures(Self.media(name), in: folder))
      let less = try await Program.run(["edit", Self.media(name), "--dry-run", "--latency", "0"], in: folder.url)
      #expect(less.status == 1 && less.said.contains("access unit ") && less.said.contains("--latency 0 is less"))
    }
  }

  @Test(arguments: [("clip.h264", "level_idc", "12"), ("clip.h265", "general_level_idc", "60")])
  func findsTheLowestLevel(name: String, element: String, level: String) async throws {
    let folder = try Folder()
    let high = try await Program.run(["edit", Self.media(name), "-o", "high.264", "--level", "4.1"], in: folder.url)
    #expect(high.status == 0, "\(high.said)")
    let auto = try await Program.run(
      ["edit", "high.264", "-o", "low.264", "--level", "auto", "--latency", "auto"], in: folder.url)
    #expect(auto.status == 0, "\(auto.said)")
    #expect(try await values(element, "low.264", in: folder) == [Substring(level)])
    let check = try await Program.run(["check", "low.264"], in: folder.url)
    #expect(!check.text.contains("level-"), "\(check.text)")
  }

  @Test func namesTheClauseOfARefusalAndWritesNothing() async throws {
    let folder = try Folder()
    let clip = Self.media("clip.h264")
    for (arguments, status, said) in [
      (["--matrix", "0"], 1, "H.264 E.2.1"), (["--primaries", "3"], 1, "reserved"),
      (["--tier", "high"], 1, "no tiers"),
      (["--crop", "1,0,0,0"], 1, "7.4.2.1.1"), (["--level", "1"], 1, "table A-1"), ([], 64, "nothing to change"),
      (["--colour", "nonsense"], 64, "colour"), (["--insert-sei", "5=0"], 64, "insert-sei"),
      (["--remove-sei", "nonsense"], 64, "remove-sei"), (["--latency", "17"], 64, "latency"),
      (["--remove-colour", "--range", "full"], 64, "exclude"),
      (["--range", "wide"], 64, "--range wide: expected limited or full"),
      (["--aud", "yes"], 64, "--aud yes: expected insert, remove or keep"),
      (["--frame-rate", "0.001"], 64, "frame-rate"),
      (["--constraint-set", "1=1", "--constraint-set", "6=1"], 64, "--constraint-set 6=1: expected N=0 or N=1"),
    ] as [([String], Int32, String)] {
      let run = try await Program.run(["edit", clip, "-o", "out.h264"] + arguments, in: folder.url)
      #expect(run.status == status && run.said.contains(said), "\(arguments): \(run.status) \(run.said)")
      #expect(run.said.filter { $0 == "\n" }.count == 1, "\(arguments): \(run.said)")
      #expect(folder.names.isEmpty, "\(arguments)")
    }
  }

  /// What never ends is not collected without limit.
  @Test func refusesAnAccessUnitWithoutEnd() async throws {
    let folder = try Folder()
    let clip = try Data(contentsOf: URL(filePath: Self.media("clip.h264")))
    let slice = try #require(clip.range(of: Data([0, 0, 1, 0x65]))).upperBound
    try folder.write("endless.h264", clip[..<(slice + 40)] + Data(repeating: 0x55, count: 80 << 20))
    let run = try await Program.run(
      ["edit", "endless.h264", "-o", "out.h264", "--colour", "bt2020-pq"], in: folder.url)
    #expect(run.status == 1 && run.said.hasSuffix(": no end of an access unit within 64 MiB\n"), "\(run.said)")
    #expect(folder.names == ["endless.h264"])
  }
}
