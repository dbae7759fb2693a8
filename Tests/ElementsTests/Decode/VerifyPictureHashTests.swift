// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import Testing

/// The property `verify-picture-hash` of `swifth265dec`.
@Suite(.serialized) struct VerifyPictureHashTests {
  /// The clip with another last byte in the picture hash (suffix SEI of type 132) of each access unit.
  private func unitsWithWrongHashes() throws -> [[UInt8]] {
    try Clip.accessUnits("clip.h265", of: H265.self).map { unit -> [UInt8] in
      let nalUnits = Clip.nalUnits(unit).map { nalUnit -> [UInt8] in
        // The hash ends before the trailing bits.
        guard nalUnit[0] >> 1 == 40, nalUnit[2] == 132, let end = nalUnit.lastIndex(of: 0x80) else { return nalUnit }
        var wrong = nalUnit
        wrong[end - 1] ^= 0x10
        return wrong
      }
      return RepackStream.annexB(nalUnits)
    }
  }

  @Test(arguments: ["thread-type=none", "max-threads=3", "isolation=process max-threads=2"], [false, true])
  func flagsPicturesThatDifferFromTheirHash(_ properties: String, _ isSet: Bool) throws {
    let units = try unitsWithWrongHashes()
    let harness = try Harness.decoder(
      "swifth265dec \(properties) verify-picture-hash=\(isSet)", input: H265DecodeTests.byteStream)
    let pictures = try harness.decodeUntimed(units)
    // Only the hashes are wrong.
    #expect(checksum(pictures) == H265DecodeTests.clipChecksum)
    #expect(pictures.contains { $0.flags.contains(.corrupted) } == isSet)
    #expect(((harness.statistic("hash-mismatches") ?? 0) > 0) == isSet)
  }
}
