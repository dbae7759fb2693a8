// SPDX-License-Identifier: MPL-2.0
import H26x
import TestSupport
import Testing

@Suite struct DisplayTrackerTests {
  /// A CRA picture may be in the middle of a coded video sequence, to whose end the metadata last (D.3.28).
  @Test func displayMetadataLastBeyondCRAPictures() {
    var inspector = H265.AccessUnitInspector()
    var tracker = DisplayTracker()
    func take(_ nalUnits: [[UInt8]]) -> Bool {
      let accessUnit = MinimalStream.annexB(nalUnits)
      return tracker.take(accessUnit.span, inspector.inspect(accessUnit.span, packaging: .annexB))
    }
    let light = seiNALUnit([(.contentLightLevel, [0x03, 0xE8, 0x01, 0x90])], header: [39 << 1, 1])
    let sets = [
      H265Samples.vps, H265Samples.plainSPS().nalUnit(),
      H265.PictureParameterSet(id: 0, sequenceParameterSetID: 0).nalUnit(),
    ]
    #expect(take(sets + [light, H265Samples.slice(.idrWithRADL)]) && tracker.display.contentLight != nil)
    #expect(!take([H265Samples.slice(.cra, count: 8)]) && tracker.display.contentLight != nil)
    #expect(take([H265Samples.slice(.idrWithoutLeading)]) && tracker.display.contentLight == nil)
  }
}
