// SPDX-License-Identifier: MPL-2.0
import Foundation
import GStreamer
import H26x
import HarnessSupport
import TestSupport
import Testing

private typealias Stream = RepackStream

/// Conformance vectors to AVC and back, NAL unit by NAL unit: every slice is unchanged.
@Suite(.serialized, .enabled(if: Vectors.isAvailable)) struct RepackVectorTests {
  private static let files = [
    "CI1_FT_B.264", "FRExt1_Panasonic.avc", "MR1_BT_A.h264", "SVA_BA2_D.264", "freh6.264", "HPCAMAPALQ_BRCM_B.264",
    "test_cif_P_CABAC_slice.264", "sps_subsetsps_bothVUI.264", "jm_1080p_allslice.264", "LS_SVA_D.264",
  ]

  @Test(arguments: files) func slicesSurviveConversionThereAndBack(file: String) throws {
    let bytes = try Vectors.bytes("h264/\(file)")
    let harness = try Harness.repack("! video/x-h264,stream-format=avc ! swifth264repack", to: "byte-stream")
    harness.setInputCaps(Stream.caps("byte-stream", "nal"))
    var sent: [[UInt8]] = []
    var units = AnnexB.NALUnits(bytes.span)
    while let unit = units.next() {
      let nalUnit = [UInt8](bytes[unit.range])
      if ![7, 8, 13].contains(nalUnit[0] & 31) { sent.append(nalUnit) }
      #expect(harness.push(Stream.annexB([nalUnit])) == 0)
    }
    harness.endOfStream()
    var received: [[UInt8]] = []
    while let buffer = harness.tryPull() {
      let output = try buffer.copiedBytes()
      var units = AnnexB.NALUnits(output.span)
      while let unit = units.next() {
        let nalUnit = [UInt8](output[unit.range])
        if ![7, 8, 13].contains(nalUnit[0] & 31) { received.append(nalUnit) }
      }
    }
    #expect(received.count == sent.count)
    #expect(received == sent)
  }
}
