// SPDX-License-Identifier: MPL-2.0
import AVCodec
import Testing

@testable import VideoDecoding

/// A codec that fails as a lost device does: output must be that of the undisturbed run.
@Suite(.enabled(if: Vector.folder != nil)) struct LostSessionTests {
  /// Reordering, deep pyramids, fields, several IDR pictures, MMCO.
  static let names = [
    "HCAFR1_HHI.264", "cros_64x64-I-P-B-P-high.h264", "FRExt3_Panasonic.avc", "FRExt4_Panasonic.avc", "MIDR_MW_D.264",
    "MR1_BT_A.h264",
  ].filter { Vector.named($0) != nil }

  static let errors: [AVError] = [.external, .outOfMemory, .inputOutput, .noDevice, .unknown, .bug]

  private func units(_ name: String) -> [[UInt8]] { accessUnits(Vector.named(name)?.bytes ?? []) }

  @Test(arguments: names, SessionConfiguration.threadings.indices)
  func sendFailsOnceAtEachPlace(_ name: String, _ threading: Int) throws {
    let units = units(name)
    let configuration = SessionConfiguration.threadings[threading]
    let expected = try decodeAll(units, configuration).checksums
    for place in stride(from: 0, to: units.count, by: max(1, units.count / 8)) {
      let plan = FaultPlan()
      plan.send = { $0 == 0 && $1 == place ? Self.errors[place % Self.errors.count] : nil }
      let run = try decodeAll(units, configuration, plan: plan)
      #expect(plan.openings == 2)
      #expect(run.checksums == expected, "lost at \(place)")
      #expect(run.accounts(for: units.count))
    }
  }

  @Test(arguments: names, SessionConfiguration.threadings.indices)
  func receiveFailsOnceAtEachPlace(_ name: String, _ threading: Int) throws {
    let units = units(name)
    let configuration = SessionConfiguration.threadings[threading]
    let expected = try decodeAll(units, configuration).checksums
    for place in stride(from: 0, to: expected.count, by: max(1, expected.count / 6)) {
      let plan = FaultPlan()
      plan.receive = { $0 == 0 && $1 == place ? .external : nil }
      let run = try decodeAll(units, configuration, plan: plan)
      #expect(plan.openings == 2)
      #expect(run.checksums == expected, "lost after \(place) frames")
      #expect(run.accounts(for: units.count))
    }
  }

  /// A decoder that finds out about reordering as it goes loses pictures on the way: the replay loses the same ones.
  @Test(arguments: names + ["HPCV_BRCM_A.264", "cros_test-25fps.h264"], [0, 1])
  func lowDelayLosesTheSamePictures(_ name: String, _ threading: Int) throws {
    let units = units(name)
    var configuration = SessionConfiguration.threadings[threading]
    configuration.lowDelay = true
    let expected = try decodeAll(units, configuration).checksums
    for place in stride(from: 1, to: units.count, by: max(1, units.count / 12)) {
      let plan = FaultPlan()
      plan.send = { $0 == 0 && $1 == place ? .external : nil }
      let run = try decodeAll(units, configuration, plan: plan)
      #expect(run.checksums == expected, "lost at \(place)")
      #expect(run.accounts(for: units.count))
    }
  }

  @Test(arguments: names)
  func failsAgainOnTheReplayElsewhere(_ name: String) throws {
    let units = units(name)
    let expected = try decodeAll(units).checksums
    let last = Int64(units.count - 1)
    let plan = FaultPlan()
    // Each new codec gets less far, down to the fourth, which works.
    plan.send = { opening, index in opening < 3 && index == last - Int64(opening) ? .external : nil }
    let run = try decodeAll(units, plan: plan)
    #expect(run.checksums == expected)
    #expect(run.accounts(for: units.count))
  }

  @Test func openingFailsSeveralTimes() throws {
    let units = units("HCAFR1_HHI.264")
    let expected = try decodeAll(units).checksums
    let plan = FaultPlan()
    plan.send = { $0 == 0 && $1 == 5 ? .noDevice : nil }
    plan.open = { (1...4).contains($0) ? .noDevice : nil }
    let session = try makeSession(units, plan: plan)
    var run = Run()
    try session.run(units, into: &run)
    #expect(run.checksums == expected)
    #expect(session.statistics.restarts == 1)
    #expect(session.statistics.lastError?.status == -12911)
  }

  @Test func firstOpeningIsTriedAgainAndReportedInTheEnd() throws {
    let units = units("HCAFR1_HHI.264")
    let plan = FaultPlan()
    plan.open = { $0 < 5 ? .external : nil }
    #expect(try decodeAll(units, plan: plan).frames.count == 10)
    let hopeless = FaultPlan()
    hopeless.open = { _ in .external }
    let error = #expect(throws: DecodeError.self) { try makeSession(units, plan: hopeless) }
    #expect(error?.reason == .malfunction)
    #expect(hopeless.openings == 6)
  }

  /// No second replay into the same failure: one error, then on from the next IDR picture.
  @Test func failsForEverAtOnePlace() throws {
    let units = units("MIDR_MW_D.264")
    let expected = try decodeAll(units).checksums
    let idr = units.indices.filter { contains(units[$0], nalUnitType: 5) }
    let next = try #require(idr.first { $0 > 30 })
    let plan = FaultPlan()
    plan.send = { $1 == 30 ? .external : nil }
    let session = try makeSession(units, plan: plan)
    var run = Run()
    try session.run(units, into: &run)
    #expect(run.accounts(for: units.count))
    #expect(run.failures.count == 1)
    #expect(run.failures.first?.accessUnitNumber == 30)
    #expect(run.failures.first?.reason == .malfunction)
    #expect(session.statistics.resynchronisations == 1)
    #expect(session.statistics.restarts == 2)
    #expect(plan.openings == 3)
    let frames = run.frames.map(\.tag)
    #expect(frames.contains(UInt64(next)) && !frames.contains(30) && !frames.contains(UInt64(next - 1)))
    #expect(run.checksums == expected.filter { line in frames.contains { line.hasPrefix("\($0) ") } })
  }

  @Test func retriesAreSpent() throws {
    let units = units("HCAFR1_HHI.264")
    let plan = FaultPlan()
    plan.open = { $0 > 0 ? .external : nil }
    plan.send = { $1 == 4 ? .external : nil }
    let run = try decodeAll(units, .with { $0.retries = 3 }, plan: plan)
    #expect(plan.openings == 4)
    #expect(run.accounts(for: units.count))
    #expect(run.failures.map(\.accessUnitNumber) == [4])
    #expect(run.drops.allSatisfy { $0 == .sessionLost })
  }

  @Test func replayBufferIsBounded() throws {
    let units = units("MIDR_MW_D.264")
    let idr = units.indices.filter { contains(units[$0], nalUnitType: 5) }
    let expected = try decodeAll(units).checksums
    let plan = FaultPlan()
    plan.send = { $0 == 0 && $1 == 30 ? .external : nil }
    let session = try makeSession(units, .with { $0.replayCountLimit = 5 }, plan: plan)
    var run = Run()
    try session.run(units, into: &run)
    #expect(run.accounts(for: units.count))
    #expect(session.statistics.replayed == 0)
    #expect(session.statistics.resynchronisations == 1)
    #expect(run.failures.count == 1)
    let next = try #require(idr.first { $0 > 30 })
    let frames = run.frames.map(\.tag)
    #expect(frames.filter { $0 >= 30 }.min() == UInt64(next))
    #expect(run.checksums == expected.filter { line in frames.contains { line.hasPrefix("\($0) ") } })
  }

  private func contains(_ unit: [UInt8], nalUnitType: UInt8) -> Bool {
    unit.indices.dropLast(3).contains {
      unit[$0] == 0 && unit[$0 + 1] == 0 && unit[$0 + 2] == 1 && unit[$0 + 3] & 31 == nalUnitType
    }
  }
}
