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

  @Test(arguments: clips) func readsSlicesOfTheClipsToTheLastBit(name: String) async throws {
    let folder = try Folder()
    let run = try await Program.run(["check", "--deep", path(name)], in: folder.url)
    #expect(run.status == 0 && run.text.contains("read to the last bit ("), "\(run.text)\(run.said)")
    #expect(run.text.contains("62 access units, 0 errors"), "\(run.text)")
  }

  @Test(arguments: ["clip.h264", "clip.h265"]) func namesTheDamagedBlock(name: String) async throws {
    var clip = try Data(contentsOf: URL(filePath: path(name)))
    // In the middle of the first picture, which is large.
    for byte in 2000..<2008 { clip[byte] ^= 0x55 }
    let folder = try Folder()
    try folder.write(name, clip)
    let plain = try await Program.run(["check", name], in: folder.url)
    #expect(!plain.text.contains("slice-data") && !plain.text.contains("last bit"), "\(plain.text)")
    let run = try await Program.run(["check", "--deep", name], in: folder.url)
    #expect(run.status == 2 && run.text.contains("slice-data") && run.text.contains("1 damaged"), "\(run.text)")
    let lines = try await Program.run(["check", "--deep", "--json", name], in: folder.url)
    let objects = try lines.text.split(separator: "\n").map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
    let finding = try #require(objects.first { $0["rule"] as? String == "slice-data" })
    #expect(finding["slice"] is Int && finding["block"] is Int && finding["bit"] is Int, "\(finding)")
    let totals = try #require(objects.last?["sliceData"] as? [String: Any])
    #expect(totals["damaged"] as? Int == 1, "\(totals)")
  }

  @Test(arguments: clips + ["clip.mkv", "clip.ts"]) func threadsDoNotChangeTheOutput(name: String) async throws {
    var clip = try Data(contentsOf: URL(filePath: path(name)))
    for part in 1..<6 { clip[clip.count / 6 * part] ^= 0x10 }
    let folder = try Folder()
    try folder.write(name, clip)
    for command in [["check", "--deep", "--all"], ["inspect", "--statistics", "--csv"]] {
      let alone = try await Program.run(command + ["--threads", "1", name], in: folder.url)
      #expect(alone.text.split(separator: "\n").count > 2, "\(alone.said)")
      for threads in ["0", "2", "8"] {
        let run = try await Program.run(command + ["--threads", threads, name], in: folder.url)
        #expect(run.text == alone.text && run.said == alone.said && run.status == alone.status)
      }
    }
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
