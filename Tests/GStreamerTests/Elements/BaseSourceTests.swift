// SPDX-License-Identifier: MPL-2.0
import CGStreamerCheck
import GStreamer
import HarnessSupport
import Testing

/// A seekable source of a hundred bytes, each of which is its own position.
private final class Ramp: BaseSource {
  override class var padTemplates: [PadTemplate] { [.source("application/x-test, rate=(int)[ 5, 9 ]")] }
  override func size() -> UInt64? { 100 }
  override func isSeekable() -> Bool { true }

  override func buffer(at offset: UInt64?, length: Int) throws(FlowError) -> Buffer {
    guard let offset, offset < 100 else { throw .endOfStream }
    let bytes = (offset..<min(offset + UInt64(length), 100)).map { UInt8(truncatingIfNeeded: $0) }
    guard let buffer = Buffer(copying: bytes.span) else { throw .error }
    return buffer
  }
}

/// Chooses the length of its blocks itself.
private final class Blocks: BaseSource {
  override class var padTemplates: [PadTemplate] { [.source("application/x-test")] }
  override func size() -> UInt64? { 100 }
  override func start() throws(ElementError) { blockSize = 40 }

  override func buffer(at offset: UInt64?, length: Int) throws(FlowError) -> Buffer {
    guard let offset, offset < 100, length <= blockSize else { throw .endOfStream }
    let bytes = [UInt8](repeating: 0, count: min(length, 100 - Int(offset)))
    guard let buffer = Buffer(copying: bytes.span) else { throw .error }
    return buffer
  }
}

/// A parser that passes its input through, in pull mode where the source supports it.
private final class Puller: BaseParse {
  static let wasPulling = Locked<Bool?>(nil)

  override class var padTemplates: [PadTemplate] { [.sink("ANY"), .source("ANY")] }
  override func handleFrame(_ frame: borrowing BaseParseFrame) throws(FlowError) -> ParseStep {
    Self.wasPulling.withLock { $0 = sinkPad.isPulling }
    if !sourcePad.hasCaps { sourcePad.setCaps(Caps(mediaType: "application/x-test")) }
    return .frame(size: frame.size)
  }
}

/// A picture a second, for ten seconds, from the target of a seek on.
private final class Seconds: BaseSource {
  private let next = Locked<UInt64>(0)

  override class var padTemplates: [PadTemplate] { [.source("application/x-test")] }
  override func prepareToStream() { setTimeFormat() }
  override func isSeekable() -> Bool { true }
  override func duration() -> ClockTime? { .seconds(10) }

  override func seek(to segment: Segment) -> Bool {
    next.withLock { $0 = segment.position / ClockTime.second.nanoseconds }
    return true
  }

  override func buffer(at offset: UInt64?, length: Int) throws(FlowError) -> Buffer {
    let second = next.withLock { next in
      defer { next += 1 }
      return next
    }
    guard second < 10, var buffer = Buffer(copying: [UInt8(second)].span) else { throw .endOfStream }
    buffer.pts = .seconds(second)
    buffer.duration = .second
    return buffer
  }
}

/// A live source of a buffer a second, from the first second on.
private final class Ticks: PushSource {
  private var count: UInt64 = 0
  override class var padTemplates: [PadTemplate] { [.source("application/x-test")] }
  override func prepareToStream() {
    count = 0
    setTimeFormat()
    setLive(true)
  }
  override func nextBuffer() throws(FlowError) -> Buffer {
    count += 1
    var buffer = Buffer()
    buffer.pts = .seconds(count)
    return buffer
  }
}

/// Has nothing to give, and returns so as a transform would.
private final class Dropping: PushSource {
  override class var padTemplates: [PadTemplate] { [.source("application/x-test")] }
  override func nextBuffer() throws(FlowError) -> Buffer { throw .dropped }
}

@Suite struct BaseSourceTests {
  init() throws {
    Harness.initialise()
    try Ramp.register(as: "testramp", typeName: "GstTestRamp")
    try Seconds.register(as: "testseconds", typeName: "GstTestSeconds")
  }

  /// The harness has a clock that stands still until the test moves it. The first buffer is sent at running time 0.
  @Test func aLiveSourceWaitsForTheTimesOfItsBuffers() throws {
    try Ticks.register(as: "testticks", typeName: "GstTestTicks")
    let harness = try Harness("testticks")
    harness.play()
    for count in 0..<3 as Range<UInt64> {
      #expect(unsafe gst_harness_wait_for_clock_id_waits(harness.raw, 1, 60) != 0)
      #expect(unsafe gst_harness_buffers_received(harness.raw) == count)
      #expect(unsafe gst_harness_crank_single_clock_wait(harness.raw) != 0)
      let time = try harness.pull().pts
      #expect(time == .seconds(count))
    }
  }

  @Test func aSourceThatDropsInsteadOfMakingABufferFails() async throws {
    try Dropping.register(as: "testdropping", typeName: "GstTestDropping")
    await #expect(throws: PipelineError.self) { try await Pipeline("testdropping ! fakesink").run() }
  }

  @Test func readsInBlocksOfTheRequestedSize() async throws {
    let samples = try await samples(of: "testramp blocksize=30")
    #expect(samples.map(\.size) == [30, 30, 30, 10])
    #expect(try samples.flatMap { try $0.copiedBytes() } == Array(0..<100))
    let caps: String? = samples.first?.caps?.description
    #expect(caps == "application/x-test, rate=(int)5")
  }

  @Test func sourceMayChooseItsBlockSize() async throws {
    try Blocks.register(as: "testblocks", typeName: "GstTestBlocks")
    #expect(try await samples(of: "testblocks").map(\.size) == [40, 40, 20])
  }

  @Test func pullModeReadsFromAnyOffset() async throws {
    try Puller.register(as: "testpuller", typeName: "GstTestPuller")
    let samples = try await samples(of: "testramp ! testpuller")
    #expect(try samples.flatMap { try $0.copiedBytes() } == Array(0..<100))
    #expect(Puller.wasPulling.snapshot == true)
  }

  @Test func seeksToARequestedTime() async throws {
    let pipeline = try Pipeline("testseconds ! appsink name=out sync=false")
    let sink = try pipeline.appSink("out")
    try await pipeline.preroll()
    #expect(pipeline.duration == .seconds(10))
    try await pipeline.seek(to: .seconds(7))
    try await pipeline.play()
    var times: [ClockTime?] = []
    var streamTimes: [ClockTime?] = []
    for try await sample in sink {
      times.append(sample.pts)
      streamTimes.append(sample.segment?.streamTime(of: sample.pts))
    }
    #expect(times == [.seconds(7), .seconds(8), .seconds(9)] && streamTimes == times)
    await pipeline.stop()
  }
}
