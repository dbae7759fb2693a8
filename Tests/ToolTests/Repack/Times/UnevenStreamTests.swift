// SPDX-License-Identifier: MPL-2.0
import Foundation
import Synchronization
import TestSupport
import Testing

/// Files in which one stream is silent for long, begins late or ends early: repackaged whole.
@Suite(.enabled(if: Program.isBuilt)) struct UnevenStreamTests {
  /// How video and audio come: sources, frame rate and number of pictures.
  static let files: [(name: String, muxer: String, video: String, rate: String, pictures: Int, audio: String)] = [
    ("a picture every 30 s", "matroskamux", "", "1/30", 3, "num-buffers=3000"),
    ("audio that ends early", "mpegtsmux", "", "5/1", 300, "num-buffers=50"),
    ("video that begins late", "mp4mux", "timestamp-offset=25000000000", "5/1", 50, "num-buffers=2000"),
    ("video shorter than a fifth", "mp4mux", "", "5/1", 10, "num-buffers=2000"),
    ("audio that begins late", "flvmux", "", "5/1", 60, "num-buffers=200 timestamp-offset=5000000000"),
    ("audio that begins very late", "mpegtsmux", "", "5/1", 200, "num-buffers=100 timestamp-offset=35000000000"),
  ]

  @Test func copiesUnevenStreamsCompletely() async throws {
    try await Crowd.each(Self.files) { file in
      let folder = try Folder()
      let made = try await Program.shell(
        "gst-launch-1.0 -q \(file.muxer) name=m ! filesink location=in videotestsrc num-buffers=\(file.pictures) "
          + "\(file.video) ! video/x-raw,width=64,height=48,framerate=\(file.rate) ! x264enc bframes=0 ! h264parse "
          + "! queue max-size-time=0 max-size-buffers=0 ! m. audiotestsrc \(file.audio) "
          + "! audio/x-raw,rate=48000,channels=1 ! avenc_aac ! aacparse ! queue max-size-time=0 max-size-buffers=0 ! m.",
        in: folder.url)
      try #require(made.status == 0, "\(file.name): \(made.said)")
      let suffixes = ["mkv", "mp4", "flv", "ts"]
      for suffix in suffixes {
        let run = try await Program.shell("timeout 600 h26x repack in -o out.\(suffix)", in: folder.url)
        #expect(run.status == 0 && run.said.contains("H.264 and AAC"), "\(file.name), \(suffix): \(run.said)")
        #expect(!run.said.contains("CRITICAL"), "\(file.name), \(suffix): \(run.said)")
      }
      let info = try await Program.run(["info", "--json", "--count"] + suffixes.map { "out.\($0)" }, in: folder.url)
      let documents = try #require(try JSONSerialization.jsonObject(with: info.output) as? [[String: Any]])
      let counts = documents.map { ($0["video"] as? [String: Any])?["pictures"] as? Int }
      #expect(counts == suffixes.map { _ in file.pictures }, "\(file.name): \(counts)")
    }
  }

  /// Sound that MPEG-TS announces without packets, and sound whose bytes are damaged: the video is whole, and what of the
  /// sound is not there is listed.
  @Test(arguments: [false, true]) func keepsVideoDespiteMissingOrDamagedSound(isDamaged: Bool) async throws {
    let folder = try Folder()
    var stream = try await LongTimesTests.transportStream(folder)
    let sound = stride(from: 0, to: stream.count - 187, by: 188).filter { place in
      // libavformat's PID of the second stream.
      Int(stream[place + 1] & 31) << 8 | Int(stream[place + 2]) == 0x101
    }
    #expect(sound.count > 20)
    for place in sound.reversed() {
      if !isDamaged {
        stream.removeSubrange(place..<place + 188)
      } else if place / 188 % 3 == 0 {
        for index in place + 30..<place + 180 { stream[index] = UInt8(truncatingIfNeeded: index &* 37) }
      }
    }
    try folder.write("in.ts", Data(stream))
    for suffix in ["mp4", "mkv", "ts"] {
      let run = try await Program.run(["repack", "in.ts", "-o", "out.\(suffix)"], in: folder.url)
      #expect(run.status == 0 && run.said.contains("H.264 and AAC") == isDamaged, "\(run.said)")
      if !isDamaged { #expect(run.said.hasSuffix("left behind: audio (AAC), stream 1\n"), "\(run.said)") }
      let info = try await Program.run(["info", "--count", "out.\(suffix)"], in: folder.url)
      #expect(info.text.contains("Pictures            62\n"), "\(info.text)\(info.said)")
    }
  }

  /// The muxer of MP4 refuses some damaged packets of AC-3. Without them, the video is whole.
  @Test func leavesOutSoundThatTheMuxerRefuses() async throws {
    let stream = try await LongTimesTests.transportStream(try Folder(), encoder: "avenc_ac3 ! ac3parse")
    let refused = Mutex(0)
    try await Crowd.each(Array(0..<12)) { seed in
      let folder = try Folder()
      try folder.write("in.ts", Data(Self.damagingSound(of: stream, seed: seed)))
      let run = try await Program.run(["repack", "in.ts", "-o", "out.mp4"], in: folder.url)
      #expect(run.status == 0, "seed \(seed): \(run.said)")
      if run.said.contains("of stream 1, which MP4 does not take") { refused.withLock { $0 += 1 } }
      let info = try await Program.run(["info", "--count", "out.mp4"], in: folder.url)
      #expect(info.text.contains("Pictures            62\n"), "seed \(seed): \(info.text)\(info.said)")
    }
    #expect(refused.withLock { $0 } > 0)
  }

  /// Overwrites a third of the sound's packets in a transport stream.
  private static func damagingSound(of stream: [UInt8], seed: Int) -> [UInt8] {
    var (stream, generator) = (stream, SeededGenerator(state: UInt64(seed)))
    for place in stride(from: 0, to: stream.count - 187, by: 188)
    where Int(stream[place + 1] & 31) << 8 | Int(stream[place + 2]) == 0x101 && generator.next() % 3 == 0 {
      for index in place + 30..<place + 180 { stream[index] = UInt8(truncatingIfNeeded: generator.next() >> 56) }
    }
    return stream
  }
}
