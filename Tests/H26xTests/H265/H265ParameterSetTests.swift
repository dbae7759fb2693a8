// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

@Suite struct H265SequenceParameterSetTests {
  @Test func readsAnEncodersSet() throws {
    let sps = try H265.SequenceParameterSet(bytes: H265Samples.sps)
    #expect(sps.profileName == "main")
    #expect(sps.level.name == "1")
    #expect(sps.level.tierName == "main")
    #expect(sps.codedSize == VideoSize(width: 128, height: 128))
    #expect(sps.cropRectangle == CropRectangle(left: 0, top: 0, width: 128, height: 128))
    #expect(sps.frameRate == Ratio(30, 1))
    #expect(sps.log2MaximumPictureOrderCount == 8)
    #expect(sps.maximumReorderFrames == 2)
    #expect(sps.hasProperEnd)
    #expect(sps.nalUnit() == H265Samples.sps)
  }

  /// Predicted reference picture sets of an encoder with GOPs of eight pictures.
  @Test func readsPredictedReferencePictureSets() throws {
    let sps = try H265.SequenceParameterSet(bytes: H265Samples.layeredSPS)
    #expect(sps.cropRectangle.width == 914)
    #expect(sps.cropRectangle.height == 686)
    #expect(sps.subLayerCount == 4)
    #expect(sps.hasProperEnd)
    #expect(sps.referencePictureSets.contains { $0.prediction != nil })
    for set in sps.referencePictureSets {
      #expect(set.before.allSatisfy { $0.delta < 0 } && set.after.allSatisfy { $0.delta > 0 })
      #expect(set.count < sps.decodedPictureBufferPictures)
    }
    #expect(sps.nalUnit() == H265Samples.layeredSPS)
  }

  /// The first set cannot be predicted, and is written by its pictures.
  @Test func aPredictedSetMayBecomeTheFirst() throws {
    var sps = try H265.SequenceParameterSet(bytes: H265Samples.layeredSPS)
    let predicted = try #require(sps.referencePictureSets.first { $0.prediction != nil })
    sps.referencePictureSets = [predicted]
    let first = try #require(H265.SequenceParameterSet(bytes: sps.nalUnit()).referencePictureSets.first)
    #expect(first.prediction == nil && first.before == predicted.before && first.after == predicted.after)
  }

  /// Ids, profile and level may change within a coded video sequence; what is decoded may not.
  @Test func comparesSetsByTheirDecodedPictures() throws {
    let sps = H265Samples.plainSPS()
    var other = sps
    other.id = 3
    other.videoParameterSetID = 4
    other.profileTierLevel.levelIDC = 120
    other.vui = H265.VUIParameters()
    other.hasProperEnd = false
    #expect(sps.codesPictures(like: other) && other.codesPictures(like: sps))
    other.lumaBitDepth = 10
    #expect(!sps.codesPictures(like: other))
  }

  /// The derivation of 7.4.8 by known values: from {−1, −3 | +2}, two pictures later, with the reference picture kept.
  @Test func referencePictureSetsArePredictedFromOthers() throws {
    typealias Set = H265.ShortTermReferencePictureSet
    var writer = BitWriter(addsEmulationPrevention: false)
    H265.NALUnitHeader(type: .sequenceParameterSet).write(to: &writer)
    var sps = H265Samples.plainSPS()
    sps.referencePictureSets = [
      Set(
        before: [.init(delta: -1, isUsed: true), .init(delta: -3, isUsed: false)],
        after: [.init(delta: 2, isUsed: true)])
    ]
    sps.longTermReferences = nil
    // The second set's flags for −1, −3, +2 and the picture itself.
    let plain = sps.nalUnit()
    let parsed = try H265.SequenceParameterSet(bytes: plain)
    #expect(parsed.referencePictureSets == sps.referencePictureSets)
    let slice = try sliceWithSet(sps) { writer in
      writer.flag(true)  // inter_ref_pic_set_prediction_flag
      writer.ue(0)  // delta_idx_minus1
      writer.flag(true)  // delta_rps_sign
      writer.ue(1)  // abs_delta_rps_minus1
      writer.flag(true)  // −1 used: −3
      writer.u(2, 0b01)  // −3 kept: −5
      writer.u(2, 0b00)  // +2 would be 0, which is no other picture
      writer.flag(true)  // itself: −2
    }
    #expect(
      slice.before == [.init(delta: -2, isUsed: true), .init(delta: -3, isUsed: true), .init(delta: -5, isUsed: false)])
    #expect(slice.after == [])
    let forward = try sliceWithSet(sps) { writer in
      writer.flag(true)
      writer.ue(0)
      writer.flag(false)
      writer.ue(3)  // +4
      writer.flag(true)  // −1: +3
      writer.flag(true)  // −3: +1
      writer.u(2, 0b00)  // +2 left
      writer.u(2, 0b01)  // itself kept: +4
    }
    #expect(forward.before == [])
    #expect(
      forward.after == [.init(delta: 1, isUsed: true), .init(delta: 3, isUsed: true), .init(delta: 4, isUsed: false)])
    #expect(forward.usedCount == 2)
  }

  private func sliceWithSet(
    _ sps: H265.SequenceParameterSet, _ write: (inout BitWriter) -> Void
  ) throws -> H265.ShortTermReferencePictureSet {
    let sets = try H265Samples.store(sps)
    var writer = BitWriter()
    H265.NALUnitHeader(type: .trailingR).write(to: &writer)
    writer.flag(true)
    writer.ue(0)
    writer.ue(1)
    writer.u(8, 20)
    writer.flag(false)
    write(&writer)
    writer.trailingBits()
    let (_, references) = try H265.SliceSegmentHeader.withReferences(nalUnit: writer.bytes.span, parameterSets: sets)
    return try #require(references).shortTerm
  }

  /// An SPS with every optional part is the same after writing and reading, and an error wherever it is cut.
  @Test(arguments: TestScope.rows(ChromaFormat.allCases, usually: 2)) func everythingComesBack(_ chroma: ChromaFormat)
    throws
  {
    let sps = fullSPS(chroma)
    let bytes = sps.nalUnit()
    let back = try H265.SequenceParameterSet(bytes: bytes)
    #expect(back == sps)
    #expect(back.nalUnit() == bytes)
    if chroma == .yuv444 {
      try expectRecorded("H.265 SPS") { trace throws(BitstreamError) in
        _ = try H265.SequenceParameterSet(nalUnit: bytes.span, trace: trace)
      }
    }
    try expectLegalValues("H.265 SPS \(chroma.name)", bytes) { bytes, trace throws(BitstreamError) in
      try H265.SequenceParameterSet(nalUnit: bytes.span, trace: trace).nalUnit()
    }
    #expect(back.frameRate == Ratio(30000, 1001))
    #expect(back.vui?.sampleAspectRatio == Ratio(64, 45))
    let hrd = try #require(back.vui?.timing?.hrdParameters)
    let last = try #require(hrd.subLayers.last?.nal.last)
    #expect(hrd.bitRate(of: last) == 1001 << 9)
    #expect(hrd.size(of: last) == 2002 << 9)
    for end in bytes.indices {
      same(
        failure { () throws(BitstreamError) in
          let part = try H265.SequenceParameterSet(bytes: Array(bytes[0..<end]))
          if end >= bytes.count - 2, !part.hasProperEnd { throw BitstreamError(.truncated, "stop bit", bitOffset: 0) }
        } == nil, false)
    }
  }

  private func fullSPS(_ chroma: ChromaFormat) -> H265.SequenceParameterSet {
    var sps = H265Samples.plainSPS()
    sps.videoParameterSetID = 15
    sps.subLayerCount = 3
    sps.hasNestedTemporalIDs = false
    sps.profileTierLevel.profile = H265.Profile(idc: 9, isHighTier: true, constraints: [.maximum14Bit, .lowerBitRate])
    sps.profileTierLevel.subLayers = [
      .init(profile: H265.Profile(idc: 1), levelIDC: 30), .init(profile: nil, levelIDC: 60),
    ]
    sps.id = 15
    sps.chromaFormat = chroma
    sps.hasSeparateColourPlanes = chroma == .yuv444
    sps.conformanceWindow = .init(left: 1, right: 2, top: 3, bottom: 4)
    sps.lumaBitDepth = 16
    sps.chromaBitDepth = 9
    sps.log2MaximumPictureOrderCount = 16
    sps.buffering = (1...3).map {
      .init(maximumDecodedPictures: $0 * 5, maximumReorderPictures: $0, maximumLatencyIncreasePlus1: UInt32($0) * 1000)
    }
    sps.log2MinimumCodingBlockSize = 4
    sps.log2CodingBlockSizeRange = 2
    sps.log2MinimumTransformBlockSize = 3
    sps.log2TransformBlockSizeRange = 2
    sps.maximumTransformDepthInter = 4
    sps.maximumTransformDepthIntra = 3
    sps.scaling = .explicit(
      .init(
        (0..<20).map { index in
          guard index % 3 > 0 else { return .predicted(delta: 0) }
          let list = (0..<(index < 6 ? 16 : 64)).map { UInt8(truncatingIfNeeded: $0 * 37 + index) }
          return .explicit(list, dc: index < 12 ? nil : UInt8(200 + index))
        }))
    sps.usesAsymmetricPartitions = true
    sps.usesSampleAdaptiveOffset = true
    sps.pcm = .init(
      lumaBitDepth: 16, chromaBitDepth: 1, log2MinimumBlockSize: 5, log2BlockSizeRange: 2, disablesLoopFilter: true)
    for index in 0..<64 {
      var before: [H265.ShortTermReferencePictureSet.Picture] = []
      var after = before
      for place in 0..<Int32(index % 9) { before.append(.init(delta: -place * 3 - 1, isUsed: place % 2 == 0)) }
      for place in 1..<Int32(index % 8 + 1) { after.append(.init(delta: place * 32768, isUsed: place % 2 == 1)) }
      sps.referencePictureSets.append(.init(before: before, after: after))
    }
    sps.longTermReferences = (0..<32).map { .init(pictureOrderCountLSB: $0 * 2047, isUsed: $0 % 3 == 0) }
    sps.usesTemporalMotionVectors = true
    sps.usesStrongIntraSmoothing = true
    sps.vui = fullVUI()
    var extensions = H265.SequenceParameterSet.Extensions()
    extensions.reservedFlags = 5
    extensions.range = [.transformSkipRotation, .extendedPrecision, .bypassAlignment]
    extensions.constrainsVerticalMotionBetweenViews = true
    var content = H265.SequenceParameterSet.ScreenContent()
    content.refersToCurrentPicture = true
    var palette = H265.SequenceParameterSet.Palette(maximumSize: 64, maximumPredictorSizeDelta: 64)
    palette.predictorInitializers = (0..<(chroma == .monochrome ? 1 : 3)).map { component in
      (0..<128).map { component == 0 ? 65535 - $0 : 511 - $0 }
    }
    content.palette = palette
    content.motionVectorResolutionControl = 2
    extensions.screenContent = content
    sps.extensions = extensions
    return sps
  }

  private func fullVUI() -> H265.VUIParameters {
    var vui = H265.VUIParameters()
    vui.aspectRatioIDC = 255
    vui.sampleAspectRatioWidth = 64
    vui.sampleAspectRatioHeight = 45
    vui.isOverscanAppropriate = true
    vui.videoSignal = .init(
      format: 5, isFullRange: true, colour: ColourDescription(primaries: 9, transfer: 16, matrix: 9))
    vui.chromaLocation = .init(topField: 2, bottomField: 5)
    vui.hasNeutralChroma = true
    vui.isPictureStructurePresent = true
    vui.defaultDisplayWindow = .init(left: 4, right: 3, top: 2, bottom: 1)
    var timing = H265.VUIParameters.Timing(unitsInTick: 1001, timeScale: 30000)
    timing.ticksPerPictureOrderCount = 4_294_967_295
    var common = H265.HRDParameters.Common()
    common.hasNAL = true
    common.hasVCL = true
    common.subPicture = .init(
      tickDivisorMinus2: 255, removalDelayIncrementLength: 32, isInPictureTiming: true, outputDelayLength: 1,
      sizeScale: 15)
    common.bitRateScale = 3
    common.sizeScale = 5
    common.initialRemovalDelayLength = 32
    common.removalDelayLength = 1
    common.outputDelayLength = 17
    let rates: [H265.HRDParameters.PictureRate] = [
      .fixed(elementalDuration: 2048), .fixedWithinSequence(elementalDuration: 1), .variable(isLowDelay: false),
    ]
    timing.hrdParameters = .init(
      common: common,
      subLayers: rates.map { rate in
        var layer = H265.HRDParameters.SubLayer(pictureRate: rate, bufferCount: 32)
        layer.nal = (UInt32(0)..<32).map { index in
          var buffer = H265.HRDParameters.CodedPictureBuffer(
            bitRateValue: 970 + index, sizeValue: 1971 + index, isConstantBitRate: index % 2 == 0)
          buffer.unitSizeValue = 4_294_967_295
          buffer.unitBitRateValue = 1
          return buffer
        }
        layer.vcl = layer.nal.reversed()
        return layer
      })
    vui.timing = timing
    var restriction = H265.VUIParameters.BitstreamRestriction()
    restriction.hasFixedTiles = true
    restriction.minimumSpatialSegmentation = 4095
    restriction.maximumBytesPerPictureDenominator = 16
    vui.bitstreamRestriction = restriction
    return vui
  }

  @Test func aVariableLowDelayLayerHasOneBuffer() throws {
    var sps = H265Samples.plainSPS()
    var common = H265.HRDParameters.Common()
    common.hasVCL = true
    var layer = H265.HRDParameters.SubLayer(pictureRate: .variable(isLowDelay: true))
    layer.vcl = [.init(bitRateValue: 1, sizeValue: 4_294_967_295, isConstantBitRate: true)]
    var vui = H265.VUIParameters()
    var timing = H265.VUIParameters.Timing(unitsInTick: 0, timeScale: 0)
    timing.hrdParameters = .init(common: common, subLayers: [layer])
    vui.timing = timing
    sps.vui = vui
    #expect(try H265.SequenceParameterSet(bytes: sps.nalUnit()) == sps)
    #expect(sps.frameRate == nil)
  }

  @Test func fieldsHalveTheFrameRateAndTheReorderDepth() throws {
    var sps = H265Samples.plainSPS()
    var vui = H265.VUIParameters()
    vui.isFieldSequence = true
    vui.timing = .init(unitsInTick: 1, timeScale: 50)
    sps.vui = vui
    sps.buffering = [.init(maximumDecodedPictures: 7, maximumReorderPictures: 3)]
    let format = try FormatDescription(h265ParameterSets: [sps.nalUnit()])
    #expect(format.frameRate == Ratio(25, 1))
    #expect(format.maximumReorderFrames == 2)
    #expect(format.decodedPictureBufferFrames == 4)
    #expect(format.isInterlacedAllowed)
  }

  @Test func unknownExtensionsAreKept() throws {
    var sps = H265Samples.plainSPS()
    var extensions = H265.SequenceParameterSet.Extensions()
    extensions.has3D = true
    extensions.hasScreenContentBehind3D = true
    extensions.reservedFlags = 1
    sps.extensions = extensions
    let bytes = sps.nalUnit()
    // The stop bit becomes extension data.
    for tail: [UInt8] in [[0x80], [0x12, 0x80], [0x00, 0x00, 0x03, 0x01, 0xFF, 0xC0]] {
      let longer = bytes + tail
      let back = try H265.SequenceParameterSet(bytes: longer)
      #expect(back.hasProperEnd)
      #expect(back.nalUnit() == longer)
      #expect((back.extensions?.rest.bitCount ?? 0) > 0)
    }
  }
}
