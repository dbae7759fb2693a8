// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

@Suite struct ProbeTests {
  init() { Harness.initialise() }

  private func times(of pipeline: Pipeline, at sink: String = "out") async throws -> [ClockTime?] {
    let sink = try pipeline.appSink(sink)
    try await pipeline.play()
    var times: [ClockTime?] = []
    for try await sample in sink { times.append(sample.pts) }
    await pipeline.stop()
    return times
  }

  @Test func buffersAreChangedAndDroppedUntilTheProbeIsRemoved() async throws {
    let pipeline = try Pipeline(
      "videotestsrc num-buffers=6 ! video/x-raw,framerate=1/1 ! identity name=i ! appsink name=out sync=false max-buffers=9"
    )
    let pad = try #require(try pipeline.element("i").pad("src"))
    let seen = Locked<[ClockTime]>([])
    let kept = Locked<PadProbe?>(nil)
    let probe = pad.addBufferProbe { buffer in
      let time = buffer.pts ?? .zero
      let count = seen.withLock {
        $0.append(time)
        return $0.count
      }
      buffer.pts = time + ClockTime.second
      if count == 4 { kept.snapshot?.remove() }
      return count == 2 ? .drop : .pass
    }
    kept.withLock { $0 = probe }
    let times = try await times(of: pipeline)
    #expect(seen.snapshot == (0..<4).map { ClockTime(nanoseconds: $0 * 1_000_000_000) })
    // The second is dropped; the fifth and sixth come as they are.
    #expect(times == [1, 3, 4, 4, 5].map { ClockTime(nanoseconds: $0 * 1_000_000_000) })
    kept.withLock { $0 = nil }
  }

  @Test func samplesHaveTheirStreamTime() async throws {
    let pipeline = try Pipeline(
      "videotestsrc num-buffers=2 name=s ! video/x-raw,framerate=1/1 ! appsink name=out sync=false")
    let source = try #require(try pipeline.element("s").pad("src"))
    source.replaceSegments { _ in .time(from: .zero, until: nil, at: .milliseconds(7000)) }
    let sink = try pipeline.appSink("out")
    try await pipeline.play()
    var times: [ClockTime?] = []
    for try await sample in sink { times.append(sample.streamTime) }
    #expect(times == [.milliseconds(7000), .milliseconds(8000)])
    await pipeline.stop()
  }

  @Test func releasingAProbeRemovesIt() async throws {
    let pipeline = try Pipeline("videotestsrc num-buffers=3 ! identity name=i ! appsink name=out sync=false")
    let pad = try #require(try pipeline.element("i").pad("src"))
    _ = pad.addBufferProbe { _ in .drop }
    #expect(try await times(of: pipeline).count == 3)
  }

  @Test func seesAndDropsEvents() async throws {
    let pipeline = try Pipeline("videotestsrc num-buffers=3 ! identity name=i ! fakesink")
    let pad = try #require(try pipeline.element("i").pad("src"))
    let kinds = Locked<[Event.Kind]>([])
    let probe = pad.addEventProbe { event in
      let kind = event.kind
      kinds.withLock { $0.append(kind) }
      return .pass
    }
    try await pipeline.run()
    #expect(kinds.snapshot.contains(.segment) && kinds.snapshot.last == .endOfStream)
    probe.remove()
  }

  /// Buffers in a list come one by one.
  @Test func seesEachBufferOfAList() async throws {
    let pipeline = try Pipeline(
      "videotestsrc num-buffers=2 ! video/x-raw,format=I420,width=320,height=240 ! rtpvrawpay name=pay ! fakesink")
    let pad = try #require(try pipeline.element("pay").pad("src"))
    let count = Counter()
    let probe = pad.addBufferProbe { buffer in
      if buffer.size > 0 { count.increment() }
      return .drop
    }
    try await pipeline.run()
    // A packet holds no more than 1,400 bytes.
    #expect(count.value > 2 * 320 * 240 * 3 / 2 / 1400)
    probe.remove()
  }
}
