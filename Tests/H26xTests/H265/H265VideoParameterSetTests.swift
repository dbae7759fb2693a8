// SPDX-License-Identifier: MPL-2.0
import H26x
import Testing

@Suite struct H265VideoParameterSetTests {
  @Test func readsEncodersSets() throws {
    let vps = try H265.VideoParameterSet(bytes: H265Samples.vps)
    #expect(vps.layerCount == 1 && vps.subLayerCount == 1 && vps.hasNestedTemporalIDs)
    #expect(vps.profileTierLevel.profile.name == "main")
    #expect(vps.timing == nil && vps.hasProperEnd)
    #expect(vps.nalUnit() == H265Samples.vps)
    let layered = try H265.VideoParameterSet(bytes: H265Samples.layeredVPS)
    #expect(layered.subLayerCount == 4 && layered.buffering.count == 4)
    #expect(layered.nalUnit() == H265Samples.layeredVPS)
  }

  @Test func everythingComesBack() throws {
    var vps = H265.VideoParameterSet(profileTierLevel: .init(profile: H265.Profile(idc: 6), levelIDC: 153))
    vps.id = 15
    vps.hasInternalBaseLayer = false
    vps.hasAvailableBaseLayer = false
    vps.layerCount = 64
    vps.subLayerCount = 7
    vps.hasNestedTemporalIDs = false
    vps.profileTierLevel.subLayers = (0..<6).map { .init(levelIDC: $0 % 2 == 0 ? nil : 30 + $0) }
    vps.buffering = [.init(maximumDecodedPictures: 16, maximumReorderPictures: 15)]
    vps.maximumLayerID = 63
    vps.layerSets = (0..<1023).map { $0 &* 0x0123_4567_89AB_CDEF }
    var timing = H265.VUIParameters.Timing(unitsInTick: 1001, timeScale: 60000)
    timing.ticksPerPictureOrderCount = 1
    vps.timing = timing
    var common = H265.HRDParameters.Common()
    common.hasNAL = true
    vps.hrdParameters = (0..<1024).map { index in
      var own = common
      own.bitRateScale = UInt8(index / 10 % 16)
      var layer = H265.HRDParameters.SubLayer(pictureRate: .fixed(elementalDuration: 1))
      layer.nal = [.init(bitRateValue: UInt32(index) + 1, sizeValue: 1, isConstantBitRate: false)]
      return .init(
        layerSet: UInt16(1023 - index),
        parameters: .init(common: own, hasCommon: index % 10 == 0, subLayers: Array(repeating: layer, count: 7)))
    }
    let bytes = vps.nalUnit()
    #expect(try H265.VideoParameterSet(bytes: bytes) == vps)
    vps.layerSets = Array(vps.layerSets.prefix(2))
    vps.hrdParameters = Array(vps.hrdParameters.prefix(2))
    for index in vps.hrdParameters.indices { vps.hrdParameters[index].layerSet = UInt16(2 - index) }
    try expectRecorded("H.265 VPS") { trace throws(BitstreamError) in
      _ = try H265.VideoParameterSet(nalUnit: vps.nalUnit().span, trace: trace)
    }
    try expectLegalValues("H.265 VPS", vps.nalUnit()) { bytes, trace throws(BitstreamError) in
      try H265.VideoParameterSet(nalUnit: bytes.span, trace: trace).nalUnit()
    }
    for end in stride(from: 0, to: bytes.count - 1, by: 101) {
      same(
        failure { () throws(BitstreamError) in _ = try H265.VideoParameterSet(bytes: Array(bytes[..<end])) } == nil,
        false)
    }
  }

  /// An unknown extension is written as it was read, with emulation prevention.
  @Test func extensionsAreKept() throws {
    var vps = try H265.VideoParameterSet(bytes: H265Samples.vps)
    vps.extensionData = .init()
    let bytes = vps.nalUnit() + [0x00, 0x00, 0x03, 0x02, 0x40]
    let back = try H265.VideoParameterSet(bytes: bytes)
    #expect(back.extensionData != nil && back.hasProperEnd)
    #expect(back.nalUnit() == bytes)
  }
}
