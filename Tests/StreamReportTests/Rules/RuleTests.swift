// SPDX-License-Identifier: MPL-2.0
import H26x
import StreamReport
import Testing

@Suite("Rules: a stream that breaks each") struct RuleTests {
  /// A stream and the rules that it breaks, no other.
  struct Case: Sendable, CustomTestStringConvertible {
    let rules: Set<Rule>
    let bytes: [UInt8]
    /// Whether slice data are read.
    var isDeep = false
    var testDescription: String { rules.map { "\($0.name)" }.sorted().joined(separator: ", ") }

    init(_ rules: Rule..., stream: TestStream) { (self.rules, bytes) = (Set(rules), stream.bytes) }
    init(_ rules: Rule..., deep: TestStream) { (self.rules, bytes, isDeep) = (Set(rules), deep.bytes, true) }
    init(_ rules: Rule..., h265: H265TestStream) { (self.rules, bytes) = (Set(rules), h265.bytes) }
    init(_ rules: Rule..., mp4: MP4TestFile) { (self.rules, bytes) = (Set(rules), mp4.bytes) }
    init(_ rules: Rule..., bytes: [UInt8]) { (self.rules, self.bytes) = (Set(rules), bytes) }
  }

  @Test("A correct stream breaks no rule")
  func aCorrectStreamBreaksNoRule() throws {
    let stream = TestStream().adding(
      .init(frameNumber: 1, order: 4), .init(type: 1, frameNumber: 2, order: 2, reference: 0),
      .init(frameNumber: 2, order: 6))
    #expect(try findings(stream.bytes).isEmpty)
    #expect(try findings(MP4TestFile(Self.two()).bytes).isEmpty)
    // The same rate, and one that differs by less than Matroska's rounding.
    for ticks in [100, 101] as [UInt32] { #expect(try findings(Self.even(ticks: ticks).bytes).isEmpty) }
    let h265 = H265TestStream().adding(
      .init(order: 2, references: [2]), .init(order: 4, references: [2, 4]),
      .init(type: .trailingN, order: 5, kind: 0, references: [1, 3]), .init(order: 6, references: [2, 4]))
    #expect(try findings(h265.bytes).isEmpty)
  }

  @Test("Every rule has a stream that breaks it")
  func everyRuleHasAStreamThatBreaksIt() {
    let broken = Self.cases.reduce(into: Set<Rule>()) { $0.formUnion($1.rules) }
    #expect(Set(Rule.allCases).subtracting(broken).isEmpty)
  }

  @Test("A stream that breaks a rule has this finding and no other", arguments: cases)
  func aBrokenRuleIsTheOnlyFinding(_ example: Case) throws {
    let found = try findings(example.bytes, isDeep: example.isDeep)
    #expect(Set(found.map(\.rule)) == example.rules)
  }

  @Test("The signalled and the actual reorder depth")
  func reportsTheReorderDepth() throws {
    let found = try findings(Self.reordered(sent: 1).bytes)
    let finding = try #require(found.first)
    #expect(String(decoding: finding.expected.bytes, as: UTF8.self) == "max_num_reorder_frames 1 at most")
    #expect(finding.clause.description == "E.2.1")
    #expect(finding.accessUnit == 3)
  }

  /// An IDR picture and another.
  static func two(_ sequence: TestStream.Sequence = .init()) -> TestStream {
    TestStream(sequence).adding(.init(frameNumber: 1, order: 2))
  }

  @Test("Start codes instead of lengths in all samples are one finding", arguments: [false, true])
  func startCodesInsteadOfLengthsAreOneFinding(hasRecord: Bool) throws {
    let file = Self.two { file in
      file.samples = file.samples.map { [0, 0, 0, 1] + $0.dropFirst(4) }
      guard !hasRecord else { return }
      let sets = TestStream.sps() + [0, 0, 0, 1] + TestStream.pps()
      (file.configuration, file.samples[0]) = ([], [0, 0, 0, 1] + sets + file.samples[0])
    }
    for readsPayload in [false, true] {
      var options = ReportOptions()
      options.readsPayload = readsPayload
      let items = try report(file.bytes, options)
      let found = items.compactMap { if case .finding(let finding) = $0 { finding } else { nil } }
      let samples = found.filter { $0.rule == .containerSample }
      #expect(samples.map { String(decoding: $0.found.bytes, as: UTF8.self) } == ["2 samples with start codes"])
      #expect(samples.first?.accessUnit == 0)
      #expect(found.count == (hasRecord ? 1 : 2), "\(found)")
    }
  }

  @Test("Sync flags of a demultiplexer that sets all of them are ignored", arguments: [true, false])
  func ignoresSyncFlagsIfAllAreSet(callsAll: Bool) {
    let file = Self.two { _ in }
    var reporter = SampleReporter(.h264, in: .matroska, configuration: file.configuration)
    for (index, isSync) in [true, callsAll, true].enumerated() {
      let time = Int64(index) * 40_000_000
      reporter.feed(file.samples[min(index, 1)], .init(pts: time, dts: nil, duration: 40_000_000, isSync: isSync))
    }
    reporter.finish()
    var count = 0
    while let item = reporter.next() {
      if case .finding(let finding) = item, finding.rule == .containerSync { count += 1 }
    }
    #expect(count == (callsAll ? 0 : 1))
  }

  @Test("A picture of I slices is a starting point unless recovery points are signaled", arguments: [false, true])
  func intraPicturesAreStartsUnlessRecoveryPointsAreSignaled(signalsRecoveryPoints: Bool) throws {
    var file = MP4TestFile(TestStream().adding(.init(type: 2, frameNumber: 1, order: 2)))
    file.sync = [1, 2]
    if signalsRecoveryPoints { file.samples[0] = MP4TestFile.prefixed([6, 6, 1, 0xC4, 0x80]) + file.samples[0] }
    let rules = try findings(file.bytes).map(\.rule)
    #expect(rules == (signalsRecoveryPoints ? [.containerSync] : []))
    let keyframes = try report(file.bytes).compactMap { item in
      if case .accessUnit(let unit) = item { unit.keyframe } else { nil }
    }
    #expect(keyframes == [.idr, signalsRecoveryPoints ? .none : .intra])
  }

  @Test("A parameter set with a trailing zero byte is the same set")
  func aSetWithATrailingZeroIsTheSameSet() throws {
    var file = MP4TestFile(Self.two())
    let pps = TestStream.pps()
    file.configuration.removeLast(pps.count + 2)
    file.configuration += [0, UInt8(pps.count + 1)] + pps + [0]
    file.samples[0] = MP4TestFile.prefixed(pps) + file.samples[0]
    #expect(try findings(file.bytes).isEmpty)
  }

  /// Two frames that precede a third in decoding order and follow it in output order.
  static func reordered(sent: UInt32) -> TestStream {
    TestStream(.init(vui: restriction(reorder: sent, buffering: 2))).adding(
      .init(frameNumber: 1, order: 8), .init(frameNumber: 2, order: 6),
      .init(type: 1, frameNumber: 3, order: 2, reference: 0))
  }
}
