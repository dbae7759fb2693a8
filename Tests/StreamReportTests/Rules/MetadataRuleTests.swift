// SPDX-License-Identifier: MPL-2.0
import H26x
import StreamReport
import Testing

@Suite("Rules: captions and dynamic metadata") struct MetadataRuleTests {
  @Test("An RPU with each picture, and a record that fits, break no rule")
  func metadataOfEachPictureBreakNoRule() throws {
    let stream = H265TestStream().adding(MetadataNALUnits.rpu).adding(.init(order: 1, references: [1])).adding(
      MetadataNALUnits.rpu, H265TestStream.endOfSequence)
    #expect(try findings(stream.bytes).isEmpty)
    let record = DolbyVision.Configuration(profile: 9, level: 1, compatibilityID: 2)
    #expect(try findings(MetadataNALUnits.file(record).bytes).isEmpty)
    #expect(try findings(MetadataNALUnits.file(record, vui: RuleTests.colour).bytes).isEmpty)
    // The RPU does not state these.
    for profile: UInt8 in [1, 20] {
      #expect(try findings(MetadataNALUnits.file(.init(profile: profile, level: 1, compatibilityID: 2)).bytes).isEmpty)
    }
  }

  @Test(
    "A record of another profile, of AV1 or of none is a finding", arguments: [4, 5, 7, 8, 10, 11, 32, 127] as [UInt8])
  func recordsOfOtherProfilesAreFindings(profile: UInt8) throws {
    let found = try findings(MetadataNALUnits.file(.init(profile: profile, level: 1, compatibilityID: 2)).bytes)
    #expect(found.map(\.rule) == [.dolbyVisionRecord])
    let texts = found.map { String(decoding: $0.found.bytes, as: UTF8.self) }
    #expect(texts == ["dv_profile \(profile)"])
  }

  @Test("A NAL unit of an unspecified type that is no RPU breaks no rule")
  func otherUsesOfTheTypeBreakNoRule() throws {
    let h265 = H265TestStream().adding([62 << 1, 1, 0x42, 0x80]).adding(.init(order: 1, references: [1]))
    #expect(try findings(h265.bytes).isEmpty)
    #expect(try findings(TestStream().adding([28, 0x85, 0x88, 0x80]).bytes).isEmpty)
  }

  @Test("Pictures in front of the first RPU are one finding, at the first of them")
  func picturesInFrontOfTheFirstRPUAreOneFinding() throws {
    let stream = H265TestStream().adding(.init(order: 1, references: [1]), .init(order: 2, references: [2])).adding(
      MetadataNALUnits.rpu)
    let finding = try #require(try findings(stream.bytes).first)
    #expect(finding.rule == .rpuMissing && finding.accessUnit == 0)
    #expect(String(decoding: finding.found.bytes, as: UTF8.self) == "2 pictures without RPU in front of the first one")
  }

  @Test("HDR10+ needs ST 2086 before or with it, and later versions are accepted")
  func hdr10PlusNeedsMasteringDisplay() throws {
    for nalUnits in [
      [MetadataNALUnits.masteringDisplay, MetadataNALUnits.hdr10Plus],
      [MetadataNALUnits.hdr10Plus, MetadataNALUnits.masteringDisplay],
      [MetadataNALUnits.masteringDisplay, MetadataNALUnits.laterHDR10Plus],
    ] {
      var stream = H265TestStream()
      stream.nalUnits.insert(contentsOf: nalUnits, at: 3)
      #expect(try findings(stream.bytes).isEmpty)
    }
    // The container may have it, too.
    var reporter = SampleReporter(.h265, in: .mpegTS, configuration: nil)
    reporter.take(ContainerMetadata(dolbyVision: nil, hasMasteringDisplay: true))
    var stream = H265TestStream()
    stream.nalUnits.insert(MetadataNALUnits.hdr10Plus, at: 3)
    reporter.feed(stream.bytes, nil)
    reporter.finish()
    while let item = reporter.next() { if case .finding(let finding) = item { Issue.record("\(finding.rule.name)") } }
  }

  @Test("Captions end with their marker") func captionsEndWithTheirMarker() throws {
    var stream = H265TestStream()
    stream.nalUnits.insert(MetadataNALUnits.captionsWithoutMarker, at: 3)
    let found = try findings(stream.bytes)
    #expect(found.map(\.rule) == [.unreadableSEI])
    let texts = found.map { String(decoding: $0.found.bytes, as: UTF8.self) }
    #expect(texts.first?.contains("marker_bits") == true, "\(texts)")
  }

  @Test("cc_count is compared only at a fixed frame rate of the table")
  func comparesCaptionCountsAtFixedRates() throws {
    #expect(try findings(MetadataNALUnits.captioned(count: 24, vui: RuleTests.rate()).bytes).isEmpty)
    #expect(try findings(MetadataNALUnits.captioned(count: 5, vui: nil).bytes).isEmpty)
    // fixed_frame_rate_flag is 0, or the rate is 40.
    let variable = RuleTests.timing(units: 1, scale: 50)
    #expect(try findings(MetadataNALUnits.captioned(count: 5, vui: variable).bytes).isEmpty)
    #expect(try findings(MetadataNALUnits.captioned(count: 5, vui: RuleTests.rate(scale: 80)).bytes).isEmpty)
    for (scale, count) in [(48, 25), (60, 20), (100, 12), (120, 10)] as [(UInt32, Int)] {
      let vui = RuleTests.rate(scale: scale)
      #expect(try findings(MetadataNALUnits.captioned(count: count, vui: vui).bytes).isEmpty, "\(scale)")
      let found = try findings(MetadataNALUnits.captioned(count: count - 1, vui: vui).bytes)
      #expect(found.map(\.rule) == [.captionCount], "\(scale)")
      #expect(
        found.map { String(decoding: $0.expected.bytes, as: UTF8.self) } == ["\(count) at the fixed frame rate"])
    }
  }

  /// Times in nanoseconds, rounded to milliseconds as Matroska does.
  private static func times(_ rates: [Double]) -> [Int64] {
    var time = 0.0
    return rates.map { rate in
      defer { time += 1000 / rate }
      return Int64(time.rounded()) * 1_000_000
    }
  }

  /// Findings of pictures with captions at these times, in a container.
  private static func captionCountFindings(_ times: [Int64?], count: Int, hasGap: Bool = false) -> [Finding] {
    var reporter = SampleReporter(.h264, in: .mpegTS, configuration: nil)
    let padding = [CaptionTriplet](repeating: .padding, count: count)
    for (number, time) in times.enumerated() {
      let slice = TestStream.slice(
        .init(
          isIDR: number == 0, type: number == 0 ? 2 : 0, frameNumber: UInt32(number & 15), order: UInt32(2 * number)))
      var stream = TestStream()
      stream.nalUnits = number == 0 ? Array(stream.nalUnits.prefix(2)) : []
      if !hasGap || number != 5 { stream.nalUnits.append(MetadataNALUnits.captions(padding, header: [6])) }
      stream.nalUnits.append(slice)
      reporter.feed(
        stream.bytes, time.map { AccessUnitRecord.Sample(pts: $0, dts: $0, duration: 0, isSync: nil) })
    }
    reporter.finish()
    var found: [Finding] = []
    while let item = reporter.next() { if case .finding(let finding) = item { found.append(finding) } }
    return found
  }

  @Test("cc_count is compared at a constant frame rate of the container, and never at a variable one")
  func comparesCaptionCountsAtTheContainersRate() {
    for (rate, count) in [
      (24_000 / 1001, 25), (24, 25), (25, 24), (30_000 / 1001, 20), (30, 20), (50, 12), (60_000 / 1001, 10), (60, 10),
    ] as [(Double, Int)] {
      let times = Self.times([Double](repeating: rate, count: 40))
      #expect(Self.captionCountFindings(times, count: count).isEmpty, "\(rate)")
      #expect(Self.captionCountFindings(times, count: count, hasGap: true).isEmpty, "\(rate)")
      let found = Self.captionCountFindings(times, count: count - 1)
      #expect(found.map(\.rule) == [.captionCount] && found.first?.accessUnit == 0, "\(rate)")
      #expect(
        found.map { String(decoding: $0.expected.bytes, as: UTF8.self) } == [
          "\(count) at the constant frame rate of the container"
        ])
      #expect(
        found.map { String(decoding: $0.found.bytes, as: UTF8.self) } == ["cc_count \(count - 1), and 39 more pictures"]
      )
    }
    let constant = [Double](repeating: 25, count: 20)
    for rates in [
      Array(repeating: 15, count: 40), constant + [24.0] + constant, constant + [12.5] + constant, constant + [50.0],
      [50.0] + constant, Array(constant.prefix(8)), constant + Array(repeating: 24, count: 20),
    ] {
      // The last duration counts only with a time behind it.
      #expect(Self.captionCountFindings(Self.times(rates + [25]), count: 5).isEmpty == (rates.count != 8), "\(rates)")
    }
    #expect(Self.captionCountFindings(Self.times(Array(constant.prefix(8))), count: 5).isEmpty)
    // A picture has no time, or all of them have none.
    var times: [Int64?] = Self.times(constant)
    times[7] = nil
    #expect(Self.captionCountFindings(times, count: 5).isEmpty)
    #expect(Self.captionCountFindings(times.map { _ in nil }, count: 5).isEmpty)
  }

  @Test("Captions in presentation order break no rule") func captionsInPresentationOrderBreakNoRule() throws {
    #expect(try findings(MetadataNALUnits.captioned(inDecodingOrder: false).bytes).isEmpty)
    let found = try findings(MetadataNALUnits.captioned(inDecodingOrder: true).bytes)
    let texts = found.map { String(decoding: $0.found.bytes, as: UTF8.self) }
    #expect(
      texts == ["10 control codes of CTA-608 are doubled in decoding order, 0 in presentation order"], "\(texts)")
  }

  @Test("Pictures leave the queue in presentation order") func queueGivesPresentationOrder() {
    var queue = PresentationQueue<Int>()
    var order: [Int] = []
    for number in 0..<100 {
      // Pairs that are swapped, in two sequences whose counts begin again.
      let place = number ^ 1
      if let next = queue.add(place, sequence: UInt64(place / 50), order: Int32(place % 50)) { order.append(next) }
    }
    #expect(order.count == 100 - 32)
    #expect(order + queue.finish() == Array(0..<100) && queue.finish().isEmpty)
  }
}
