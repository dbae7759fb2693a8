// SPDX-License-Identifier: MPL-2.0

import TestSupport
import Testing

@testable import H26x

/// The values of what is not sent, and of what a caller does not set.
@Suite struct InferredValueTests {
  @Test func infersH264Defaults() throws {
    try expect("H.264 VUI", H264.VUI())
    try expect("H.264 SPS", H264.SequenceParameterSet(bytes: MinimalStream.sps()))
    try expect("H.264 PPS", H264.PictureParameterSet(bytes: MinimalStream.pps()))
    let sets = try SliceBuilder.sets()
    for type: UInt32 in 0..<5 {
      let bytes = SliceBuilder(type: type == 2 ? 5 : 1, sliceType: type).nalUnit { writer in writer.u(32, 0x3FFF_FFFF) }
      let header = try H264.SliceHeader(bytes: bytes, sets)
      try expect("H.264 slice header \(type)", header)
    }
  }

  @Test func infersH265Defaults() throws {
    let profile = H265.ProfileTierLevel(profile: H265Samples.mainProfile, levelIDC: 93)
    try expect("H.265 VPS", H265.VideoParameterSet(profileTierLevel: profile))
    try expect(
      "H.265 SPS",
      H265.SequenceParameterSet(profileTierLevel: profile, codedSize: VideoSize(width: 64, height: 64)))
    try expect("H.265 SPS extensions", H265.SequenceParameterSet.Extensions())
    try expect("H.265 SPS screen content", H265.SequenceParameterSet.ScreenContent())
    try expect("H.265 PPS", H265.PictureParameterSet(id: 1, sequenceParameterSetID: 2))
    try expect("H.265 PPS extensions", H265.PictureParameterSet.Extensions())
    try expect("H.265 PPS range extension", H265.PictureParameterSet.RangeExtension())
    try expect("H.265 PPS screen content", H265.PictureParameterSet.ScreenContent())
    try expect("H.265 PPS tiles", H265.PictureParameterSet.Tiles(columnCount: 3, rowCount: 2))
    try expect("H.265 VUI", H265.VUIParameters())
    try expect("H.265 VUI bitstream restriction", H265.VUIParameters.BitstreamRestriction())
    try expect("H.265 VUI timing", H265.VUIParameters.Timing(unitsInTick: 1, timeScale: 50))
    try expect("H.265 HRD", H265.HRDParameters.Common())
    try expect("H.265 HRD of a sub-layer", H265.HRDParameters.SubLayer(pictureRate: .fixed(elementalDuration: 1)))
    try expect(
      "H.265 CPB", H265.HRDParameters.CodedPictureBuffer(bitRateValue: 3, sizeValue: 4, isConstantBitRate: true))
    try expect("H.265 picture timing", H265.PictureTiming(display: .init(structure: .frame)))
    try expect("H.265 recovery point", H265.RecoveryPoint(pictureOrderCount: 3))
    let sets = try H265Samples.store()
    for type: H265.NALUnitType in [.trailingN, .idrWithRADL, .cra] {
      try expect("H.265 slice header \(type.name)", H265.SliceSegmentHeader(bytes: H265Samples.slice(type), sets))
    }
  }

  @Test func infersSharedDefaults() throws {
    try expect("clock timestamp", ClockTimestamp())
    try expect("scanner settings", ScannerSettings())
    try expect("scanner errors", ScannerErrors())
    try expect("scanned access unit", H264.ScannedAccessUnit())
    try expect("bar data", RegisteredUserData.BarData())
    try expect("display metadata", DisplayMetadata())
    // An id of 0, and nothing but that it is cancelled.
    let nalUnit = seiNALUnit([(.framePackingArrangement, [0b1110_0000])])
    var messages = SEIMessages(nalUnit.span)
    if let message = try messages.next() { try expect("frame packing", FramePackingArrangement(message)) }
  }

  private func expect(_ name: String, _ value: Any) throws {
    try RecordFile.tables.expect("inferred \(name)", ["\(value)"])
  }
}
