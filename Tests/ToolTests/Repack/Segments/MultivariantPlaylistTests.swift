// SPDX-License-Identifier: MPL-2.0
import Foundation
import H26x
import Testing

@testable import Containers

/// The properties of the video that a multivariant playlist announces.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct MultivariantPlaylistTests {
  private static func media(_ name: String) -> String { Program.media.appending(path: name).path }

  private func files(_ source: String, _ options: [String] = [], in folder: Folder) async throws -> StreamingFiles {
    let run = try await Program.run(["repack", source, "-o", "list.m3u8"] + options, in: folder.url)
    try #require(run.status == 0, "\(run.said)")
    return try StreamingFiles("list.m3u8", in: folder)
  }

  @Test(arguments: [("clip.mp4", "avc1.64000C"), ("clip-h265.mp4", "hvc1.1.6.L60.90")])
  func announcesTheVideo(source: (name: String, codec: String)) async throws {
    let folder = try Folder()
    let files = try await files(Self.media(source.name), ["--segment-duration", "0.5"], in: folder)
    let variant = try #require(files.attributes("EXT-X-STREAM-INF").first)
    #expect(variant["CODECS"] == "\"\(source.codec)\"" && variant["RESOLUTION"] == "320x180")
    #expect(variant["FRAME-RATE"] == "25.000" && variant["VIDEO-RANGE"] == "SDR")
    #expect(variant["CLOSED-CAPTIONS"] == "NONE" && variant["SUPPLEMENTAL-CODECS"] == nil && variant["AUDIO"] == nil)
    let video = try files.video
    let segments = video.segments.map { (size: Double($0.bytes.count) * 8, duration: Double($0.duration) ?? 0) }
    // Contiguous segments that last 0.5 to 1.5 of the target duration, which is a second.
    let runs = segments + zip(segments, segments.dropFirst()).map { ($0.size + $1.size, $0.duration + $1.duration) }
    let rates = runs.filter { 0.5...1.5 ~= $0.duration }.map { Int(($0.size / $0.duration).rounded(.up)) }
    #expect(variant["BANDWIDTH"].flatMap(Int.init) == rates.max(), "\(files.lines) \(segments)")
    let average = Double(video.segments.reduce(0) { $0 + $1.bytes.count }) * 8e9 / Double(video.total)
    #expect(variant["AVERAGE-BANDWIDTH"] == "\(Int(average.rounded(.up)))")
    #expect(files.lines.contains("#EXT-X-INDEPENDENT-SEGMENTS"))
  }

  /// Captions of 608 and 708, and Dolby Vision on HDR10, on HLG and alone.
  @Test(arguments: [
    (8, "bt2020-pq", "PQ", "dvh1.08.01/db1p"), (8, "bt2020-hlg", "HLG", "dvh1.08.01/db4h"), (8, "bt709", "SDR", nil),
    (5, "bt2020-pq", "PQ", nil),
  ])
  func announcesDynamicRangeAndCaptions(
    profile: UInt8, colour: String, range: String, supplement: String?
  ) async throws {
    let folder = try Folder()
    let rpu = try AddedMetadata.rpu(profile: profile)
    let channel = try CaptionPacket(sequenceNumber: 0, serviceBlocks: [.init(number: 1, data: [0x41, 0x42])]).bytes()
    let captions = try AddedMetadata.captions([
      CaptionTriplet(.field1, 0x94, 0x20), CaptionTriplet(.packetStart, channel[0], channel[1]),
      CaptionTriplet(.packetData, channel[2], channel[3]),
    ])
    try folder.write(
      "plain.h265", try AddedMetadata.clip(front: { $0 == 40 ? [captions] : [] }, behind: { _ in [rpu] }))
    let edit = try await Program.run(["edit", "plain.h265", "-o", "in.h265", "--colour", colour], in: folder.url)
    try #require(edit.status == 0, "\(edit.said)")
    let files = try await files("in.h265", in: folder)
    let variant = try #require(files.attributes("EXT-X-STREAM-INF").first)
    #expect(variant["VIDEO-RANGE"] == range, "\(files.lines)")
    #expect(variant["CODECS"] == (profile == 5 ? "\"dvh1.05.01\"" : "\"hvc1.1.6.L60.90\""), "\(files.lines)")
    #expect(variant["SUPPLEMENTAL-CODECS"] == supplement.map { "\"\($0)\"" }, "\(files.lines)")
    let services = files.attributes("EXT-X-MEDIA")
    #expect(services.map { $0["INSTREAM-ID"] } == ["\"CC1\"", "\"SERVICE1\""], "\(files.lines)")
    #expect(services.allSatisfy { $0["TYPE"] == "CLOSED-CAPTIONS" && $0["GROUP-ID"] == variant["CLOSED-CAPTIONS"] })
    #expect(files.lines.contains("#EXT-X-VERSION:7"))
    let initialization = try files.video.initialization
    #expect(initialization.range(of: Data((profile == 5 ? "dvcC" : "dvvC").utf8)) != nil)
  }

  /// Of a video with two frame rates, the highest (RFC 8216, 4.3.4.2). Milliseconds of Matroska make none higher.
  @Test func announcesTheHighestFrameRate() async throws {
    let folder = try Folder()
    let source = Self.media("open-gop.h264")
    let made = try await Program.shell(
      """
      set -e
      for rate in 25 50 30000/1001; do
        h26x edit '\(source)' --frame-rate $rate --level auto -o ${rate%/*}.mkv
      done
      h26x join 25.mkv 50.mkv -o both.mp4; h26x join 50.mkv 25.mkv -o other.mkv
      """, in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    for (name, rate) in [
      ("both.mp4", "50.000"), ("other.mkv", "50.000"), ("30000.mkv", "29.970"), ("25.mkv", "25.000"),
    ] {
      let variant = try #require(try await files(name, ["--force"], in: folder).attributes("EXT-X-STREAM-INF").first)
      #expect(variant["FRAME-RATE"] == rate, "\(name)")
    }
  }

  /// Two fields make a frame, even if others are between them in decoding order.
  @Test func announcesTheRateOfFramesForFields() async throws {
    let folder = try Folder()
    let files = try await files(Self.media("interlaced.h265"), ["--force"], in: folder)
    #expect(files.attributes("EXT-X-STREAM-INF").first?["FRAME-RATE"] == "12.500", "\(files.lines)")
  }

  @Test func shortensLanguages() {
    #expect(["eng", "ger", "deu", "GER", "fre", "chi"].map(Language.tag) == ["en", "de", "de", "de", "fr", "zh"])
    #expect(["gsw", "en-US", "de"].map(Language.tag) == ["gsw", "en-us", "de"])
    #expect(["und", "", "x\"", "a b", "-", "a", "muchtoolong"].map(Language.tag).allSatisfy { $0 == nil })
  }

  /// Folders have names that need no escapes in playlists.
  @Test func replacesCharactersInNamesOfFolders() async throws {
    let folder = try Folder()
    let run = try await Program.shell(
      """
      set -e; mkdir $'d\\xe4 "#%'; cd $'d\\xe4 "#%'
      for name in 'a "b" #1 %41?.m3u8' $'line\\nfeed\\xff.m3u8' 'a.b (1).m3u8' 'a:b.m3u8'; do
        h26x repack \(Self.media("clip.mp4")) -o "$name"
        tail -1 "$name"; test -e "$(tail -1 "$name")"
        if [ -x /usr/bin/ffprobe ]; then
          ffprobe -v error -count_packets -show_entries stream=nb_read_packets -of csv=p=0 "file:$name" | grep . | sort -u
        else echo 62; fi
      done
      """, in: folder.url)
    #expect(run.status == 0, "\(run.text)\(run.said)")
    let folders = ["a_20_22b_22_20_231_20_2541_3F", "line_0Afeed_FF", "a.b_20(1)", "a_3Ab"]
    #expect(run.text == folders.map { "\($0)/video.m3u8\n62\n" }.joined(), "\(run.said)")
  }
}
