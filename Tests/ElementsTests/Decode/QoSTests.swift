// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import Testing

/// The property `qos` of decoders, which is the base class's.
@Suite(.serialized) struct QoSTests {
  let units: [[UInt8]]
  init() throws { units = try Clip.accessUnits("clip.h264") }

  @Test(arguments: [false, true]) func dropsDecodedPicturesThatAreLate(_ isSet: Bool) throws {
    let harness = try Harness.decoder("swifth264dec thread-type=none qos=\(isSet)")
    let positions = Clip.presentationOrder(units)
    for (index, unit) in units.enumerated() {
      if index == 16 {
        // The base class forgets what downstream has answered before the first picture.
        #expect(harness.received > 0)
        // Downstream answers that the picture at 1 s is 10 s late.
        harness.pushUpstream(
          unsafe Event(owning: gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2, 10_000_000_000, 1_000_000_000)))
      }
      #expect(harness.push(unit, pts: Clip.time(positions[index]), duration: Clip.frameDuration) == 0)
    }
    harness.endOfStream()
    let decoded = try #require(harness.statistic("frames-out"))
    #expect((harness.received < decoded) == isSet)
    #expect(harness.received > 0)
    // Without it, no picture is skipped before it is decoded either.
    #expect(isSet || harness.received == units.count)
  }
}
