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
    // 20 is not distinguished in the RPU.
    #expect(try findings(MetadataNALUnits.file(.init(profile: 20, level: 1, compatibilityID: 2)).bytes).isEmpty)
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
