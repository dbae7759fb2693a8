// SPDX-License-Identifier: MPL-2.0
import Foundation
import Glibc
import Testing

/// `h26x snapshot`: pictures and contact sheets.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct SnapshotTests {
  private static let clip = Program.media.appending(path: "clip.mp4").path

  @Test func takesSnapshotsAndSheets() async throws {
    let folder = try Folder()
    for (options, name) in [(["--at", "1.2"], "a.png"), (["--frame", "61"], "b.jpg"), (["--sheet", "4x3"], "c.png")] {
      let shot = try await Program.run(["snapshot", Self.clip, "-o", name] + options, in: folder.url)
      #expect(shot.status == 0 && folder.bytes(name).map { $0.count > 2000 } == true, "\(shot.said)")
    }
    let beyond = try await Program.run(["snapshot", Self.clip, "-o", "d.png", "--frame", "62"], in: folder.url)
    #expect(beyond.status == 1 && beyond.said.contains("it has 62"), "\(beyond.said)")
  }

  /// A place for a number in the name, as FFmpeg has it: one picture is number 1.
  @Test(arguments: [("s-%03d.png", "s-001.png"), ("s%d-100%%.jpg", "s1-100%.jpg"), ("100%.png", "100%.png")])
  func numbersASnapshot(_ name: String, _ expected: String) async throws {
    let folder = try Folder()
    let run = try await Program.run(["snapshot", Self.clip, "-o", name], in: folder.url)
    #expect(run.status == 0 && folder.names == [expected], "\(run.said) \(folder.names)")
    let again = try await Program.run(["snapshot", Self.clip, "-o", name], in: folder.url)
    #expect(again.status == 1 && again.said.contains("\(expected): already exists"), "\(again.said)")
  }

  /// A sheet of the first part of a file is no sheet of the file.
  @Test func keepsTheOldSheetWhenInterrupted() async throws {
    let folder = try Folder()
    let once = try Data(contentsOf: Program.media.appending(path: "clip.h264"))
    try folder.write("long.h264", (0..<1000).reduce(into: Data()) { bytes, _ in bytes += once })
    try folder.write("sheet.png", Data("precious".utf8))
    let hasBegun = Program.Signal(number: SIGINT) { process in
      let counts = (try? String(contentsOfFile: "/proc/\(process)/io", encoding: .utf8)) ?? ""
      let read = counts.firstMatch(of: /rchar: ([0-9]+)/).flatMap { Int($0.output.1) } ?? 0
      return read > 30_000_000
    }
    let run = try await Program.run(
      ["snapshot", "long.h264", "--sheet", "4x3", "-o", "sheet.png", "--force"], in: folder.url, signal: hasBegun)
    #expect(run.status == 130 && run.said.contains("interrupted"), "\(run.status) \(run.said)")
    #expect(folder.bytes("sheet.png") == Data("precious".utf8) && folder.names == ["long.h264", "sheet.png"])
  }

  /// Pictures that are far higher than wide.
  @Test func boundsTheHeightOfASheet() async throws {
    let folder = try Folder()
    let made = try await Program.shell(
      "gst-launch-1.0 -q videotestsrc num-buffers=2 ! video/x-raw,width=16,height=4096 ! x264enc ! h264parse "
        + "! video/x-h264,stream-format=byte-stream ! filesink location=tall.h264", in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    let run = try await Program.run(["snapshot", "tall.h264", "--sheet", "2x1", "-o", "out.png"], in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    // Width and height in the header of PNG.
    #expect(folder.bytes("out.png").map { Array($0[16..<24]) } == [0, 0, 1, 224, 0, 0, 1, 224])
  }
}
