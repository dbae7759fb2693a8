// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import TestSupport
import Testing

/// The property `output-corrupt` of decoders.
@Suite(.serialized) struct OutputCorruptTests {
  let units: [[UInt8]]
  init() throws { units = try Clip.accessUnits("clip.h264") }

  @Test func dropsDamagedPictures() throws {
    let whole = try Harness.decoder().decode(units)
    let harness = try Harness.decoder("swifth264dec thread-type=none output-corrupt=false")
    var damaged = units
    let lost = try #require((5..<15).first { Clip.isReference(units[$0]) })
    damaged.remove(at: lost)
    let pictures = try harness.decode(damaged)
    let known = Set(whole.map(\.bytes))
    #expect(pictures.count < Clip.frameCount - 1)
    #expect(pictures.allSatisfy { known.contains($0.bytes) && !$0.flags.contains(.corrupted) })
  }

  /// The property counts for the next picture, not for the next session.
  @Test func takesEffectWithTheNextPicture() throws {
    let harness = try Harness.decoder("swifth264dec thread-type=none")
    var damaged = units
    let lost = try #require((5..<15).first { Clip.isReference(units[$0]) })
    damaged.remove(at: lost)
    #expect(harness.push(units: Array(damaged[..<(lost + 5)])).allSatisfy { $0 == 0 })
    let flagged = try harness.takePictures()
    #expect(flagged.contains { $0.flags.contains(.corrupted) })
    harness.set("output-corrupt", "false")
    #expect(harness.push(units: Array(damaged[(lost + 5)...])).allSatisfy { $0 == 0 })
    harness.endOfStream()
    let rest = try harness.takePictures()
    #expect(rest.allSatisfy { !$0.flags.contains(.corrupted) })
    #expect(flagged.count + rest.count < Clip.frameCount - 1)
  }

  @Test func droppedPicturesPostQoSAndRequestAKeyframe() throws {
    let harness = try Harness.decoder("swifth264dec thread-type=none output-corrupt=false")
    harness.collectMessages()
    var damaged = units
    let lost = try #require((5..<15).first { Clip.isReference(units[$0]) })
    damaged.remove(at: lost)
    harness.push(units: damaged)
    harness.endOfStream()
    let dropped = damaged.count - harness.received
    #expect(dropped > 0 && harness.statistic("dropped") == dropped)
    #expect(harness.takeQualityOfServiceMessages() == dropped)
    #expect(harness.takeForceKeyUnitEvents() == 1)
  }
}
