// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import Testing

/// The property `min-force-key-unit-interval` of decoders, which is the base class's.
@Suite(.serialized) struct MinForceKeyUnitIntervalTests {
  let units: [[UInt8]]
  init() throws { units = try Clip.accessUnits("clip.h264") }

  /// The keyframes that are requested while nothing can be decoded: the decoder repeats its request after some pictures.
  private func requests(_ properties: String) throws -> Int {
    let harness = try Harness.decoder("swifth264dec thread-type=none max-errors=-1 \(properties)")
    harness.push(units: Array(units[..<5]))
    _ = harness.takeForceKeyUnitEvents()
    harness.push(units: (0..<40).map { _ in Clip.undecodable }, from: 5)
    return harness.takeForceKeyUnitEvents()
  }

  @Test func limitsTheRequestsForKeyframes() throws {
    let unlimited = try requests("")
    #expect(unlimited > 1)
    let limited = try requests("min-force-key-unit-interval=60000000000")
    #expect(limited == 1)
  }
}
