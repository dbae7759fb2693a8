// SPDX-License-Identifier: MPL-2.0
import AVFormat
import Foundation
import SystemPackage
import Testing

@testable import Containers

/// Sound, subtitles and chapters of what `repack --start --end` writes are those of the same span.
@Suite(.enabled(if: Program.isBuilt && FormatLibrary.isAvailable)) struct CutCompanionTests {
  /// A packet of a stream, with times in seconds.
  struct Packet: Equatable {
    var bytes: [UInt8]
    var time: Double
    var duration: Double
  }

  static func open(_ path: String) throws -> InputContext {
    var settings = InputContext.Settings()
    let formats = ["mkv": "matroska", "ts": "mpegts", "flv": "flv"]
    settings.formats = formats[FilePath(path).extension ?? ""] ?? "mov"
    settings.demuxer = settings.formats
    return try InputContext(try InputBytes(try InputFile(FilePath(path))), settings)
  }

  /// The other streams of a container, with times that count from the first picture.
  struct Contents {
    var packets: [StreamDescription.Kind: [Packet]] = [:]
    var chapters: [(title: String, start: Double, end: Double)] = []

    init(_ path: String) throws {
      let input = try CutCompanionTests.open(path)
      var packet = try MediaPacket()
      while try input.read(into: &packet) {
        guard let stream = input.stream(packet.stream), let time = packet.presentation ?? packet.decoding else {
          continue
        }
        packets[stream.kind, default: []].append(
          Packet(
            bytes: packet.copiedBytes(), time: Double(stream.timeBase.nanoseconds(time)) / 1e9,
            duration: Double(stream.timeBase.nanoseconds(packet.duration)) / 1e9))
      }
      let origin = packets[.video]?.map(\.time).filter { $0 >= 0 }.min() ?? 0
      for kind in packets.keys {
        for index in packets[kind, default: []].indices { packets[kind]?[index].time -= origin }
      }
      chapters = input.chapters.map { chapter in
        func seconds(_ ticks: Int64) -> Double { Double(chapter.timeBase.nanoseconds(ticks)) / 1e9 }
        return (chapter.metadata[key: "title"] ?? "", seconds(chapter.start) - origin, seconds(chapter.end) - origin)
      }
    }
  }

  /// The clip with sound, two subtitles (0.2 to 1.2 s, 1.4 to 2.2 s) and two chapters, which meet at 1 s.
  ///
  /// - Parameter delay: how much later than sound the pictures begin, in milliseconds.
  private static func source(
    _ folder: Folder, sound: String, chapters: [(String, Int64, Int64)] = [("first", 0, 1000), ("second", 1000, 2480)],
    delay: Int64 = 0
  ) async throws {
    try folder.write(
      "in.srt",
      Data("1\n00:00:00,200 --> 00:00:01,200\none\n\n2\n00:00:01,400 --> 00:00:02,200\ntwo\n".utf8))
    let made = try await Program.shell(
      "gst-launch-1.0 -q matroskamux name=m ! filesink location=plain.mkv audiotestsrc num-buffers=116 wave=pink-noise "
        + "! audio/x-raw,rate=48000,channels=2 ! audioconvert ! \(sound) ! queue ! m. "
        + "filesrc location=in.srt ! subparse ! queue ! m.", in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    let inputs = try [Program.media.appending(path: "clip.mp4"), folder.url.appending(path: "plain.mkv")].map {
      try open($0.path)
    }
    try join(inputs, chapters, delay, into: folder.url.appending(path: "in.mkv").path)
  }

  /// Copies all streams into a file that has chapters too.
  private static func join(
    _ inputs: [InputContext], _ chapters: [(String, Int64, Int64)], _ delay: Int64, into target: String
  ) throws {
    let file = try OutputFile(FilePath(target), force: false)
    let output = try OutputContext(try OutputBytes(file), format: "matroska")
    for input in inputs {
      for stream in input.streams {
        _ = try output.addStream(like: stream, of: input, extradata: nil, timeBase: stream.timeBase)
      }
    }
    let base = try #require(TimeBase(1, 1000))
    try output.add(
      chapters.enumerated().map { index, chapter in
        Chapter(
          id: Int64(index + 1), timeBase: base, start: chapter.1, end: chapter.2,
          metadata: MetadataDictionary(["title": chapter.0]))
      })
    _ = try output.writeHeader()
    var number = 0
    for input in inputs {
      var packet = try MediaPacket()
      while try input.read(into: &packet) {
        var copy = try MediaPacket(copying: packet.bytes)
        let index = number + packet.stream
        let (from, to) = (
          try #require(input.stream(packet.stream)).timeBase, try #require(output.timeBase(of: index))
        )
        copy.stream = index
        let later = index == 0 ? to.rescaled(delay, from: base) : 0
        copy.presentation = packet.presentation.map { to.rescaled($0, from: from) + later }
        copy.decoding = (packet.decoding ?? packet.presentation).map { to.rescaled($0, from: from) + later }
        copy.duration = to.rescaled(packet.duration, from: from)
        copy.isKey = packet.isKey
        try output.write(copy)
      }
      number += input.streamCount
    }
    try output.finish()
    try file.commit()
  }

  /// From 0.8 s, a keyframe, or 1 s, to 1.8 s.
  @Test(
    arguments: ["avenc_aac ! aacparse", "opusenc"],
    [("mkv", "keyframe"), ("mp4", "keyframe"), ("mp4", "hidden"), ("ts", "keyframe")])
  func cutsSoundSubtitlesAndChaptersToTheSameSpan(sound: String, to target: (suffix: String, mode: String)) async throws
  {
    let folder = try Folder()
    try await Self.source(folder, sound: sound)
    let out = "out.\(target.suffix)"
    let run = try await Program.run(
      ["repack", "in.mkv", "-o", out, "--start", "1", "--end", "1.8", "--cut", target.mode], in: folder.url)
    try #require(run.status == 0, "\(run.said)")
    let (start, end) = (target.mode == "hidden" ? 1 : 0.8, 1.8)
    let all = try Contents(folder.url.appending(path: "in.mkv").path)
    // Of MPEG-TS, libavformat gives not every frame a time.
    let copied = try await Program.run(["repack", out, "-o", "copy.mkv"], in: folder.url)
    #expect(copied.status == 0, "\(copied.said)")
    let cut = try Contents(folder.url.appending(path: target.suffix == "ts" ? "copy.mkv" : out).path)
    let sounds = try #require(all.packets[.audio])
    let kept = try #require(cut.packets[.audio])
    let first = try #require(sounds.firstIndex { $0.bytes == kept[0].bytes })
    let wanted = sounds[first...].prefix { $0.time < end - 0.0005 }
    #expect(kept.map(\.bytes) == wanted.map(\.bytes), "\(kept.count) \(wanted.count): \(run.said)")
    let distance = zip(kept, wanted).map { abs($0.time + start - $1.time) }.max() ?? 1
    #expect(distance < 0.0021, "\(distance): \(run.said)")
    // A decoder begins earlier if an edit list hides its first output.
    let front = sounds[first].time - start
    let hides = target.suffix != "mkv" && target.suffix != "ts"
    #expect(hides ? front < -0.02 && front > -0.25 : front > -0.0221 && front < 0.0221, "\(front)")
    let chapters = cut.chapters.map {
      "\($0.title) \(Int(($0.start * 1000).rounded())) \(Int(($0.end * 1000).rounded()))"
    }
    let meeting = Int(((1 - start) * 1000).rounded())
    let texts =
      (meeting > 0 ? ["first 0 \(meeting)"] : []) + ["second \(meeting) \(Int(((end - start) * 1000).rounded()))"]
    if target.suffix == "ts" {
      #expect(
        run.said.contains("left behind: 2 chapters\n") && run.said.contains("left behind: subtitles (SubRip"),
        "\(run.said)")
    } else {
      #expect(chapters == texts, "\(run.said)")
    }
    guard target.suffix == "mkv" else { return }
    let subtitles = try #require(cut.packets[.subtitle])
    #expect(subtitles.map { String(decoding: $0.bytes, as: UTF8.self) } == ["one", "two"])
    #expect(subtitles.map { ($0.time * 100).rounded() } == [0, 60])
    #expect(subtitles.map { ($0.duration * 100).rounded() } == [40, 40])
  }

  /// A subtitle that lasts from 0.2 to 1.2 s ends with a range from 0 to 0.8 s.
  @Test(arguments: [
    ("out.mkv", ["cut", "--range", "0-0.8", "--range", "1.68-2.2"]), ("out.mp4", ["cut", "--range", "0-0.8"]),
    ("out.mkv", ["repack", "--end", "0.8"]), ("out.mp4", ["repack", "--end", "0.8"]),
  ]) func subtitlesEndWithTheFirstRange(out: String, arguments: [String]) async throws {
    let folder = try Folder()
    try await Self.source(folder, sound: "avenc_aac ! aacparse")
    let run = try await Program.run(arguments + ["in.mkv", "-o", out], in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    // Timed text has an empty sample between two.
    let subtitles = try Contents(folder.url.appending(path: out).path).packets[.subtitle]?.filter { $0.bytes.count > 2 }
    let first = try #require(subtitles?.first)
    #expect(abs(first.time - 0.2) < 0.0011 && abs(first.time + first.duration - 0.8) < 0.0011, "\(first): \(run.said)")
    #expect(subtitles?.dropFirst().allSatisfy { $0.time > 0.799 } == true, "\(run.said)")
  }

  /// The times of chapters count from the first picture, although sound begins earlier.
  @Test(arguments: ["in.mkv", "in.mp4"]) func cutsAtChapters(source: String) async throws {
    let folder = try Folder()
    try await Self.source(
      folder, sound: "avenc_aac ! aacparse", chapters: [("first", 0, 1500), ("second", 1500, 2980)], delay: 500)
    if source == "in.mp4" {
      let copied = try await Program.run(["repack", "in.mkv", "-o", source], in: folder.url)
      try #require(copied.status == 0, "\(copied.said)")
    }
    let all = try await CutTests.pictures(source, in: folder)
    let run = try await Program.run(
      ["cut", source, "-o", "part-%d.mp4", "--chapters", "--mode", "hidden"], in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    for (name, pictures) in [("part-1.mp4", 0..<25), ("part-2.mp4", 25..<62)] {
      #expect(try await CutTests.pictures(name, in: folder) == Array(all[pictures]), "\(run.said)")
    }
  }

  /// The last picture of a range that ends between pictures is shown up to the next one, and so long there is sound.
  @Test(arguments: ["out.mkv", "out.mov"]) func joinsSoundWithoutGapsBetweenPictures(out: String) async throws {
    let folder = try Folder()
    try await Self.source(folder, sound: "audio/x-raw,format=S16LE")
    let ranges = ["--range", "0-0.81", "--range", "0.8-1.68", "--mode", "exact"]
    let run = try await Program.run(["cut", "in.mkv", "-o", out] + ranges, in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    let sounds = try #require(try Contents(folder.url.appending(path: out).path).packets[.audio])
    let ends = sounds.map { $0.time + Double($0.bytes.count) / (4 * 48_000) }
    for (end, next) in zip(ends, sounds.dropFirst()) { #expect(abs(next.time - end) < 0.0025, "\(end) \(next.time)") }
    // 21 pictures, and 22 more.
    #expect(abs((ends.last ?? 0) - 43 * 0.04) < 0.0125, "\(ends.last ?? 0)")
  }

  /// Joined ranges have the chapters of each range, at the place of the range in the file.
  @Test(arguments: [
    ("out.mp4", "hidden", [("first", 0, 400), ("first", 400, 600), ("second", 600, 800), ("second", 800, 1200)]),
    ("out.mov", "hidden", [("first", 0, 400), ("first", 400, 600), ("second", 600, 800), ("second", 800, 1200)]),
    // Pictures that others need follow the first ranges, and the third begins 0.12 s early.
    ("out.mkv", "keyframe", [("first", 0, 400), ("first", 520, 720), ("second", 720, 920), ("second", 1040, 1560)]),
  ]) func joinsChaptersOfRanges(out: String, mode: String, chapters: [(String, Int, Int)]) async throws {
    let folder = try Folder()
    try await Self.source(folder, sound: "avenc_aac ! aacparse")
    let ranges = ["--range", "0-0.4", "--range", "0.8-1.2", "--range", "1.8-2.2"]
    let run = try await Program.run(["cut", "in.mkv", "-o", out, "--mode", mode] + ranges, in: folder.url)
    #expect(run.status == 0 && !run.said.contains("chapter"), "\(run.said)")
    let input = try Self.open(folder.url.appending(path: out).path)
    let found = input.chapters.map { chapter in
      func milliseconds(_ ticks: Int64) -> Int { Int((Double(chapter.timeBase.nanoseconds(ticks)) / 1e6).rounded()) }
      return (chapter.metadata[key: "title"] ?? "", milliseconds(chapter.start), milliseconds(chapter.end))
    }
    #expect(found.elementsEqual(chapters, by: ==), "\(found): \(run.said)")
  }

  /// Where pictures are shown that the source hides, chapters begin later, as sound does.
  @Test(arguments: ["out.mkv", "-"]) func keepsChaptersWithTheirPictures(out: String) async throws {
    let folder = try Folder()
    try await Self.source(folder, sound: "avenc_aac ! aacparse")
    let run = try await Program.shell(
      "set -e; h26x repack in.mkv -o hidden.mp4 --start 0.92 --cut hidden; "
        + (out == "-"
          ? "h26x repack hidden.mp4 -o - --format mkv | cat > out.mkv" : "h26x repack hidden.mp4 -o \(out)"),
      in: folder.url)
    #expect(run.status == 0 && run.said.contains("3 pictures before the shown part of the source"), "\(run.said)")
    let copy = try Contents(folder.url.appending(path: "out.mkv").path)
    #expect(copy.chapters.map { Int(($0.start * 1000).rounded()) } == [120, 200])
  }

  /// What an edit list hides of the sound comes in front of time 0 in Matroska.
  @Test func keepsSoundInFrontOfThePictures() async throws {
    let folder = try Folder()
    try await Self.source(folder, sound: "avenc_aac ! aacparse")
    let run = try await Program.shell(
      "set -e; h26x repack in.mkv -o cut.mp4 --start 1; h26x repack cut.mp4 -o out.mkv; h26x repack out.mkv -o out.mp4",
      in: folder.url)
    #expect(run.status == 0 && !run.said.contains("without a time"), "\(run.said)")
    let files = try ["cut.mp4", "out.mp4"].map { try Contents(folder.url.appending(path: $0).path) }
    let sounds = try files.map { try #require($0.packets[.audio]) }
    #expect(sounds[0].first.map { $0.time < -0.02 } == true)
    #expect(sounds[0].map(\.bytes) == sounds[1].map(\.bytes), "\(run.said)")
    for (packet, copy) in zip(sounds[0], sounds[1]) { #expect(abs(packet.time - copy.time) < 0.0021) }
  }

  /// MP4 has no gap between chapters, and begins with one.
  @Test func listsLostChapterTimes() async throws {
    let folder = try Folder()
    try await Self.source(folder, sound: "avenc_aac ! aacparse", chapters: [("first", 0, 500), ("second", 1000, 2480)])
    for (out, line) in [("out.mkv", nil), ("out.mp4", "left behind: the start and end of 1 chapter\n")] {
      let run = try await Program.run(["repack", "in.mkv", "-o", out], in: folder.url)
      #expect(run.status == 0 && run.said.contains("left behind: the start") == (line != nil), "\(run.said)")
      #expect(line.map(run.said.contains) != false, "\(run.said)")
    }
  }

  /// Of several frames of sound that MPEG-TS has in one packet, each is kept, at its time.
  @Test func givesEachFrameOfAPacketATime() async throws {
    let folder = try Folder()
    try await Self.source(folder, sound: "avenc_aac ! aacparse")
    let sounds = try #require(try Contents(folder.url.appending(path: "in.mkv").path).packets[.audio])
    for (from, to) in [("in.mkv", "a.ts"), ("a.ts", "b.mkv"), ("a.ts", "c.mp4"), ("a.ts", "d.ts")] {
      let run = try await Program.run(["repack", from, "-o", to], in: folder.url)
      #expect(run.status == 0 && !run.said.contains("without a time"), "\(run.said)")
    }
    for name in ["b.mkv", "c.mp4"] {
      let kept = try #require(try Contents(folder.url.appending(path: name).path).packets[.audio])
      #expect(kept.map(\.bytes) == sounds.map(\.bytes), "\(name): \(kept.count) of \(sounds.count)")
      for (packet, source) in zip(kept, sounds) { #expect(abs(packet.time - source.time) < 0.0021, "\(name)") }
    }
    #expect(folder.bytes("d.ts")?.count == folder.bytes("a.ts")?.count)
  }
}
