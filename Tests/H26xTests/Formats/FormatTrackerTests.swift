// SPDX-License-Identifier: MPL-2.0
import H26x
import TestSupport
import Testing

@Suite struct FormatTrackerTests {
  private func sps(_ id: UInt32, widthInMacroblocks: UInt32) -> [UInt8] {
    MinimalStream.sps(id: id, widthInMacroblocks: widthInMacroblocks)
  }
  private func pps(_ id: UInt32, sps: UInt32) -> [UInt8] { MinimalStream.pps(id: id, sps: sps) }
  private func slice(isIDR: Bool, pps: UInt32) -> [UInt8] { MinimalStream.slice(isIDR: isIDR, pps: pps) }
  private func annexB(_ units: [[UInt8]]) -> [UInt8] { MinimalStream.annexB(units) }
  private func prefixed(_ units: [[UInt8]]) -> [UInt8] { MinimalStream.prefixed(units) }

  @Test func theSliceChoosesTheParameterSet() {
    var tracker = H264.FormatTracker(nalLengthSize: nil)
    let sets = [sps(0, widthInMacroblocks: 2), sps(1, widthInMacroblocks: 4), pps(0, sps: 0), pps(1, sps: 1)]
    let first = annexB(sets + [slice(isIDR: true, pps: 1)])
    let one = tracker.inspect(first.span)
    #expect(one.formatChanged && one.isIDR && one.hasSlice && !one.lacksParameterSets)
    #expect(tracker.format?.codedSize.width == 64)
    let second = annexB([slice(isIDR: false, pps: 1)])
    let two = tracker.inspect(second.span)
    #expect(!two.formatChanged && !two.isIDR && two.sliceType == .slice)
    let third = annexB([slice(isIDR: true, pps: 0)])
    #expect(tracker.inspect(third.span).formatChanged)
    #expect(tracker.format?.codedSize.width == 32)
  }

  @Test func repeatedSetsChangeNothingAndReplacedOnesDo() {
    var tracker = H264.FormatTracker(nalLengthSize: .four)
    let unit = prefixed([sps(0, widthInMacroblocks: 2), pps(0, sps: 0), slice(isIDR: true, pps: 0)])
    #expect(tracker.inspect(unit.span).formatChanged)
    #expect(!tracker.inspect(unit.span).formatChanged)
    let other = prefixed([sps(0, widthInMacroblocks: 3), pps(0, sps: 0), slice(isIDR: true, pps: 0)])
    #expect(tracker.inspect(other.span).formatChanged)
    #expect(tracker.format?.codedSize.width == 48)
    #expect(tracker.format?.nalLengthSize == .four)
  }

  @Test func outOfBandSetsDescribeTheStreamAtOnce() {
    var tracker = H264.FormatTracker(nalLengthSize: .four)
    tracker.insert([sps(3, widthInMacroblocks: 5), pps(0, sps: 3)])
    #expect(tracker.format?.codedSize.width == 80)
    let unit = prefixed([slice(isIDR: true, pps: 0)])
    let summary = tracker.inspect(unit.span)
    #expect(summary.hasSlice && !summary.formatChanged)
  }

  @Test func reportsMissingParameterSets() {
    var tracker = H264.FormatTracker(nalLengthSize: nil)
    let unit = annexB([slice(isIDR: true, pps: 9)])
    let summary = tracker.inspect(unit.span)
    #expect(summary.lacksParameterSets && tracker.format == nil)
    let nothing: [UInt8] = [1, 2, 3]
    #expect(!tracker.inspect(nothing.span).hasSlice)
  }

  /// A CRA picture may be in the middle of a coded video sequence, to whose end the metadata last (D.3.28).
  @Test func displayMetadataLastBeyondCRAPictures() {
    var tracker = H265.FormatTracker(nalLengthSize: nil)
    tracker.followsDisplay = true
    let light = seiNALUnit([(.contentLightLevel, [0x03, 0xE8, 0x01, 0x90])], header: [39 << 1, 1])
    let sets = [
      H265Samples.vps, H265Samples.plainSPS().nalUnit(),
      H265.PictureParameterSet(id: 0, sequenceParameterSetID: 0).nalUnit(),
    ]
    let first = annexB(sets + [light, H265Samples.slice(.idrWithRADL)])
    #expect(tracker.inspect(first.span).displayChanged && tracker.display.contentLight != nil)
    let second = annexB([H265Samples.slice(.cra, count: 8)])
    #expect(!tracker.inspect(second.span).displayChanged && tracker.display.contentLight != nil)
    let third = annexB([H265Samples.slice(.idrWithoutLeading)])
    #expect(tracker.inspect(third.span).displayChanged && tracker.display.contentLight == nil)
  }

  @Test func everyTruncationIsSurvived() {
    for (size, bytes) in [
      (nil, annexB([sps(0, widthInMacroblocks: 2), pps(0, sps: 0), slice(isIDR: true, pps: 0)])),
      (.four, prefixed([sps(0, widthInMacroblocks: 2), pps(0, sps: 0), slice(isIDR: true, pps: 0)])),
    ] as [(NALLengthSize?, [UInt8])] {
      for count in bytes.indices {
        var tracker = H264.FormatTracker(nalLengthSize: size)
        let summary = tracker.inspect(bytes.span.extracting(..<count))
        #expect(summary.nalUnitCount <= 3)
      }
    }
  }

  /// Field pictures, MBAFF frames and other frames, in a stream that allows fields.
  @Test func theScanIsThatOfTheFirstSlice() throws {
    func scan(isMBAFF: Bool, isField: Bool, isBottom: Bool, delta: Int32) throws -> PictureScan? {
      var sps = try Samples.sps()
      sps.isFrameOnly = false
      sps.isMacroblockAdaptiveFrameField = isMBAFF
      sps.log2MaximumFrameNumber = 4
      sps.pictureOrderCountType = .leastSignificantBits(log2Maximum: 6)
      var pps = try H264.PictureParameterSet(bytes: Samples.highPPS)
      pps.isBottomFieldPictureOrderPresent = true
      var writer = BitWriter()
      writer.u(8, 0x65)
      for value: UInt32 in [0, 7, 0] { writer.ue(value) }
      writer.u(4, 0)
      writer.flag(isField)
      if isField { writer.flag(isBottom) }
      writer.ue(0)
      writer.u(6, 0)
      if !isField { writer.se(delta) }
      writer.u(16, 0xABCD)
      writer.trailingBits()
      var tracker = H264.FormatTracker(nalLengthSize: nil)
      let accessUnit = annexB([sps.nalUnit(), pps.nalUnit(), writer.bytes])
      let summary = tracker.inspect(accessUnit.span)
      #expect(summary.isField == isField && summary.isIDR && summary.isRandomAccessPoint)
      #expect(summary.nalUnitCount == 3 && summary.sliceType == .idrSlice)
      return summary.scan
    }
    #expect(try scan(isMBAFF: false, isField: false, isBottom: false, delta: -1) == .frame)
    #expect(try scan(isMBAFF: false, isField: true, isBottom: false, delta: 0) == .fields(isTopFirst: true))
    #expect(try scan(isMBAFF: true, isField: true, isBottom: true, delta: 0) == .fields(isTopFirst: false))
    #expect(try scan(isMBAFF: true, isField: false, isBottom: false, delta: 1) == .fields(isTopFirst: true))
    #expect(try scan(isMBAFF: true, isField: false, isBottom: false, delta: -1) == .fields(isTopFirst: false))
  }

  /// Zeros between NAL units belong to none of them.
  @Test func trailingZerosAreNoPartOfASet() {
    let sets = [sps(0, widthInMacroblocks: 2), pps(0, sps: 0)]
    for zeros in [0, 1, 3] {
      var tracker = H264.FormatTracker(nalLengthSize: nil)
      let padding = [UInt8](repeating: 0, count: zeros)
      let stream = sets.flatMap { [0, 0, 1] + $0 + padding } + annexB([slice(isIDR: true, pps: 0)])
      #expect(tracker.inspect(stream.span).formatChanged)
      #expect(tracker.format?.parameterSets.sequence == [sets[0]] && tracker.format?.parameterSets.picture == [sets[1]])
      // The end of the data ends a set too.
      let last = annexB(sets) + padding
      var other = H264.FormatTracker(nalLengthSize: nil)
      let summary = other.inspect(last.span)
      #expect(summary.nalUnitCount == 2 && !summary.hasSlice && !summary.lacksParameterSets)
      let unit = annexB([slice(isIDR: true, pps: 0)])
      #expect(other.inspect(unit.span).formatChanged && other.format?.parameterSets.picture == [sets[1]])
    }
  }

  /// Empty NAL units and garbage are skipped.
  @Test func emptyNALUnitsArePassedOver() {
    var tracker = H264.FormatTracker(nalLengthSize: .four)
    let sets = [sps(0, widthInMacroblocks: 2), pps(0, sps: 0)]
    let packet = prefixed([[], sets[0], [], sets[1], slice(isIDR: true, pps: 0)])
    let summary = tracker.inspect(packet.span)
    #expect(summary.hasSlice && summary.formatChanged && summary.nalUnitCount == 3)
    var other = H264.FormatTracker(nalLengthSize: nil)
    let stream: [UInt8] = [0, 0, 1, 0, 0, 1] + annexB(sets + [slice(isIDR: true, pps: 0)])
    let second = other.inspect(stream.span)
    #expect(second.hasSlice && second.formatChanged && !second.lacksParameterSets)
  }

  /// Inferred values of the VUI apply only where there is a VUI.
  @Test func tellsWhetherThereIsAVUI() throws {
    var tracker = H264.FormatTracker(nalLengthSize: nil)
    #expect(!tracker.hasVUI)
    tracker.insert([Samples.highSPS, Samples.highPPS])
    #expect(!tracker.hasVUI)
    let unit = annexB([Samples.highSPS, Samples.highPPS, slice(isIDR: true, pps: 0)])
    _ = tracker.inspect(unit.span)
    #expect(tracker.hasVUI)
    let other = annexB([sps(0, widthInMacroblocks: 2), pps(0, sps: 0), slice(isIDR: true, pps: 0)])
    _ = tracker.inspect(other.span)
    #expect(!tracker.hasVUI)
  }
}
