// SPDX-License-Identifier: MPL-2.0

import H26x
import Testing

/// Values below the least that the syntax can send are written as the least, and the least is written as it is.
@Suite struct H265LeastValueTests {
  private func least() -> H265.SequenceParameterSet {
    var sps = H265Samples.plainSPS()
    (sps.log2MaximumPictureOrderCount, sps.log2MinimumCodingBlockSize, sps.log2CodingBlockSizeRange) = (4, 3, 1)
    (sps.log2MinimumTransformBlockSize, sps.log2TransformBlockSizeRange) = (2, 0)
    sps.buffering = [.init(maximumDecodedPictures: 1)]
    sps.pcm = .init(
      lumaBitDepth: 1, chromaBitDepth: 1, log2MinimumBlockSize: 3, log2BlockSizeRange: 0, disablesLoopFilter: false)
    return sps
  }

  @Test func writesLeastSequenceParameterSets() throws {
    let least = least()
    var zero = least
    (zero.subLayerCount, zero.lumaBitDepth, zero.chromaBitDepth) = (0, 0, 0)
    (zero.log2MaximumPictureOrderCount, zero.log2MinimumCodingBlockSize, zero.log2MinimumTransformBlockSize) = (0, 0, 0)
    zero.pcm = .init(
      lumaBitDepth: 0, chromaBitDepth: 0, log2MinimumBlockSize: 0, log2BlockSizeRange: 0, disablesLoopFilter: false)
    #expect(try H265.SequenceParameterSet(bytes: least.nalUnit()) == least)
    #expect(try H265.SequenceParameterSet(bytes: zero.nalUnit()).buffering == least.buffering)
    zero.buffering = [.init(maximumDecodedPictures: 0)]
    var back = try H265.SequenceParameterSet(bytes: zero.nalUnit())
    // The flag of sub-layers is written by the number that was set.
    back.buffering = least.buffering
    #expect(back == least)
  }

  @Test func writesLeastHRDParameters() throws {
    func timing(_ least: UInt8) -> H265.VUIParameters.Timing {
      var common = H265.HRDParameters.Common()
      (common.hasNAL, common.hasVCL) = (true, true)
      common.subPicture = .init(
        tickDivisorMinus2: 0, removalDelayIncrementLength: least, isInPictureTiming: false, outputDelayLength: least,
        sizeScale: 0)
      (common.initialRemovalDelayLength, common.removalDelayLength, common.outputDelayLength) = (least, least, least)
      var buffer = H265.HRDParameters.CodedPictureBuffer(
        bitRateValue: UInt32(least), sizeValue: UInt32(least), isConstantBitRate: true)
      (buffer.unitSizeValue, buffer.unitBitRateValue) = (UInt32(least), UInt32(least))
      let rates: [H265.HRDParameters.PictureRate] = [
        .fixed(elementalDuration: UInt16(least)), .fixedWithinSequence(elementalDuration: UInt16(least)),
        .variable(isLowDelay: false),
      ]
      let layers = rates.map { rate in
        var layer = H265.HRDParameters.SubLayer(pictureRate: rate, bufferCount: least)
        (layer.nal, layer.vcl) = ([buffer], [buffer])
        return layer
      }
      var timing = H265.VUIParameters.Timing(unitsInTick: 1, timeScale: 25)
      timing.ticksPerPictureOrderCount = UInt32(least)
      timing.hrdParameters = .init(common: common, subLayers: layers)
      return timing
    }
    for value: UInt8 in [0, 1] {
      var sps = least()
      sps.subLayerCount = 3
      sps.profileTierLevel.subLayers = [.init(), .init()]
      sps.vui = H265.VUIParameters()
      sps.vui?.timing = timing(value)
      #expect(try H265.SequenceParameterSet(bytes: sps.nalUnit()).vui?.timing == timing(1))
    }
  }

  @Test func writesLeastVideoParameterSets() throws {
    let least = H265.VideoParameterSet(profileTierLevel: .init(profile: H265Samples.mainProfile, levelIDC: 93))
    #expect(least.layerCount == 1 && least.subLayerCount == 1)
    var zero = least
    (zero.layerCount, zero.subLayerCount) = (0, 0)
    let back = try H265.VideoParameterSet(bytes: zero.nalUnit())
    #expect(try H265.VideoParameterSet(bytes: least.nalUnit()) == least)
    #expect(back.layerCount == 1 && back.subLayerCount == 1)
  }

  @Test func writesLeastPictureParameterSets() throws {
    var least = H265.PictureParameterSet(id: 0, sequenceParameterSetID: 0)
    least.allowsTransformSkip = true
    (least.defaultReferenceCountList0, least.defaultReferenceCountList1, least.log2ParallelMergeLevel) = (1, 1, 2)
    least.tiles = .init(columnCount: 2, rowCount: 3)
    least.tiles?.sizes = .init(widths: [1], heights: [1, 2])
    var extensions = H265.PictureParameterSet.Extensions()
    extensions.range = .init()
    extensions.range?.chromaOffsets = .init(depth: 0, entries: [.init(cb: 1, cr: -1)])
    extensions.screenContent = .init()
    extensions.screenContent?.palette = .init(
      lumaBitDepth: 8, chromaBitDepth: 8, predictorInitializers: [[1, 2], [3, 4], [5, 6]])
    least.extensions = extensions
    #expect(try H265.PictureParameterSet(bytes: least.nalUnit()) == least)
    var zero = least
    (zero.defaultReferenceCountList0, zero.defaultReferenceCountList1, zero.log2ParallelMergeLevel) = (0, 0, 0)
    zero.tiles?.sizes = .init(widths: [0], heights: [0, 2])
    zero.extensions?.range?.log2MaximumTransformSkipSize = 0
    #expect(try H265.PictureParameterSet(bytes: zero.nalUnit()) == least)
    zero.tiles = .init(columnCount: 0, rowCount: 0)
    let back = try H265.PictureParameterSet(bytes: zero.nalUnit())
    #expect(back.tiles?.columnCount == 1 && back.tiles?.rowCount == 1)
  }

  /// A list that is too short goes on with its last entry, and 16 is the DC of a flat list.
  @Test func writesLeastScalingLists() throws {
    var sps = least()
    var lists = H265.ScalingLists()
    lists.lists[0] = .explicit([7, 9], dc: nil)
    lists.lists[12] = .explicit([], dc: nil)
    lists.lists[19] = .explicit([20, 21], dc: 30)
    sps.scaling = .explicit(lists)
    guard case .explicit(let back) = try H265.SequenceParameterSet(bytes: sps.nalUnit()).scaling else {
      Issue.record("no lists")
      return
    }
    #expect(back.lists[0] == .explicit([7] + [UInt8](repeating: 9, count: 15), dc: nil))
    #expect(back.lists[12] == .explicit([UInt8](repeating: 16, count: 64), dc: 16))
    #expect(back.lists[19] == .explicit([20] + [UInt8](repeating: 21, count: 63), dc: 30))
    #expect(back.lists.count == 20 && back.lists[1] == .predicted(delta: 0))
    #expect(
      H265.ScalingLists([H265.ScalingLists.ScalingList](repeating: .predicted(delta: 0), count: 21)).lists.count == 20)
  }

  @Test func writesLeastHeaders() {
    for (id, expected) in [(0, 1), (6, 7), (7, 7), (255, 7)] as [(UInt8, UInt8)] {
      var writer = BitWriter()
      H265.NALUnitHeader(type: .cra, layerID: 33, temporalID: id).write(to: &writer)
      #expect(writer.bytes == [0x2B, 0x08 | expected])
    }
  }

  @Test func writesLeastActiveParameterSets() {
    let none = H265.ActiveParameterSets(
      videoParameterSetID: 1, isSelfContained: true, hasNoUpdates: false, sequenceParameterSetIDs: [])
    // 0001 1 0 1, and what is too short for one id.
    #expect(none.payload().first == 0b0001_1011)
  }

  /// Without a display and delays, the message means a frame of unknown scan that is decoded and shown at once.
  @Test func writesLeastPictureTiming() throws {
    var common = H265.HRDParameters.Common()
    common.hasVCL = true
    common.subPicture = .init(
      tickDivisorMinus2: 0, removalDelayIncrementLength: 1, isInPictureTiming: false, outputDelayLength: 9,
      sizeScale: 0)
    (common.removalDelayLength, common.outputDelayLength) = (5, 3)
    var sps = H265Samples.plainSPS()
    sps.vui = H265.VUIParameters()
    sps.vui?.isPictureStructurePresent = true
    sps.vui?.timing = .init(unitsInTick: 1, timeScale: 25)
    sps.vui?.timing?.hrdParameters = .init(
      common: common, subLayers: [.init(pictureRate: .variable(isLowDelay: false))])
    // 0000 10 0, 00000, 000, 000000000.
    #expect(H265.PictureTiming().payload(sps: sps) == [0b0000_1000, 0, 0])
    let removal = H265.PictureTiming(delays: .init(cpbRemoval: 0, dpbOutput: 0)).payload(sps: sps)
    #expect(removal == [0b0000_1000, 0, 0])
    let last = H265.PictureTiming(
      display: .init(structure: .bottomBeforeTop, sourceScanType: 1, isDuplicate: true),
      delays: .init(cpbRemoval: 32, dpbOutput: 5, dpbOutputUnit: 257))
    #expect(last.payload(sps: sps) == [0b1100_0111, 0b1111_1011, 0b0000_0001])
  }
}
