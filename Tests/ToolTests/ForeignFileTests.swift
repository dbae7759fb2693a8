// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// Files as they come from elsewhere, and what they have that ours have not.
@Suite(.enabled(if: Program.isBuilt)) struct ForeignFileTests {
  private static let clip = Program.media.appending(path: "clip.h264").path

  /// A recording that was cut in front of its first keyframe.
  @Test(arguments: [["info"], ["decode", "-o", "out.yuv"]]) func saysThatParameterSetsAreMissing(
    command: [String]
  ) async throws {
    let folder = try Folder()
    let stream = try Data(contentsOf: URL(filePath: Self.clip))
    let end = try #require(stream.range(of: Data([0, 0, 1, 0x41]))).lowerBound
    try folder.write("late.h264", stream[end...].prefix(3000))
    let run = try await Program.run(command + ["late.h264"], in: folder.url)
    #expect(run.status == 1 && run.said.contains("no parameter sets"), "\(run.said)")
    #expect(folder.names == ["late.h264"])
  }

  @Test func tellsOfOtherProgrammes() async throws {
    let folder = try Folder()
    let made = try await Program.shell(
      "gst-launch-1.0 -q mpegtsmux name=m prog-map=program_map,sink_65=1,sink_66=7 ! filesink location=two.ts "
        + "filesrc location=\(Self.clip) ! h264parse ! queue ! m.sink_65 "
        + "filesrc location=\(Self.clip) ! h264parse ! queue ! m.sink_66", in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    let info = try await Program.run(["info", "two.ts"], in: folder.url)
    #expect(info.status == 0 && info.text.contains("Programmes          2, of which one is read"), "\(info.text)")
    let document = try await Program.run(["info", "--json", "two.ts"], in: folder.url)
    let files = try #require(try JSONSerialization.jsonObject(with: document.output) as? [[String: Any]])
    #expect(files.first?["programs"] as? [Int] == [1, 7])
    let run = try await Program.run(["repack", "two.ts", "-o", "one.mp4"], in: folder.url)
    #expect(run.status == 0 && run.said.contains("left behind: 1 other programme\n"), "\(run.said)")
  }
}
