// SPDX-License-Identifier: MPL-2.0
import Foundation
import TestSupport
import Testing

/// Transport streams that give only some of their pictures a time, or none.
@Suite(.enabled(if: Program.isBuilt)) struct MissingTimesTests {
  /// A transport stream of packets of 188 bytes whose PES packets of video keep their times only where they are chosen by
  /// number.
  private static func thinned(_ stream: [UInt8], keeping isKept: (Int) -> Bool) -> Data {
    var (stream, number) = (stream, 0)
    for packet in stride(from: 0, to: stream.count - 187, by: 188) where stream[packet + 1] & 0x40 != 0 {
      let control = stream[packet + 3] >> 4 & 3
      let payload = packet + 4 + (control & 2 != 0 ? 1 + Int(stream[packet + 4]) : 0)
      guard control & 1 != 0, stream[payload..<payload + 3].elementsEqual([0, 0, 1]),
        (0xE0...0xEF).contains(stream[payload + 3])
      else { continue }
      if !isKept(number) {
        stream[payload + 7] &= 0x3F
        for place in 0..<Int(stream[payload + 8]) { stream[payload + 9 + place] = 0xFF }
      }
      number += 1
    }
    return Data(stream)
  }

  private func lines(_ file: String, in folder: Folder) async throws -> [String] {
    let run = try await Program.run(["hash", "--each", file], in: folder.url)
    #expect(run.status == 0, "\(file): \(run.said)")
    return run.text.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
  }

  /// The others follow from the order of pictures and the frame rate.
  @Test(arguments: TestScope.rows([0, 1, 2, 5], usually: 2)) func derivesMissingTimes(kept: Int) async throws {
    let folder = try Folder()
    let clip = [UInt8](try Data(contentsOf: Program.media.appending(path: "clip.ts")))
    // 0 is no picture, 1 is the first picture alone.
    try folder.write("in.ts", Self.thinned(clip) { kept < 2 ? $0 == 0 && kept == 1 : $0.isMultiple(of: kept) })
    try folder.write("whole.ts", Data(clip))
    for target in ["mkv", "mp4", "ts"] {
      for name in ["in", "whole"] {
        let run = try await Program.run(["repack", "\(name).ts", "-o", "\(name)-out.\(target)"], in: folder.url)
        #expect(run.status == 0, "\(run.said)")
      }
      let (found, expected) = (
        try await lines("in-out.\(target)", in: folder), try await lines("whole-out.\(target)", in: folder)
      )
      #expect(found == expected && found.count == 62, "\(target)")
    }
  }

  /// Without a frame rate it has to be given; across a gap, nothing follows.
  @Test func refusesTimesThatCannotBeDerived() async throws {
    let folder = try Folder()
    let clip = try Data(contentsOf: Program.media.appending(path: "clip.h264"))
    try folder.write("in.h264", RawStreamTests.withoutVUI(clip))
    let made = try await Program.run(["repack", "in.h264", "-o", "made.ts", "--framerate", "25"], in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    let stream = [UInt8](try #require(folder.bytes("made.ts")))
    try folder.write("in.ts", Self.thinned(stream) { $0 == 0 })
    let failed = try await Program.run(["repack", "in.ts", "-o", "out.mkv"], in: folder.url)
    #expect(failed.status != 0 && failed.said.contains("the stream has no frame rate"), "\(failed.said)")
    let helped = try await Program.run(["repack", "in.ts", "-o", "out.mkv", "--framerate", "25"], in: folder.url)
    #expect(helped.status == 0, "\(helped.said)")
    let whole = [UInt8](try Data(contentsOf: Program.media.appending(path: "clip.ts")))
    let later = TransportStreamTimes.moved(whole, by: 5 * 90_000)
    try folder.write("gap.ts", Self.thinned(whole + later) { $0.isMultiple(of: 2) })
    let gap = try await Program.run(["repack", "gap.ts", "-o", "gap.mkv"], in: folder.url)
    #expect(gap.status != 0 && gap.said.contains("there are gaps between the others"), "\(gap.said)")
    #expect(folder.bytes("gap.mkv") == nil)
  }
}
