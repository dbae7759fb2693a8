// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import Glibc
import H26x
import HarnessSupport
import Testing

/// The property `low-delay` of decoders.
@Suite(.serialized) struct LowDelayTests {
  @Test func outputsEachPictureBeforeTheNext() throws {
    let units = try Clip.accessUnits("intra-refresh.h264")
    let harness = try Harness.decoder("swifth264dec low-delay=true", isLive: true)
    for (index, unit) in units.prefix(20).enumerated() {
      harness.push(unit, pts: Clip.time(index))
      #expect(harness.received == index + 1)
    }
    #expect(harness.queryLatency() == .zero)
  }
}
