// SPDX-License-Identifier: MPL-2.0
import H26x
import Testing

@Suite struct H265PictureParameterSetTests {
  @Test func readsEncodersSets() throws {
    let pps = try H265.PictureParameterSet(bytes: H265Samples.pps)
    #expect(pps.id == 0 && pps.sequenceParameterSetID == 0 && pps.hasProperEnd)
    #expect(pps.nalUnit() == H265Samples.pps)
    #expect(try H265.PictureParameterSet(bytes: H265Samples.layeredPPS).nalUnit() == H265Samples.layeredPPS)
  }

  @Test(arguments: [true, false]) func everythingComesBack(_ flag: Bool) throws {
    let pps = fullPPS(flag)
    let bytes = pps.nalUnit()
    let back = try H265.PictureParameterSet(bytes: bytes)
    #expect(back == pps)
    #expect(back.nalUnit() == bytes)
    try expectRecorded("H.265 PPS \(flag)") { trace throws(BitstreamError) in
      _ = try H265.PictureParameterSet(nalUnit: bytes.span, trace: trace)
    }
    try expectLegalValues("H.265 PPS \(flag)", bytes) { bytes, trace throws(BitstreamError) in
      try H265.PictureParameterSet(nalUnit: bytes.span, trace: trace).nalUnit()
    }
    for end in bytes.indices {
      same(
        failure { () throws(BitstreamError) in
          let part = try H265.PictureParameterSet(bytes: Array(bytes[0..<end]))
          if end >= bytes.count - 2, !part.hasProperEnd { throw BitstreamError(.truncated, "stop bit", bitOffset: 0) }
        } == nil, false)
    }
  }

  private func fullPPS(_ flag: Bool) -> H265.PictureParameterSet {
    var pps = H265.PictureParameterSet(id: 63, sequenceParameterSetID: 15)
    pps.allowsDependentSlices = flag
    pps.isOutputFlagPresent = !flag
    pps.extraSliceHeaderBits = 7
    pps.hidesSigns = flag
    pps.isCABACInitPresent = !flag
    pps.defaultReferenceCountList0 = 15
    pps.defaultReferenceCountList1 = 8
    pps.initialQP = flag ? -48 : 51
    pps.usesConstrainedIntraPrediction = flag
    pps.allowsTransformSkip = flag
    pps.codingUnitQPDepth = flag ? 3 : nil
    pps.cbQPOffset = -12
    pps.crQPOffset = 12
    pps.areSliceChromaOffsetsPresent = flag
    pps.usesWeightedPrediction = !flag
    pps.usesWeightedBiprediction = flag
    pps.allowsTransformBypass = !flag
    var tiles = H265.PictureParameterSet.Tiles(columnCount: 20, rowCount: 22)
    tiles.filtersAcrossTiles = !flag
    if flag {
      tiles.sizes = .init(widths: (1..<20).map { UInt32($0) * 3000 }, heights: (1..<22).map { UInt32($0) })
    }
    pps.tiles = tiles
    pps.usesWavefronts = flag
    pps.filtersAcrossSlices = !flag
    pps.deblocking = .init(isOverrideEnabled: flag, offsets: flag ? nil : .init(beta: -6, tc: 6))
    pps.scalingLists = flag ? nil : .init()
    pps.isListModificationPresent = flag
    pps.log2ParallelMergeLevel = 6
    pps.isSliceHeaderExtensionPresent = !flag
    var extensions = H265.PictureParameterSet.Extensions()
    var range = H265.PictureParameterSet.RangeExtension()
    if flag { range.log2MaximumTransformSkipSize = 5 }
    range.predictsAcrossComponents = flag
    range.chromaOffsets = .init(
      depth: 3, entries: (0..<6).map { (step: Int8) in .init(cb: step * 4 - 12, cr: 12 - step) })
    range.log2LumaOffsetScale = 6
    range.log2ChromaOffsetScale = 5
    extensions.range = range
    var content = H265.PictureParameterSet.ScreenContent()
    content.refersToCurrentPicture = true
    content.colourTransform = .init(
      areSliceOffsetsPresent: flag, lumaOffsetPlus5: -7, cbOffsetPlus5: 17, crOffsetPlus3: 15)
    content.palette = .init(
      lumaBitDepth: 16, chromaBitDepth: flag ? 10 : nil,
      predictorInitializers: (0..<(flag ? 3 : 1)).map { (component: Int) -> [UInt16] in
        let greatest: UInt16 = component == 0 ? 65535 : 1023
        return (0..<128).map { greatest - $0 }
      })
    extensions.screenContent = content
    pps.extensions = extensions
    return pps
  }

  /// A multilayer extension is kept unread, with what follows it.
  @Test func layeredExtensionsAreKept() throws {
    var pps = H265.PictureParameterSet(id: 1, sequenceParameterSetID: 0)
    var extensions = H265.PictureParameterSet.Extensions()
    extensions.hasMultilayer = true
    extensions.hasScreenContentInRest = true
    pps.extensions = extensions
    let bytes = pps.nalUnit() + [0xAB, 0xCD, 0x80]
    let back = try H265.PictureParameterSet(bytes: bytes)
    #expect(back.nalUnit() == bytes)
    #expect(back.hasProperEnd)
  }
}
