// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import HarnessSupport
import Testing

/// Has a latency of 300 ms from its third buffer on.
private final class Raiser: BaseTransform {
  private let latency = Locked(ClockTime.zero)
  private var count = 0

  override class var padTemplates: [PadTemplate] { [.sink("ANY"), .source("ANY")] }
  override func prepareToStream() { count = 0 }

  override func transformInPlace(_ buffer: inout Buffer) throws(FlowError) {
    count += 1
    guard count == 3 else { return }
    latency.withLock { $0 = .milliseconds(300) }
    postLatencyChanged()
  }

  override func query(_ query: borrowing Query, on side: Pad.Direction) -> Bool {
    guard super.query(query, on: side) else { return false }
    guard let known = query.latency else { return true }
    query.setLatency(isLive: known.isLive, minimum: known.minimum + latency.snapshot, maximum: nil)
    return true
  }
}

@Suite struct LatencyTests {
  @Test func aChangedLatencyReachesTheSinks() async throws {
    Harness.initialise()
    try Raiser.register(as: "testraiser", typeName: "GstTestRaiser")
    let pipeline = try Pipeline("videotestsrc is-live=true ! testraiser ! fakesink name=out sync=true")
    let sink = try pipeline.element("out")
    func configured() -> UInt64 {
      let raw = unsafe UnsafeMutableRawPointer(sink.raw).assumingMemoryBound(to: GstBaseSink.self)
      return unsafe UInt64(gst_base_sink_get_latency(raw))
    }
    try await pipeline.play()
    for _ in 0..<6000 where configured() < 300_000_000 { try await Task.sleep(for: .milliseconds(10)) }
    #expect(configured() >= 300_000_000)
    await pipeline.stop()
  }
}
