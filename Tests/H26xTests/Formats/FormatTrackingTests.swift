// SPDX-License-Identifier: MPL-2.0
import H26x
import TestSupport
import Testing

@Suite struct FormatTrackingTests {
  private func sps(_ id: UInt32, widthInMacroblocks: UInt32) -> [UInt8] {
    MinimalStream.sps(id: id, widthInMacroblocks: widthInMacroblocks)
  }
  private func pps(_ id: UInt32, sps: UInt32) -> [UInt8] { MinimalStream.pps(id: id, sps: sps) }
  private func slice(isIDR: Bool, pps: UInt32) -> [UInt8] { MinimalStream.slice(isIDR: isIDR, pps: pps) }
  private func annexB(_ units: [[UInt8]]) -> [UInt8] { MinimalStream.annexB(units) }
  private func prefixed(_ units: [[UInt8]]) -> [UInt8] { MinimalStream.prefixed(units) }

  private func inspect(
    _ accessUnit: [UInt8], _ inspector: inout H264.AccessUnitInspector, size: NALLengthSize? = nil
  ) -> H264.AccessUnitInfo {
    inspector.inspect(accessUnit.span, packaging: NALPackaging(lengthSize: size))
  }

  @Test func theSliceChoosesTheParameterSet() {
    var inspector = H264.AccessUnitInspector(nalLengthSize: nil)
    let sets = [sps(0, widthInMacroblocks: 2), sps(1, widthInMacroblocks: 4), pps(0, sps: 0), pps(1, sps: 1)]
    let first = annexB(sets + [slice(isIDR: true, pps: 1)])
    let one = inspect(first, &inspector)
    #expect(one.formatChanged && one.sliceType == .idrSlice && one.slice != nil)
    #expect(inspector.format?.codedSize.width == 64)
    let second = annexB([slice(isIDR: false, pps: 1)])
    let two = inspect(second, &inspector)
    #expect(!two.formatChanged && two.sliceType == .slice)
    let third = annexB([slice(isIDR: true, pps: 0)])
    #expect(inspect(third, &inspector).formatChanged)
    #expect(inspector.format?.codedSize.width == 32)
  }

  @Test func repeatedSetsChangeNothingAndReplacedOnesDo() {
    var inspector = H264.AccessUnitInspector(nalLengthSize: .four)
    let unit = prefixed([sps(0, widthInMacroblocks: 2), pps(0, sps: 0), slice(isIDR: true, pps: 0)])
    #expect(inspect(unit, &inspector, size: .four).formatChanged)
    #expect(!inspect(unit, &inspector, size: .four).formatChanged)
    let other = prefixed([sps(0, widthInMacroblocks: 3), pps(0, sps: 0), slice(isIDR: true, pps: 0)])
    #expect(inspect(other, &inspector, size: .four).formatChanged)
    #expect(inspector.format?.codedSize.width == 48)
    #expect(inspector.format?.nalLengthSize == .four)
  }

  @Test func outOfBandSetsDescribeTheStreamAtOnce() {
    var inspector = H264.AccessUnitInspector(nalLengthSize: .four)
    inspector.insert([sps(3, widthInMacroblocks: 5), pps(0, sps: 3)])
    #expect(inspector.format?.codedSize.width == 80)
    let unit = prefixed([slice(isIDR: true, pps: 0)])
    let summary = inspect(unit, &inspector, size: .four)
    #expect(summary.hasPicture && !summary.formatChanged)
  }

  @Test func reportsMissingParameterSets() {
    var inspector = H264.AccessUnitInspector(nalLengthSize: nil)
    let unit = annexB([slice(isIDR: true, pps: 9)])
    let summary = inspect(unit, &inspector)
    #expect(summary.sliceType == .idrSlice && summary.slice == nil && inspector.format == nil)
    let nothing: [UInt8] = [1, 2, 3]
    #expect(inspect(nothing, &inspector).sliceType == nil)
  }

  @Test func truncatedSetsNeverTrap() {
    for (size, bytes) in [
      (nil, annexB([sps(0, widthInMacroblocks: 2), pps(0, sps: 0), slice(isIDR: true, pps: 0)])),
      (.four, prefixed([sps(0, widthInMacroblocks: 2), pps(0, sps: 0), slice(isIDR: true, pps: 0)])),
    ] as [(NALLengthSize?, [UInt8])] {
      for count in bytes.indices {
        var inspector = H264.AccessUnitInspector(nalLengthSize: size)
        let summary = inspector.inspect(
          bytes.span.extracting(..<count), packaging: NALPackaging(lengthSize: size))
        #expect(summary.nalUnitCount <= 3)
      }
    }
  }

  /// Field pictures, MBAFF frames and other frames, in a stream that allows fields.
  @Test func firstSliceDecidesTheScan() throws {
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
      var inspector = H264.AccessUnitInspector(nalLengthSize: nil)
      let accessUnit = annexB([sps.nalUnit(), pps.nalUnit(), writer.bytes])
      let summary = inspect(accessUnit, &inspector)
      #expect(summary.slice?.isField == isField && summary.randomAccess == .idr)
      #expect(summary.nalUnitCount == 3 && summary.sliceType == .idrSlice)
      return summary.scan(inspector.parameterSets)
    }
    #expect(try scan(isMBAFF: false, isField: false, isBottom: false, delta: -1) == .frame)
    #expect(try scan(isMBAFF: false, isField: true, isBottom: false, delta: 0) == .fields(isTopFirst: true))
    #expect(try scan(isMBAFF: true, isField: true, isBottom: true, delta: 0) == .fields(isTopFirst: false))
    #expect(try scan(isMBAFF: true, isField: false, isBottom: false, delta: 1) == .fields(isTopFirst: true))
    #expect(try scan(isMBAFF: true, isField: false, isBottom: false, delta: -1) == .fields(isTopFirst: false))
  }

  /// Zeros between NAL units belong to none of them.
  @Test func trailingZerosAreNotPartOfASet() {
    let sets = [sps(0, widthInMacroblocks: 2), pps(0, sps: 0)]
    for zeros in [0, 1, 3] {
      var inspector = H264.AccessUnitInspector(nalLengthSize: nil)
      let padding = [UInt8](repeating: 0, count: zeros)
      let stream = sets.flatMap { [0, 0, 1] + $0 + padding } + annexB([slice(isIDR: true, pps: 0)])
      #expect(inspect(stream, &inspector).formatChanged)
      #expect(
        inspector.format?.parameterSets.sequence == [sets[0]] && inspector.format?.parameterSets.picture == [sets[1]])
      // The end of the data ends a set too.
      let last = annexB(sets) + padding
      var other = H264.AccessUnitInspector(nalLengthSize: nil)
      let summary = inspect(last, &other)
      #expect(summary.nalUnitCount == 2 && summary.sliceType == nil && summary.error == nil)
      let unit = annexB([slice(isIDR: true, pps: 0)])
      #expect(inspect(unit, &other).formatChanged && other.format?.parameterSets.picture == [sets[1]])
    }
  }

  /// Empty NAL units and garbage are skipped.
  @Test func skipsEmptyNALUnits() {
    var inspector = H264.AccessUnitInspector(nalLengthSize: .four)
    let sets = [sps(0, widthInMacroblocks: 2), pps(0, sps: 0)]
    let packet = prefixed([[], sets[0], [], sets[1], slice(isIDR: true, pps: 0)])
    let summary = inspect(packet, &inspector, size: .four)
    #expect(summary.slice != nil && summary.formatChanged && summary.nalUnitCount == 3)
    var other = H264.AccessUnitInspector(nalLengthSize: nil)
    let stream: [UInt8] = [0, 0, 1, 0, 0, 1] + annexB(sets + [slice(isIDR: true, pps: 0)])
    let second = inspect(stream, &other)
    #expect(second.slice != nil && second.formatChanged)
  }

  /// Inferred values of the VUI apply only where there is a VUI.
  @Test func findsWhetherThereIsAVUI() throws {
    var inspector = H264.AccessUnitInspector(nalLengthSize: nil)
    #expect(!inspector.hasVUI)
    inspector.insert([Samples.highSPS, Samples.highPPS])
    #expect(!inspector.hasVUI)
    let unit = annexB([Samples.highSPS, Samples.highPPS, slice(isIDR: true, pps: 0)])
    _ = inspect(unit, &inspector)
    #expect(inspector.hasVUI)
    let other = annexB([sps(0, widthInMacroblocks: 2), pps(0, sps: 0), slice(isIDR: true, pps: 0)])
    _ = inspect(other, &inspector)
    #expect(!inspector.hasVUI)
  }
}
