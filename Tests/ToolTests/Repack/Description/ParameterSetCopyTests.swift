// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// The place of a configuration record's parameter sets in copies that have no record.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct ParameterSetCopyTests {
  private func repack(_ from: String, _ to: String, _ options: [String] = [], in folder: Folder) async throws {
    let run = try await Program.run(["repack", from, "-o", to] + options, in: folder.url)
    #expect(run.status == 0, "\(run.said)")
  }

  /// The lines of a kind that `inspect` prints of a file.
  private func count(_ word: String, of file: String, in folder: Folder) async throws -> Int {
    let run = try await Program.run(["inspect", file], in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    return run.text.split(separator: "\n").count { $0.contains(word) && $0.contains(" bytes, ") }
  }

  /// Decoding can begin with each keyframe.
  @Test(arguments: [("clip.mkv", "SPS (7)"), ("clip-h265.mp4", "SPS (33)")], ["h264", "ts"])
  func writesParameterSetsBeforeEachKeyframe(source: (name: String, set: String), suffix: String) async throws {
    let folder = try Folder()
    let out = suffix == "h264" && source.set == "SPS (33)" ? "out.h265" : "out.\(suffix)"
    try await repack(Program.media.appending(path: source.name).path, out, in: folder)
    let keyframes = try await count(" keyframe (", of: out, in: folder)
    let sets = try await count(source.set, of: out, in: folder)
    #expect(keyframes > 1 && sets == keyframes)
  }

  /// A stream may begin with a keyframe that is no IDR picture.
  @Test(arguments: ["mkv", "mp4"], ["h264", "ts"])
  func writesParameterSetsBeforeARecoveryPoint(from: String, to: String) async throws {
    let folder = try Folder()
    let clip = Program.media.appending(path: "open-gop.h264").path
    try await repack(clip, "whole.mkv", ["--framerate", "25"], in: folder)
    try await repack("whole.mkv", "part.\(from)", ["--start", "1"], in: folder)
    try await repack("part.\(from)", "out.\(to)", in: folder)
    let pictures = try await Program.run(["hash", "part.\(from)"], in: folder.url)
    let copied = try await Program.run(["hash", "out.\(to)"], in: folder.url)
    #expect(pictures.text.hasPrefix("MD5=") && copied.text == pictures.text, "\(pictures.said)\(copied.said)")
  }
}
