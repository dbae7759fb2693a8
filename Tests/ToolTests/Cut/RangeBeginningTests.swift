// SPDX-License-Identifier: MPL-2.0
import AVFormat
import Foundation
import H26x
import SystemPackage
import TestSupport
import Testing

@testable import Containers

/// How ranges that are not cut exactly begin behind others.
@Suite(.enabled(if: Program.isBuilt && FormatLibrary.isAvailable)) struct RangeBeginningTests {
  /// Of streams with random access points at each twelfth picture, whose leading pictures need pictures in front of them.
  static let requests = [[60..<66, 14..<20, 27..<31], [40..<60, 25..<35], [49..<50, 37..<42, 24..<29]]

  /// A file has as many access units as the plan of its cut.
  private static func expectPlan(
    _ source: String, _ options: [String], _ name: String, in folder: Folder
  ) async throws {
    let suffix = name.split(separator: ".").last ?? ""
    let plan = try await Program.run(["cut", source, "-o", "other.\(suffix)", "--plan"] + options, in: folder.url)
    let object = try #require(try JSONSerialization.jsonObject(with: Data(plan.text.utf8)) as? [String: Any])
    let counts = try #require(object["parts"] as? [[String: Any]]).flatMap { part in
      ["copied", "encoded", "hidden"].map { (part[$0] as? [String: Any])?["count"] as? Int ?? 0 }
    }
    // libavformat reads pictures again for each edit.
    let inspect = try await Program.run(["inspect", name], in: folder.url)
    let count = inspect.text.split(separator: "\n").count { $0.hasPrefix("access unit ") }
    #expect(counts.reduce(0, +) == count, "\(plan.text)")
  }

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

      try await Self.expectPlan(CutTests.media(source), options, out, in: folder)
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
    let line =
      "range 0:00:01.040-0:00:01.200: decoding begins with an earlier keyframe, because the recovery point in front of "
      + "the range cannot become an IDR picture\n"
    #expect(run.status == 0 && run.said.contains(line), "\(run.said)")
    let pictures = try await CutTests.pictures(out, in: folder)
    let wanted = all[60..<66] + all[mode == .hidden ? 26..<30 : 0..<30]
    #expect(pictures.filter(wanted.contains) == Array(wanted), "\(run.said)")
    let check = try await Program.run(["check", out], in: folder.url)
    #expect(check.status == 0, "\(check.text)")
    try await Self.expectPlan("in.h264", Self.options([60..<66, 26..<30], mode), out, in: folder)
    guard mode == .keyframe else { return }

    // A pipe is written once.
    let options = Self.options([60..<66, 26..<30], mode).map { "'\($0)'" }.joined(separator: " ")
    let piped = try await Program.shell(
      "h26x cut in.h264 -o - --format \(target) \(options) | cat > pipe.\(target)", in: folder.url)
    #expect(piped.said.contains(line), "\(piped.said)")
    #expect(try await CutTests.pictures("pipe.\(target)", in: folder) == pictures, "\(piped.said)")
  }

  /// Neither a cut nor its plan begins a range with a picture that cannot follow another range.
  @Test func refusesARangeThatNoPictureCanBegin() async throws {
    let folder = try Folder()
    let stream = [UInt8](try Self.auxiliaryStream())
    let sets = NALPackaging.annexB.nalUnits(of: stream.span).filter {
      H264.NALUnitType(headerByte: stream[$0.lowerBound]) == .sequenceParameterSet
    }
    try folder.write("in.h264", Data([0, 0, 0, 1] + stream[sets[1].lowerBound...]))
    for options in [[], ["--plan"]] {
      let run = try await Program.run(
        ["cut", "in.h264", "-o", "out.mkv"] + Self.options([60..<66, 26..<30], .keyframe) + options, in: folder.url)
      #expect(run.status == 1 && run.text.isEmpty && folder.names == ["in.h264"], "\(run.text)")
      #expect(
        run.said == "h26x: out.mkv: range 0:00:01.040-0:00:01.200 cannot follow another range, because the recovery "
          + "point in front of the range cannot become an IDR picture, and no picture in front of it can begin a range; "
          + "write the range into a file of its own\n")
    }
  }

  /// Each reason for another beginning has its own line. What a pipe has stays in it.
  @Test(
    arguments: [
      (.verification, "pictures behind the recovery point in front of the range would not be decoded as in the source"),
      (.damage, "pictures behind the recovery point in front of the range cannot be decoded without errors"),
      (.frameNumberGaps, "its SPS does not allow gaps in frame numbers in front of a recovery point"),
    ] as [(SeamObstacle, String)])
  func reportsWhyARangeBeginsEarlier(obstacle: SeamObstacle, reason: String) throws {
    let folder = try Folder()
    let input = try InputFile(FilePath(CutTests.media("open-gop.h264")))
    let bounds = [60, 26].map { Window.Bounds(start: $0 * 40_000_000, mode: .keyframe) }
    func plan(_ target: OutputFile) -> CopyPlan {
      CopyPlan(input: input, target: target, container: .mkv, bounds: bounds)
    }
    let file = try OutputFile(FilePath(folder.url.appending(path: "out.mkv").path), force: false)
    defer { file.discard() }
    var next = try plan(file).retry(after: .seam(obstacle), in: 1)
    if obstacle == .frameNumberGaps { next = try next.retry(after: .seam(obstacle), in: 1) }
    let range = "range 0:00:01.040-"
    #expect(next.remarks == ["\(range): decoding begins with an earlier keyframe, because \(reason)"])
    for (last, text) in [(SeamObstacle.noEntry, "no picture in front of it"), (.distantEntry, "256 MiB away")] {
      let failure = #expect(throws: Failure.self) { try next.retry(after: .seam(last), in: 1) }
      let message = failure?.message ?? ""
      #expect(message.contains("because \(reason), and ") && message.contains(text), "\(message)")
    }
    let pipe = try OutputFile("/dev/null", force: true)
    let failure = #expect(throws: Failure.self) { try plan(pipe).retry(after: .seam(obstacle), in: 1) }
    #expect(
      failure?.message == "/dev/null: \(range) cannot follow another range, because \(reason), and a pipe is written "
        + "once; write into a file")
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
    for beginning in [Window.Bounds.Beginning.anew, .anewIfPossible] {
      #expect(try Self.written(stream, from: 8, beginning) == [7, 8])
    }
    #expect(try Self.written(stream, from: 8, .closed) == [0, 3, 1, 2, 7, 5, 4, 6, 8])
  }

  @Test func beginsInFrontOfARecoveryPointThatCannotBecomeAnIDRPicture() throws {
    let stream = MadeStream("I0 P3 b1 b2 S7 P5 b4 b6 P8 P9 P10", repeated: 4)
    #expect(try Self.written(stream, from: 8, .anew) == [0, 3, 1, 2, 7, 5, 4, 6, 8])
    #expect(try Self.written(stream, from: 8, .anewIfPossible) == [7, 5, 8])
    // The IDR picture is nearer.
    #expect(try Self.written(stream, from: 12, .anew) == [11, 14, 12])
  }

  @Test func refusesToBeginAnywhereButWithAClosedPicture() throws {
    let stream = MadeStream("C0 P3 b1 b2 C7 P5 b4 b6 P8 P9 P10", repeated: 4)
    #expect(throws: CopyRefusal.self) { try Self.written(stream, from: 8, .closed) }
    for text in ["S0 P3 b1 b2 S7 P5 b4 b6 P8 P9 P10", "P0 P3 b1 b2 S7 P5 b4 b6 P8 P9 P10"] {
      #expect(throws: CopyRefusal.self) { try Self.written(MadeStream(text, repeated: 4), from: 8, .anew) }
    }
  }

  /// Memory is bounded, however far the picture is with which a range can begin.
  @Test func refusesToHoldMoreThanMemoryShould() throws {
    let stream = MadeStream("I0 P1 S2 P3 P4 P5", repeated: 20)
    var bounds = stream.bounds(100, nil, .hidden)
    bounds.beginning = .anew
    var accessUnits = stream.accessUnits
    let bytes = [UInt8](repeating: 0, count: 1 << 23)
    for place in accessUnits.indices {
      // Shared by all.
      accessUnits[place].bytes = bytes
      if place > 0 { accessUnits[place].role.canBeginAnew = false }
    }
    var window = Window(bounds)
    let refusal = #expect(throws: CopyRefusal.self) {
      for accessUnit in accessUnits { _ = try window.take(accessUnit) }
    }
    guard case .seam(.distantEntry)? = refusal else {
      Issue.record("\(String(describing: refusal))")
      return
    }
  }
}
