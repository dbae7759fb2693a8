// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import Testing

/// The property `max-threads` of decoders.
@Suite(.serialized) struct MaxThreadsTests {
  let units: [[UInt8]]
  init() throws { units = try Clip.accessUnits("clip.h264") }

  private func latency(threads: Int) throws -> ClockTime? {
    let harness = try Harness.decoder("swifth264dec isolation=none thread-type=frame max-threads=\(threads)")
    harness.push(units: Array(units[..<20]))
    return harness.queryLatency()
  }

  @Test func eachFrameThreadAfterTheFirstAddsAFrameOfLatency() throws {
    let ofOneThread = try #require(try latency(threads: 1))
    for threads in [2, 3, 5] {
      let latency = try latency(threads: threads)
      #expect(latency == ofOneThread + Clip.time(threads - 1))
    }
  }
}
