// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// `h26x check`: findings, and the exit status.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct CheckTests {
  static let clips = ["clip.h264", "clip.mp4", "clip.h265", "clip-h265.mp4"]

  private func path(_ name: String) -> String { Program.media.appending(path: name).path }

  /// The clip without its second access unit, a reference picture.
  private func damagedClip() throws -> Data {
    let clip = try Data(contentsOf: URL(filePath: path("clip.h264")))
    let delimiter = Data([0, 0, 0, 1, 9])
    let second = try #require(clip.range(of: delimiter, in: delimiter.count..<clip.count))
    let third = try #require(clip.range(of: delimiter, in: second.upperBound..<clip.count))
    return clip[..<second.lowerBound] + clip[third.lowerBound...]
  }

  @Test(arguments: clips) func findsNoErrorsInTheClips(name: String) async throws {
    let folder = try Folder()
    let run = try await Program.run(["check", path(name)], in: folder.url)
    #expect(run.status == 0 && run.text.contains("62 access units, 0 errors"), "\(run.text)\(run.said)")
  }

  @Test func findsMissingPictures() async throws {
    let folder = try Folder()
    try folder.write("damaged.h264", try damagedClip())
    let run = try await Program.run(["check", "damaged.h264"], in: folder.url)
    #expect(run.status == 2, "\(run.said)")
    #expect(run.text.contains("access unit 1 ") && run.text.contains("frame-num-gap"), "\(run.text)")
    try folder.write("empty.h264", Data())
    let empty = try await Program.run(["check", "empty.h264"], in: folder.url)
    #expect(empty.status == 1 && empty.said.contains("empty"), "\(empty.said)")
  }

  @Test func namesEachOfSeveralFiles() async throws {
    let folder = try Folder()
    let files = [path("clip.h264"), path("clip.h265")]
    let run = try await Program.run(["check", "--json"] + files, in: folder.url)
    var (names, summaries) = ([String](), 0)
    for line in run.text.split(separator: "\n") {
      let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      if object["kind"] as? String == "file" { names.append(object["name"] as? String ?? "") }
      if object["kind"] as? String == "summary" { summaries += 1 }
      #expect(names.count >= summaries)
    }
    #expect(names == files && summaries == 2, "\(run.text)")
  }
}
