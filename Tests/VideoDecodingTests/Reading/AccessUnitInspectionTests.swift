// SPDX-License-Identifier: MPL-2.0
import H26x
import TestSupport
import Testing

@testable import VideoDecoding

@Suite struct AccessUnitInspectionTests {
  private func sps(levelIDC: UInt8 = 63) -> [UInt8] {
    H265.SequenceParameterSet(
      profileTierLevel: .init(profile: H265.Profile(idc: 1), levelIDC: levelIDC),
      codedSize: VideoSize(width: 64, height: 64)
    ).nalUnit()
  }

  /// For an SPS that changes, libavcodec forgets the PPSs: they go in front again, up to 16 kB of them.
  @Test(arguments: [(16_384, true), (16_385, false)]) func repeatsPPSsUpToALimit(_ byteCount: Int, _ isRepeated: Bool) {
    let changed = sps(levelIDC: 93)
    var pps = H265.PictureParameterSet(id: 0, sequenceParameterSetID: 0).nalUnit()
    // Bytes behind the end of a PPS are no part of its syntax.
    pps += [UInt8](repeating: 0x80, count: byteCount - changed.count - pps.count)
    var inspection = AccessUnitInspection<H265>(lengthSize: nil)
    var reader = H265.AccessUnitInspector()
    func take(_ nalUnits: [[UInt8]]) -> DecodingSummary {
      let accessUnit = MinimalStream.annexB(nalUnits)
      let info = reader.inspect(accessUnit.span, packaging: .annexB, depth: .referenceMarking)
      return inspection.take(accessUnit.span, info, reader.parameterSets)
    }
    reader.insert([sps(), pps])
    inspection.insert([sps(), pps])
    _ = take([changed])
    let before = inspection.packagedSets
    // As it was: the SPS has the same number of bytes.
    let summary = take([sps()])
    #expect(summary.changesParameterSets && before != inspection.packagedSets)
    let repeated = MinimalStream.annexB([sps(), pps])
    #expect(summary.standIns.suffix(repeated.count) == (isRepeated ? repeated[...] : []))
  }
}
