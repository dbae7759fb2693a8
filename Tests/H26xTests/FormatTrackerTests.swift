// SPDX-License-Identifier: MPL-2.0
import H26x
import Testing

@Suite struct FormatTrackerTests {
  /// Baseline, frames only, picture order count type 2, of so many macroblocks.
  private func sps(_ id: UInt32, widthInMacroblocks: UInt32) -> [UInt8] {
    var writer = BitWriter()
    writer.u(8, 0x67)
    writer.u(8, 66)
    writer.u(8, 0xC0)
    writer.u(8, 30)
    writer.ue(id)
    writer.ue(0)
    writer.ue(2)
    writer.ue(1)
    writer.flag(false)
    writer.ue(widthInMacroblocks - 1)
    writer.ue(1)
    writer.u(4, 0b1100)
    writer.trailingBits()
    return writer.bytes
  }

  private func pps(_ id: UInt32, sps: UInt32) -> [UInt8] {
    var writer = BitWriter()
    writer.u(8, 0x68)
    writer.ue(id)
    writer.ue(sps)
    writer.u(2, 0)
    for _ in 0..<3 { writer.ue(0) }
    writer.u(3, 0)
    for _ in 0..<3 { writer.se(0) }
    writer.u(3, 0)
    writer.trailingBits()
    return writer.bytes
  }

  private func slice(isIDR: Bool, pps: UInt32) -> [UInt8] {
    var writer = BitWriter()
    writer.u(8, isIDR ? 0x65 : 0x41)
    writer.ue(0)
    writer.ue(7)
    writer.ue(pps)
    writer.u(4, 0)
    if isIDR { writer.ue(0) }
    writer.u(16, 0xABCD)
    writer.trailingBits()
    return writer.bytes
  }

  private func annexB(_ units: [[UInt8]]) -> [UInt8] { units.flatMap { [0, 0, 0, 1] + $0 as [UInt8] } }
  private func prefixed(_ units: [[UInt8]]) -> [UInt8] {
    units.flatMap { [UInt8(0), 0, UInt8($0.count >> 8), UInt8($0.count & 255)] + $0 }
  }

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

  @Test func missingSetsAreSaid() {
    var tracker = H264.FormatTracker(nalLengthSize: nil)
    let unit = annexB([slice(isIDR: true, pps: 9)])
    let summary = tracker.inspect(unit.span)
    #expect(summary.lacksParameterSets && tracker.format == nil)
    let nothing: [UInt8] = [1, 2, 3]
    #expect(!tracker.inspect(nothing.span).hasSlice)
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
}
