// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

/// A stream that is made as it is asked for, and sought while it flows.
@Suite struct AppSourceTests {
  private static let pictures: UInt64 = 250
  private let pipeline: Pipeline
  private let source: AppSource
  private let sink: AppSink

  init() throws {
    Harness.initialise()
    pipeline = try Pipeline(
      """
      appsrc name=in format=time stream-type=seekable duration=10000000000 caps=application/x-test max-bytes=64 \
      ! queue max-size-buffers=3 ! appsink name=out sync=false max-buffers=2
      """)
    (source, sink) = (try pipeline.appSource("in"), try pipeline.appSink("out"))
  }

  /// Buffers of 40 ms that hold their number.
  private func serve(upTo count: UInt64 = pictures) async throws {
    try await source.serve { position in
      let number = position / 40_000_000
      guard number < count, var buffer = Buffer(copying: [UInt8](repeating: UInt8(number), count: 16).span)
      else { return nil }
      buffer.pts = .milliseconds(number * 40)
      buffer.duration = .milliseconds(40)
      position = (number + 1) * 40_000_000
      return buffer
    }
  }

  /// The numbers of the next buffers, whose timestamps agree with them.
  private func numbers(_ iterator: inout AppSink.Iterator, count: Int = .max) async throws -> [UInt64] {
    var numbers: [UInt64] = []
    while numbers.count < count, let sample = try await iterator.next() {
      let map = try sample.map()
      let number = UInt64(map.bytes[0])
      #expect(sample.pts == .milliseconds(number * 40))
      numbers.append(number)
    }
    return numbers
  }

  /// Each of the limits holds the sender back, while nothing leaves a pipeline that is paused.
  @Test(arguments: ["max-bytes=32", "max-bytes=0 max-buffers=2", "max-bytes=0 max-time=80000000"])
  func aSenderWaitsWhileTheQueueIsFull(limits: String) async throws {
    let pipeline = try Pipeline(
      "appsrc name=in format=time caps=application/x-test \(limits) ! appsink name=out sync=false max-buffers=1")
    let (source, sink) = (try pipeline.appSource("in"), try pipeline.appSink("out"))
    try await pipeline.pause()
    let levels = Locked<[FieldValue]>([])
    let sender = Task {
      for number in 0..<20 as Range<UInt64> {
        guard var buffer = Buffer(copying: [UInt8](repeating: 0, count: 16).span) else { return }
        (buffer.pts, buffer.duration) = (.milliseconds(number * 40), .milliseconds(40))
        try await source.send(buffer)
        let level = try source.element.get("current-level-buffers")
        levels.withLock { $0.append(level) }
      }
      try source.finish()
    }
    while levels.snapshot.count < 3 { try await Task.sleep(for: .milliseconds(2)) }
    try await pipeline.play()
    var count = 0
    for try await _ in sink { count += 1 }
    try await sender.value
    #expect(count == 20)
    #expect(levels.snapshot.allSatisfy { level in (0...4).contains { level == .uint64($0) } })
    await pipeline.stop()
  }

  @Test func servesEverySeekFromItsTarget() async throws {
    async let served: Void = serve()
    try await pipeline.play()
    var iterator = sink.makeAsyncIterator()
    #expect(try await numbers(&iterator, count: 5) == [0, 1, 2, 3, 4])
    for round in 0..<100 as Range<UInt64> {
      let target = round * 37 % Self.pictures
      try await pipeline.seek(to: .milliseconds(target * 40))
      let wanted = target..<min(target + 1 + round % 7, Self.pictures)
      #expect(try await numbers(&iterator, count: wanted.count) == Array(wanted))
    }
    await pipeline.stop()
    try await served
  }

  @Test func servesSeeksAfterTheEnd() async throws {
    async let served: Void = serve()
    try await pipeline.play()
    var iterator = sink.makeAsyncIterator()
    #expect(try await numbers(&iterator) == Array(0..<Self.pictures))
    try await pipeline.seek(to: .milliseconds(9800))
    #expect(try await numbers(&iterator) == Array(245..<250))
    await pipeline.stop()
    try await served
  }

  @Test func laterServingBeginsAtTheLastSeek() async throws {
    try await pipeline.play()
    var iterator = sink.makeAsyncIterator()
    await #expect(throws: FlowError.self) { try await source.serve { _ in throw FlowError.error } }
    async let sought: Void = pipeline.seek(to: .milliseconds(400))
    // The seek is done when the sink has what is there.
    async let served: Void = serve(upTo: 20)
    try await sought
    #expect(try await numbers(&iterator) == Array(10..<20))
    await pipeline.stop()
    try await served
  }

  @Test func cancellationStopsThePipeline() async throws {
    try await pipeline.play()
    let task = Task { try await serve() }
    var iterator = sink.makeAsyncIterator()
    #expect(try await numbers(&iterator, count: 3) == [0, 1, 2])
    task.cancel()
    await #expect(throws: PipelineError.self) { try await task.value }
    #expect(try await numbers(&iterator).isEmpty)
    await pipeline.stop()
  }

  @Test func anotherRunBeginsAtTheStart() async throws {
    for _ in 0..<2 {
      try await pipeline.play()
      async let served: Void = serve()
      var iterator = sink.makeAsyncIterator()
      #expect(try await numbers(&iterator, count: 9) == Array(0..<9))
      await pipeline.stop()
      try await served
    }
  }

  /// A push that waits for room would hold the lock that the signal of a seek takes.
  @Test func turnsBlockingOff() throws {
    let pipeline = try Pipeline("appsrc name=in block=true ! fakesink")
    let element = try pipeline.element("in")
    #expect(try element.get("block") == .boolean(true))
    _ = try pipeline.appSource("in")
    #expect(try element.get("block") == .boolean(false))
  }
}
