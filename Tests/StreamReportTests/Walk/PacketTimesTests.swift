// SPDX-License-Identifier: MPL-2.0
import H26x
import StreamReport
import Testing

/// Timestamps of PES packets, whose bounds need not be those of access units (ISO/IEC 13818-1, 2.4.3.7).
@Suite("Timestamps of packets") struct PacketTimesTests {
  /// Four access units of a byte stream.
  private let units: [[UInt8]]

  init() {
    let stream = TestStream().adding(
      .init(frameNumber: 1, order: 2), .init(frameNumber: 2, order: 4), .init(frameNumber: 3, order: 6))
    let nalUnits = stream.nalUnits.map { [0, 0, 0, 1] + $0 }
    // The first has SPS and PPS before its slice.
    units = [Array(nalUnits[...2].joined())] + nalUnits[3...]
  }

  /// The PTS of each access unit when packets of these bytes are fed.
  private func times(_ packets: [([UInt8], Int64?)]) -> [Int64?] {
    var reporter = SampleReporter(.h264, in: .mpegTS, configuration: nil)
    for (bytes, pts) in packets {
      reporter.feed(bytes, pts.map { .init(pts: $0, dts: $0, duration: 0, isSync: nil) })
    }
    reporter.finish()
    var times: [Int64?] = []
    while let item = reporter.next() { if case .accessUnit(let unit) = item { times.append(unit.sample?.pts) } }
    return times
  }

  @Test("Each packet gives its access unit the time") func eachPacketGivesItsAccessUnitTheTime() {
    #expect(times(units.enumerated().map { ($1, Int64($0)) }) == [0, 1, 2, 3])
  }

  @Test("Of two access units in a packet, the first has the time") func firstAccessUnitOfAPacketHasItsTime() {
    #expect(times([(units[0] + units[1], 0), (units[2], 2), (units[3], 3)]) == [0, nil, 2, 3])
  }

  @Test("An access unit in two packets: the time of the second is that of the access unit that begins in it")
  func timeOfASplitAccessUnitIsOfThePacketItBeginsIn() {
    let (front, rest) = (Array(units[1].prefix(7)), Array(units[1].dropFirst(7)))
    #expect(times([(units[0] + front, 0), (rest + units[2], 2), (units[3], 3)]) == [0, nil, 2, 3])
  }

  @Test("Packets without the start of an access unit, or without a time, give no time")
  func packetsWithoutAnAccessUnitOrTimeGiveNoTime() {
    let (front, rest) = (Array(units[1].prefix(7)), Array(units[1].dropFirst(7)))
    #expect(times([(units[0], 0), (front, 1), (rest, 9), (units[2], nil), (units[3], 3)]) == [0, 1, nil, 3])
  }

  @Test("The rules of containers apply to packet times", arguments: [1, -1] as [Int64])
  func containerRulesApplyToPacketTimes(_ step: Int64) {
    var reporter = SampleReporter(.h264, in: .mpegTS, configuration: nil)
    for (index, unit) in units.enumerated() {
      let time = 1_000_000_000 + 40_000_000 * step * Int64(index)
      reporter.feed(unit, .init(pts: time, dts: time, duration: 0, isSync: nil))
    }
    reporter.finish()
    var found: Set<Rule> = []
    while let item = reporter.next() { if case .finding(let finding) = item { found.insert(finding.rule) } }
    #expect(found == (step > 0 ? [] : [.containerTimestamps]))
  }
}
