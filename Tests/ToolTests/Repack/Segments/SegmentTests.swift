// SPDX-License-Identifier: MPL-2.0
import AVFormat
import Foundation
import TestSupport
import Testing

/// The segments of `h26x repack -o NAME.m3u8`: their contents and their durations.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct SegmentTests {
  private static func media(_ name: String) -> String { Program.media.appending(path: name).path }
  private static let hasProbe = FileManager.default.isExecutableFile(atPath: "/usr/bin/ffprobe")

  private func files(
    _ source: String, _ options: [String] = [], in folder: Folder, _ line: (Program) -> Void = { _ in }
  ) async throws -> StreamingFiles {
    let run = try await Program.run(["repack", source, "-o", "list.m3u8"] + options, in: folder.url)
    try #require(run.status == 0, "\(run.said)")
    line(run)
    return try StreamingFiles("list.m3u8", in: folder)
  }

  /// The codec and the number of packets of each stream, as ffprobe reads them.
  private func packets(_ file: String, in folder: Folder) async throws -> [String] {
    let run = try await Program.shell(
      "ffprobe -v error -count_packets -show_entries stream=index,codec_name,nb_read_packets -of csv=p=0 '\(file)'",
      in: folder.url)
    #expect(run.status == 0 && run.said.isEmpty, "\(run.said)")
    // It lists the streams of a program twice.
    return Set(run.text.split(separator: "\n")).map { String($0.drop { $0 != "," }) }.sorted()
  }

  @Test(
    arguments: TestScope.rows(
      [
        "clip.mp4", "clip.mkv", "clip.ts", "clip-h265.mp4", "open-gop.h264", "open-gop.h265", "interlaced.h264",
      ], usually: 3))
  func segmentsHaveEveryNALUnit(source: String) async throws {
    let folder = try Folder()
    let raw = source.contains("265") ? "h265" : "h264"
    let options = source.hasSuffix("h264") || source.hasSuffix("h265") ? ["--framerate", "25"] : []
    let files = try await files(Self.media(source), options + ["--segment-duration", "0.5"], in: folder)
    let video = try files.video
    #expect(video.segments.count > 1)
    try folder.write("joined.mp4", video.joined)
    let made = try await Program.shell(
      "h26x repack '\(Self.media(source))' \(options.joined(separator: " ")) -o copied.mp4 && for f in copied joined; "
        + "do h26x repack $f.mp4 -o $f.\(raw); done && cmp copied.\(raw) joined.\(raw)", in: folder.url)
    #expect(made.status == 0, "\(made.text)\(made.said)")
    // Parameter sets are in the initialization, and each segment begins with a keyframe.
    for code in raw == "h264" ? ["avc1", "avcC"] : ["hvc1", "hvcC"] {
      #expect(video.initialization.range(of: Data(code.utf8)) != nil)
    }
    for segment in video.segments {
      try folder.write("one.mp4", video.initialization + segment.bytes)
      let listed = try await Program.run(["inspect", "--json", "one.mp4"], in: folder.url)
      let first = try #require(listed.text.split(separator: "\n").first { $0.contains("\"kind\":\"accessUnit\"") })
      let fields = try #require(try JSONSerialization.jsonObject(with: Data(first.utf8)) as? [String: Any])
      #expect(fields["keyframe"] != nil, "\(first)")
    }
    guard Self.hasProbe else { return }
    #expect(try await packets("list.m3u8", in: folder) == packets("copied.mp4", in: folder))
  }

  @Test func durationsAddUpToTheTick() async throws {
    let folder = try Folder()
    let pictures = try await files(Self.media("clip.mp4"), ["--segment-duration", "0.5"], in: folder).video
    #expect(pictures.segments.map(\.duration) == ["0.8", "0.88", "0.8"])
    #expect(pictures.number("EXT-X-TARGETDURATION") == 1 && pictures.lines.contains("#EXT-X-INDEPENDENT-SEGMENTS"))
    #expect(pictures.number("EXT-X-VERSION") == 6 && pictures.lines.contains("#EXT-X-PLAYLIST-TYPE:VOD"))
    let edit = try await Program.run(
      ["edit", Self.media("clip.h264"), "-o", "ntsc.h264", "--frame-rate", "30000/1001", "--level", "auto"],
      in: folder.url)
    try #require(edit.status == 0, "\(edit.said)")
    let ntsc = try await files("ntsc.h264", ["--segment-duration", "0.5", "--force"], in: folder)
    let video = try ntsc.video
    #expect(video.segments.map(\.duration) == ["0.667333333", "0.734066667", "0.667333333"])
    #expect(video.total == 62 * 1001 * 1_000_000_000 / 30_000)
    #expect(ntsc.attributes("EXT-X-STREAM-INF").first?["FRAME-RATE"] == "29.970")
    // The segments of the first run are gone.
    #expect(folder.names == ["list", "list.m3u8", "ntsc.h264"])
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.appending(path: "list").path)
    #expect(names.count == 5, "\(names)")
  }

  /// Pictures last unequally long, and so do segments.
  @Test func addsUpUnevenDurations() async throws {
    let folder = try Folder()
    let source = try await Program.run(
      ["repack", Self.media("open-gop.h264"), "--framerate", "25", "-o", "in.mkv"], in: folder.url)
    try #require(source.status == 0, "\(source.said)")
    let video = try await files("in.mkv", ["--segment-duration", "0.4"], in: folder) { run in
      #expect(run.said.contains("not announced as independent"), "\(run.said)")
    }.video
    #expect(video.total == 4_000_000_000 && !video.lines.contains("#EXT-X-INDEPENDENT-SEGMENTS"))
    let longest = video.segments.compactMap { Double($0.duration) }.max() ?? 0
    #expect(video.number("EXT-X-TARGETDURATION") == Int(longest.rounded(.up)))
  }

  /// Two sounds, each a rendition.
  private func withSound(
    _ folder: Folder, _ second: String = "avenc_aac ! aacparse", language: String = "en"
  ) async throws {
    let sound = "audiotestsrc num-buffers=116 ! audio/x-raw,rate=48000 ! audioconvert"
    let made = try await Program.shell(
      """
      gst-launch-1.0 -q matroskamux name=m ! filesink location=in.mkv filesrc location=\(Self.media("clip.mp4")) \
        ! qtdemux ! h264parse ! queue ! m. \
        \(sound) ! taginject tags=language-code=de ! avenc_aac ! aacparse ! queue ! m. \
        \(sound) ! taginject tags=language-code=\(language) ! \(second) ! queue ! m.
      """, in: folder.url)
    try #require(made.status == 0, "\(made.said)")
  }

  @Test func soundsAreRenditions() async throws {
    let folder = try Folder()
    try await withSound(folder)
    let files = try await files("in.mkv", ["--segment-duration", "0.5"], in: folder) { run in
      #expect(!run.said.contains("left behind: audio"), "\(run.said)")
    }
    let sounds = try files.sounds
    let names = files.attributes("EXT-X-MEDIA")
    #expect(names.map { $0["LANGUAGE"] } == ["\"de\"", "\"en\""], "\(files.lines)")
    #expect(names.map { $0["DEFAULT"] } == ["YES", "NO"] && names.allSatisfy { $0["CHANNELS"] == "\"1\"" })
    #expect(Set(names.compactMap { $0["NAME"] }).count == 2 && sounds.count == 2)
    let variant = try #require(files.attributes("EXT-X-STREAM-INF").first)
    #expect(variant["CODECS"] == "\"avc1.64000C,mp4a.40.2\"" && variant["AUDIO"] == names.first?["GROUP-ID"])
    let copied = try await Program.run(["repack", "in.mkv", "-o", "copied.mp4"], in: folder.url)
    try #require(copied.status == 0, "\(copied.said)")
    let video = try files.video
    for (number, sound) in sounds.enumerated() {
      try folder.write("sound.mp4", sound.joined)
      #expect(try packets(folder, "sound.mp4", 0) == packets(folder, "copied.mp4", number + 1))
      // Where segments of the video begin.
      #expect(sound.segments.count == video.segments.count)
      #expect(sound.number("EXT-X-TARGETDURATION") == video.number("EXT-X-TARGETDURATION"))
      // 116 buffers of 1024 samples.
      #expect(abs(sound.total - 116 * 1024 * 1_000_000_000 / 48_000) < 50_000_000, "\(sound.total)")
    }
    guard Self.hasProbe else { return }
    let counts = try await packets("list.m3u8", in: folder)
    #expect(try await counts == packets("copied.mp4", in: folder))
    let times = try await times("list.m3u8", in: folder)
    #expect(try await times == self.times("copied.mp4", in: folder) && times.count == 62)
  }

  /// Players choose the default of sounds that are alike (RFC 8216, 4.3.4.1).
  @Test func offersOneOfEqualSounds() async throws {
    let folder = try Folder()
    try await withSound(folder, language: "de")
    let copied = try await Program.run(["repack", "in.mkv", "-o", "in.mp4"], in: folder.url)
    var file = try #require(folder.bytes("in.mp4"))
    let headers = file.ranges(of: Data("tkhd".utf8))
    try #require(headers.count == 3, "\(copied.said)")
    // track_enabled (ISO/IEC 14496-12, 8.3.2), the lowest bit of the flags.
    for (header, flags) in zip(headers.dropFirst(), [2, 3] as [UInt8]) { file[header.upperBound + 3] = flags }
    try folder.write("in.mp4", file)
    let sounds = try await files("in.mp4", in: folder).attributes("EXT-X-MEDIA")
    #expect(sounds.map { $0["LANGUAGE"] } == ["\"de\"", "\"de\""], "\(sounds)")
    for attribute in ["DEFAULT", "AUTOSELECT"] { #expect(sounds.map { $0[attribute] } == ["NO", "YES"], "\(sounds)") }
  }

  /// When pictures are shown, in milliseconds, as ffprobe reads it.
  private func times(_ file: String, in folder: Folder) async throws -> [Int] {
    let run = try await Program.shell(
      "ffprobe -v error -select_streams v -show_entries packet=pts_time -of csv=p=0 '\(file)'", in: folder.url)
    return run.text.split(separator: "\n").compactMap { Double($0).map { Int(($0 * 1000).rounded()) } }.sorted()
  }

  /// The packets of a stream.
  private func packets(_ folder: Folder, _ name: String, _ stream: Int) throws -> [[UInt8]] {
    let input = try CutCompanionTests.open(folder.url.appending(path: name).path)
    var packets: [[UInt8]] = []
    var packet = try MediaPacket()
    while try input.read(into: &packet) { if packet.stream == stream { packets.append(packet.copiedBytes()) } }
    #expect(packets.count > 50)
    return packets
  }

  /// Sound of a codec that playlists have no name for is left out, and so are subtitles.
  @Test(arguments: [("avenc_ac3 ! ac3parse", "ac-3"), ("flacenc ! flacparse", "fLaC"), ("vorbisenc", "")])
  func keepsSoundOfKnownCodecs(sound: (encoder: String, codec: String)) async throws {
    let folder = try Folder()
    try await withSound(folder, sound.encoder)
    let files = try await files("in.mkv", in: folder) { run in
      #expect(run.said.contains("left behind: audio") == sound.codec.isEmpty, "\(run.said)")
    }
    let codecs = "avc1.64000C,mp4a.40.2" + (sound.codec.isEmpty ? "" : ",\(sound.codec)")
    #expect(files.attributes("EXT-X-STREAM-INF").map { $0["CODECS"] } == ["\"\(codecs)\""], "\(files.lines)")
    #expect(try files.sounds.count == (sound.codec.isEmpty ? 1 : 2))
    guard Self.hasProbe else { return }
    #expect(try await packets("list.m3u8", in: folder).count == (sound.codec.isEmpty ? 2 : 3))
  }

  /// Equal sounds of two codecs are a choice for players, which leave out codecs that they lack.
  @Test func groupsEqualSoundsByCodec() async throws {
    let folder = try Folder()
    let sound = "audiotestsrc num-buffers=116 ! audio/x-raw,rate=48000 ! audioconvert"
    let made = try await Program.shell(
      """
      gst-launch-1.0 -q matroskamux name=m ! filesink location=in.mkv filesrc location=\(Self.media("clip.mp4")) \
        ! qtdemux ! h264parse ! queue ! m. \
        \(sound) ! avenc_aac ! aacparse ! queue ! m. \(sound) ! avenc_ac3 ! ac3parse ! queue ! m.
      """, in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    let files = try await files("in.mkv", in: folder)
    let variants = files.attributes("EXT-X-STREAM-INF")
    #expect(variants.map { $0["CODECS"] } == ["\"avc1.64000C,mp4a.40.2\"", "\"avc1.64000C,ac-3\""], "\(files.lines)")
    #expect(files.attributes("EXT-X-MEDIA").map { $0["GROUP-ID"] } == variants.map { $0["AUDIO"] })
    let bandwidths = variants.compactMap { $0["BANDWIDTH"].flatMap(Int.init) }
    let averages = variants.compactMap { $0["AVERAGE-BANDWIDTH"].flatMap(Int.init) }
    let video = try files.video
    let average = Double(video.segments.reduce(0) { $0 + $1.bytes.count }) * 8e9 / Double(video.total)
    #expect(zip(bandwidths, averages).allSatisfy { $0 >= $1 } && averages.allSatisfy { Double($0) > average })
  }

  /// Pictures behind a single keyframe are one segment.
  @Test func writesOneSegmentForOneKeyframe() async throws {
    let folder = try Folder()
    let files = try await files(Self.media("clip.mp4"), ["--start", "0", "--end", "0.6", "--no-audio"], in: folder)
    #expect(try files.video.segments.count == 1)
    #expect(files.attributes("EXT-X-MEDIA").isEmpty && files.attributes("EXT-X-STREAM-INF").count == 1)
    let long = try await Program.run(
      ["repack", Self.media("clip.mp4"), "-o", "long.m3u8", "--segment-duration", "0.3"], in: folder.url)
    #expect(long.status == 0 && long.said.contains("a segment lasts 0.880 s"), "\(long.said)")
  }

  @Test func refusesPicturesWithoutTimes() async throws {
    let folder = try Folder()
    try folder.write("raw.h264", ContainerTests.untimed)
    let run = try await Program.run(["repack", "raw.h264", "-o", "out.m3u8"], in: folder.url)
    #expect(run.status == 1 && run.said.contains("HLS needs") && run.said.contains("--framerate"), "\(run.said)")
    #expect(folder.names == ["raw.h264"])
    let timed = try await Program.run(["repack", "raw.h264", "-o", "out.m3u8", "--framerate", "25"], in: folder.url)
    #expect(timed.status == 0 && folder.names == ["out", "out.m3u8", "raw.h264"], "\(timed.said)")
  }
}
