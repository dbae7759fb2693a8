// SPDX-License-Identifier: MPL-2.0
import Foundation
import H26x
import TestSupport
import Testing

/// The encoder of exact cuts.
enum CutEncoder {
  /// Whether there is one for a clip.
  static func isInstalled(for clip: String = "clip.mp4") async throws -> Bool {
    let folder = try Folder()
    let run = try await Program.run(
      ["cut", CutTests.media(clip), "-o", "out.mp4", "--range", "#3-#9", "--plan"], in: folder.url)
    return !run.text.contains("noEncoder")
  }
}

/// `h26x cut --mode exact`: pictures are copied, and those that cannot be copied are encoded.
@Suite(.enabled(if: Program.isBuilt), .enabled { try await CutEncoder.isInstalled() }) struct ExactCutTests {
  /// Ranges of a clip of 62 pictures, with keyframes at 0, 20 and 42, and the pictures that may be encoded.
  typealias Request = (ranges: [Range<Int>], encoded: ClosedRange<Int>)

  static let requests: [Request] = [
    // From keyframe to keyframe: nothing is encoded.
    ([20..<42], 0...0), ([0..<62], 0...0),
    // An in-point between keyframes, and the end of the file.
    ([10..<62], 10...10), ([33..<42], 9...9), ([41..<62], 1...1),
    // An out-point: at most three pictures wait for one behind it.
    ([20..<33], 0...3), ([42..<60], 0...3),
    // Without a keyframe.
    ([3..<17], 14...14), ([7..<8], 1...1),
    // Several ranges, out of order, and twice.
    ([5..<45, 50..<55], 20...23), ([43..<60, 1..<2, 15..<25], 17 + 1 + 5...17 + 1 + 8), ([7..<8, 7..<8], 2...2),
  ]

  static let pairs = [
    ("clip.mp4", "mp4"), ("clip.mp4", "h264"), ("clip.mkv", "mkv"), ("clip.ts", "ts"), ("clip.h264", "h264"),
    ("clip.h264", "mp4"), ("clip.mkv", "mov"), ("clip.ts", "mkv"), ("clip.flv", "flv"), ("clip.mp4", "ts"),
  ]

  @Test(arguments: TestScope.rows(pairs, usually: 3)) func encodesOnlyPicturesThatCannotBeCopied(
    source: String, suffix: String
  ) async throws {
    try await Self.expectExactCuts(
      of: CutTests.media(source), to: suffix, Self.requests, pictureCount: 62, decoder: "avdec_h264")
  }

  /// Ranges of a clip of 62 pictures, with IDR pictures at 0, 25 and 50.
  static let requestsOfH265: [Request] = [
    ([10..<40], 15...18), ([25..<50], 0...0), ([0..<62], 0...0), ([5..<45, 50..<55, 5..<45], 40...49),
    ([49..<62], 1...1), ([3..<17], 14...14), ([7..<8], 1...1), ([51..<60, 7..<8, 15..<26], 20...23),
  ]

  static let pairsOfH265 = [
    ("clip-h265.mp4", "mp4"), ("clip.h265", "h265"), ("clip-h265.ts", "mkv"), ("clip-h265.mkv", "ts"),
    ("clip-h265.mp4", "h265"), ("clip.h265", "mp4"), ("clip-h265.ts", "ts"), ("clip-h265.mkv", "mov"),
  ]

  @Test(
    .enabled { try await CutEncoder.isInstalled(for: "clip-h265.mp4") },
    arguments: TestScope.rows(pairsOfH265, usually: 2)
  ) func encodesOnlyPicturesOfH265ThatCannotBeCopied(source: String, suffix: String) async throws {
    try await Self.expectExactCuts(
      of: CutTests.media(source), to: suffix, Self.requestsOfH265, pictureCount: 62, decoder: "avdec_h265")
  }

  /// Ranges of a stream of 50 pictures, with CRA pictures at 0, 12, 24, 36 and 48, each with three RASL pictures.
  static let openRequests: [Request] = [
    // A CRA picture behind a seam.
    ([10..<40], 2...5), ([20..<50], 4...4),
    // RASL pictures behind the in-point.
    ([21..<50], 3...3), ([23..<50], 1...1),
    // Ranges that begin with CRA pictures, behind one another.
    ([12..<50], 0...0), ([12..<24, 12..<24], 0...6), ([24..<30, 12..<20, 36..<50], 0...6),
    // Without a CRA picture.
    ([25..<33], 8...8), ([5..<30, 40..<45, 5..<30], 15...25),
  ]

  @Test(
    .enabled { try await CutEncoder.isInstalled(for: "clip-h265.mp4") },
    arguments: TestScope.rows(["mp4", "h265", "mkv", "ts"], usually: 2)
  ) func encodesLeadingPicturesThatNeedOthers(suffix: String) async throws {
    try await Self.expectExactCuts(
      of: CutTests.media("open-gop.h265"), to: suffix, Self.openRequests, pictureCount: 50, decoder: "avdec_h265")
  }

  /// Ranges of a stream of 100 pictures, with recovery points at 12, 24, 36 and so on, each with leading pictures.
  static let recoveryPointRequests: [Request] = [
    // A recovery point behind a seam of several pictures, and of one.
    ([10..<40], 2...3), ([13..<100], 11...11), ([23..<50], 1...2), ([95..<100], 1...1),
    // Several ranges, which lead to marking operations for missing pictures.
    ([35..<60, 47..<70], 2...4), ([5..<30, 40..<45, 5..<30], 15...30),
    // Ranges that begin with recovery points, behind one another.
    ([12..<50], 0...2), ([12..<24, 12..<24], 0...6), ([24..<30, 12..<20, 36..<50], 0...8),
    // Without a recovery point.
    ([25..<33], 8...8),
  ]

  @Test(arguments: TestScope.rows(["mp4", "h264", "mkv", "ts"], usually: 2))
  func encodesPicturesInFrontOfRecoveryPoints(suffix: String) async throws {
    try await Self.expectExactCuts(
      of: CutTests.media("open-gop.h264"), to: suffix, Self.recoveryPointRequests, pictureCount: 100,
      decoder: "avdec_h264")
  }

  /// A pipe is written once, so its SPS allows gaps from the beginning.
  @Test func encodesPicturesInFrontOfARecoveryPointIntoAPipe() async throws {
    let (folder, clip) = (try Folder(), CutTests.media("open-gop.h264"))
    let run = try await Program.shell(
      "h26x cut '\(clip)' -o - --format mkv --mode exact --range '#13-#40' | cat > out.mkv", in: folder.url)
    #expect(run.said.contains("encoded"), "\(run.said)")
    #expect(try await CutTests.pictures("out.mkv", in: folder).count == 27)
  }

  @Test func reportsMarkingOperationsThatAreRemoved() async throws {
    let folder = try Folder()
    let run = try await Program.run(
      ["cut", CutTests.media("open-gop.h264"), "-o", "out.mp4", "--range", "#10-#40"], in: folder.url)
    #expect(run.status == 0 && run.said.contains("; 1 marking operation of pictures that were cut off removed"))
  }

  /// Encoded pictures may be in front of a CRA picture, and of a recovery point of H.264.
  @Test(
    .enabled { try await CutEncoder.isInstalled(for: "clip-h265.mp4") }, arguments: ["open-gop.h265", "open-gop.h264"]
  ) func plansSeamsInFrontOfOpenEntries(source: String) async throws {
    let folder = try Folder()
    let run = try await Program.run(
      ["cut", CutTests.media(source), "-o", "out.mp4", "--range", "#10-#40", "--plan"], in: folder.url)
    #expect(run.status == 0 && run.text.contains(#""mode": "exact""#), "\(run.text)\(run.said)")
  }

  /// The requests on a clip whose SPS encoded pictures cannot have: they have another one.
  @Test(arguments: TestScope.rows(["mp4", "h264", "mkv", "ts", "mov", "flv"], usually: 2))
  func encodesPicturesInStreamsWithACycleOfOrderCounts(suffix: String) async throws {
    let folder = try Folder()
    try folder.write("in.h264", OrderCountCycle.stream(of: "clip.h264"))
    let made = try await Program.run(["repack", "in.h264", "-o", "in.mkv", "--framerate", "25"], in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    let source = folder.url.appending(path: "in.mkv").path
    let original = try await CutTests.pictures(CutTests.media("clip.mkv"), in: folder)
    #expect(try await CutTests.pictures(source, in: folder) == original)
    try await Self.expectExactCuts(of: source, to: suffix, Self.requests, pictureCount: 62, decoder: "avdec_h264")
  }

  /// Only IDR pictures can be behind pictures of another SPS.
  @Test func refusesARecoveryPointBehindPicturesOfAnotherSPS() async throws {
    let folder = try Folder()
    try folder.write("in.h264", OrderCountCycle.stream(of: "open-gop.h264"))
    for (ranges, said) in [(["#10-#40"], "cut with --mode keyframe, because"), (["#25-#33", "#12-#40"], "because")] {
      let run = try await Program.run(
        ["cut", "in.h264", "-o", "out.h264", "--force"] + ranges.flatMap { ["--range", $0] }, in: folder.url)
      #expect(run.status == 0 && run.said.contains("\(said) a recovery point follows the seam"), "\(run.said)")
      #expect(try await !Self.findings("out.h264", in: folder).contains("set-activation"), "\(ranges)")
      let plan = try await Program.run(
        ["cut", "in.h264", "-o", "other.h264", "--plan"] + ranges.flatMap { ["--range", $0] }, in: folder.url)
      #expect(plan.text.components(separatedBy: "a recovery point follows the seam").count == 2, "\(plan.text)")
      #expect(plan.text.components(separatedBy: #""mode": "keyframe""#).count == 2, "\(plan.text)")
    }
  }

  /// - Parameter decoder: of libavcodec, without our session.
  private static func expectExactCuts(
    of source: String, to suffix: String, _ requests: [Request], pictureCount: Int, decoder: String
  ) async throws {
    let base = try Folder()
    let all = try await CutTests.pictures(source, in: base)
    try #require(all.count == pictureCount)
    let findings = try await Self.findings(source, in: base)
    try await Crowd.each(Array(TestScope.rows(requests, usually: 4).enumerated())) { number, request in
      let (folder, target) = (try Folder(), "\(number).\(suffix)")
      let options = request.ranges.flatMap { ["--range", "#\($0.lowerBound)-#\($0.upperBound)"] }
      let run = try await Program.run(
        ["cut", source, "-o", target, "--mode", "exact"] + options, in: folder.url)
      #expect(run.status == 0 && !run.said.contains("because"), "\(source) to \(target), \(request): \(run.said)")
      let encoded = run.said.split(separator: ";").filter { $0.contains("encoded") }
        .compactMap { $0.split(separator: " ").first.flatMap { Int($0) } }.reduce(0, +)
      #expect(request.encoded.contains(encoded), "\(source) to \(target), \(request): \(run.said)")
      let pictures = try await CutTests.pictures(target, in: folder)
      let wanted = request.ranges.flatMap { $0 }
      #expect(pictures.count == wanted.count, "\(source) to \(target), \(request)")
      let changed = zip(pictures, wanted).count { $0 != all[$1] }
      #expect(changed <= encoded, "\(source) to \(target), \(request): \(changed) of \(encoded)")
      #expect(try await Self.findings(target, in: folder).subtracting(findings) == [], "\(source) to \(target)")
      let stock = try await Program.run(["compare", target, "--decoder", decoder], in: folder.url)
      #expect(stock.status == 0, "\(source) to \(target), \(request): \(stock.text)\(stock.said)")
    }
  }

  /// The rules of a file's findings.
  private static func findings(_ name: String, in folder: Folder) async throws -> Set<String> {
    let run = try await Program.run(["check", "--json", name], in: folder.url)
    return Set(
      run.text.split(separator: "\n").compactMap { line in
        let finding = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        return finding?["rule"] as? String
      })
  }

  /// The luma of each picture is close to that of the source.
  @Test(
    arguments: [
      ("clip.mp4", 5..<45, "18"), ("clip.mp4", 3..<17, "18"), ("clip.mp4", 33..<50, "5"),
      ("clip-h265.mp4", 10..<40, "18"),
    ]
  ) func encodesPicturesWell(clip: String, range: Range<Int>, quality: String) async throws {
    guard try await CutEncoder.isInstalled(for: clip) else { return }
    let folder = try Folder()
    let options = ["--range", "#\(range.lowerBound)-#\(range.upperBound)", "--quality", quality]
    let (source, target) = (CutTests.media(clip), "out.mp4")
    let run = try await Program.run(["cut", source, "-o", target] + options, in: folder.url)
    #expect(run.status == 0 && run.said.contains("encoded"), "\(run.said)")
    // Without encoding, the same pictures are hidden.
    let hidden = try await Program.run(
      ["cut", source, "-o", "hidden.mp4", "--mode", "hidden"] + options, in: folder.url)
    #expect(hidden.status == 0, "\(hidden.said)")
    let compared = try await Program.run(["compare", "hidden.mp4", target, "--all"], in: folder.url)
    let numbers = compared.text.matches(of: /\tY ([0-9.]+) dB/).compactMap { Double($0.1) }
    #expect(!numbers.isEmpty && numbers.allSatisfy { $0 >= 40 }, "\(compared.text)")
  }

  /// Streams of which no seam can be made are cut in another way, with a line.
  static let others: [(source: String, target: String, options: [String], said: String)] = [
    (
      "interlaced.h265", "out.mp4", ["--range", "0.12-0.36"],
      "range 0:00:00.120-0:00:00.360: cut with --mode hidden, because its pictures are fields"
    ), ("interlaced.h265", "out.mkv", ["--range", "0.12-0.36"], "cut with --mode keyframe, because"),
    ("intra-refresh.h264", "out.mp4", ["--range", "#30-#40"], "gradual refresh"),
    ("intra-refresh.h264", "out.mkv", ["--range", "#30-#40"], "gradual refresh"),
  ]

  @Test func fallsBackToAnotherMode() async throws {
    try await Crowd.each(Self.others) { source, target, options, said in
      let folder = try Folder()
      let run = try await Program.run(["cut", CutTests.media(source), "-o", target] + options, in: folder.url)
      #expect(run.status == 0 && run.said.contains(said), "\(source) to \(target): \(run.said)")
      #expect(run.said.split(separator: "\n").count { $0.contains("because") } == 1, "\(run.said)")
    }
  }

  @Test(arguments: ["mp4", "mkv"]) func encodesAllOfAGradualRefreshOnRequest(suffix: String) async throws {
    let folder = try Folder()
    let options = ["-o", "out.\(suffix)", "--range", "#30-#40", "--encode-all"]
    let run = try await Program.run(["cut", CutTests.media("intra-refresh.h264")] + options, in: folder.url)
    #expect(run.status == 0 && run.said.contains("; 10 pictures encoded"), "\(run.said)")
    #expect(!run.said.contains("because"), "\(run.said)")
    #expect(try await CutTests.pictures("out.\(suffix)", in: folder).count == 10)
    let plan = try await Program.run(
      ["cut", CutTests.media("intra-refresh.h264"), "--plan"] + options, in: folder.url)
    #expect(plan.text.contains(#""mode": "exact""#), "\(plan.text)")
  }

  /// A NAL unit behind each slice: of SVC and MVC, of Dolby Vision's enhancement layer, and of a second layer of H.265.
  static let layers: [(source: String, nalUnit: [UInt8])] = [
    ("clip.h264", [0x74, 0x40, 0, 7, 0x80]), ("clip.h265", [0x7E, 0x01, 0x26, 0x01, 0x80]),
    ("clip.h265", [0x02, 0x09, 0x80]),
  ]

  @Test func aStreamWithSeveralLayersIsCutInAnotherMode() async throws {
    try await Crowd.each(Self.layers) { source, nalUnit in
      let folder = try Folder()
      let clip = [UInt8](try Data(contentsOf: URL(fileURLWithPath: CutTests.media(source))))
      var bytes: [UInt8] = []
      for range in NALPackaging.annexB.nalUnits(of: clip.span) where !range.isEmpty {
        let isSlice =
          source == "clip.h264"
          ? H264.NALUnitType(headerByte: clip[range.lowerBound]).isVCL
          : H265.NALUnitType(headerByte: clip[range.lowerBound]).isVCL
        bytes += [0, 0, 0, 1] + clip[range] + (isSlice ? [0, 0, 0, 1] + nalUnit : [])
      }
      try folder.write(source, Data(bytes))
      for (target, mode) in [("out.mp4", "hidden"), ("out.mkv", "keyframe")] {
        let run = try await Program.run(["cut", source, "-o", target, "--range", "0.12-0.36"], in: folder.url)
        #expect(
          run.status == 0 && run.said.contains("cut with --mode \(mode), because it has several layers"),
          "\(nalUnit): \(run.said)")
      }
    }
  }

  /// libavcodec has no encoder of H.264 for 14 bits.
  @Test func aFormatWithoutAnEncoderIsCutInAnotherMode() async throws {
    let folder = try Folder()
    try folder.write("in.h264", FieldStream.make(frames: 24, isPredicted: true, depth: 14))
    for (target, mode) in [("out.mp4", "hidden"), ("out.mkv", "keyframe")] {
      let run = try await Program.run(["cut", "in.h264", "-o", target, "--range", "#3-#11"], in: folder.url)
      #expect(
        run.status == 0 && run.said.contains("cut with --mode \(mode), because there is no encoder"), "\(run.said)")
    }
  }

  /// Composition times in decoding order, as `ffmpeg -c copy` writes for byte streams.
  @Test(arguments: ["clip.mp4", "clip-h265.mp4"]) func reportsTimesThatContradictTheOrderOfPictures(
    name: String
  ) async throws {
    guard try await CutEncoder.isInstalled(for: name) else { return }
    let folder = try Folder()
    var clip = [UInt8](try Data(contentsOf: URL(fileURLWithPath: CutTests.media(name))))
    let box = try #require(Data(clip).range(of: Data("ctts".utf8))).upperBound
    let count = Int(clip[box + 6]) << 8 | Int(clip[box + 7])
    try #require(count > 1)
    // Each run of samples gets the offset of the first.
    for entry in 1..<count {
      for byte in 12..<16 { clip[box + 8 * entry + byte] = clip[box + byte] }
    }
    try folder.write("in.mp4", Data(clip))
    for (target, mode) in [("out.mp4", "hidden"), ("out.mkv", "keyframe")] {
      let run = try await Program.run(["cut", "in.mp4", "-o", target, "--range", "#3-#17"], in: folder.url)
      let reason = "because the times of pictures contradict their order in the stream"
      #expect(run.status == 0 && run.said.contains("cut with --mode \(mode), \(reason)"), "\(run.said)")
      #expect(run.said.split(separator: "\n").count { $0.contains("because") } == 1, "\(run.said)")
    }
  }

  /// Pictures next to damage are left out, up to the next entry or behind the last picture that can be copied. The other
  /// end is exact. Without an entry, nothing else would be left.
  @Test func leavesOutPicturesNextToDamage() async throws {
    let base = try Folder()
    var clip = [UInt8](try Data(contentsOf: URL(fileURLWithPath: CutTests.media("clip.h264"))))
    let slices = NALPackaging.annexB.nalUnits(of: clip.span).filter {
      !$0.isEmpty && H264.NALUnitType(headerByte: clip[$0.lowerBound]).isVCL
    }
    // Four slices a picture.
    try #require(slices.count == 4 * 62)
    for slice in slices[48..<60] {
      for place in slice.lowerBound + slice.count / 2..<slice.upperBound { clip[place] = 0xA5 }
    }
    try base.write("in.h264", Data(clip))
    let (source, reason) = (
      base.url.appending(path: "in.h264").path, "because pictures at the seam cannot be decoded without errors"
    )
    let all = try await CutTests.pictures("in.h264", in: base)
    try #require(all.count == 62)
    func cut(_ range: Range<Int>, _ target: String) async throws -> (pictures: [String], said: String) {
      let folder = try Folder()
      let options = ["--range", "#\(range.lowerBound)-#\(range.upperBound)"]
      let run = try await Program.run(["cut", source, "-o", target] + options, in: folder.url)
      #expect(run.status == 0, "\(run.said)")
      return (try await CutTests.pictures(target, in: folder), run.said)
    }
    for target in ["out.mp4", "out.mkv", "out.ts"] {
      let (pictures, said) = try await cut(10..<50, target)
      #expect(pictures.count == 30 && pictures.prefix(20) == all[20..<40], "\(said)")
      #expect(said.contains("range 0:00:00.400-0:00:02.000: begins at 0:00:00.800, \(reason)"), "\(said)")
    }
    // Pictures need one behind the end, unless it is between two groups of B pictures.
    var endings = 0
    for end in 16...18 {
      let (pictures, said) = try await cut(0..<end, "out.mkv")
      guard pictures.count < end else { continue }
      endings += 1
      #expect(said.contains(": ends at 0:00:00.") && said.contains(reason), "\(said)")
      #expect(pictures == Array(all[..<pictures.count]) && pictures.count >= end - 3, "\(said)")
    }
    #expect(endings > 0)
    let (pictures, said) = try await cut(3..<17, "out.mp4")
    #expect(pictures.count == 14 && said.contains("cut with --mode hidden, \(reason)"), "\(said)")
  }

  /// libavcodec reports nothing about such damage.
  @Test(.enabled { try await CutEncoder.isInstalled(for: "clip-h265.mp4") }, arguments: ["out.mp4", "out.ts"])
  func leavesOutPicturesOfH265NextToDamage(target: String) async throws {
    let base = try Folder()
    let clip = [UInt8](try Data(contentsOf: URL(fileURLWithPath: CutTests.media("clip.h265"))))
    try base.write("clip.h265", Data(clip))
    let all = try await CutTests.pictures("clip.h265", in: base)
    let slices = NALPackaging.annexB.nalUnits(of: clip.span).filter {
      !$0.isEmpty && H265.NALUnitType(headerByte: clip[$0.lowerBound]).isVCL
    }
    try #require(slices.count == 62 && all.count == 62)
    let reason = "because pictures at the seam cannot be decoded without errors"
    func cut(_ range: Range<Int>, damaging picture: Int) async throws -> (pictures: [String], said: String) {
      var damaged = clip
      let slice = slices[picture]
      for place in slice.lowerBound + slice.count / 2..<slice.upperBound { damaged[place] = 0xA5 }
      let folder = try Folder()
      try folder.write("in.h265", Data(damaged))
      let options = ["--range", "#\(range.lowerBound)-#\(range.upperBound)"]
      let run = try await Program.run(["cut", "in.h265", "-o", target] + options, in: folder.url)
      #expect(run.status == 0, "\(run.said)")
      return (try await CutTests.pictures(target, in: folder), run.said)
    }
    // The second P picture of the first group: encoded pictures refer to it.
    let start = try await cut(10..<62, damaging: 5)
    #expect(start.said.contains("range 0:00:00.400-: begins at 0:00:01.000, \(reason)"), "\(start.said)")
    #expect(start.pictures == Array(all[25...]), "\(start.said)")
    // Picture 33, to which the pictures in front of it refer.
    let end = try await cut(25..<32, damaging: 30)
    #expect(end.said.contains("range 0:00:01.000-0:00:01.280: ends at 0:00:01.200, \(reason)"), "\(end.said)")
    #expect(end.pictures == Array(all[25..<30]), "\(end.said)")
    // Damage in copied pictures changes no end.
    let between = try await cut(10..<62, damaging: 30)
    #expect(between.said.contains("15 pictures encoded") && !between.said.contains("range"), "\(between.said)")
    #expect(between.pictures.count == 52 && between.pictures[15..<20] == all[25..<30], "\(between.said)")
    // Nothing can be copied.
    let within = try await cut(3..<17, damaging: 5)
    #expect(within.said.contains(" \(reason)") && !within.said.contains("encoded,"), "\(within.said)")
  }

  @Test func aStreamWhoseParameterSetsUseAllIDsIsCutInAnotherMode() async throws {
    let folder = try Folder()
    let clip = [UInt8](try Data(contentsOf: URL(fileURLWithPath: CutTests.media("clip.h265"))))
    let sps = try #require(
      NALPackaging.annexB.nalUnits(of: clip.span).first {
        H265.NALUnitType(headerByte: clip[$0.lowerBound]) == .sequenceParameterSet
      })
    var bytes: [UInt8] = []
    for id in UInt8(0)..<16 {
      var identifiers = ParameterSetIdentifiers()
      identifiers[SequenceParameterSetID(0)] = .init(id)
      bytes += [0, 0, 0, 1]
      bytes += try H265.rewritten(parameterSet: clip.span.extracting(sps), identifiers)
    }
    try Data(bytes + clip).write(to: folder.url.appending(path: "all.h265"))
    let run = try await Program.run(
      ["cut", "all.h265", "-o", "out.mp4", "--range", "0.12-0.36"], in: folder.url)
    #expect(run.status == 0 && run.said.contains("because its parameter sets use all ids"), "\(run.said)")
  }

  /// A frame of two fields begins with an IDR picture. Nothing but its second field is between it and the next one.
  @Test(arguments: ["h264", "ts", "mp4", "mkv"]) func neighboringIDRPicturesOfFieldsHaveDifferentNumbers(
    suffix: String
  ) async throws {
    let folder = try Folder()
    try folder.write("in.h264", FieldStream.make(frames: 24, isPredicted: true))
    let cut = try await Program.run(
      ["cut", "in.h264", "-o", "out.\(suffix)", "--range", "#0-#1", "--range", "#0-#1", "--range", "#16-#18"]
        + ["--range", "#0-#1", "--range", "#8-#9", "--range", "#15-#17", "--range", "#0-#24"], in: folder.url)
    #expect(cut.status == 0 && cut.said.contains("; 1 picture encoded"), "\(cut.said)")
    let findings = try await Self.findings("in.h264", in: folder)
    #expect(try await Self.findings("out.\(suffix)", in: folder).subtracting(findings) == [])
  }

  /// Pieces of pieces have IDR pictures whose numbers were changed before.
  @Test func neighboringIDRPicturesOfPiecesHaveDifferentNumbers() async throws {
    let folder = try Folder()
    try folder.write("0.h264", FieldStream.make(frames: 24, isPredicted: true))
    for number in 1...3 {
      // At first, the last picture of a group is encoded.
      let middle = number == 1 ? "#7-#9" : "#1-#3"
      let run = try await Program.run(
        ["cut", "\(number - 1).h264", "-o", "\(number).h264", "--range", "#0-#1", "--range", middle]
          + ["--range", "#0-#1", "--range", "#0-#2"], in: folder.url)
      #expect(run.status == 0, "\(run.said)")
      #expect(try await !Self.findings("\(number).h264", in: folder).contains("idr-pic-id"), "\(number)")
      let join = try await Program.run(
        ["join", "\(number).h264", "\(number - 1).h264", "\(number).h264", "-o", "joined.h264", "--force"],
        in: folder.url)
      #expect(join.status == 0, "\(join.said)")
      #expect(try await !Self.findings("joined.h264", in: folder).contains("idr-pic-id"), "\(number)")
    }
  }

  /// A buffer with a constant bit rate overflows if they are decoded late.
  @Test func encodedPicturesAreDecodedWithoutAGap() async throws {
    let folder = try Folder()
    let run = try await Program.run(
      ["cut", CutTests.media("clip.mp4"), "-o", "out.mp4", "--range", "#0-#6"], in: folder.url)
    #expect(run.status == 0 && run.said.contains("; 1 picture encoded"), "\(run.said)")
    let list = try await Program.run(["inspect", "--json", "out.mp4"], in: folder.url).text
    let times = list.components(separatedBy: "\"dts\":").dropFirst().compactMap { Int($0.prefix { $0.isNumber }) }
    #expect(times.count == 6 && Set(zip(times.dropFirst(), times).map(-)).count == 1, "\(times)")
  }

  /// A range that begins with a keyframe and ends in front of one needs no encoder.
  @Test func copiesRangesOfH265BetweenKeyframes() async throws {
    let folder = try Folder()
    let all = try await CutTests.pictures(CutTests.media("clip-h265.mp4"), in: folder)
    let run = try await Program.run(
      ["cut", CutTests.media("clip-h265.mp4"), "-o", "out.mkv", "--range", "#25-#50"], in: folder.url)
    #expect(run.status == 0 && !run.said.contains("because") && !run.said.contains("encoded"), "\(run.said)")
    #expect(try await CutTests.pictures("out.mkv", in: folder) == Array(all[25..<50]))
  }
}
