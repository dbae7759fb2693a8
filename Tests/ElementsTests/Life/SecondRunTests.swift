// SPDX-License-Identifier: MPL-2.0
import Foundation
import HarnessSupport
import Testing

/// `PLAYING` → `READY` → `PLAYING`: nothing of a run is left in the next, whatever the one before came to.
@Suite(
  .serialized, .timeLimit(.minutes(10)))
struct SecondRunTests {
  init() { #expect(Registration.succeeded) }

  static let chains = [
    "swifth264parse", "queue ! swifth264parse", "swifth264parse ! video/x-h264,alignment=nal",
    "queue ! swifth264parse ! video/x-h264,alignment=nal", "swifth264parse ! video/x-h264,stream-format=avc",
    "queue ! swifth264parse ! swifth264repack ! video/x-h264,stream-format=avc3",
    "queue ! swifth264parse ! video/x-h264,alignment=nal ! swifth264repack ! video/x-h264,stream-format=avc",
    "swifth264parse ! swifth264dec max-threads=1", "queue ! swifth264parse ! swifth264dec max-threads=2",
  ]

  static let chainsOfH265 = [
    "swifth265parse", "queue ! swifth265parse ! video/x-h265,alignment=nal",
    "swifth265parse ! video/x-h265,stream-format=hvc1",
    "queue ! swifth265parse ! video/x-h265,alignment=nal ! swifth265repack ! video/x-h265,stream-format=hev1",
  ]

  @Test(arguments: chainsOfH265) func everyRunOfH265IsTheFirst(chain: String) throws {
    let pipeline = try RecordedPipeline(chain)
    for clip in ["clip.h265", "interlaced.h265"] {
      let first = try pipeline.play(Clip.path(clip))
      #expect(first.isWhole && first.entries.count > 20)
      for _ in 1..<5 { #expect(try pipeline.play(Clip.path(clip)).entries == first.entries) }
    }
  }

  @Test(arguments: chains, ["clip.h264", "open-gop.h264", "interlaced.h264"])
  func everyRunIsTheFirst(chain: String, clip: String) throws {
    let pipeline = try RecordedPipeline(chain)
    let path = Clip.path(clip)
    let first = try pipeline.play(path)
    #expect(first.isWhole && first.entries.count > 20)
    for _ in 1..<20 { #expect(try pipeline.play(path).entries == first.entries) }
  }

  @Test(arguments: chains) func aRunAfterAnythingElseIsTheFirst(chain: String) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "second-run-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = Clip.path("clip.h264")
    let text = folder.appending(path: "text").path
    try Data(String(repeating: "This is not a video. ", count: 5000).utf8).write(to: URL(filePath: text))
    var bytes = try Clip.read("clip.h264")
    for position in stride(from: 4000, to: bytes.count, by: 613) { bytes[position] ^= 0x55 }
    let damaged = folder.appending(path: "damaged").path
    try Data(bytes).write(to: URL(filePath: damaged))

    let pipeline = try RecordedPipeline(chain)
    let first = try pipeline.play(path)
    #expect(first.isWhole && first.entries.count > 20)
    for round in 0..<5 {
      #expect(try pipeline.play(text).isWhole == false)
      #expect(try pipeline.play(path).entries == first.entries, "after an error")
      _ = try pipeline.play(damaged)
      #expect(try pipeline.play(path).entries == first.entries, "after damage")
      _ = try pipeline.play(path, from: Int64(round) * 400_000_000)
      #expect(try pipeline.play(path).entries == first.entries, "after a seek")
      _ = try pipeline.play(Clip.path("interlaced.h264"))
      #expect(try pipeline.play(path).entries == first.entries, "after another stream")
      pipeline.begin(path)
      #expect(try pipeline.play(path).entries == first.entries, "after being broken off")
    }
  }
}
