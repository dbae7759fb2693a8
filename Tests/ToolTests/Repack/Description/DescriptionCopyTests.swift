// SPDX-License-Identifier: MPL-2.0
import AVFormat
import Foundation
import H26x
import StreamReport
import SystemPackage
import Testing

@testable import Containers

/// What describes the video, and the file as a whole, is in a copy too, or listed.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct DescriptionCopyTests {
  private static let clip = try? Data(contentsOf: Program.media.appending(path: "clip-h265.mp4"))

  /// Writes the clip with further boxes in its sample entry.
  private static func write(_ name: String, _ boxes: [[UInt8]], coding: String = "hvc1", in folder: Folder) throws {
    let clip = try #require(clip)
    var file = boxes.reduce(clip) { AddedBoxes.add($1, to: AddedBoxes.entry, of: $0) }
    if let type = file.range(of: Data("hvc1".utf8), options: .backwards) {
      file.replaceSubrange(type, with: Data(coding.utf8))
    }
    try folder.write(name, file)
  }

  private static func repack(_ from: String, _ to: String, in folder: Folder) async throws -> [String] {
    let run = try await Program.run(["repack", from, "-o", to], in: folder.url)
    return left(run)
  }

  /// The listing of a copy that is written into a pipe.
  private static func pipe(_ from: String, _ format: String, in folder: Folder) async throws -> [String] {
    let line = "set -o pipefail; h26x repack \(from) -o - --format \(format) | cat > piped.\(format)"
    return left(try await Program.shell(line, in: folder.url))
  }

  private static func left(_ run: Program) -> [String] {
    #expect(run.status == 0, "\(run.said)")
    return run.said.split(separator: "\n").compactMap { line in
      line.range(of: ": left behind: ").map { String(line[$0.upperBound...]) }
    }
  }

  private static func has(_ bytes: [UInt8], _ name: String, _ folder: Folder) -> Bool {
    folder.bytes(name)?.range(of: Data(bytes)) != nil
  }

  private static func sideData(_ name: String, _ folder: Folder) throws -> Set<SideData.Kind> {
    let input = try CutCompanionTests.open(folder.url.appending(path: name).path)
    return Set(input.stream(0)?.sideData.map(\.kind) ?? [])
  }

  /// Matroska's DefaultDuration is copied, and not invented.
  @Test(arguments: [("clip.mkv", true), ("clip.mp4", false)])
  func copiesTheDefaultDurationOfMatroska(name: String, isThere: Bool) async throws {
    let folder = try Folder()
    let source = Program.media.appending(path: name).path
    _ = try await Self.repack(source, "out.mkv", in: folder)
    _ = try await Self.repack("out.mkv", "again.mkv", in: folder)
    let durations = ["out.mkv", "again.mkv"].map { Self.defaultDuration(folder.bytes($0) ?? Data()) }
    #expect(durations == (isThere ? [40_000_000, 40_000_000] : [nil, nil]))
  }

  /// The first DefaultDuration (RFC 9559, 5.1.4.1.13) of a Matroska file, in nanoseconds.
  private static func defaultDuration(_ file: Data) -> Int? {
    guard let element = file.prefix(4096).range(of: Data([0x23, 0xE3, 0x83])), element.upperBound < file.count else {
      return nil
    }
    // Sizes of one byte have its highest bit set.
    let size = Int(file[element.upperBound] & 0x7F)
    return file[(element.upperBound + 1)...].prefix(size).reduce(0) { $0 << 8 | Int($1) }
  }

  // MARK: The sample entry

  @Test(arguments: [("dvcC", 5, 0, "dvh1"), ("dvvC", 8, 1, "hvc1")])
  func keepsDolbyVision(type: String, profile: UInt8, compatibility: UInt8, coding: String) async throws {
    let folder = try Folder()
    let box = AddedBoxes.dolbyVision(type, profile: profile, compatibility: compatibility)
    try Self.write("in.mp4", [box], coding: coding, in: folder)
    for (from, to) in [
      ("in.mp4", "out.mp4"), ("in.mp4", "out.mov"), ("in.mp4", "out.mkv"), ("out.mkv", "back.mp4"),
      ("out.mkv", "back.mov"),
    ] {
      #expect(try await Self.repack(from, to, in: folder) == [])
      if to.hasSuffix("mkv") {
        #expect(try Self.sideData(to, folder).contains(.dolbyVision))
      } else {
        #expect(Self.has(box, to, folder) && Self.has(Array(coding.utf8), to, folder), "\(to)")
      }
    }
    #expect(try await Self.repack("in.mp4", "out.ts", in: folder) == [])
    #expect(try Self.sideData("out.ts", folder).contains(.dolbyVision))
  }

  /// A profile that libavformat does not know in all versions.
  @Test func copiesOrListsOtherDolbyVisionProfiles() async throws {
    let folder = try Folder()
    let box = AddedBoxes.dolbyVision("dvwC", profile: 20, compatibility: 0)
    try Self.write("in.mp4", [box], in: folder)
    #expect(try await Self.repack("in.mp4", "out.mov", in: folder) == [] && Self.has(box, "out.mov", folder))
    let left = try await Self.repack("in.mp4", "out.mkv", in: folder)
    #expect(
      try left == ["the configuration of Dolby Vision"] || Self.sideData("out.mkv", folder).contains(.dolbyVision))
  }

  @Test func keepsStereoSphericalAndHDR10Metadata() async throws {
    let folder = try Folder()
    let boxes = [
      AddedBoxes.stereo, AddedBoxes.spherical, AddedBoxes.masteringDisplay, AddedBoxes.contentLight,
    ]
    let kinds: Set<SideData.Kind> = [.stereo3D, .spherical, .masteringDisplay, .contentLight]
    try Self.write("in.mp4", boxes, in: folder)
    #expect(try Self.sideData("in.mp4", folder).isSuperset(of: kinds))
    for type in ["mp4", "mov"] {
      #expect(try await Self.repack("in.mp4", "out.\(type)", in: folder) == [])
      // The projection's box also has the name of a program, which libavformat leaves out.
      for box in boxes where type == "mov" || box != AddedBoxes.spherical {
        #expect(Self.has(box, "out.\(type)", folder), "\(type) \(box)")
      }
      #expect(try Self.sideData("out.\(type)", folder).isSuperset(of: type == "mp4" ? kinds : []))
    }
    #expect(try await Self.repack("in.mp4", "out.mkv", in: folder) == [])
    #expect(try Self.sideData("out.mkv", folder).isSuperset(of: kinds))
    #expect(try await Self.repack("out.mkv", "back.mp4", in: folder) == [])
    #expect(try Self.sideData("back.mp4", folder).isSuperset(of: kinds))
    #expect(
      try await Self.repack("in.mp4", "out.ts", in: folder) == [
        "the arrangement of stereoscopic views", "the projection of spherical pictures",
        "the container's mastering display (HDR10)", "the container's content light level (HDR10)",
      ])
  }

  /// Boxes that libavformat does not know are copied byte by byte.
  @Test func copiesUnknownBoxes() async throws {
    let folder = try Folder()
    let boxes = [AddedBoxes.spatial, AddedBoxes.fieldOfView]
    try Self.write("in.mp4", boxes, in: folder)
    for type in ["mp4", "mov"] {
      #expect(try await Self.repack("in.mp4", "out.\(type)", in: folder) == [])
      for box in boxes { #expect(Self.has(box, "out.\(type)", folder)) }
      let checked = try await Program.run(["check", "out.\(type)"], in: folder.url)
      #expect(checked.status == 0 && checked.text.contains("62 access units, 0 errors"), "\(checked.text)")
    }
    // libavformat 61 reads vexu.
    let left = try await Self.repack("in.mp4", "out.mkv", in: folder)
      .filter { $0 != "the arrangement of stereoscopic views" }
    #expect(left == ["vexu and hfov in the description of the video"])
    let piped = try await Program.shell("h26x repack in.mp4 -o - --format mp4 > piped.mp4", in: folder.url)
    #expect(piped.said.contains("left behind: vexu and hfov in the description of the video"), "\(piped.said)")
  }

  /// An ICC profile is beside the numbers of the colour; of a Dolby Vision configuration there is one.
  @Test func writesNoBoxTwice() async throws {
    let folder = try Folder()
    let boxes = [AddedBoxes.profile, AddedBoxes.dolbyVision("dvcC", profile: 8, compatibility: 1)]
    try Self.write("in.mp4", boxes, in: folder)
    for to in ["out.mp4", "out.mov"] {
      #expect(try await Self.repack("in.mp4", to, in: folder) == [])
      #expect(Self.has(AddedBoxes.profile, to, folder))
      let copy = try #require(folder.bytes(to))
      let count = ["dvcC", "dvvC"].count { copy.range(of: Data($0.utf8)) != nil }
      #expect(count == 1, "\(to)")
    }
  }

  /// libavformat reads nothing of a movie with such a track: then that is listed.
  @Test func listsEverythingThatCannotBeRead() async throws {
    let folder = try Folder()
    let description = AddedBoxes.box("stsd", [0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF])
    let track = ["stbl", "minf", "mdia", "trak"].reduce(description) { AddedBoxes.box($1, $0) }
    try folder.write("in.mp4", AddedBoxes.add(track, to: ["moov"], of: try #require(Self.clip)))
    for type in ["mp4", "mkv", "h265"] {
      let left = try await Self.repack("in.mp4", "out.\(type)", in: folder)
      #expect(left.count == 1 && left[0].hasPrefix("everything but the video (in.mp4: "), "\(type) \(left)")
    }
  }

  /// The last box may have the size 0, for all that follows.
  @Test func givesABoxWithoutSizeItsSize() async throws {
    let folder = try Folder()
    try Self.write("in.mp4", [[0, 0, 0, 0] + AddedBoxes.fieldOfView.dropFirst(4)], in: folder)
    #expect(try await Self.repack("in.mp4", "out.mp4", in: folder) == [])
    #expect(Self.has(AddedBoxes.fieldOfView, "out.mp4", folder))
  }

  /// Of very many boxes, some are kept.
  @Test func listsManyBoxesInOneLine() async throws {
    let folder = try Folder()
    try Self.write("in.mp4", Array(repeating: AddedBoxes.box("abcd", [1]), count: 1000), in: folder)
    #expect(try await Self.repack("in.mp4", "out.mkv", in: folder) == ["abcd in the description of the video"])
  }

  @Test(arguments: [
    ("clip-h265.mp4", false, "dvh1"), ("clip-h265.mp4", true, "dvhe"), ("clip.mp4", false, "dva1"),
    ("clip.mp4", true, "dvav"),
  ])
  func namesDolbyVisionEntriesByCodec(name: String, isInBand: Bool, coding: String) throws {
    let folder = try Folder()
    try Self.write("in.mp4", [], coding: "dvh1", in: folder)
    let input = try InputFile(FilePath(folder.url.appending(path: "in.mp4").path))
    let entry = try MP4.VideoSamples(InputBytes(input)).movie.videoTrack?.video?.description
    #expect(entry?.coding.name == "dvh1")
    let video = try CutCompanionTests.open(Program.media.appending(path: name).path).stream(0)
    let extras = SampleEntryExtras(
      entry?.coding, entry?.otherBoxes ?? [], stated: nil, sent: nil, ambientViewing: nil,
      codec: video.flatMap(ContainerInput.codec), editing: [], allowsInBandParameterSets: isInBand)
    #expect(extras.coding?.name == coding)
  }

  /// An edit removes what it makes wrong, and that only.
  @Test func dropsOnlyBoxesThatAnEditInvalidates() async throws {
    let folder = try Folder()
    try Self.write("in.mp4", [AddedBoxes.masteringDisplay, AddedBoxes.fieldOfView, AddedBoxes.aperture], in: folder)
    for (option, left) in [
      ("--sample-aspect 4:3", []), ("--crop 2,2,2,2", ["clap in the description of the video"]),
    ] {
      let run = try await Program.shell("h26x edit in.mp4 -o out.mp4 --force \(option)", in: folder.url)
      #expect(run.status == 0, "\(run.said)")
      #expect(Self.has(AddedBoxes.fieldOfView, "out.mp4", folder))
      #expect(Self.has(AddedBoxes.aperture, "out.mp4", folder) == left.isEmpty)
      let lines = run.said.split(separator: "\n").compactMap { line in
        line.range(of: ": left behind: ").map { String(line[$0.upperBound...]) }
      }
      #expect(lines == left, "\(option)")
    }
  }

  // MARK: The file

  /// QuickTime's metadata has keys of any name. `meta` has version and flags in MP4 only.
  @Test func keepsQuickTimeMetadata() async throws {
    let folder = try Folder()
    let clip = try #require(Self.clip)
    let movie = AddedBoxes.quickTimeMetadata("com.apple.quicktime.make")
    let track = AddedBoxes.quickTimeMetadata("com.apple.quicktime.camera.lens_model")
    let (plain, full) = (AddedBoxes.box("meta", movie), AddedBoxes.box("meta", [0, 0, 0, 0] + movie))
    let inTrack = AddedBoxes.add(AddedBoxes.box("meta", track), to: ["moov", "trak"], of: clip)
    try folder.write("in.mov", AddedBoxes.add(plain, to: ["moov"], of: inTrack))
    for (from, to, box) in [
      ("in.mov", "out.mov", plain), ("in.mov", "out.mp4", full), ("out.mp4", "again.mp4", full),
      ("out.mp4", "back.mov", plain),
    ] {
      #expect(try await Self.repack(from, to, in: folder) == [], "\(to)")
      #expect(Self.has(box, to, folder) && Self.has(track, to, folder), "\(to)")
      let file = try CutCompanionTests.open(folder.url.appending(path: to).path)
      #expect(file.metadata[key: "com.apple.quicktime.make"] == "Nobody", "\(to)")
    }
    #expect(try await Self.repack("in.mov", "out.mkv", in: folder) == [])
    #expect(try await Self.repack("in.mov", "out.ts", in: folder) == ["metadata (com.apple.quicktime.make)"])
    #expect(try await Self.pipe("in.mov", "mov", in: folder) == ["metadata (com.apple.quicktime.make)"])
    // The name of another muxer is not true of a copy.
    let (encoder, make) = ("encoder", "com.apple.quicktime.make")
    #expect(
      QuickTimeMetadata(AddedBoxes.quickTimeMetadata(encoder, make)).kept
        == AddedBoxes.quickTimeMetadata(encoder, make, first: 2))
    #expect(QuickTimeMetadata(movie).kept == movie && QuickTimeMetadata([]).kept.isEmpty)
  }

  @Test func ignoresLanguagesOfMetadataKeys() {
    func missing(_ source: KeyValuePairs<String, String>, in copy: KeyValuePairs<String, String>) -> [String] {
      CopyComparison.missing(MetadataDictionary(source), in: MetadataDictionary(copy), or: [])
    }
    #expect(missing(["BPS-eng": "1", "DURATION-eng": "2", "BPS": "1"], in: [:]).isEmpty)
    #expect(missing(["title": "a", "title-eng": "a"], in: ["title": "a"]).isEmpty)
    #expect(missing(["title": "a", "title-eng": "a"], in: [:]) == ["title"])
    #expect(missing(["title-ger": "a"], in: ["title": "a"]).isEmpty)
    #expect(missing(["title-ger": "a"], in: ["title-ger": "a"]).isEmpty)
    #expect(missing(["a-b": "c", "-eng": "d"], in: [:]).sorted() == ["-eng", "a-b"])
  }

  /// A cut's first picture has another time code than the source's.
  @Test func keepsTheTimeCodeOfTheFirstPicture() async throws {
    let folder = try Folder()
    let clip = try Data(contentsOf: Program.media.appending(path: "clip.flv"))
    try folder.write(
      "in.flv", clip.prefix(13) + AddedBoxes.flashMetadata("timecode", "01:00:00:00") + clip.dropFirst(13))
    #expect(try await Self.repack("in.flv", "out.mov", in: folder).filter { $0.contains("timecode") } == [])
    let whole = try CutCompanionTests.open(folder.url.appending(path: "out.mov").path)
    #expect(whole.streams.contains { $0.metadata[key: "timecode"] == "01:00:00:00" })
    #expect(try await Self.pipe("out.mov", "mov", in: folder) == [])
    #expect(try await Self.pipe("out.mov", "ts", in: folder).contains("data (time code, eng), stream 1"))
    let run = try await Program.run(["repack", "out.mov", "-o", "cut.mov", "--start", "1"], in: folder.url)
    #expect(run.status == 0 && run.said.contains("left behind: data (time code, eng), stream 1"), "\(run.said)")
    let cut = try CutCompanionTests.open(folder.url.appending(path: "cut.mov").path)
    #expect(!cut.streams.contains { $0.metadata[key: "timecode"] != nil })
  }

  @Test func keepsCoversAndTitles() async throws {
    let folder = try Folder()
    try folder.write("in.mp4", AddedBoxes.add(AddedBoxes.tags, to: ["moov"], of: try #require(Self.clip)))
    for (from, to) in [
      ("in.mp4", "out.mp4"), ("in.mp4", "out.mkv"), ("out.mkv", "again.mkv"), ("again.mkv", "back.mp4"),
    ] {
      #expect(try await Self.repack(from, to, in: folder) == [], "\(to)")
      let file = try CutCompanionTests.open(folder.url.appending(path: to).path)
      let cover = try #require(file.streams.first { $0.isCover }, "\(to)")
      #expect(file.attachedPicture(cover.index) == AddedBoxes.picture)
      #expect(file.metadata[key: "title"] == "Two cubes", "\(to)")
    }
    #expect(try await Self.repack("in.mp4", "out.mov", in: folder) == ["cover (PNG), stream 1"])
    for lines in [
      try await Self.repack("in.mp4", "out.ts", in: folder), try await Self.pipe("in.mp4", "ts", in: folder),
    ] {
      #expect(lines == ["cover (PNG), stream 1", "metadata (title)"])
    }
    #expect(try await Self.pipe("in.mp4", "mkv", in: folder) == [])
    #expect(try await Self.pipe("in.mp4", "mp4", in: folder) == ["cover (PNG), stream 1"])
  }
}
