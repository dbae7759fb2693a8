// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

@Suite struct AppSinkTests {
  init() throws { try Failing.register() }

  @Test func everyBufferComesOutOnce() async throws {
    let pipeline = try Pipeline(
      """
      videotestsrc num-buffers=60 pattern=white ! video/x-raw,format=GRAY8,width=64,height=32,framerate=30/1 \
      ! appsink name=out sync=false max-buffers=1
      """)
    let samples = try pipeline.appSink("out")
    try await pipeline.play()
    var times: [ClockTime?] = []
    for try await sample in samples {
      times.append(sample.pts)
      #expect(sample.videoInfo?.width == 64 && sample.videoInfo?.format.name == "GRAY8")
      let map = try sample.map()
      let bytes = map.bytes
      let (count, first, last) = (bytes.count, bytes[0], bytes[2047])
      #expect(count == 2048 && first == 235 && last == 235)
    }
    #expect(times == (0..<60).map { ClockTime.seconds($0, times: 1, over: 30) })
    await pipeline.stop()
  }

  @Test func anErrorEndsTheBuffers() async throws {
    let pipeline = try Pipeline("videotestsrc ! testfailing after=7 ! appsink name=out sync=false")
    let samples = try pipeline.appSink("out")
    try await pipeline.play()
    var count = 0
    await #expect(throws: PipelineError.self) { for try await _ in samples { count += 1 } }
    #expect(count == 7)
    await pipeline.stop()
  }

  @Test func takesBuffersAsTheyWereSent() async throws {
    let pipeline = try Pipeline(
      """
      appsrc name=in format=time caps=application/x-test max-bytes=64 ! queue ! \
      appsink name=out sync=false max-buffers=1
      """)
    let (input, output) = (try pipeline.appSource("in"), try pipeline.appSink("out"))
    try await pipeline.play()
    async let sent: Void = {
      for index in 0..<500 {
        let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: 1 + index % 40)
        guard var buffer = Buffer(copying: bytes.span) else { throw PipelineError.stopped }
        buffer.pts = ClockTime(nanoseconds: UInt64(index))
        try await input.send(buffer)
      }
      try input.finish()
    }()
    var index = 0
    for try await sample in output {
      #expect(sample.pts == ClockTime(nanoseconds: UInt64(index)))
      #expect(sample.size == 1 + index % 40)
      let map = try sample.map()
      let first = map.bytes[0]
      #expect(first == UInt8(truncatingIfNeeded: index))
      index += 1
    }
    try await sent
    #expect(index == 500)
    // The stream has ended: nothing more goes in.
    await #expect(throws: PipelineError.self) { try await input.send(Buffer()) }
    await pipeline.stop()
  }

  /// Caps travel with the samples.
  @Test func onePipelineFeedsAnother() async throws {
    let first = try Pipeline(
      "videotestsrc num-buffers=20 ! video/x-raw,format=I420,width=16,height=16 ! appsink name=out sync=false")
    let second = try Pipeline("appsrc name=in format=time ! appsink name=out sync=false")
    let (source, samples) = (try second.appSource("in"), try first.appSink("out"))
    let results = try second.appSink("out")
    try await second.play()
    try await first.play()
    async let sent: Void = source.send(all: samples)
    var count = 0
    for try await sample in results {
      #expect(sample.videoInfo?.format.name == "I420" && sample.size == 384)
      count += 1
    }
    try await sent
    #expect(count == 20)
    await first.stop()
    await second.stop()
  }

  @Test func refusesElementsOfAnotherType() throws {
    let pipeline = try Pipeline("appsrc name=in ! appsink name=out")
    #expect(throws: PipelineError.self) { try pipeline.appSink("in") }
    #expect(throws: PipelineError.self) { try pipeline.appSource("out") }
  }
}

/// Pipelines that end while tasks wait for them.
@Suite struct PipelineLifeTests {
  init() throws { try Failing.register() }

  /// The bound is for tasks that do not get a turn for a while: in half a minute the sink would hold gigabytes.
  private static let endless =
    "videotestsrc ! video/x-raw,width=16,height=16 ! appsink name=out sync=false max-buffers=4"

  @Test func cancellingTheTaskThatTakesBuffersStopsThePipeline() async throws {
    for _ in 0..<100 {
      let pipeline = try Pipeline(Self.endless)
      let samples = try pipeline.appSink("out")
      try await pipeline.play()
      let task = Task {
        var count = 0
        for try await _ in samples { count += 1 }
        return count
      }
      try await pipeline.settled()
      task.cancel()
      _ = try await task.value
      await pipeline.stop()
      #expect(pipeline.state == .null)
    }
  }

  @Test func cancellingTheTaskThatRunsStopsThePipeline() async throws {
    for _ in 0..<100 {
      let pipeline = try Pipeline("videotestsrc ! fakesink")
      let task = Task { try await pipeline.run() }
      await Task.yield()
      task.cancel()
      let result = await task.result
      #expect(throws: PipelineError.self) { try result.get() }
      #expect(pipeline.state == .null)
    }
  }

  @Test func cancellingTheTaskThatSendsStopsThePipeline() async throws {
    for _ in 0..<100 {
      let pipeline = try Pipeline("appsrc name=in max-bytes=8 caps=application/x-test ! appsink name=out max-buffers=1")
      let input = try pipeline.appSource("in")
      try await pipeline.play()
      let task = Task {
        while true {
          guard let buffer = Buffer(size: 16) else { return }
          try await input.send(buffer)
        }
      }
      await Task.yield()
      task.cancel()
      let result = await task.result
      #expect(throws: PipelineError.self) { try result.get() }
      await pipeline.stop()
      #expect(pipeline.state == .null)
    }
  }

  @Test func stoppingEndsAllWaits() async throws {
    for _ in 0..<100 {
      let pipeline = try Pipeline(
        "appsrc name=in max-bytes=8 caps=application/x-test ! appsink name=out max-buffers=1")
      let (input, output) = (try pipeline.appSource("in"), try pipeline.appSink("out"))
      try await pipeline.play()
      async let messages: Void = { for try await _ in pipeline.messages {} }()
      async let samples: Void = { for try await _ in output {} }()
      let sender = Task {
        while true {
          guard let buffer = Buffer(size: 16) else { return }
          try await input.send(buffer)
        }
      }
      await Task.yield()
      await pipeline.stop()
      try await messages
      try await samples
      let result = await sender.result
      #expect(throws: PipelineError.self) { try result.get() }
    }
  }

  /// The last reference is released while data flows.
  @Test func releasingAPipelineStopsIt() async throws {
    let elements = Locked<[PipelineElement]>([])
    for _ in 0..<100 {
      let pipeline = try Pipeline(Self.endless)
      try await pipeline.play()
      let sink = try pipeline.element("out")
      elements.withLock { $0.append(sink) }
    }
    // The test still has the elements, whose states change on another thread.
    for element in elements.snapshot { #expect(await element.comesToRest()) }
  }

  /// A handler that captures its own element would be a reference cycle.
  @Test func freesHandlersWithThePipeline() async throws {
    final class Token: Sendable {}
    weak var token: Token?
    do {
      let pipeline = try Pipeline("videotestsrc num-buffers=2 ! fakesink name=sink signal-handoffs=true")
      let sink = try pipeline.element("sink")
      let held = Token()
      token = held
      try sink.connect("handoff") { _ in
        withExtendedLifetime((sink, held)) {}
        return nil
      }
      try await pipeline.run()
    }
    #expect(token == nil)
  }

  @Test func runsManyPipelinesAtOnce() async throws {
    try await withThrowingTaskGroup { group in
      for index in 0..<20 {
        group.addTask {
          let pipeline = try Pipeline(
            "videotestsrc num-buffers=\(10 + index) ! video/x-raw,width=16,height=16 ! appsink name=out sync=false")
          let samples = try pipeline.appSink("out")
          try await pipeline.play()
          var count = 0
          for try await _ in samples { count += 1 }
          #expect(count == 10 + index)
          await pipeline.stop()
        }
      }
      try await group.waitForAll()
    }
  }
}

extension Pipeline {
  /// Waits for a random time, so that the next step comes at different moments.
  fileprivate func settled() async throws {
    for _ in 0..<Int.random(in: 0..<50) { await Task.yield() }
  }
}

extension PipelineElement {
  /// Whether the element is stopped within a minute.
  fileprivate func comesToRest() async -> Bool {
    for _ in 0..<6000 {
      if state == .null { return true }
      try? await Task.sleep(for: .milliseconds(10))
    }
    return false
  }
}
