// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x
import Testing

@testable import VideoDecoding

/// Random access points other than IDR pictures: open groups with leading pictures, and gradual refresh.
@Suite struct RecoveryPointTests {
  private func recoveryPoints(_ units: [[UInt8]]) -> [Int] {
    var inspector = AccessUnitInspector(lengthSize: nil)
    return units.indices.filter { index in
      let unit = units[index]
      if case .recoveryPoint = inspector.inspect(unit.span).randomAccess { return true }
      return false
    }
  }

  @Test func mediaIsWhatItShouldBe() throws {
    #expect(recoveryPoints(try mediaAccessUnits("open-gop.h264")).count >= 6)
    #expect(recoveryPoints(try mediaAccessUnits("intra-refresh.h264")).count >= 5)
  }

  /// Started anywhere, a session shows nothing that is not exactly what the whole stream shows there.
  @Test(arguments: ["open-gop.h264", "intra-refresh.h264"], SessionConfiguration.threadings.indices)
  func startsInTheMiddle(_ name: String, _ threading: Int) throws {
    let units = try mediaAccessUnits(name)
    let whole = try decodeAll(units).checksums
    let points = recoveryPoints(units)
    for start in [points[1] - 2, points[1], points[2] - 1, points[3]] {
      let session = try makeSession(units, SessionConfiguration.threadings[threading])
      var run = Run()
      for index in start..<units.count {
        try session.decode(units[index], tag: UInt64(index))
        session.takeResults(into: &run)
      }
      session.drain()
      session.takeResults(into: &run)
      #expect(run.results.count == units.count - start && run.failures.isEmpty)
      #expect(run.frames.allSatisfy { !$0.isCorrupt })
      #expect(run.checksums == whole.suffix(run.frames.count), "from \(start)")
      #expect(run.frames.count > units.count - start - 25)
      #expect(Set(run.drops).isSubset(of: [.beforeRandomAccessPoint, .noReference]))
      if name == "open-gop.h264" {
        let first = try #require(points.first { $0 >= start })
        #expect(run.frames.first?.tag == UInt64(first))
      }
    }
  }

  @Test(arguments: ["open-gop.h264", "intra-refresh.h264"], SessionConfiguration.threadings.indices)
  func lostAtEachPlace(_ name: String, _ threading: Int) throws {
    let units = try mediaAccessUnits(name)
    let configuration = SessionConfiguration.threadings[threading]
    let expected = try decodeAll(units, configuration).checksums
    #expect(expected.count == units.count)
    for place in units.indices {
      let plan = FaultPlan()
      plan.send = { $0 == 0 && $1 == place ? .external : nil }
      let session = try makeSession(units, configuration, plan: plan)
      var run = Run()
      try session.run(units, into: &run)
      #expect(run.checksums == expected, "lost at \(place)")
      #expect(run.accounts(for: units.count))
      // Not from the start of the stream, where a later point will do.
      if name == "open-gop.h264" { #expect(session.statistics.replayed < 30) }
    }
  }

  /// The flags of damage end where the picture is whole again, and not before.
  @Test(arguments: ["open-gop.h264", "intra-refresh.h264"])
  func damageEndsAtTheRecoveryPoint(_ name: String) throws {
    let units = try mediaAccessUnits(name)
    let whole = try decodeAll(units).checksums
    let points = recoveryPoints(units)
    var damaged = units
    let lost = try #require(units.indices.first { $0 > points[2] && isReference(units[$0]) })
    damaged[lost] = [0, 0, 0, 1, 9, 0xF0]
    let run = try decodeAll(damaged)
    #expect(run.accounts(for: units.count))
    let flagged = run.frames.filter(\.isCorrupt).map { Int($0.tag) }
    let wrong = run.frames.filter { !whole.contains("\($0.tag) \($0.fingerprint)") }.map { Int($0.tag) }
    #expect(Set(wrong).isSubset(of: flagged))
    #expect(!flagged.isEmpty && flagged.allSatisfy { $0 > lost && $0 < points[2] + 40 })
    #expect(run.drops == [.noPicture])
    let strict = try decodeAll(damaged, .with { $0.outputCorrupt = false })
    #expect(strict.frames.count == run.frames.count - flagged.count)
    #expect(strict.drops.filter { $0 == .corrupt }.count == flagged.count)
  }
}
