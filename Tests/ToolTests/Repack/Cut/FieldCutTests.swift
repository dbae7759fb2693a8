// SPDX-License-Identifier: MPL-2.0
import Foundation
import TestSupport
import Testing

/// A cut keeps both fields of a frame, or neither.
@Suite(.enabled(if: Program.isBuilt)) struct FieldCutTests {
  /// The hashes of all pictures of a file.
  private static func pictures(_ name: String, in folder: Folder) async throws -> [String] {
    let run = try await Program.run(["hash", "--each", name], in: folder.url)
    #expect(run.status == 0, "\(name): \(run.said)")
    return run.text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { String($0.suffix(32)) }
  }

  /// The start and end of cuts, in fields of 20 ms, and the frames that they show. A frame is shown when its first
  /// field is, and a cut that ends between fields has the whole frame.
  static let spans: [(start: Int, end: Int?, frames: Range<Int>)] = [
    (0, 1, 0..<1), (0, 10, 0..<5), (1, 9, 0..<5), (9, 10, 4..<5), (9, 24, 4..<12), (16, 33, 8..<17), (17, 34, 8..<17),
    (15, 35, 7..<18), (31, nil, 15..<24), (46, nil, 23..<24), (47, nil, 23..<24), (18, 19, 9..<10),
  ]

  @Test(arguments: TestScope.rows(["h264", "mp4", "mov", "mkv", "ts"], usually: 2))
  func keepsFramesWhole(source: String) async throws {
    let base = try Folder()
    try base.write("in.h264", FieldStream.make(frames: 24))
    let all = try await Self.pictures("in.h264", in: base)
    try #require(all.count == 24 && Set(all).count == 24)
    if source != "h264" {
      let made = try await Program.run(
        ["repack", "in.h264", "-o", "in.\(source)", "--framerate", "25"], in: base.url)
      try #require(made.status == 0, "\(made.said)")
    }
    let input = base.url.appending(path: "in.\(source)").path
    let rate = source == "h264" ? ["--framerate", "25"] : []
    try await Crowd.each(TestScope.rows(Self.spans, usually: 4)) { span in
      let folder = try Folder()
      for (target, mode) in [
        ("h264", "keyframe"), ("ts", "keyframe"), ("mkv", "keyframe"), ("mp4", "keyframe"), ("mp4", "hidden"),
        ("mov", "hidden"),
      ] {
        let out = "\(mode).\(target)"
        let end = span.end.map { ["--end", "\(Double($0) / 50)"] } ?? []
        let run = try await Program.run(
          ["repack", input, "-o", out, "--start", "\(Double(span.start) / 50)", "--cut", mode] + end + rate,
          in: folder.url)
        let what: Comment = "\(source) to \(out), \(span): \(run.said)"
        #expect(run.status == 0, what)
        let group = FieldStream.groupSize
        let first = mode == "hidden" ? span.frames.lowerBound : span.frames.lowerBound / group * group
        #expect(try await Self.pictures(out, in: folder) == Array(all[first..<span.frames.upperBound]), what)
      }
    }
  }

  /// Positions of cuts, and the fields that they show, of 40 ms. In decoding order, other fields are between those of a
  /// frame.
  static let reorderedSpans: [(range: String, fields: Range<Int>)] = [
    ("#4-#6", 8..<12), ("#1-#9", 2..<18), ("#8-", 16..<25), ("0.04-0.6", 2..<16), ("0.4-0.52", 10..<14),
  ]

  @Test(arguments: TestScope.rows(["h265", "mp4", "mkv"], usually: 2))
  func keepsFramesOfReorderedFieldsWhole(source: String) async throws {
    let (base, clip) = (try Folder(), CutTests.media("interlaced.h265"))
    let all = try await Self.pictures(clip, in: base)
    try #require(all.count == 25)
    let input = source == "h265" ? clip : base.url.appending(path: "in.\(source)").path
    if source != "h265" {
      let made = try await Program.run(["repack", clip, "-o", input], in: base.url)
      try #require(made.status == 0, "\(made.said)")
    }
    for span in Self.reorderedSpans {
      let run = try await Program.run(
        ["cut", input, "-o", "out.mp4", "--force", "--mode", "hidden", "--range", span.range], in: base.url)
      #expect(run.status == 0, "\(span): \(run.said)")
      #expect(try await Self.pictures("out.mp4", in: base) == Array(all[span.fields]), "\(span): \(run.said)")
    }
  }
}
