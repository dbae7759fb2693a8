// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import Glibc
import H26x
import HarnessSupport
import Testing

/// The property `thread-type` of decoders, and the latency of their threads.
@Suite(.serialized) struct ThreadTypeTests {
  let units: [[UInt8]]
  init() throws { units = try Clip.accessUnits("clip.h264") }

  @Test(arguments: ["thread-type=none", "thread-type=slice max-threads=2", "thread-type=frame max-threads=3"])
  func reportedLatencyEqualsMeasuredLatency(threads: String) throws {
    let harness = try Harness.decoder("swifth264dec \(threads)")
    var behind = 0
    let positions = Clip.presentationOrder(units)
    for (index, unit) in units.enumerated() {
      harness.push(unit, pts: Clip.time(positions[index]))
      // The number of access units that had been pushed when picture N came out.
      if harness.received > 0 && index < units.count - 1 { behind = max(behind, index + 1 - harness.received) }
    }
    #expect(behind > 0)
    #expect(harness.queryLatency() == Clip.time(behind))
  }

  @Test func liveInputGetsNoFrameThreads() throws {
    let harness = try Harness.decoder("swifth264dec max-threads=4", isLive: true)
    harness.push(units: Array(units[..<20]))
    // Only the reorder delay.
    let reordering = try Harness.decoder("swifth264dec thread-type=none")
    reordering.push(units: Array(units[..<20]))
    #expect(harness.queryLatency() == reordering.queryLatency())
  }
}
