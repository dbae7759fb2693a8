// SPDX-License-Identifier: MPL-2.0

import H26x
import Slices
import TestSupport
import Testing

/// Slices of vectors, changed at random: whatever is in them, reading ends.
@Suite(.enabled(if: Vectors.isAvailable)) struct H264MutatedSliceTests {
  @Test(arguments: [
    "CI1_FT_B.264", "FRExt1_Panasonic.avc", "HCAFR3_HHI.264", "HCAMFF1_HHI.264", "freh11.264",
    "ydt_demo_10_frames_cavlc_and_interlace.h264", "goh264_high10_weighted422_cabac_b.h264",
    "jcodec_seq_explicit_test.264", "ydt_demo_10_frames_TransformBypassModeFlag.h264",
  ]) func neverTraps(_ name: String) throws {
    let slices = SlicesOfStream(try Vectors.nalUnits("h264/\(name)")).slices.prefix(40)
    var generator = SeededGenerator(state: UInt64(name.utf8.reduce(0) { $0 + Int($1) }))
    var reader = H264.SliceReader()
    var found = 0
    for _ in 0..<Vectors.mutations {
      let slice = try #require(slices.randomElement(using: &generator))
      let other = try #require(slices.randomElement(using: &generator)).nalUnit
      let mutated = mutate(slice.nalUnit, other, &generator)
      reader.beginPicture()
      if reader.damage(mutated, slice.sets) != nil { found += 1 }
    }
    #expect(found > Vectors.mutations / 5)
  }

  private func mutate(_ nalUnit: [UInt8], _ other: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
    var bytes = nalUnit
    switch Int.random(in: 0..<5, using: &generator) {
    case 0:
      for _ in 0..<Int.random(in: 1...8, using: &generator) {
        bytes[Int.random(in: 1..<bytes.count, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      }
    case 1: bytes = Array(bytes.prefix(Int.random(in: 1...bytes.count, using: &generator)))
    case 2:
      let start = Int.random(in: 1..<bytes.count, using: &generator)
      for index in start..<min(bytes.count, start + 184) { bytes[index] = 0 }
    case 3:
      let start = Int.random(in: 1..<bytes.count, using: &generator)
      bytes.removeSubrange(start..<min(bytes.count, start + 184))
    default:
      let count = Int.random(in: 1..<bytes.count, using: &generator)
      bytes = bytes.prefix(count) + other.suffix(max(1, other.count - count))
    }
    return bytes
  }
}
