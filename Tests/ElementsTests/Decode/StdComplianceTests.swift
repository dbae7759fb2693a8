// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import Glibc
import H26x
import HarnessSupport
import Testing

/// The property `std-compliance` of decoders.
@Suite(.serialized) struct StdComplianceTests {
  let units: [[UInt8]]
  init() throws { units = try Clip.accessUnits("clip.h264") }

  /// Without VUI the reorder depth of this stream is not known.
  @Test(arguments: [("strict", 0), ("normal", 1)]) func decidesTheDelayOfAnUnknownDepth(_ value: String, _ early: Int)
    throws
  {
    let units = try units.map { unit in
      try Clip.nalUnits(unit).flatMap { nalUnit -> [UInt8] in
        guard nalUnit[0] & 31 == 7 else { return [0, 0, 0, 1] + nalUnit }
        var sps = try H264.SequenceParameterSet(nalUnit: nalUnit.span)
        sps.vui = nil
        return [0, 0, 0, 1] + sps.nalUnit()
      }
    }
    let harness = try Harness.decoder("swifth264dec thread-type=none std-compliance=\(value)")
    harness.push(units: Array(units[..<1]))
    #expect(harness.received == early)
    harness.push(units: Array(units[1...]), from: 1)
    harness.endOfStream()
    // With less delay, pictures that precede one that is already output are lost.
    #expect((harness.received == Clip.frameCount) == (value == "strict"))
  }
}
