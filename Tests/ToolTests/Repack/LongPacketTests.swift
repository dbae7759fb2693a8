// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// Access units that are longer than what libavformat has in a packet of a transport stream.
@Suite(.enabled(if: Program.isBuilt)) struct LongPacketTests {
  @Test(arguments: ["h264", "h265"]) func copiesLongAccessUnitsCompletely(suffix: String) async throws {
    let folder = try Folder()
    let payload = String(repeating: "a7", count: 300_000)
    let lines = [0, 1, 7].map { "{\"access-unit\":\($0),\"type\":5,\"payload\":\"\(payload)\"}\n" }
    try folder.write("sei.jsonl", Data(lines.joined().utf8))
    let clip = Program.media.appending(path: "clip.\(suffix)").path
    for arguments in [
      ["edit", clip, "-o", "long.\(suffix)", "--insert-sei-from", "sei.jsonl"],
      ["edit", "long.\(suffix)", "-o", "delimited.\(suffix)", "--aud", "insert"],
      ["repack", "delimited.\(suffix)", "-o", "long.ts"], ["repack", "long.ts", "-o", "back.\(suffix)"],
      ["repack", "long.ts", "-o", "long.mkv"],
    ] {
      let run = try await Program.run(arguments + ["--force"], in: folder.url)
      try #require(run.status == 0, "\(run.said)")
    }
    #expect(folder.bytes("back.\(suffix)") == folder.bytes("delimited.\(suffix)"))
    let expected = try await Program.run(["hash", clip], in: folder.url)
    for name in ["long.ts", "long.mkv"] {
      let copy = try await Program.run(["hash", name], in: folder.url)
      #expect(copy.text == expected.text && !copy.said.contains("damage"), "\(name): \(copy.said)")
    }
  }
}
