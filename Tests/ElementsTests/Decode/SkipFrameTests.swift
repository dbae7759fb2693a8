// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import TestSupport
import Testing

/// The property `skip-frame` of decoders.
@Suite(.serialized) struct SkipFrameTests {
  let units: [[UInt8]]
  init() throws { units = try Clip.accessUnits("clip.h264") }

  /// A dropped picture is a QoS message; a keyframe is requested only where it would help.
  @Test func skippedPicturesPostQoSMessages() throws {
    let harness = try Harness.decoder("swifth264dec thread-type=none skip-frame=non-reference")
    harness.collectMessages()
    harness.push(units: units)
    harness.endOfStream()
    let skipped = units.count - harness.received
    #expect(skipped > 10 && harness.statistic("dropped") == skipped)
    #expect(harness.takeQualityOfServiceMessages() == skipped)
    #expect(harness.takeForceKeyUnitEvents() == 0)
  }

  /// Skipped pictures do not push others out of the reorder buffer: only keyframes do.
  @Test(arguments: ["thread-type=none", "thread-type=slice", "max-threads=3"])
  func noKeyframeIsLostAmongSkippedPictures(threading: String) throws {
    let positions = Clip.presentationOrder(units)
    let keyframes = units.indices.filter { Clip.nalUnits(units[$0]).contains { $0[0] & 31 == 5 } }
    #expect(keyframes.count == 3)
    let whole = try Harness.decoder().decode(units)
    let shown = try Harness.decoder("swifth264dec skip-frame=non-key \(threading)").decode(units)
    #expect(shown.map(\.pts) == keyframes.map { Clip.time(positions[$0]) })
    #expect(checksum(shown) == checksum(keyframes.map { whole[positions[$0]] }))
  }

  /// Frames of skipped pictures are released before pictures that are shown earlier.
  @Test(arguments: ["thread-type=none", "max-threads=3"])
  func picturesBesideSkippedOnesKeepTheirTimes(threading: String) throws {
    let whole = try Harness.decoder().decode(units)
    let shown = try Harness.decoder("swifth264dec skip-frame=non-reference \(threading)").decode(units)
    #expect(shown.count > 20 && shown.count < whole.count)
    #expect(shown.allSatisfy { picture in whole.contains { $0.pts == picture.pts && $0.bytes == picture.bytes } })
  }
}
