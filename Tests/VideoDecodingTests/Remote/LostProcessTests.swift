// SPDX-License-Identifier: MPL-2.0
import AVCodec
import CodecLink
import Foundation
import Glibc
import H26x
import TestSupport
import Testing

@testable import VideoDecoding

/// Codecs whose process ends, stops or is waited for in vain.
@Suite struct LostProcessTests {
  /// Every how many access units a process is ended; `PROCESS_KILL_STEP=1` ends it at each.
  static let step = unsafe getenv("PROCESS_KILL_STEP").flatMap { unsafe Int(String(cString: $0)) } ?? 7

  /// Streams in which processes are lost again and again: `PROCESS_KILL_VECTORS=10` takes ten vectors of each codec,
  /// of a second or more.
  static let streams: [String] = {
    let count = unsafe getenv("PROCESS_KILL_VECTORS").flatMap { unsafe Int(String(cString: $0)) }
    guard let count else { return ["clip.h264", "clip.h265"] }
    return [FormatDescription.Codec.h264, .h265].flatMap { codec in
      Vector.undamaged.lazy.filter { $0.codec == codec && $0.frames >= 24 }.prefix(count).map {
        String($0.file.split(separator: "/").last ?? "")
      }
    }
  }()

  /// A sanitizer catches signals, and reserves more memory than any limit allows: `Tests/run.sh --sanitize` sets its
  /// options.
  private static let isSanitized = ["ASAN_OPTIONS", "TSAN_OPTIONS"].contains { (name: String) in
    unsafe getenv(name) != nil
  }

  private func session(
    _ stream: CodedStream, _ limits: ProcessLimits = ProcessLimits(),
    _ change: (inout SessionConfiguration) -> Void = { _ in }
  ) throws -> DecompressionSession {
    var configuration = SessionConfiguration()
    configuration.threadCount = 2
    configuration.isolation = .process(limits)
    change(&configuration)
    return try DecompressionSession(format: stream.format, configuration: configuration)
  }

  /// Signals the process that the session's codec is in.
  private func signal(_ number: Int32, to session: DecompressionSession) throws {
    kill(try #require(session.statistics.codecProcess), number)
  }

  @Test(
    arguments: ["clip.h264", "clip.h265", "interlaced.h264", "interlaced.h265", "open-gop.h264", "open-gop.h265"],
    [SIGKILL, SIGSEGV])
  func losesNoPictureWhenTheProcessEnds(_ name: String, _ number: Int32) throws {
    let stream = try CodedStream(name)
    let expected = try stream.decode(.with { $0.threadCount = 2 })
    for victim in stride(from: 0, to: stream.units.count, by: Self.step) {
      // A busy machine may take longer than the five seconds of the default.
      let session = try session(stream, ProcessLimits(timeout: .seconds(60)))
      var run = Run()
      for (index, unit) in stream.units.enumerated() {
        if index == victim { try signal(number, to: session) }
        try session.decode(unit, tag: UInt64(index))
        session.takeResults(into: &run)
      }
      session.drain()
      session.takeResults(into: &run)
      #expect(run.checksums == expected.checksums, "ended before access unit \(victim)")
      #expect(session.statistics.processesLost == 1, "\(String(describing: session.statistics.lastError))")
    }
  }

  /// Each fifth access unit takes its process along, with each of the five as the first one.
  @Test(arguments: streams, TestScope.rows([SIGKILL, SIGSEGV, SIGSTOP], usually: 1))
  func losesNoPictureWhenProcessesAreLostAgainAndAgain(_ name: String, _ number: Int32) throws {
    let stream = try CodedStream(name)
    let expected = try stream.decode(.with { $0.threadCount = 2 })
    // Each process that is stopped is waited for.
    let limits = ProcessLimits(timeout: number == SIGSTOP ? .seconds(2) : .seconds(60))
    let interval = number == SIGSTOP ? 25 : 5
    for first in number == SIGSTOP ? 0..<1 : 0..<interval {
      let session = try session(stream, limits)
      var run = Run()
      // One that has ended is not missed before it has to answer.
      var lost: Set<Int32> = []
      for (index, unit) in stream.units.enumerated() {
        if index % interval == first {
          try signal(number, to: session)
          if let process = session.statistics.codecProcess { lost.insert(process) }
        }
        try session.decode(unit, tag: UInt64(index))
        session.takeResults(into: &run)
      }
      session.drain()
      session.takeResults(into: &run)
      #expect(run.checksums == expected.checksums, "lost at \(first), \(first + interval), …")
      #expect(session.statistics.processesLost >= lost.count)
    }
  }

  @Test(arguments: ["clip.h264", "clip.h265"])
  func losesNoPictureWhenTheProcessEndsInADrain(_ name: String) throws {
    let stream = try CodedStream(name)
    let expected = try stream.decode(.with { $0.threadCount = 2 })
    let session = try session(stream)
    var run = Run()
    for (index, unit) in stream.units.enumerated() { try session.decode(unit, tag: UInt64(index)) }
    try signal(SIGKILL, to: session)
    session.drain()
    session.takeResults(into: &run)
    #expect(run.checksums == expected.checksums)
  }

  @Test func losesNoPictureWhenTheProcessIsStopped() throws {
    let stream = try CodedStream("clip.h264")
    let expected = try stream.decode(.with { $0.threadCount = 2 })
    let session = try session(stream, ProcessLimits(timeout: .seconds(2)))
    var run = Run()
    for (index, unit) in stream.units.enumerated() {
      if index == 20 { try signal(SIGSTOP, to: session) }
      try session.decode(unit, tag: UInt64(index))
      session.takeResults(into: &run)
    }
    session.drain()
    session.takeResults(into: &run)
    #expect(run.checksums == expected.checksums)
    #expect(session.statistics.processesLost >= 1)
    #expect(session.statistics.lastError?.detail?.contains("did not answer in time") == true)
  }

  /// A codec in a process that access units make crash, each time that they are decoded.
  private final class PoisonedCodec: CodecBoundary {
    private let remote: any CodecBoundary
    private let poison: Set<UInt64>
    /// The process does not answer for an access unit before it gets the next one.
    private let isDelayed: Bool
    private var hasPoison = false

    init(_ remote: any CodecBoundary, poison: Set<UInt64>, isDelayed: Bool) {
      self.remote = remote
      self.poison = poison
      self.isDelayed = isDelayed
    }

    /// Ends the process as soon as the poison has come so far.
    private func end(at index: UInt64? = nil) {
      let isPoison = index.map(poison.contains) ?? false
      if hasPoison || isPoison && !isDelayed, let process { kill(process.identifier, SIGSEGV) }
      if isPoison { hasPoison = true }
    }

    var status: CodecStatus { remote.status }
    var youngest: UInt64? { remote.youngest }
    var process: CodecProcess? { remote.process }
    func decode(_ packet: Packet, index: UInt64, report: (CodecEvent) -> Void) throws(AVError) {
      end(at: index)
      try remote.decode(packet, index: index, report: report)
    }
    func finishDecoding(report: (CodecEvent) -> Void) throws(AVError) {
      end()
      try remote.finishDecoding(report: report)
    }
    func drain(report: (CodecEvent) -> Void) throws(AVError) {
      end()
      try remote.drain(report: report)
    }
    func flush() { remote.flush() }
    func skip(_ pictures: CodecSettings.Skip) { remote.skip(pictures) }
  }

  @Test(
    .disabled(if: isSanitized),
    arguments: ["clip.h264", "open-gop.h264", "open-gop.h265"], [(1, 1), (1, 5), (2, 1), (2, 5)])
  func anAccessUnitThatCrashesTheProcessFailsAlone(
    _ name: String, _ settings: (threads: Int, retries: Int)
  ) throws {
    let stream = try CodedStream(name)
    let expected = try stream.decode(.with { $0.threadCount = settings.threads })
    // One in the second half, so that a random access point stands before and after it where the stream has several.
    let poison = UInt64(stream.units.count / 2 + 3)
    let service = ServiceOpener(ProcessLimits(), HardwareRequest(), cancellation: nil)
    let configuration = SessionConfiguration.with {
      $0.threadCount = settings.threads
      $0.retries = settings.retries
      $0.isolation = .process(ProcessLimits())
    }
    let session = try DecompressionSession(
      format: stream.format, configuration: configuration, allocator: nil,
      openCodec: { (settings, bridge) throws(CodecFailure) in
        PoisonedCodec(try service.open(settings, bridge), poison: [poison], isDelayed: settings.batchSize > 0)
      })
    var run = Run()
    try session.run(stream.units, into: &run)
    #expect(run.accounts(for: stream.units.count))
    let failures = run.failures
    #expect(failures.map(\.tag) == [poison])
    #expect(failures.first?.reason == .malfunction)
    #expect(failures.first?.detail?.contains("signal \(SIGSEGV)") == true, "\(String(describing: failures.first))")
    // With more attempts than one, a process with one thread confirms which access unit it is.
    #expect(session.statistics.processesLost == (settings.retries == 1 ? 2 : 3))
    // What precedes it in decoding order has come, and whatever has come is right.
    let dropped = run.results.compactMap { if case .dropped(let tag, .sessionLost) = $0 { tag } else { nil } }
    #expect(dropped.allSatisfy { $0 > poison })
    let came = Set(run.checksums)
    #expect(came.isSubset(of: expected.checksums))
    let tags = Set(run.frames.map(\.tag))
    #expect(expected.frames.map(\.tag).filter { $0 < poison }.allSatisfy(tags.contains))
    // Decoding continues if the stream has another random access point.
    #expect(name != "clip.h264" || tags.contains { $0 > poison })
  }

  /// A codec whose process ends when it gets a certain access unit, the first time that it does.
  private final class EndingCodec: CodecBoundary {
    private let remote: any CodecBoundary
    private var end: UInt64?

    init(_ remote: any CodecBoundary, end: UInt64?) { (self.remote, self.end) = (remote, end) }

    var status: CodecStatus { remote.status }
    var youngest: UInt64? { remote.youngest }
    var process: CodecProcess? { remote.process }
    func decode(_ packet: Packet, index: UInt64, report: (CodecEvent) -> Void) throws(AVError) {
      if index == end, let process {
        kill(process.identifier, SIGKILL)
        end = nil
      }
      try remote.decode(packet, index: index, report: report)
    }
    func finishDecoding(report: (CodecEvent) -> Void) throws(AVError) { try remote.finishDecoding(report: report) }
    func drain(report: (CodecEvent) -> Void) throws(AVError) { try remote.drain(report: report) }
    func flush() { remote.flush() }
    func skip(_ pictures: CodecSettings.Skip) { remote.skip(pictures) }
  }

  /// Runs a session whose processes end at these access units, one after the other.
  private func run(
    _ stream: CodedStream, endingAt ends: [UInt64], threads: Int, retries: Int
  ) throws -> (run: Run, notices: [SessionNotice], session: DecompressionSession) {
    let service = ServiceOpener(ProcessLimits(timeout: .seconds(60)), HardwareRequest(), cancellation: nil)
    let configuration = SessionConfiguration.with {
      $0.threadCount = threads
      $0.retries = retries
      $0.isolation = .process(ProcessLimits())
    }
    var ends = ends[...]
    let session = try DecompressionSession(
      format: stream.format, configuration: configuration, allocator: nil,
      openCodec: { (settings, bridge) throws(CodecFailure) in
        EndingCodec(try service.open(settings, bridge), end: ends.popFirst())
      })
    var run = Run()
    try session.run(stream.units, into: &run)
    return (run, session.takeNotices(), session)
  }

  /// Processes that end at different access units, or at an access unit that another process got past, do not end because
  /// of the stream. The machine is short of memory, or somebody ends them.
  @Test(
    .disabled(if: isSanitized),
    arguments: TestScope.rows(["clip.h264", "clip.h265", "open-gop.h264", "open-gop.h265"], usually: 2),
    [
      [40, 38, 32], [40, 38, 32, 20], [40, 38, 39], [30, 29, 28, 27], [20, 12, 20], [38, 40, 41], [40, 8, 8, 8, 8],
      [40, 0, 0, 0, 0],
    ] as [[UInt64]])
  func losesNoPictureWhenSuccessorsEnd(_ name: String, _ ends: [UInt64]) throws {
    let stream = try CodedStream(name)
    for threads in [1, 2] {
      let expected = try stream.decode(.with { $0.threadCount = threads })
      let (run, notices, session) = try run(stream, endingAt: ends, threads: threads, retries: 5)
      #expect(run.checksums == expected.checksums, "\(threads) threads")
      #expect(run.failures.isEmpty && notices.isEmpty)
      #expect(session.statistics.processesLost >= 1 && session.statistics.processesLost <= ends.count)
    }
  }

  /// Each successor ends where the first process did, whatever it has to decode before.
  @Test(
    .disabled(if: isSanitized), arguments: ["clip.h264", "clip.h265", "open-gop.h264", "open-gop.h265"],
    [3, 21, 40] as [UInt64])
  func givesUpIfEachSuccessorEndsAtTheSamePlace(_ name: String, _ end: UInt64) throws {
    let stream = try CodedStream(name)
    for threads in [1, 2] {
      let ends = Array(repeating: end, count: 100)
      let (run, _, session) = try run(stream, endingAt: ends, threads: threads, retries: 5)
      #expect(run.accounts(for: stream.units.count))
      #expect(run.failures.map(\.tag) == [end])
      #expect(run.lost.allSatisfy { $0 > end })
      #expect(session.statistics.processesLost == 3)
    }
  }

  /// The process ends in a replay behind a drain, and no other process can be started. The replay begins in front of a CRA
  /// picture whose leading pictures have not come.
  @Test(arguments: [1, 5]) func givesUpIfNoProcessCanBeStarted(_ retries: Int) throws {
    let stream = try CodedStream("open-gop.h265")
    let point = try #require(stream.units.indices.dropFirst().first { stream.isIRAP($0) })
    let service = ServiceOpener(ProcessLimits(timeout: .seconds(60)), HardwareRequest(), cancellation: nil)
    let configuration = SessionConfiguration.with {
      $0.retries = retries
      $0.isolation = .process(ProcessLimits())
    }
    var openings = 0
    let session = try DecompressionSession(
      format: stream.format, configuration: configuration, allocator: nil,
      openCodec: { (settings, bridge) throws(CodecFailure) in
        openings += 1
        // Ends a session that does not give up.
        guard openings < 100 else { throw CodecFailure(.cancelled) }
        guard openings == 1 else { throw CodecFailure(.processEnded(signal: SIGKILL)) }
        return try service.open(settings, bridge)
      })
    var run = Run()
    for (index, unit) in stream.units.prefix(point + 2).enumerated() {
      if index == point + 1 {
        session.drain()
        try signal(SIGKILL, to: session)
      }
      try session.decode(unit, tag: UInt64(index))
    }
    session.takeResults(into: &run)
    #expect(openings < 20)
    let notices = session.takeNotices()
    #expect(notices.contains { if case .codecLost = $0 { true } else { false } })
    #expect(run.frames.count == point + 1)
    #expect(run.accounts(for: point + 2))
  }

  /// The application gets a notice of every loss.
  @Test(
    .disabled(if: isSanitized), arguments: ["clip.h264", "clip.h265", "open-gop.h264", "open-gop.h265"],
    TestScope.rows([1, 2, 3], usually: 2))
  func reportsLostPicturesWithoutAttemptsLeft(_ name: String, _ retries: Int) throws {
    let stream = try CodedStream(name)
    for ends in [[40, 38, 32, 31], [40, 38, 38, 37], [24, 12, 9, 8]] as [[UInt64]] {
      for threads in [1, 2] {
        let (run, notices, _) = try run(stream, endingAt: ends, threads: threads, retries: retries)
        #expect(run.accounts(for: stream.units.count))
        let isReported = !run.failures.isEmpty || notices.contains { if case .codecLost = $0 { true } else { false } }
        #expect(run.lost.isEmpty || isReported, "\(ends), \(threads) threads: \(run.lost)")
      }
    }
  }

  /// An IRAP picture behind an access unit that ends processes has been sent before that shows: decoding goes on there.
  @Test(.disabled(if: isSanitized), arguments: ["clip.h264", "clip.h265", "open-gop.h265"], [1, 2])
  func continuesAtTheNextIRAPPicture(_ name: String, _ threads: Int) throws {
    let stream = try CodedStream(name)
    let point = try #require(stream.units.indices.dropFirst(8).first { stream.isIRAP($0) })
    let before = try stream.decode(.with { $0.threadCount = threads })
    let behind = try CodedStream(units: Array(stream.units[point...]), format: stream.format).decode()
    var counts: [Int] = []
    for distance in 1...7 {
      let poison = UInt64(point - distance)
      let session = try session(stream, threads: threads, poison: [poison])
      var run = Run()
      try session.run(stream.units, into: &run)
      #expect(run.accounts(for: stream.units.count))
      // The signal may come when the process has answered.
      let came = run.frames.contains { $0.tag == poison }
      #expect(run.failures.map(\.tag) == (came ? [] : [poison]))
      let kept = before.frames.filter { $0.tag < poison || came && $0.tag == poison }
      #expect(run.frames.map(\.tag) == kept.map(\.tag) + behind.frames.map { $0.tag + UInt64(point) }, "\(distance)")
      #expect(run.frames.map(\.fingerprint) == (kept + behind.frames).map(\.fingerprint), "\(distance)")
      #expect(run.frames.allSatisfy { !$0.isCorrupt })
      #expect(run.lost == Array(poison + 1..<UInt64(point)))
      #expect(run.dropped(from: UInt64(point)) == behind.dropped(from: 0))
      #expect(session.statistics.resynchronisations == 1)
      // The session is lost only where it has to wait for the picture.
      let notices = session.takeNotices().count
      #expect(notices <= 1)
      counts.append(notices)
    }
    #expect(counts[0] == 0, "\(counts)")
  }

  /// Each random access point, and each access unit in front of one, ends processes.
  @Test(.disabled(if: isSanitized), arguments: ["clip.h264", "clip.h265", "open-gop.h265"], [1, 2])
  func continuesAfterAccessUnitsThatEndProcesses(_ name: String, _ threads: Int) throws {
    let stream = try CodedStream(name)
    let points = stream.units.indices.filter { stream.isIRAP($0) }
    for poison in [points, points.map { $0 - 1 }, points.map { $0 + 1 }, points.flatMap { [$0 - 2, $0 + 1] }] {
      let poison = Set(poison.filter { $0 >= 0 }.map(UInt64.init))
      let session = try session(stream, threads: threads, poison: poison)
      var run = Run()
      try session.run(stream.units, into: &run)
      #expect(run.accounts(for: stream.units.count))
      // Of the others, some are not decoded: they follow one, or a random access point that is then the first picture.
      let failed = Set(run.failures.map(\.tag))
      #expect(failed.isSubset(of: poison))
      let ended = failed.union(poison.intersection(run.frames.map(\.tag)))
      #expect(!ended.isEmpty)
      // All pictures that came are right. Only pictures between a failure and the next random access point are missing.
      var isMissing = false
      var missing: [UInt64] = []
      for index in stream.units.indices {
        if stream.isIRAP(index) { isMissing = false }
        if isMissing { missing.append(UInt64(index)) }
        if ended.contains(UInt64(index)) { isMissing = true }
      }
      #expect(run.lost == missing, "\(poison.sorted())")
      let whole = try stream.decode(.with { $0.threadCount = threads })
      #expect(Set(run.frames.map(\.fingerprint)).isSubset(of: whole.frames.map(\.fingerprint)))
    }
  }

  private func session(_ stream: CodedStream, threads: Int, poison: Set<UInt64>) throws -> DecompressionSession {
    let service = ServiceOpener(ProcessLimits(), HardwareRequest(), cancellation: nil)
    let configuration = SessionConfiguration.with {
      $0.threadCount = threads
      $0.isolation = .process(ProcessLimits())
    }
    return try DecompressionSession(
      format: stream.format, configuration: configuration, allocator: nil,
      openCodec: { (settings, bridge) throws(CodecFailure) in
        PoisonedCodec(try service.open(settings, bridge), poison: poison, isDelayed: settings.batchSize > 0)
      })
  }

  @Test func cancellingEndsAWaitAndAFlushRestarts() async throws {
    let stream = try CodedStream("clip.h264")
    let expected = try stream.decode(.with { $0.threadCount = 2 })
    let cancellation = Cancellation()
    let session = try session(stream, ProcessLimits(timeout: .seconds(3600))) { $0.cancellation = cancellation }
    var run = Run()
    for (index, unit) in stream.units.prefix(10).enumerated() {
      try session.decode(unit, tag: UInt64(index))
    }
    try signal(SIGSTOP, to: session)
    let canceller = Thread { cancellation.cancel() }
    canceller.start()
    // More than a codec's process gets ahead of its answers.
    for (index, unit) in stream.units[10..<20].enumerated() { try session.decode(unit, tag: UInt64(10 + index)) }
    session.takeResults(into: &run)
    #expect(session.takeNotices().isEmpty)
    session.flush()
    session.takeResults(into: &run)
    #expect(run.accounts(for: 20))
    var second = Run()
    try session.run(stream.units, into: &second)
    #expect(second.checksums == expected.checksums)
  }

  @Test func errorNamesAMissingServiceAndTheRemedy() throws {
    let stream = try CodedStream("clip.h264")
    let starter = CodecStarter(at: CodecServiceLocation(path: Array("/nowhere/h26x-codec".utf8)))
    let configuration = SessionConfiguration.with { $0.isolation = .process(ProcessLimits()) }
    let error = #expect(throws: DecodeError.self) {
      _ = try DecompressionSession(
        format: stream.format, configuration: configuration, allocator: nil, starter: starter)
    }
    #expect(error?.reason == .processUnavailable)
    #expect(error?.detail?.contains("/nowhere/h26x-codec") == true)
    #expect(error?.detail?.contains("H26X_CODEC_SERVICE") == true)
  }

  @Test(.disabled(if: isSanitized)) func limitsTheMemoryOfTheProcess() throws {
    let stream = try CodedStream("clip.h264")
    // Too little for any decoder.
    let limits = ProcessLimits(memory: 1 << 20)
    let error = #expect(throws: DecodeError.self) { _ = try session(stream, limits) }
    #expect(error?.reason == .allocationFailed || error?.reason == .malfunction)
  }
}

extension Run {
  /// Access units that were dropped because the codec was lost, in decoding order.
  fileprivate var lost: [UInt64] {
    results.compactMap { if case .dropped(let tag, .sessionLost) = $0 { tag } else { nil } }.sorted()
  }

  /// Access units from one on that were dropped, counted from there, and why.
  fileprivate func dropped(from point: UInt64) -> [UInt64: DropReason] {
    results.reduce(into: [:]) { dropped, result in
      if case .dropped(let tag, let reason) = result, tag >= point { dropped[tag - point] = reason }
    }
  }
}
