// SPDX-License-Identifier: MPL-2.0
import Foundation
import HarnessSupport
import TestSupport
import Testing

/// `PLAYING` → `READY` → `PLAYING`: a run does not depend on the one before, however that ended.
@Suite(.serialized) struct SecondRunTests {
  init() { #expect(Registration.succeeded) }

  static let chains = [
    "swifth264parse", "queue ! swifth264parse", "swifth264parse ! video/x-h264,alignment=nal",
    "queue ! swifth264parse ! video/x-h264,alignment=nal", "swifth264parse ! video/x-h264,stream-format=avc",
    "queue ! swifth264parse ! swifth264repack ! video/x-h264,stream-format=avc3",
    "queue ! swifth264parse ! video/x-h264,alignment=nal ! swifth264repack ! video/x-h264,stream-format=avc",
    "swifth264parse ! swifth264dec max-threads=1",
    "queue ! swifth264parse ! swifth264dec max-threads=2 verify-slices=true",
  ]

  @Test(arguments: StreamCodec.allCases, TestScope.rows(chains, usually: 3)) func laterRunsEqualTheFirst(
    codec: StreamCodec, chain: String
  ) throws {
    for clip in ["clip", "open-gop", "interlaced"] { try repeats(codec.chain(chain), Clip.path("\(clip).\(codec)")) }
  }

  @Test(arguments: StreamCodec.allCases, TestScope.rows(chains, usually: 3))
  func laterRunsEqualTheFirstWithoutAFrameRate(codec: StreamCodec, chain: String) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "second-run-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for clip in ["clip", "open-gop", "interlaced"] {
      let path = folder.appending(path: clip).path
      try Data(codec.withoutVUI(Clip.read("\(clip).\(codec)"))).write(to: URL(filePath: path))
      try repeats(codec.chain(chain), path)
    }
  }

  private func repeats(_ chain: String, _ path: String) throws {
    let pipeline = try RecordedPipeline(chain)
    let first = try pipeline.play(path)
    #expect(first.isWhole && first.entries.count > 20)
    for _ in 1..<4 { #expect(try pipeline.play(path).entries == first.entries, "\(path)") }
  }

  @Test(arguments: StreamCodec.allCases, TestScope.rows(chains, usually: 3))
  func aRunAfterOtherInputEqualsTheFirst(codec: StreamCodec, chain: String) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "second-run-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = Clip.path("clip.\(codec)")
    let text = folder.appending(path: "text").path
    try Data(String(repeating: "This is not a video. ", count: 5000).utf8).write(to: URL(filePath: text))
    var bytes = try Clip.read("clip.\(codec)")
    for position in stride(from: 4000, to: bytes.count, by: 613) { bytes[position] ^= 0x55 }
    let damaged = folder.appending(path: "damaged").path
    try Data(bytes).write(to: URL(filePath: damaged))

    let pipeline = try RecordedPipeline(codec.chain(chain))
    let first = try pipeline.play(path)
    #expect(first.isWhole && first.entries.count > 20)
    // The second round is after all mishaps of the first.
    for round in 0..<2 {
      #expect(try pipeline.play(text).isWhole == false)
      #expect(try pipeline.play(path).entries == first.entries, "after an error")
      _ = try pipeline.play(damaged)
      #expect(try pipeline.play(path).entries == first.entries, "after damage")
      _ = try pipeline.play(path, from: Int64(round) * 800_000_000)
      #expect(try pipeline.play(path).entries == first.entries, "after a seek")
      _ = try pipeline.play(Clip.path("interlaced.\(codec)"))
      #expect(try pipeline.play(path).entries == first.entries, "after another stream")
      pipeline.begin(path)
      #expect(try pipeline.play(path).entries == first.entries, "after being broken off")
    }
  }
}
