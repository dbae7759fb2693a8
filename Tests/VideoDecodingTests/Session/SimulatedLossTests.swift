// SPDX-License-Identifier: MPL-2.0
import H26x
import Testing
import VideoDecoding

@Suite struct SimulatedLossTests {
  /// The results of a clip whose codec is lost with the access unit `index`.
  private func results(_ loss: SimulatedLoss?, at index: Int) throws -> (
    results: [SessionResult], statistics: SessionStatistics
  ) {
    let units = try mediaAccessUnits("clip.h264")
    let configuration = SessionConfiguration.with { $0.threadType = .none }
    let session = try DecompressionSession(format: try streamFormat(units), configuration: configuration)
    var results: [SessionResult] = []
    for (number, unit) in units.enumerated() {
      if let loss, number == index { session.simulateLoss(loss) }
      try session.decode(AccessUnit(unit, tag: UInt64(number), time: .milliseconds(40 * number)))
      while let result = session.nextResult() { results.append(result) }
    }
    session.drain()
    while let result = session.nextResult() { results.append(result) }
    return (results, session.statistics)
  }

  @Test(arguments: [0, 1, 19, 20, 30, 61]) func aRecoverableLossLosesNoPicture(index: Int) throws {
    let undisturbed = try results(nil, at: 0)
    let lost = try results(.recoverable, at: index)
    #expect(lost.results.map(\.tag) == undisturbed.results.map(\.tag))
    for (first, second) in zip(lost.results, undisturbed.results) {
      guard case .frame(let one) = first, case .frame(let other) = second else {
        Issue.record("no picture")
        continue
      }
      #expect(one.copiedBytes() == other.copiedBytes() && one.time == other.time)
    }
    #expect(lost.statistics.restarts == 1 && undisturbed.statistics.restarts == 0)
  }

  /// Decoding continues at the next keyframe, of which the clip has three: 0, 20 and 42.
  @Test func aLastingLossLastsToTheNextKeyframe() throws {
    let (results, statistics) = try results(.lasting, at: 25)
    #expect(results.count == 62 && Set(results.map(\.tag)).count == 62)
    var (failed, dropped): ([UInt64], [UInt64]) = ([], [])
    for result in results {
      switch result {
      case .frame: break
      case .failed(let tag, _): failed.append(tag)
      case .dropped(let tag, .sessionLost): dropped.append(tag)
      case .dropped: Issue.record("\(result)")
      }
    }
    #expect(failed == [25] && dropped.sorted() == Array(26..<42))
    #expect(statistics.resynchronisations == 1)
  }
}
