// SPDX-License-Identifier: MPL-2.0
import StreamReport
import TestSupport
import Testing

@testable import Containers

/// Plans, by roles and times alone.
@Suite struct CutPlanTests {
  private static let open = MadeStream("C0 P3 b1 b2 P6 b4 b5 P9 b7 b8 C12 b10 b11 P13", repeated: 9)
  private static let gradual = MadeStream("I0 P1 G2 P3 P4 G5 P6 P7")

  private static func planner(_ stream: MadeStream) -> CutPlanner {
    var planner = CutPlanner()
    for accessUnit in stream.accessUnits {
      planner.add(presentation: accessUnit.presentation, duration: accessUnit.duration, role: accessUnit.role)
    }
    return planner
  }

  private static func part(
    _ stream: MadeStream, _ start: Int, _ end: Int?, _ abilities: CutPlan.Abilities = CutPlan.Abilities()
  ) -> CutPlan.Part? {
    let range = ResolvedRange(start: stream.times[start], end: end.map { stream.times[$0] })
    return planner(stream).plan([range], abilities).parts.first
  }

  @Test func findsTimesAndDuration() throws {
    let planner = Self.planner(MadeStream("I0/ P3/ b1/ b2/ I4/ P5/", isUneven: true))
    #expect(planner.origin == 0 && planner.pictureTimes == [0, 1, 3, 6, 7, 9].map { $0 * MadeStream.tick })
    #expect(planner.duration == 12 * MadeStream.tick)
    #expect(CutPlanner().origin == nil && CutPlanner().duration == 0 && CutPlanner().pictureTimes.isEmpty)
    #expect(CutPlanner().plan([ResolvedRange(start: 0)], CutPlan.Abilities()).parts.map(\.reasons) == [[.noPicture]])
  }

  /// An edit list may begin within a picture, which counts as the first one.
  @Test func countsAFirstPictureOfWhichAPartIsShown() throws {
    let (stream, tick) = (MadeStream("I0 P1 P2 P3"), MadeStream.tick)
    var planner = CutPlanner(of: ShownRange(start: tick + tick / 4, end: nil, time: 0))
    for accessUnit in stream.accessUnits {
      planner.add(presentation: accessUnit.presentation, duration: accessUnit.duration, role: accessUnit.role)
    }
    #expect(planner.pictureTimes == [0, tick * 3 / 4, tick * 7 / 4])
    for mode in [Window.Bounds.Mode.exact, .hidden] {
      let abilities = CutPlan.Abilities(mode: mode, hasEditList: true)
      let ranges = try CutRequest.ranges([CutRange(text: "#0-#1"), CutRange(text: "#1-#2")])
        .ranges(duration: planner.duration, pictureTimes: planner.pictureTimes)
      let parts = planner.plan(ranges, abilities).parts
      let numbers = parts.map { mode == .exact ? $0.encoded.runs : $0.copied.runs }
      #expect(numbers == [[1...1], [2...2]], "\(mode)")
    }
  }

  /// A range has the pictures that begin in it, also if it begins or ends between pictures.
  @Test(
    arguments: ["I0 P3 b1 b2 P6 b4 b5 I7 P8", "C0 P3 b1 b2 C6 b4 b5 P9 b7 b8", "I0/ P3/ b1/ b2/ I4/ P5/"],
    [false, true])
  func hasThePicturesThatBeginInTheRange(text: String, isUneven: Bool) throws {
    let planner = Self.planner(MadeStream(text, repeated: 3, isUneven: isUneven))
    let (step, times) = (MadeStream.tick / 4, planner.pictureTimes)
    for start in stride(from: 0, to: planner.duration, by: 5 * Int(step)) {
      for end in stride(from: start + step, to: planner.duration, by: 11 * Int(step)) {
        let wanted = times.filter { $0 >= start && $0 < end }
        for mode in [Window.Bounds.Mode.exact, .hidden] {
          let abilities = CutPlan.Abilities(mode: mode, hasEditList: true)
          let plan = planner.plan([ResolvedRange(start: start, end: end)], abilities)
          let part = try #require(plan.parts.first)
          let what: Comment = "\(mode), \(start) to \(end)"
          #expect(part.shown?.lowerBound == wanted.first, what)
          #expect(
            part.shown?.upperBound == wanted.first.map { _ in times.first { $0 >= end } ?? planner.duration }, what)
        }
      }
    }
  }

  /// A plan begins reading at an entry, and a copy begins with the file.
  @Test func plansTheAccessUnitsThatACopyHas() throws {
    var random = SeededGenerator(state: 3)
    for _ in 0..<40 {
      let start = Int.random(in: Self.open.pictures.indices, using: &random)
      let end = Int.random(in: start + 1...Self.open.pictures.count, using: &random)
      let (window, leaving) = try Self.open.cut(start, end)
      let part = try #require(Self.part(Self.open, start, end))
      func numbers(_ disposition: MediaOutput.Disposition) -> AccessUnitNumbers {
        AccessUnitNumbers(leaving.filter { $0.disposition == disposition }.map { Int($0.decoding) })
      }
      #expect(part.mode == .exact && part.reasons.isEmpty, "\(start) to \(end)")
      #expect(part.copied == numbers(.copied) && part.encoded == numbers(.encoded), "\(start) to \(end)")
      #expect(part.needed == numbers(.needed) && part.leftOut == window.tally.leftOut, "\(start) to \(end)")
      #expect(part.shown == Self.open.times[start]..<Self.open.times[end], "\(start) to \(end)")
    }
  }

  @Test(
    arguments: [
      (CutPlan.Abilities(), .exact, []), (CutPlan.Abilities(mode: .exact), .exact, []),
      (CutPlan.Abilities(refusal: .noEncoder, hasEditList: true), .hidden, [.noEncoder]),
      (CutPlan.Abilities(refusal: .noEncoder), .keyframe, [.noEncoder, .noEditList]),
      (CutPlan.Abilities(refusal: .unsupported("14 bit")), .keyframe, [.unsupported("14 bit"), .noEditList]),
      (CutPlan.Abilities(mode: .hidden, hasEditList: true), .hidden, [.requested]),
      (CutPlan.Abilities(mode: .hidden), .keyframe, [.requested, .noEditList]),
      (CutPlan.Abilities(mode: .keyframe, hasEditList: true), .keyframe, [.requested]),
    ] as [(CutPlan.Abilities, Window.Bounds.Mode, [CutPlan.Reason])])
  func takesTheBestModeThatWorks(abilities: CutPlan.Abilities, mode: Window.Bounds.Mode, reasons: [CutPlan.Reason])
    throws
  {
    let part = try #require(Self.part(Self.open, 4, 20, abilities))
    #expect(part.mode == mode && part.reasons == reasons)
  }

  /// The picture behind a seam is a recovery point that cannot become an IDR picture.
  @Test func plansSeamsInFrontOfRecoveryPoints() throws {
    let stream = MadeStream("I0 P3 b1 b2 P6 b4 b5 P9 b7 b8 S12 b10 b11 P13", repeated: 4)
    let free = try #require(Self.part(stream, 4, 20, CutPlan.Abilities(hasEditList: true)))
    #expect(free.mode == .exact)
    let reason = CutPlan.Reason(.recoveryPoint)
    let part = try #require(Self.part(stream, 4, 20, CutPlan.Abilities(openSeam: reason, hasEditList: true)))
    #expect(part.mode == .hidden && part.reasons == [reason])
    // Nothing is encoded in front of it, or another picture follows.
    for (start, end) in [(12, 20), (4, 9), (0, 20)] {
      let part = try #require(Self.part(stream, start, end, CutPlan.Abilities(openSeam: reason, hasEditList: true)))
      #expect(part.mode == .exact, "\(start)-\(end)")
    }
  }

  /// A range with such a recovery point begins earlier behind another range, and as it is in a file of its own.
  @Test func plansBeginningsWithRecoveryPoints() throws {
    let stream = MadeStream("I0 P3 b1 b2 P6 b4 b5 P9 b7 b8 S12 b10 b11 P13", repeated: 4)
    let ranges = [(0, 3), (12, 14)].map { ResolvedRange(start: stream.times[$0], end: stream.times[$1]) }
    let planner = Self.planner(stream)
    func second(_ abilities: CutPlan.Abilities) -> CutPlan.Part { planner.plan(ranges, abilities).parts[1] }
    let joined = second(CutPlan.Abilities(hasEditList: true))
    #expect(joined.mode == .hidden && joined.reasons == [CutPlan.Reason(.recoveryPoint)])
    #expect(joined.copied.count == 2 && joined.hidden.runs.first?.lowerBound == 0)
    let single = second(CutPlan.Abilities(hasEditList: true, beginning: .asItIs))
    #expect(single.mode == .exact && single.copied.runs == [10...10, 13...13])
    // As in a join.
    let keyframe = CutPlan.Abilities(mode: .keyframe, beginning: .anewIfPossible)
    #expect(planner.plan([ranges[1]], keyframe, behindAnother: true).parts[0].copied.runs.first?.lowerBound == 10)
    // No picture is in front of the only recovery point.
    let late = MadeStream("S0 P1 P2 P3 P4 P5")
    let both = [0, 2].map { ResolvedRange(start: late.times[$0], end: late.times[$0 + 1]) }
    let plan = Self.planner(late).plan(both, CutPlan.Abilities(mode: .keyframe))
    #expect(plan.parts.map(\.obstacle) == [nil, .noEntry])
    #expect(throws: Failure.self) { try plan.check("out.mkv", canRetry: true) }
  }

  /// Intra pictures that must become IDR pictures, but cannot, are no entries. A copy tries two of them.
  @Test func plansEntriesThatAreRefused() throws {
    let stream = MadeStream("I0 P1 P2 T3 P4 T5 P6 T7 P8 T9 P10 I11 P12", repeated: 2)
    var planner = CutPlanner()
    for accessUnit in stream.accessUnits {
      var role = accessUnit.role
      role.canBeginAnew = role.start == .closed
      planner.add(presentation: accessUnit.presentation, duration: accessUnit.duration, role: role)
    }
    let ranges = [2, 14].map { ResolvedRange(start: stream.times[$0], end: stream.times[$0 + 11]) }
    let parts = planner.plan(ranges, CutPlan.Abilities(openSeam: CutPlan.Reason(.recoveryPoint))).parts
    #expect(parts.map(\.mode) == [.exact, .exact] && parts.map(\.encoded.count) == [9, 10])
    let others = planner.plan(ranges, CutPlan.Abilities()).parts
    #expect(others.map(\.encoded.count) == [1, 2])
    let promised = planner.plan(ranges, CutPlan.Abilities(needsPromises: true)).parts
    #expect(promised.map(\.encoded.count) == [9, 10])
  }

  /// Without an encoder, all later ranges are hidden, too: each would cost a pass.
  @Test func hidesLaterRangesWithoutAnEncoder() throws {
    let ranges = [(0, 12), (4, 20), (12, 24)].map {
      ResolvedRange(start: Self.open.times[$0], end: Self.open.times[$1])
    }
    let planner = Self.planner(Self.open)
    let parts = planner.plan(ranges, CutPlan.Abilities(refusal: .noEncoder, hasEditList: true)).parts
    #expect(parts.map(\.mode) == [.exact, .hidden, .hidden])
    #expect(parts.map(\.reasons) == [[], [.noEncoder], [.noEncoder]])
    let others = planner.plan(ranges, CutPlan.Abilities(refusal: .noEncoder)).parts
    #expect(others.map(\.mode) == [.exact, .keyframe, .exact])
  }

  /// A pipe is written once, so another mode than the requested one is a failure there.
  @Test func refusesWhatACutRefuses() throws {
    let planner = Self.planner(Self.open)
    let range = ResolvedRange(start: Self.open.times[4], end: Self.open.times[20])
    let plan = planner.plan([range], CutPlan.Abilities(mode: .exact, refusal: .noEncoder))
    try plan.check("out.mkv", canRetry: true)
    let failure = #expect(throws: Failure.self) { try plan.check("-", canRetry: false) }
    #expect(failure?.message == "-: cannot be cut exactly, because there is no encoder for the codec")
    for (mode, reason) in [(Window.Bounds.Mode.keyframe, CutPlan.Reason.pipe), (.exact, .requested)] {
      try planner.plan([range], CutPlan.Abilities(mode: mode, because: reason)).check("-", canRetry: false)
    }
    let empty = ResolvedRange(start: planner.duration + 1_000_000_000)
    try planner.plan([empty, range], CutPlan.Abilities()).check("out.mkv", canRetry: true)
    #expect(throws: Failure.self) {
      try planner.plan([empty], CutPlan.Abilities()).check("out.mkv", canRetry: true)
    }
  }

  /// Ends behind the video are those of the video. A start behind it stays.
  @Test func endsRangesWithTheVideo() throws {
    let planner = Self.planner(MadeStream("I0 P1 P2 P3"))
    let second: Int64 = 1_000_000_000
    let ranges = [ResolvedRange(start: 0, end: second), ResolvedRange(start: second, end: 2 * second)]
    let whole = ResolvedRange(start: 0, end: planner.duration)
    let ending = planner.ending(ranges + [whole, ResolvedRange(start: 0, end: 1)])
    #expect(ending.map(\.end) == [nil, 2 * second, nil, 1])
    #expect(ending.map(\.missingEnd) == [.time(second), nil, nil, nil])
    let parts = planner.plan(ending, CutPlan.Abilities(mode: .keyframe)).parts
    #expect(parts.map(\.reasons) == [[.requested], [.requested, .noPicture], [.requested], [.requested]])
  }

  @Test func needsNoEncoderToCopy() throws {
    let part = try #require(Self.part(Self.open, 12, 24, CutPlan.Abilities(refusal: .noEncoder)))
    #expect(part.mode == .exact && part.encoded.count == 0 && part.copied.count == 12)
  }

  @Test func encodesAllOfAGradualRefreshOnRequest() throws {
    let part = try #require(Self.part(Self.gradual, 3, 7, CutPlan.Abilities(hasEditList: true)))
    #expect(part.mode == .hidden && part.reasons == [.gradualRefresh])
    #expect(part.hidden.count == 3 && part.copied.count == 4)
    let all = try #require(Self.part(Self.gradual, 3, 7, CutPlan.Abilities(hasEditList: true, encodesAll: true)))
    #expect(all.mode == .exact && all.encoded.count == 4 && all.needed.count == 3)
  }

  @Test func reportsARangeWithoutPictures() throws {
    let stream = MadeStream("I0 P1 P2 P3")
    let range = ResolvedRange(start: stream.times[1] + 10_000_000, end: stream.times[2] - 10_000_000)
    let part = try #require(Self.planner(stream).plan([range], CutPlan.Abilities(hasEditList: true)).parts.first)
    #expect(part.mode == .exact && part.reasons == [.noPicture] && part.shown == nil)
  }

  @Test func writesJSON() throws {
    let stream = MadeStream("I0 P3 b1 b2 P6 b4 b5 I7 P8")
    let ranges = [
      ResolvedRange(start: stream.times[5], end: nil, name: "a \"b\"", missingEnd: .picture(12)),
      ResolvedRange(start: 0, end: stream.times[2]),
    ]
    var json = JSONText()
    Self.planner(stream).plan(ranges, CutPlan.Abilities()).write(to: &json)
    #expect(
      String(decoding: json.bytes, as: UTF8.self) == """
        {"schema":1,"parts":[\
        {"name":"a \\"b\\"","start":0.2,"missingEnd":"#12","mode":"exact","reasons":[],"shown":{"start":0.2,"end":0.36},\
        "copied":{"count":2,"runs":[[7,8]]},"encoded":{"count":2,"runs":[[4,4],[6,6]]},\
        "needed":{"count":2,"runs":[[0,1]]},"hidden":{"count":0,"runs":[]},"leftOut":{"front":3}},\
        {"start":0.0,"end":0.08,"mode":"exact","reasons":[],"shown":{"start":0.0,"end":0.08},\
        "copied":{"count":1,"runs":[[0,0]]},"encoded":{"count":1,"runs":[[2,2]]},\
        "needed":{"count":2,"runs":[[0,1]]},"hidden":{"count":0,"runs":[]},"leftOut":{}}]}
        """)
    json = JSONText()
    Self.planner(stream).plan([ranges[0]], CutPlan.Abilities(refusal: .noEncoder)).write(to: &json)
    #expect(
      String(decoding: json.bytes, as: UTF8.self).contains(
        #""mode":"keyframe","reasons":[{"reason":"noEncoder","text":"there is no encoder for the codec"},"#))
  }

  @Test(
    arguments: [([], []), ([3], [3...3]), ([2, 1, 0, 5, 5, 4, 9], [0...2, 4...5, 9...9])]
      as [([Int], [ClosedRange<Int>])])
  func findsRunsOfNumbers(numbers: [Int], runs: [ClosedRange<Int>]) {
    #expect(AccessUnitNumbers(numbers).runs == runs && AccessUnitNumbers(numbers).count == Set(numbers).count)
  }
}
