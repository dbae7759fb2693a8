// SPDX-License-Identifier: MPL-2.0
import H26x
import TestSupport
import Testing

@testable import VideoDecoding

/// Pictures that are skipped for a while: what is shown and not flagged is as without skipping.
@Suite struct SkippingTests: StageBuilders {
  typealias Level = SessionConfiguration.SkipFrames
  /// Frames and fields.
  private static let streams = [
    "clip.h264", "open-gop.h264", "interlaced.h264", "small-slices.h264", "clip.h265", "open-gop.h265",
    "interlaced.h265", "HPCAFL_BRCM_C.264", "freh3.264", "freh6.264", "freh11.264", "HPCVFL_BRCM_A.264",
    "cros_test-25fps-interlaced.h264",
  ].filter { name in
    !name.hasSuffix("4") || !name.contains("_") && !name.hasPrefix("freh")
      || Vector.ofBothCodecs.contains { $0.file.hasSuffix("/" + name) }
  }
  private let bytes: [UInt8] = [1]
  private static let places = [3..<9, 20..<23, 21..<24, 8..<9, 5..<30]

  /// Decodes the first access units of a stream, and skips in a part of them.
  private func decode(
    _ stream: CodedStream, _ configuration: SessionConfiguration, _ level: Level = .none, in range: Range<Int> = 0..<0
  ) throws -> Run {
    let session = try stream.session(configuration)
    var run = Run()
    for (index, unit) in stream.units.prefix(60).enumerated() {
      session.skipFrames = range.contains(index) ? level : .none
      try session.decode(unit.span, tag: UInt64(index))
      session.takeResults(into: &run)
    }
    session.drain()
    session.takeResults(into: &run)
    return run
  }

  @Test(arguments: TestScope.rows(streams, usually: 5)) func skippingFlagsPicturesOrLeavesThemUnchanged(_ name: String)
    throws
  {
    let stream = try CodedStream(name)
    let whole = try decode(stream, .threadings[0])
    let right = Set(whole.checksums)
    var flagged = 0
    for configuration in SessionConfiguration.threadings {
      for level in Level.allCases.dropFirst() {
        for range in Self.places where range.upperBound < stream.units.count {
          let run = try decode(stream, configuration, level, in: range)
          #expect(run.accounts(for: min(stream.units.count, 60)) && run.failures.isEmpty)
          for picture in run.frames where !picture.isCorrupt {
            let line = "\(picture.tag) \(picture.fingerprint)"
            #expect(right.contains(line), "\(level), \(range), \(picture.tag)")
          }
          let count = run.frames.count { $0.isCorrupt }
          // Nothing refers to what is skipped, and B pictures that others refer to are decoded.
          if level == .nonReference || level == .bidirectional && stream.format.codec == .h264 {
            #expect(count == 0, "\(level), \(range)")
          }
          #expect(run.frames.count < whole.frames.count || level != .nonKey || range.count < 3)
          flagged += count
        }
      }
    }
    #expect(flagged > 0)
  }

  // MARK: Fields

  /// A pair is decoded or skipped as a whole, whatever its second field is and whenever skipping begins or ends. The
  /// exception is a field that others may refer to, which is decoded alone.
  @Test(
    arguments: [
      (false, false, Level.nonReference, Level.nonReference, "decoded decoded"),
      (false, true, .nonReference, .nonReference, "decoded decoded"),
      (true, true, .nonReference, .nonReference, "skipped skipped"),
      (true, false, .nonReference, .nonReference, "skipped alone"),
      (true, true, .nonReference, .none, "skipped skipped"), (true, false, .nonReference, .none, "skipped alone"),
      (true, true, .none, .nonReference, "decoded decoded"), (false, true, .none, .nonReference, "decoded decoded"),
      (false, false, .nonKey, .nonKey, "skipped skipped"), (false, false, .nonKey, .none, "skipped skipped"),
      (false, false, .none, .nonKey, "decoded decoded"), (true, true, .bidirectional, .none, "skipped skipped"),
      (true, true, .none, .bidirectional, "decoded decoded"),
    ] as [(Bool, Bool, Level, Level, String)])
  func skipsBothFieldsOfAFrame(
    _ first: Bool, _ second: Bool, _ firstLevel: Level, _ secondLevel: Level, _ expected: String
  ) {
    var input = SessionInput(H264StreamFollower(lengthSize: nil))
    let use = [(first, firstLevel), (second, secondLevel)].enumerated().map { index, field in
      var summary = DecodingSummary()
      summary.nalUnitType = 1
      summary.isField = true
      summary.isSecondField = index == 1
      (summary.isDiscardable, summary.isReference) = (field.0, !field.0)
      let reason = input.reasonToDrop(bytes.span, &summary, after: nil, skipping: field.1)
      #expect(summary.isSecondField == (index == 1 && !summary.lacksFirstField) && !summary.isHidden)
      return reason == .skipped ? "skipped" : summary.lacksFirstField ? "alone" : "decoded"
    }
    #expect(use.joined(separator: " ") == expected)
  }

  /// Parameter sets and SEI belong to neither field, and are skipped at no level.
  @Test func accessUnitsWithoutPicturesAreNotSkipped() {
    var input = SessionInput(H264StreamFollower(lengthSize: nil))
    for level in Level.allCases {
      var summary = DecodingSummary()
      #expect(input.reasonToDrop(bytes.span, &summary, after: nil, skipping: level) == nil)
    }
  }

  @Test func decidesWhichPicturesToSkip() {
    func uses(_ change: (inout DecodingSummary) -> Void) -> [PictureUse] {
      var summary = DecodingSummary()
      summary.nalUnitType = 1
      summary.isReference = true
      change(&summary)
      summary.isDiscardable = !summary.isReference
      return Level.allCases.map { H264StreamFollower(lengthSize: nil).use(of: summary, skipping: $0) }
    }
    #expect(uses { _ in } == [.decoded, .decoded, .decoded, .skipped])
    #expect(uses { $0.isReference = false } == [.decoded, .skipped, .skipped, .skipped])
    #expect(uses { $0.isBidirectional = true } == [.decoded, .decoded, .hidden, .skipped])
    #expect(uses { $0.randomAccess = .idr } == [.decoded, .decoded, .decoded, .decoded])
    #expect(uses { $0.randomAccess = .recoveryPoint(frameCount: 3) } == [.decoded, .decoded, .decoded, .decoded])
    #expect(uses { $0.randomAccess = .intra } == [.decoded, .decoded, .decoded, .skipped])
    let ends = uses {
      ($0.isReference, $0.completesRecovery) = (false, true)
    }
    #expect(ends == [.decoded, .decoded, .decoded, .skipped])
  }

  /// A field that is decoded without the first one of its frame is damaged, and what refers to it is not.
  @Test func aFieldWithoutTheFirstIsDamaged() {
    var damage = DamageTracker()
    var record = record(3) { $0.lacksFirstField = true }
    damage.admit(&record)
    #expect(record.taint == .tainted && !damage.isTainted)
  }
}
