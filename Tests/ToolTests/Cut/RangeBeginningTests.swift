// SPDX-License-Identifier: MPL-2.0
import AVFormat
import Foundation
import H26x
import TestSupport
import Testing

@testable import Containers

/// How ranges that are not cut exactly begin behind others.
@Suite(.enabled(if: Program.isBuilt && FormatLibrary.isAvailable)) struct RangeBeginningTests {
  /// Of streams with random access points at each twelfth picture, whose leading pictures need pictures in front of them.
  static let requests = [[60..<66, 14..<20, 27..<31], [40..<60, 25..<35], [49..<50, 37..<42, 24..<29]]

  private static func options(_ ranges: [Range<Int>], _ mode: Window.Bounds.Mode) -> [String] {
    ["--mode", mode.rawValue] + ranges.flatMap { ["--range", "#\($0.lowerBound)-#\($0.upperBound)"] }
  }

  /// A file has no errors, and libavcodec decodes it as our session does.
  private static func expectIntact(_ name: String, in folder: Folder, _ what: Comment) async throws {
    let check = try await Program.run(["check", name], in: folder.url)
    #expect(check.status == 0, "\(what): \(check.text)")
    let decoder = what.description.contains("h265") ? "avdec_h265" : "avdec_h264"
    let stock = try await Program.run(["compare", name, "--decoder", decoder], in: folder.url)
    #expect(stock.status == 0, "\(what): \(stock.text)\(stock.said)")
    let pictures = try await Program.run(["hash", name], in: folder.url)
    #expect(pictures.status == 0 && !pictures.said.contains("damage"), "\(what): \(pictures.said)")
  }

  @Test(arguments: ["open-gop.h264", "open-gop.h265"], TestScope.rows(["mp4", "mov"], usually: 1))
  func hiddenRangesFollowOneAnother(
    source: String, target: String
  ) async throws {
    let all = try await CutTests.pictures(CutTests.media(source), in: Folder())
    try await Crowd.each(TestScope.rows(Self.requests, usually: 2)) { ranges in
      let ranges = ranges.filter { $0.upperBound <= all.count }
      let (folder, out, options) = (try Folder(), "out.\(target)", Self.options(ranges, .hidden))
      let run = try await Program.run(["cut", CutTests.media(source), "-o", out] + options, in: folder.url)
      #expect(run.status == 0 && !run.said.contains("lose"), "\(run.said)")
      #expect(try await CutTests.pictures(out, in: folder) == ranges.flatMap { all[$0] }, "\(run.said)")
      try await Self.expectIntact(out, in: folder, "\(source) \(ranges)")

      // The plan has the same access units.
      let plan = try await Program.run(
        ["cut", CutTests.media(source), "-o", "other.\(target)", "--plan"] + options, in: folder.url)
      let object = try #require(try JSONSerialization.jsonObject(with: Data(plan.text.utf8)) as? [String: Any])
      let counts = try #require(object["parts"] as? [[String: Any]]).flatMap { part in
        ["copied", "hidden"].map { (part[$0] as? [String: Any])?["count"] as? Int ?? 0 }
      }
      // libavformat reads pictures again for each edit.
      let inspect = try await Program.run(["inspect", out], in: folder.url)
      let count = inspect.text.split(separator: "\n").count { $0.hasPrefix("access unit ") }
      #expect(counts.reduce(0, +) == count, "\(plan.text)")
    }
  }

  @Test(arguments: ["open-gop.h264", "open-gop.h265"], TestScope.rows(["mkv", "ts", "raw"], usually: 2))
  func keyframeRangesFollowOneAnother(source: String, target: String) async throws {
    let all = try await CutTests.pictures(CutTests.media(source), in: Folder())
    try await Crowd.each(TestScope.rows(Self.requests, usually: 2)) { ranges in
      let ranges = ranges.filter { $0.upperBound <= all.count }
      let (folder, out) = (try Folder(), target == "raw" ? "out.\(source.suffix(4))" : "out.\(target)")
      let run = try await Program.run(
        ["cut", CutTests.media(source), "-o", out] + Self.options(ranges, .keyframe), in: folder.url)
      #expect(run.status == 0 && !run.said.contains("lose"), "\(run.said)")
      // Others are shown behind the ends.
      let wanted = ranges.flatMap { all[$0.lowerBound / 12 * 12..<$0.upperBound] }
      let pictures = try await CutTests.pictures(out, in: folder)
      #expect(pictures.filter(wanted.contains) == wanted && pictures.allSatisfy(all.contains), "\(run.said)")
      try await Self.expectIntact(out, in: folder, "\(source) \(ranges)")
    }
  }

  /// A stream whose recovery points have an auxiliary picture with their numbers.
  private static func auxiliaryStream() throws -> Data {
    let clip = [UInt8](try Data(contentsOf: URL(fileURLWithPath: CutTests.media("open-gop.h264"))))
    var (bytes, recovers): ([UInt8], Bool) = ([], false)
    for range in NALPackaging.annexB.nalUnits(of: clip.span) {
      let nalUnit = Array(clip[range])
      bytes += [0, 0, 0, 1] + nalUnit
      let type = H264.NALUnitType(headerByte: nalUnit[0])
      if type == .sei { recovers = recovers || SEIMessages.hold(.recoveryPoint, nalUnit.span, headerLength: 1) }
      guard type.isVCL else { continue }
      if recovers { bytes += [0, 0, 0, 1, nalUnit[0] & 0x60 | 19] + nalUnit.dropFirst() }
      recovers = false
    }
    return Data(bytes)
  }

  @Test(arguments: [("mp4", Window.Bounds.Mode.hidden), ("mkv", .keyframe)])
  func beginsWithAnEarlierIDRPictureIfTheRecoveryPointCannotBecomeOne(
    target: String, mode: Window.Bounds.Mode
  ) async throws {
    let (folder, out) = (try Folder(), "out.\(target)")
    try folder.write("in.h264", try Self.auxiliaryStream())
    let all = try await CutTests.pictures("in.h264", in: folder)
    let run = try await Program.run(
      ["cut", "in.h264", "-o", out] + Self.options([60..<66, 26..<30], mode), in: folder.url)
    #expect(run.status == 0 && run.said.contains("decoding begins with an earlier IDR picture"), "\(run.said)")
    let pictures = try await CutTests.pictures(out, in: folder)
    let wanted = all[60..<66] + all[mode == .hidden ? 26..<30 : 0..<30]
    #expect(pictures.filter(wanted.contains) == Array(wanted), "\(run.said)")
    let check = try await Program.run(["check", out], in: folder.url)
    #expect(check.status == 0, "\(check.text)")
  }

  // MARK: Windows

  private static func written(
    _ stream: MadeStream, from start: Int, _ beginning: Window.Bounds.Beginning
  ) throws -> [Int] {
    var bounds = stream.bounds(start, start + 1, .hidden)
    bounds.beginning = beginning
    var window = Window(bounds)
    var written: [MediaOutput.AccessUnit] = []
    for accessUnit in stream.accessUnits where !window.isFinished { written += try window.take(accessUnit) }
    return try (written + window.finish()).map { stream.pictures[stream.place(of: $0)].number }
  }

  @Test func keepsNoLeadingPicturesInARangeThatBeginsAnew() throws {
    let stream = MadeStream("I0 P3 b1 b2 C7 P5 b4 b6 P8 P9 P10", repeated: 4)
    #expect(try Self.written(stream, from: 8, .asItIs) == [7, 5, 8])
    #expect(try Self.written(stream, from: 8, .anew) == [7, 8])
    #expect(try Self.written(stream, from: 8, .closed) == [0, 3, 1, 2, 7, 5, 4, 6, 8])
  }

  @Test func refusesToBeginAnywhereButWithAClosedPicture() throws {
    let stream = MadeStream("C0 P3 b1 b2 C7 P5 b4 b6 P8 P9 P10", repeated: 4)
    #expect(throws: CopyRefusal.self) { try Self.written(stream, from: 8, .closed) }
  }
}
