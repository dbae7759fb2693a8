// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import Testing

/// The property `automatic-request-sync-points` of decoders, which is the base class's.
@Suite(.serialized) struct AutomaticRequestSyncPointsTests {
  let units: [[UInt8]]
  init() throws { units = try Clip.accessUnits("clip.h264") }

  /// Without parameter sets, the decoder itself requests nothing.
  @Test(arguments: [false, true]) func requestsAKeyframeForAStreamThatBeginsWithoutOne(_ isSet: Bool) throws {
    let harness = try Harness.decoder("swifth264dec automatic-request-sync-points=\(isSet)")
    for index in 1..<10 {
      var buffer = try RepackStream.buffer(units[index])
      buffer.pts = Clip.time(index)
      buffer.flags.insert(.deltaUnit)
      harness.push(buffer)
    }
    #expect((harness.takeForceKeyUnitEvents() > 0) == isSet)
  }
}
