// SPDX-License-Identifier: MPL-2.0
import AVCodec
import Glibc
import TestSupport
import Testing

@testable import VideoDecoding

/// A codec that fails as a lost device does: the output must be that of a run without failure.
@Suite(.enabled(if: Vectors.isAvailable)) struct LostSessionTests {
  /// Reordering, deep pyramids, fields, several IDR pictures, MMCO.
  static let names = [
    "HCAFR1_HHI.264", "cros_64x64-I-P-B-P-high.h264", "FRExt3_Panasonic.avc", "FRExt4_Panasonic.avc", "MIDR_MW_D.264",
    "MR1_BT_A.h264",
  ].filter { Vector.named($0) != nil }

  static let errors: [AVError] = [.external, .outOfMemory, .inputOutput, .noDevice, .unknown, .bug]

  private func units(_ name: String) -> [[UInt8]] { accessUnits(Vector.named(name)?.bytes ?? []) }

  /// Open GOPs with CRA and leading pictures; a single IDR picture followed by B pyramids; fields.
  static let h265 = ["open-gop.h265", "interlaced.h265", "g2b_bframes3_128x128.h265"]

  @Test(arguments: TestScope.rows(names, usually: 4) + h265, SessionConfiguration.triedThreadings)
  func losesNoPictureIfSendingFailsOnce(_ name: String, _ threading: Int) throws {
    let stream = try CodedStream(name)
    let configuration = SessionConfiguration.threadings[threading]
    let expected = try stream.decode(configuration).checksums
    // In open GOPs, every position is tried.
    let step = Self.h265.contains(name) ? 1 : max(1, stream.units.count / 8)
    for place in stride(from: 0, to: stream.units.count, by: step) {
      for error in step == 1 ? [.outOfMemory, .inputOutput] : [Self.errors[place % Self.errors.count]] {
        let plan = FaultPlan()
        plan.send = { $0 == 0 && $1 == place ? error : nil }
        let run = try stream.decode(configuration, plan: plan)
        #expect(plan.openings == 2)
        #expect(run.checksums == expected, "lost at \(place)")
        #expect(run.accounts(for: stream.units.count))
      }
    }
  }

  /// `LOST_SESSION_STREAMS` is a list of byte streams, separated by colons. The codec is lost at each access unit, and
  /// at each picture, in every threading and in low delay.
  static let elsewhere =
    unsafe getenv("LOST_SESSION_STREAMS").map { unsafe String(cString: $0) }?.split(separator: ":").map(String.init)
    ?? []

  @Test(arguments: elsewhere) func losesNoPictureOfOtherEncoders(_ path: String) throws {
    let stream = try CodedStream(path: path)
    for threading in SessionConfiguration.threadings.indices {
      for lowDelay in [false, true] where !lowDelay || threading < 2 {
        var configuration = SessionConfiguration.threadings[threading]
        configuration.lowDelay = lowDelay
        let expected = try stream.decode(configuration).checksums
        for place in stream.units.indices {
          let plan = FaultPlan()
          plan.send = { $0 == 0 && $1 == place ? .external : nil }
          let run = try stream.decode(configuration, plan: plan)
          #expect(run.checksums == expected, "threading \(threading), low delay \(lowDelay), lost at \(place)")
          #expect(run.accounts(for: stream.units.count))
        }
        for place in expected.indices where !lowDelay {
          let plan = FaultPlan()
          plan.receive = { $0 == 0 && $1 == place ? .inputOutput : nil }
          let run = try stream.decode(configuration, plan: plan)
          #expect(run.checksums == expected, "threading \(threading), lost after \(place) frames")
        }
      }
    }
  }

  /// Streams that have one IDR picture: in all but the one without reordering, the last picture comes out only when the
  /// codec is drained.
  static let single = names.filter { $0 != "MIDR_MW_D.264" }

  /// The codec fails before its last picture, and so does its replacement, with no attempt left. The replacement still
  /// outputs the rest, and nothing is lost.
  @Test(arguments: single, SessionConfiguration.threadings.indices)
  func losesNoPictureAtTheEndWithoutAttempts(_ name: String, _ threading: Int) throws {
    let units = units(name)
    var configuration = SessionConfiguration.threadings[threading]
    let expected = try decodeAll(units, configuration).checksums
    configuration.retries = 1
    let plan = FaultPlan()
    var failed: Set<Int> = []
    plan.receive = { opening, frames in
      guard opening < 2, frames == expected.count - 1 else { return nil }
      return failed.insert(opening).inserted ? .external : nil
    }
    let session = try makeSession(units, configuration, plan: plan)
    var run = Run()
    try session.run(units, into: &run)
    #expect(failed == [0, 1])
    #expect(run.checksums == expected && run.failures.isEmpty && run.accounts(for: units.count))
    #expect(!session.isLost && session.nextNotice() == nil)
  }

  @Test(arguments: TestScope.rows(names + h265, usually: 4), SessionConfiguration.threadings.indices)
  func losesNoPictureIfReceivingFailsOnce(_ name: String, _ threading: Int) throws {
    let stream = try CodedStream(name)
    let configuration = SessionConfiguration.threadings[threading]
    let expected = try stream.decode(configuration).checksums
    let step = Self.h265.contains(name) ? 1 : max(1, expected.count / 6)
    for place in stride(from: 0, to: expected.count, by: step) {
      let plan = FaultPlan()
      plan.receive = { $0 == 0 && $1 == place ? .external : nil }
      let run = try stream.decode(configuration, plan: plan)
      #expect(plan.openings == 2)
      #expect(run.checksums == expected, "lost after \(place) frames")
      #expect(run.accounts(for: stream.units.count))
    }
  }

  /// A decoder that learns the reorder depth from the stream loses pictures: the replay loses the same ones.
  @Test(
    arguments: TestScope.rows(names + ["HPCV_BRCM_A.264", "cros_test-25fps.h264"], usually: 4) + h265, [0, 1])
  func lowDelayLosesTheSamePictures(_ name: String, _ threading: Int) throws {
    let stream = try CodedStream(name)
    var configuration = SessionConfiguration.threadings[threading]
    configuration.lowDelay = true
    let expected = try stream.decode(configuration).checksums
    let step = Self.h265.contains(name) ? 1 : max(1, stream.units.count / 12)
    for place in stride(from: step == 1 ? 0 : 1, to: stream.units.count, by: step) {
      let plan = FaultPlan()
      plan.send = { $0 == 0 && $1 == place ? .external : nil }
      let run = try stream.decode(configuration, plan: plan)
      #expect(run.checksums == expected, "lost at \(place)")
      #expect(run.accounts(for: stream.units.count))
    }
  }

  @Test(arguments: names + h265)
  func losesNoPictureIfTheReplayFails(_ name: String) throws {
    let stream = try CodedStream(name)
    let expected = try stream.decode().checksums
    let last = Int64(stream.units.count - 1)
    let plan = FaultPlan()
    // Each new codec fails earlier, until the fourth, which works.
    plan.send = { opening, index in opening < 3 && index == last - Int64(opening) ? .external : nil }
    let run = try stream.decode(plan: plan)
    #expect(run.checksums == expected)
    #expect(run.accounts(for: stream.units.count))
  }

  @Test func retriesOpening() throws {
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

  @Test func retriesTheFirstOpeningAndReportsFailure() throws {
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

  /// The configured number of retries at one access unit: then it works, or there is one error, one
  /// notice, and all pictures before are output.
  @Test(arguments: [1, 2, 5, 6, 100], SessionConfiguration.threadings.indices)
  func retriesAsOftenAsConfigured(_ times: Int, _ threading: Int) throws {
    let units = units("HCAFR1_HHI.264")
    let configuration = SessionConfiguration.threadings[threading]
    let expected = try decodeAll(units, configuration).checksums
    for place in [0, 6] {
      let plan = FaultPlan()
      plan.send = { $0 < times && $1 == place ? .noDevice : nil }
      let session = try makeSession(units, configuration, plan: plan)
      var run = Run()
      try session.run(units, into: &run)
      #expect(run.accounts(for: units.count))
      guard times > 5 else {
        #expect(run.checksums == expected && run.failures.isEmpty && !session.isLost)
        #expect(session.nextNotice() == nil && session.statistics.restarts == UInt64(times))
        continue
      }
      let before = try decodeAll(Array(units[..<max(1, place)]), configuration).checksums
      #expect(run.checksums == (place == 0 ? [] : before))
      #expect(run.failures.map(\.accessUnitNumber) == [UInt64(place)])
      #expect(run.drops.allSatisfy { $0 == .sessionLost } && session.isLost)
      guard case .codecLost(let error)? = session.nextNotice() else {
        Issue.record("no notice")
        continue
      }
      #expect(error.accessUnitNumber == UInt64(place) && error.reason == .malfunction)
      #expect(session.nextNotice() == nil)
    }
  }

  /// A codec that always fails at one access unit: one error, then decoding continues at the next IDR picture.
  @Test func continuesAtTheNextIDRPictureAfterPermanentFailure() throws {
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
    #expect(session.statistics.restarts == 6 && !session.isLost)
    #expect(plan.openings == 7)
    // The pictures that the codec held when it was lost are output, not dropped.
    let frames = Set(run.frames.map(\.tag))
    #expect(frames == Set(units.indices.filter { $0 < 30 || $0 >= next }.map(UInt64.init)))
    #expect(run.checksums == expected.filter { line in frames.contains { line.hasPrefix("\($0) ") } })
  }

  /// Bad data belongs to an access unit; a codec that reports it for ever is lost.
  @Test(arguments: [64, 65]) func endlessBadDataLosesTheCodec(_ times: Int) throws {
    let stream = try CodedStream("clip.h264")
    let expected = try stream.decode(.threadings[0]).checksums
    let plan = FaultPlan()
    var left = times
    plan.receive = { opening, frames in
      guard opening == 0, frames == 2, left > 0 else { return nil }
      left -= 1
      return .invalidData
    }
    let session = try stream.session(.threadings[0], plan: plan)
    var run = Run()
    try session.run(stream.units, into: &run)
    #expect(left == 0 && run.accounts(for: stream.units.count))
    #expect(session.statistics.restarts == (times > 64 ? 1 : 0))
    #expect(session.statistics.failed == UInt64(run.failures.count))
    if times > 64 { #expect(run.checksums == expected && run.failures.isEmpty) }
  }

  /// The same when it fails on the way out, again and again: nothing disappears without a word.
  @Test(arguments: [0, 3], SessionConfiguration.threadings.indices)
  func reportsPicturesLostInAPermanentlyFailingDrain(_ frames: Int, _ threading: Int) throws {
    let units = units("MIDR_MW_D.264")
    let plan = FaultPlan()
    plan.receive = { $1 == frames ? .inputOutput : nil }
    let session = try makeSession(units, SessionConfiguration.threadings[threading], plan: plan)
    var run = Run()
    try session.run(units, into: &run)
    #expect(run.accounts(for: units.count))
    #expect(run.drops.allSatisfy { $0 == .sessionLost })
    #expect(UInt64(run.failures.count) <= session.statistics.resynchronisations)
    #expect(session.statistics.resynchronisations > 0)
    guard case .codecLost? = session.nextNotice() else {
      Issue.record("no notice")
      return
    }
  }

  /// No codec can be opened any more: the pictures that the lost one held are output.
  @Test(arguments: SessionConfiguration.threadings.indices) func outputsHeldPicturesIfNoCodecOpens(_ threading: Int)
    throws
  {
    let units = units("MIDR_MW_D.264")
    let configuration = SessionConfiguration.threadings[threading]
    let plan = FaultPlan()
    plan.open = { $0 > 0 ? .outOfMemory : nil }
    plan.send = { $1 == 30 ? .outOfMemory : nil }
    let session = try makeSession(units, configuration, plan: plan)
    var run = Run()
    try session.run(units, into: &run)
    #expect(run.accounts(for: units.count))
    let before = try decodeAll(Array(units[..<30]), configuration).checksums
    #expect(run.checksums == before)
    #expect(run.failures.first?.reason == .allocationFailed && session.isLost)
  }

  @Test func stopsAfterTheLastRetry() throws {
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

  @Test func boundsTheReplayBuffer() throws {
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
