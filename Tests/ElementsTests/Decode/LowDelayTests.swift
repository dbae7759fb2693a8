// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import Glibc
import H26x
import HarnessSupport
import Testing

/// The property `low-delay` of decoders.
@Suite(.serialized) struct LowDelayTests {
  /// In a pipeline that is not live: a live one has no delay anyway.
  @Test func outputsEachPictureBeforeTheNext() throws {
    let units = try Clip.accessUnits("intra-refresh.h264")
    let delayed = try Harness.decoder("swifth264dec max-threads=2")
    let prompt = try Harness.decoder("swifth264dec max-threads=2 low-delay=true")
    for (index, unit) in units.prefix(20).enumerated() {
      delayed.push(unit, pts: Clip.time(index))
      #expect(delayed.received <= index)
      prompt.push(unit, pts: Clip.time(index))
      #expect(prompt.received == index + 1)
    }
    #expect(prompt.queryLatency() == .zero)
  }
}
