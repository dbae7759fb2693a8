// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import Testing

/// The property `discard-corrupted-frames` of decoders, which is the base class's.
@Suite(.serialized) struct DiscardCorruptedFramesTests {
  let units: [[UInt8]]
  init() throws { units = try Clip.accessUnits("clip.h264") }

  @Test func dropsFlaggedPicturesOnly() throws {
    var damaged = units
    let lost = try #require((5..<15).first { Clip.isReference(units[$0]) })
    damaged.remove(at: lost)
    let all = try Harness.decoder("swifth264dec thread-type=none").decode(damaged)
    let intact = all.filter { !$0.flags.contains(.corrupted) }
    #expect(!intact.isEmpty && intact.count < all.count)
    let harness = try Harness.decoder("swifth264dec thread-type=none discard-corrupted-frames=true")
    let pictures = try harness.decode(damaged)
    #expect(pictures.map(\.fingerprint) == intact.map(\.fingerprint))
    #expect(pictures.map(\.pts) == intact.map(\.pts))
    // The session has output them.
    #expect(harness.statistic("frames-out") == all.count)
  }
}
