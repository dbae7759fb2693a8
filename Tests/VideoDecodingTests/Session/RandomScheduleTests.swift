// SPDX-License-Identifier: MPL-2.0
import AVCodec
import Glibc
import H26x
import TestSupport
import Testing

@testable import VideoDecoding

/// Streams of random meaning through a session, with random settings, failures of the codec, and everything that an
/// application may call between two access units.
///
/// `SCHEDULES=100000` runs that many of each codec, and `FIRST_SCHEDULE=n` begins with schedule n.
@Suite struct RandomScheduleTests {
  private static let count = unsafe getenv("SCHEDULES").flatMap { unsafe Int(String(cString: $0)) } ?? 400
  private static let first = unsafe getenv("FIRST_SCHEDULE").flatMap { unsafe UInt64(String(cString: $0)) } ?? 0

  @Test func everyAccessUnitOfH264HasOneResult() throws {
    for seed in Self.seeds { try SessionSchedule<RandomH264Stream>(seed: seed).run() }
  }

  @Test func everyAccessUnitOfH265HasOneResult() throws {
    for seed in Self.seeds { try SessionSchedule<RandomH265Stream>(seed: seed).run() }
  }

  private static var seeds: Range<UInt64> { first..<first + UInt64(count) }
}

/// What happens to a session, decided by a seed.
struct SessionSchedule<Stream: RandomStream> {
  private let seed: UInt64
  private var decisions: SeededGenerator
  private var stream: Stream
  private var results: [UInt64: Int] = [:]
  private var taken: UInt64 = 0

  init(seed: UInt64) {
    self.seed = seed
    decisions = SeededGenerator(state: seed)
    stream = Stream(&decisions)
  }

  func run() throws {
    var schedule = self
    try schedule.runToTheEnd()
  }

  private mutating func runToTheEnd() throws {
    let format = try #require(stream.format)
    let session = try DecompressionSession(
      format: format, configuration: configuration(), allocator: nil,
      openCodec: faultPlan().opener)
    // As a decoder element: it reads each access unit itself.
    var reader =
      decisions.oneIn(2) ? format.codec.sessionCodec.makeFollower(lengthSize: nil, verifiesPictureHash: false) : nil
    reader?.insert(
      parameterSets: format.parameterSets.video + format.parameterSets.sequence + format.parameterSets.picture)
    var last: [UInt8] = []
    for number in 0..<10 + decisions.below(50) {
      disturb(session)
      if last.isEmpty || !decisions.oneIn(20) { last = MinimalStream.annexB(stream.nextAccessUnit(&decisions)) }
      let read = reader?.read(last.span)
      if decisions.oneIn(15), let read { session.finishSequence(before: last.span, read) }
      let time: Duration? = decisions.oneIn(2) ? .milliseconds(40 * number) : nil
      do throws(DecodeError) {
        let doNotOutput = decisions.oneIn(20)
        if let read {
          try session.decode(
            last.span, read, DecodeRequest(tag: taken, time: time, doNotOutput: doNotOutput))
        } else {
          try session.decode(last.span, tag: taken, time: time, doNotOutput: doNotOutput)
        }
        taken += 1
      } catch {
        #expect(last.isEmpty && error.reason == .invalidArgument, "schedule \(seed): \(error)")
      }
      if !decisions.oneIn(4) { takeResults(session) }
    }
    if decisions.oneIn(8) { session.invalidate() } else { session.drain() }
    takeResults(session)
    #expect(!session.isAwaitingRandomAccessPoint)
    #expect(results.count == Int(taken) && results.allSatisfy { $0.value == 1 }, "schedule \(seed)")
    let counts = session.statistics
    #expect(
      counts.submitted == taken && counts.output + counts.dropped + counts.failed == taken, "schedule \(seed)")
  }

  private mutating func takeResults(_ session: DecompressionSession) {
    while let result = session.nextResult() { results[result.tag, default: 0] += 1 }
    _ = (session.nextNotice(), session.latency, session.isLost)
  }

  /// What an application does between two access units; mostly nothing.
  private mutating func disturb(_ session: DecompressionSession) {
    switch decisions.below(40) {
    case 0: session.flush()
    case 1: session.drain()
    case 2, 3: session.skipFrames = decisions.one(of: Array(SessionConfiguration.SkipFrames.allCases))
    case 4:
      var other = Stream(&decisions)
      if decisions.oneIn(2) { other = stream }
      if let format = other.format, session.canAccept(format) { #expect((try? session.accept(format)) != nil) }
      if decisions.oneIn(2) { stream = other }
    default: break
    }
  }

  private mutating func configuration() -> SessionConfiguration {
    var configuration = SessionConfiguration()
    configuration.threadCount = 1 + decisions.below(3)
    configuration.threadType = decisions.one(of: Array(SessionConfiguration.ThreadType.allCases))
    configuration.lowDelay = decisions.oneIn(4)
    configuration.outputCorrupt = decisions.oneIn(2)
    configuration.skipFrames = decisions.one(of: Array(SessionConfiguration.SkipFrames.allCases) + [.none, .none])
    configuration.unknownReordering = decisions.oneIn(3) ? .adapt : .expect
    configuration.retries = decisions.below(3)
    configuration.startPatience = decisions.one(of: [.zero, .milliseconds(80), .seconds(10)])
    configuration.replayByteLimit = decisions.one(of: [1, 300, 16 << 20])
    configuration.replayCountLimit = decisions.one(of: [0, 1, 4, 600])
    configuration.outputLayout = decisions.oneIn(3) ? .semiPlanar : .native
    configuration.verifiesPictureHash = decisions.oneIn(3)
    return configuration
  }

  /// Codecs that are lost at random; never in half of the schedules.
  private mutating func faultPlan() -> FaultPlan {
    let plan = FaultPlan()
    guard decisions.oneIn(2) else { return plan }
    let errors: [AVError] = [.external, .outOfMemory, .bug, .invalidData]
    let rate = UInt64(decisions.one(of: [4, 20, 100]))
    var faults = SeededGenerator(state: decisions.next())
    let fault = { () -> AVError? in faults.next() % rate == 0 ? errors[Int(faults.next() % 4)] : nil }
    plan.open = { $0 > 0 ? fault() : nil }
    plan.send = { _, _ in fault() }
    plan.receive = { _, _ in fault() }
    return plan
  }
}
