// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import Testing

/// The property `automatic-request-sync-point-flags` of decoders, which is the base class's.
@Suite(.serialized) struct AutomaticRequestSyncPointFlagsTests {
  let units: [[UInt8]]
  init() throws { units = try Clip.accessUnits("clip.h264") }

  private var groups: [Int] {
    units.indices.filter { index in Clip.nalUnits(units[index]).contains { $0[0] & 31 == 5 } }
  }

  /// Decodes the clip. Its first keyframe comes as a delta unit, so the base class waits for the second one.
  private func decode(_ flags: String) throws -> [Picture] {
    let harness = try Harness.decoder(
      "swifth264dec thread-type=none automatic-request-sync-points=true automatic-request-sync-point-flags=\(flags)")
    let keyframes = Array(groups.dropFirst())
    let positions = Clip.presentationOrder(units)
    for (index, unit) in units.enumerated() {
      var buffer = try RepackStream.buffer(unit)
      buffer.pts = Clip.time(positions[index])
      if !keyframes.contains(index) { buffer.flags.insert(.deltaUnit) }
      harness.push(buffer)
    }
    harness.endOfStream()
    return try harness.takePictures()
  }

  @Test func discardsInputBeforeTheKeyframe() throws {
    let pictures = try decode("discard-input")
    #expect(pictures.map(\.pts) == (groups[1]..<units.count).map { Clip.time($0) })
    #expect(pictures.allSatisfy { !$0.flags.contains(.corrupted) })
  }

  /// GStreamer 1.22 flags the first picture only.
  @Test func flagsOutputBeforeTheKeyframe() throws {
    let pictures = try decode("corrupt-output")
    #expect(pictures.count == units.count)
    #expect(pictures.first?.flags.contains(.corrupted) == true)
    #expect(pictures.last?.flags.contains(.corrupted) == false)
  }
}
