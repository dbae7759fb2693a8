// SPDX-License-Identifier: MPL-2.0
import Foundation
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

  @Test func endWithAWholeFile() async throws {
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
}
