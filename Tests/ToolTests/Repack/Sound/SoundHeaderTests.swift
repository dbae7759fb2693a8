// SPDX-License-Identifier: MPL-2.0
import AVFormat
import Foundation
import StreamReport
import Testing

@testable import Containers

/// Headers in front of frames of sound, which describe it where the container does not.
@Suite struct SoundHeaderTests {
  /// A frame of E-AC-3 (ETSI TS 102 366, E.1.2): its header, and zeros.
  private static func frame(
    type: UInt8 = 0, substream: UInt8 = 0, size: Int = 384, rate: UInt8 = 0, blocks: UInt8 = 3, mode: UInt8 = 2,
    hasLowFrequencies: Bool = false, version: UInt8 = 16
  ) -> [UInt8] {
    let words = size / 2 - 1
    let header = [
      0x0B, 0x77, type << 6 | substream << 3 | UInt8(words >> 8), UInt8(words & 255),
      rate << 6 | blocks << 4 | mode << 1 | (hasLowFrequencies ? 1 : 0), version << 3,
    ]
    return header + [UInt8](repeating: 0, count: size - header.count)
  }

  @Test(arguments: [
    (frame(), 48_000, 2, 1536), (frame(type: 2, rate: 1, blocks: 0, mode: 7, hasLowFrequencies: true), 44_100, 6, 256),
    (frame(rate: 2, blocks: 1, mode: 1), 32_000, 1, 512), (frame(blocks: 2, mode: 0), 48_000, 2, 768),
    // The rate is halved.
    (frame(rate: 3, blocks: 0, mode: 3), 24_000, 3, 1536), (frame(rate: 3, blocks: 2, mode: 4), 16_000, 3, 1536),
  ]) func readsEnhancedAC3(bytes: [UInt8], rate: Int, channels: Int, samples: Int) throws {
    let header = try #require(SoundHeader(bytes, codec: "eac3"))
    #expect(header.sampleRate == rate && header.channels == channels && header.samples == samples)
    #expect(header.length == 0 && header.configuration.isEmpty)
    // Where bytes begin within a frame, the next one is found.
    #expect(SoundHeader.first(in: [0x0B, 0x77, 0xFF, 0, 0x0B] + bytes, codec: "eac3") == header)
  }

  /// Dependent and further substreams, AC-3, reserved values, and bytes that end too early.
  @Test(arguments: [
    frame(type: 1), frame(type: 3), frame(substream: 1), frame(version: 8), frame(rate: 3, blocks: 3), frame(size: 8),
    Array(frame().prefix(5)), [UInt8](repeating: 0x0B, count: 20), [],
  ]) func refusesUnsupportedEnhancedAC3(bytes: [UInt8]) { #expect(SoundHeader(bytes, codec: "eac3") == nil) }

  /// The first bytes of frames in LOAS: AAC-LC of one channel, four frames of HE-AAC in one, and 960 samples.
  @Test(arguments: [
    ([0x56, 0xE1, 0x0A, 0x20, 0x00, 0x12, 0x08, 0x1F] as [UInt8], 44_100, 1, 1024),
    ([0x56, 0xE0, 0xD1, 0x21, 0x80, 0x2B, 0x11, 0x88], 24_000, 2, 4096),
    ([0x56, 0xE0, 0xD1, 0x20, 0x00, 0x11, 0x94, 0x00], 48_000, 2, 960),
  ]) func readsLATM(bytes: [UInt8], rate: Int, channels: Int, samples: Int) throws {
    let header = try #require(SoundHeader(bytes, codec: "aac_latm"))
    #expect(header.sampleRate == rate && header.channels == channels && header.samples == samples)
    #expect(header.length == 0 && header.configuration.isEmpty)
    #expect(SoundHeader.first(in: [0x56, 0xE0, 0, 0xFF] + bytes, codec: "aac_latm") == header)
  }

  /// The configuration of the frame before, another version, two programs, escapes, no layout, and bytes that end.
  @Test(
    arguments: [
      [0x56, 0xE1, 0x0A, 0xA0, 0x00, 0x12, 0x08, 0x1F], [0x56, 0xE1, 0x0A, 0x60, 0x00, 0x12, 0x08, 0x1F],
      [0x56, 0xE1, 0x0A, 0x20, 0x08, 0x12, 0x08, 0x1F], [0x56, 0xE1, 0x0A, 0x20, 0x00, 0xFA, 0x08, 0x1F],
      [0x56, 0xE1, 0x0A, 0x20, 0x00, 0x17, 0x88, 0x1F], [0x56, 0xE1, 0x0A, 0x20, 0x00, 0x12, 0x00, 0x1F],
      [0x56, 0xE0, 0x00, 0x20, 0x00, 0x12, 0x08, 0x1F], [0x56, 0xE1, 0x0A, 0x20, 0x00, 0x12, 0x08], [],
    ] as [[UInt8]]) func refusesUnsupportedLATM(bytes: [UInt8])
  { #expect(SoundHeader(bytes, codec: "aac_latm") == nil) }

  /// In MPEG-TS it stays, frame by frame; elsewhere it is listed.
  @Test(.enabled(if: Program.isBuilt)) func keepsLATMInATransportStream() async throws {
    let folder = try Folder()
    let source = Program.media.appending(path: "latm.ts").path
    let info = try await Program.run(["info", source], in: folder.url)
    #expect(info.text.contains("AAC in LATM, 44100 Hz, 1 channel"), "\(info.text)")
    let run = try await Program.run(["repack", source, "-o", "out.ts"], in: folder.url)
    #expect(run.status == 0 && run.said.contains("H.265 and AAC in LATM"), "\(run.said)")
    let packets = try CutCompanionTests.Contents(source).packets[.audio]
    let copied = try CutCompanionTests.Contents(folder.url.appending(path: "out.ts").path).packets[.audio]
    #expect(packets != nil && packets?.flatMap(\.bytes) == copied?.flatMap(\.bytes))
    let other = try await Program.run(["repack", source, "-o", "out.mp4"], in: folder.url)
    #expect(other.status == 0 && other.said.contains("left behind: audio (AAC in LATM)"), "\(other.said)")
  }

  /// Other containers have one description for all frames.
  @Test(.enabled(if: Program.isBuilt), arguments: ["mkv", "mp4"])
  func listsFramesOfAnotherFormat(suffix: String) async throws {
    let folder = try Folder()
    for (name, sound) in [("one", "rate=44100,channels=1"), ("two", "rate=48000,channels=2")] {
      let made = try await Program.shell(
        "gst-launch-1.0 -q mpegtsmux name=m ! filesink location=\(name).ts "
          + "filesrc location=\(Program.media.appending(path: "clip.mp4").path) ! qtdemux ! h264parse ! queue ! m. "
          + "audiotestsrc num-buffers=40 ! audio/x-raw,\(sound) ! audioconvert ! avenc_aac ! aacparse ! queue ! m.",
        in: folder.url)
      try #require(made.status == 0, "\(made.said)")
    }
    let parts = try ["one.ts", "two.ts"].map { try #require(folder.bytes($0)) }
    try folder.write("in.ts", parts[0] + parts[1])
    let run = try await Program.run(["repack", "in.ts", "-o", "out.\(suffix)"], in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    let second = try CutCompanionTests.Contents(folder.url.appending(path: "two.ts").path).packets[.audio]
    let count = try #require(second?.count)
    #expect(
      run.said.contains("left behind: \(count) packets of stream 1, in another format than the first packet"),
      "\(run.said)")
    let kept = try CutCompanionTests.Contents(folder.url.appending(path: "out.\(suffix)").path).packets[.audio]
    let first = try CutCompanionTests.Contents(folder.url.appending(path: "one.ts").path).packets[.audio]
    #expect(kept?.count == first?.count)
  }

  /// AAC-LC of all ways to write a rate and channels, HE-AAC that begins with its type or is signaled behind AAC-LC, and
  /// the note that there is none.
  @Test(arguments: [
    ([0x11, 0x88] as [UInt8], 2, 48_000, 1), ([0x12, 0x10], 2, 44_100, 2), ([0x11, 0xB8], 2, 48_000, 8),
    ([0x17, 0x80, 0x5D, 0xC0, 0x08], 2, 48_000, 1), ([0x2B, 0x09, 0x88, 0x00], 5, 48_000, 1),
    ([0x13, 0x10, 0x56, 0xE5, 0x98], 2, 48_000, 2), ([0x11, 0x88, 0x56, 0xE5, 0x00], 2, 48_000, 1),
    ([0x11, 0x80], 2, 48_000, 0), ([0xF9, 0x46, 0x40], 42, 48_000, 2),
  ]) func readsAudioSpecificConfig(bytes: [UInt8], type: Int, rate: Int, channels: Int) throws {
    let configuration = try #require(AudioSpecificConfig(bytes))
    #expect(configuration.objectType == type && configuration.sampleRate == rate)
    #expect(configuration.channels == channels)
  }

  /// The rate and the samples of a frame without spectral band replication.
  @Test(arguments: [
    ([0x2B, 0x09, 0x88, 0x00] as [UInt8], 24_000, 1024), ([0x13, 0x10, 0x56, 0xE5, 0x98], 24_000, 1024),
    ([0x11, 0x94], 48_000, 960),
  ]) func readsTheCoreOfAudioSpecificConfig(bytes: [UInt8], rate: Int, length: Int) throws {
    let configuration = try #require(AudioSpecificConfig(bytes))
    #expect(configuration.coreRate == rate && configuration.frameLength == length)
  }

  /// A reserved rate, and bytes that end too early.
  @Test(arguments: [[0x16, 0x88], [0x17, 0x80, 0x5D], [0x11], []] as [[UInt8]])
  func refusesUnreadableAudioSpecificConfig(bytes: [UInt8]) { #expect(AudioSpecificConfig(bytes) == nil) }

  /// The tags of AAC in FLV have 44,100 Hz and two channels whatever its configuration has.
  @Test(.enabled(if: Program.isBuilt)) func describesAACOfFLVByItsConfiguration() async throws {
    let folder = try Folder()
    let made = try await Program.shell(
      "gst-launch-1.0 -q qtmux name=m ! filesink location=in.mov "
        + "filesrc location=\(Program.media.appending(path: "clip.mp4").path) ! qtdemux ! h264parse ! queue ! m. "
        + "audiotestsrc num-buffers=116 ! audio/x-raw,rate=48000,channels=1 ! avenc_aac ! aacparse ! queue ! m. "
        + "&& h26x repack in.mov -o in.flv", in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    for arguments in [
      ["repack", "in.flv", "-o", "copy.mp4"], ["cut", "in.flv", "-o", "cut.mp4", "--range", "#25-"],
      ["join", "in.mov", "in.flv", "-o", "joined.mp4"],
    ] {
      let run = try await Program.run(arguments, in: folder.url)
      #expect(run.status == 0 && run.said.contains("H.264 and AAC"), "\(run.said)")
      #expect(!run.said.contains("left behind: in.flv"), "\(run.said)")
    }
    for name in ["in.flv", "copy.mp4", "cut.mp4", "joined.mp4"] {
      let info = try await Program.run(["info", name], in: folder.url)
      #expect(info.text.contains("AAC, 48000 Hz, 1 channel,"), "\(name): \(info.text)")
    }
    for name in ["copy.mp4", "cut.mp4", "joined.mp4"] {
      let sound = try CutCompanionTests.open(folder.url.appending(path: name).path).streams.first { $0.kind == .audio }
      #expect(sound?.timeBase.denominator == 48_000, "\(name)")
    }
  }

  /// MPEG-TS has neither rate nor channels of E-AC-3.
  @Test(.enabled(if: Program.isBuilt)) func copiesEnhancedAC3OutOfATransportStream() async throws {
    let folder = try Folder()
    let made = try await Program.shell(
      "gst-launch-1.0 -q matroskamux name=m ! filesink location=in.mkv "
        + "filesrc location=\(Program.media.appending(path: "clip.mp4").path) ! qtdemux ! h264parse ! queue ! m. "
        + "audiotestsrc num-buffers=110 ! audio/x-raw,rate=48000,channels=2 ! audioconvert ! avenc_eac3 ! ac3parse "
        + "! queue ! m. && h26x repack in.mkv -o in.ts", in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    for name in ["in.ts", "out.mkv", "out.mp4", "out.mov", "out.ts"] {
      if name != "in.ts" {
        let run = try await Program.run(["repack", "in.ts", "-o", name], in: folder.url)
        #expect(run.status == 0 && run.said.contains("H.264 and E-AC-3"), "\(name): \(run.said)")
      }
      let info = try await Program.run(["info", "--json", name], in: folder.url)
      let files = try #require(try JSONSerialization.jsonObject(with: info.output) as? [[String: Any]])
      let sound = try #require((files.first?["streams"] as? [[String: Any]])?.first, "\(name)")
      #expect(sound["codec"] as? String == "E-AC-3" && sound["rate"] as? Int == 48_000, "\(name): \(info.text)")
      #expect(sound["channels"] as? Int == 2, "\(name): \(info.text)")
    }
  }
}
