// SPDX-License-Identifier: MPL-2.0
import Testing

@testable import H26x

/// The numbers of the Recommendations behind each name.
@Suite struct CodePointTests {
  @Test func nalUnitTypesOfH264HaveTheirNumbers() {
    let types: [(H264.NALUnitType, UInt8)] = [
      (.unspecified, 0), (.slice, 1), (.slicePartitionA, 2), (.slicePartitionB, 3), (.slicePartitionC, 4),
      (.idrSlice, 5), (.sei, 6), (.sequenceParameterSet, 7), (.pictureParameterSet, 8), (.accessUnitDelimiter, 9),
      (.endOfSequence, 10), (.endOfStream, 11), (.fillerData, 12), (.sequenceParameterSetExtension, 13), (.prefix, 14),
      (.subsetSequenceParameterSet, 15), (.depthParameterSet, 16), (.auxiliarySlice, 19), (.sliceExtension, 20),
      (.depthSliceExtension, 21), (.dolbyVisionRPU, 28), (.dolbyVisionEnhancementLayer, 30),
    ]
    for (type, rawValue) in types { #expect(type.rawValue == rawValue) }
  }

  @Test func nalUnitTypesOfH265HaveTheirNumbers() {
    let types: [(H265.NALUnitType, UInt8)] = [
      (.trailingN, 0), (.trailingR, 1), (.tsaN, 2), (.tsaR, 3), (.stsaN, 4), (.stsaR, 5), (.radlN, 6), (.radlR, 7),
      (.raslN, 8), (.raslR, 9), (.blaWithLeading, 16), (.blaWithRADL, 17), (.blaWithoutLeading, 18),
      (.idrWithRADL, 19), (.idrWithoutLeading, 20), (.cra, 21), (.videoParameterSet, 32), (.sequenceParameterSet, 33),
      (.pictureParameterSet, 34), (.accessUnitDelimiter, 35), (.endOfSequence, 36), (.endOfStream, 37),
      (.fillerData, 38), (.prefixSEI, 39), (.suffixSEI, 40), (.dolbyVisionRPU, 62),
      (.dolbyVisionEnhancementLayer, 63),
    ]
    for (type, rawValue) in types { #expect(type.rawValue == rawValue) }
  }

  /// The role of every type, in ranges of types.
  @Test func everyTypeHasItsRole() {
    let h264: [(ClosedRange<UInt8>, NALUnitRole)] = [
      (0...0, .other), (1...2, .slice), (3...4, .slicePart), (5...5, .slice), (6...6, .sei),
      (7...7, .sequenceParameterSet), (8...8, .pictureParameterSet), (9...9, .accessUnitDelimiter), (10...11, .end),
      (12...12, .filler), (13...13, .sequenceParameterSetExtension), (14...14, .other),
      (15...15, .sequenceParameterSetExtension), (16...18, .other), (19...19, .slicePart), (20...21, .layerSlice),
      (22...23, .other), (24...27, .outsideStandard), (28...28, .other), (29...29, .outsideStandard),
      (30...31, .other),
    ]
    for (types, role) in h264 {
      for type in types { same(H264.role(of: [0x60 | type].span), role) }
    }
    let h265: [(ClosedRange<UInt8>, base: NALUnitRole, layer: NALUnitRole)] = [
      (0...9, .slice, .layerSlice), (10...15, .slicePart, .layerSlice), (16...21, .slice, .layerSlice),
      (22...31, .slicePart, .layerSlice), (32...32, .videoParameterSet, .sequenceParameterSetExtension),
      (33...33, .sequenceParameterSet, .sequenceParameterSetExtension),
      (34...34, .pictureParameterSet, .sequenceParameterSetExtension), (35...35, .accessUnitDelimiter, .other),
      (36...37, .end, .other), (38...38, .filler, .filler), (39...39, .sei, .other), (40...40, .suffixSEI, .other),
      (41...47, .other, .other), (48...50, .outsideStandard, .outsideStandard), (51...63, .other, .other),
    ]
    for (types, base, layer) in h265 {
      for type in types {
        same(H265.role(of: [type << 1, 1].span), base)
        same(H265.role(of: [type << 1, 9].span), layer)
      }
    }
    let nothing: [UInt8] = []
    same(H264.role(of: nothing.span), .other)
    same(H265.role(of: nothing.span), .other)
  }

  @Test func isReferenceFollowsTheHeader() {
    let nothing: [UInt8] = []
    same(H264.isReference(nothing.span), false)
    same(H265.isReference(nothing.span), false)
    for idc: UInt8 in 0..<4 { same(H264.isReference([idc << 5 | 1].span), idc > 0) }
    for type: UInt8 in 0..<64 { same(H265.isReference([type << 1, 1].span), true) }
  }

  @Test func readsAndWritesTemporalIDs() {
    for header: [UInt8] in [[], [0x40], [0x40, 0]] { same(H265.temporalID(of: header.span), 0) }
    for id: UInt8 in 0..<7 {
      same(H265.temporalID(of: [0x02, 0xF8 | id + 1].span), id)
      same(H264.temporalID(of: [0x41, id + 1].span), 0)
      #expect(H265.accessUnitDelimiter(temporalID: id) == [0x46, id + 1, 0x50])
      #expect(H264.accessUnitDelimiter(temporalID: id) == [0x09, 0xF0])
    }
    #expect(H265.accessUnitDelimiter(temporalID: 7) == [0x46, 7, 0x50])
  }

  /// The slices of two pictures differ in type, sub-layer or POC, or the second one is the first of its picture.
  @Test func distinguishesSlicesOfDifferentPictures() throws {
    let sets = try H265Samples.store()
    func isFirst(_ type: H265.NALUnitType, count: UInt32 = 4, address: UInt32 = 1, temporalID: UInt8 = 1) throws -> Bool
    {
      let last = try H265.SliceSegmentHeader(
        bytes: H265Samples.slice(.trailingR, count: 4, address: 1, temporalID: 1), sets)
      let bytes = H265Samples.slice(type, count: count, address: address, temporalID: temporalID)
      return H265.isFirstOfPicture(try H265.SliceSegmentHeader(bytes: bytes, sets), after: last)
    }
    #expect(try !isFirst(.trailingR) && !isFirst(.trailingR, address: 9))
    #expect(try isFirst(.trailingR, address: 0) && isFirst(.trailingN) && isFirst(.trailingR, temporalID: 2))
    #expect(try isFirst(.trailingR, count: 5))
  }

  @Test func codecsHaveNamesAndCapsFormats() {
    #expect(H264.AccessUnitScanner.minimumInput == 4 && H265.AccessUnitScanner.minimumInput == 4)

    #expect(H264.name == "H.264" && H264.mediaType == "video/x-h264" && H264.nalUnitHeaderLength == 1)
    #expect(H264.outOfBandStreamFormat == "avc" && H264.inBandStreamFormat == "avc3")
    #expect(H265.name == "H.265" && H265.mediaType == "video/x-h265" && H265.nalUnitHeaderLength == 2)
    #expect(H265.outOfBandStreamFormat == "hvc1" && H265.inBandStreamFormat == "hev1")
    #expect(H264.DecoderConfigurationRecord.name == "avcC" && H264.DecoderConfigurationRecord.lengthSizeOffset == 4)
    #expect(H265.DecoderConfigurationRecord.name == "hvcC" && H265.DecoderConfigurationRecord.lengthSizeOffset == 21)
  }

  @Test func limitsAndUnitsAreFixed() {
    #expect(H264.ScannedAccessUnit.nalUnitLimit == 150_000 && H264.ScannedAccessUnit.seiLimit == 256)
    #expect(
      H264.SequenceParameterSet.maximumSideInMacroblocks == 4096 && H265.SequenceParameterSet.maximumSide == 65536)
    #expect(H265.ParameterSets.maximumLayerSets == 128)
    #expect(TimestampGenerator.ticksPerFrame == 24_504_480)
    for divisor in Int64(1)...17 { #expect(TimestampGenerator.ticksPerFrame % divisor == 0) }
    #expect(NALLengthSize.allCases.map(\.byteCount) == [1, 2, 4])
    #expect(NALLengthSize.allCases.map(\.maximumNALUnitLength) == [0xFF, 0xFFFF, 0xFFFF_FFFF])
    #expect(ChromaFormat.allCases.map(\.name) == ["4:0:0", "4:2:0", "4:2:2", "4:4:4"])
    #expect(ChromaFormat.allCases.map(\.rawValue) == [0, 1, 2, 3])
  }

  @Test func payloadTypesHaveTheirNumbers() {
    let types: [(SEIPayloadType, UInt32)] = [
      (.bufferingPeriod, 0), (.pictureTiming, 1), (.userDataRegistered, 4), (.userDataUnregistered, 5),
      (.recoveryPoint, 6), (.stereoVideoInformation, 21), (.framePackingArrangement, 45), (.displayOrientation, 47),
      (.activeParameterSets, 129), (.decodedPictureHash, 132), (.timeCode, 136), (.masteringDisplayColourVolume, 137),
      (.contentLightLevel, 144), (.alternativeTransferCharacteristics, 147),
    ]
    for (type, rawValue) in types { #expect(type.rawValue == rawValue) }
  }

  /// H.265 Table D.2.
  @Test func pictureStructuresHaveTheirNumbers() {
    let structures: [H265.PictureTiming.Structure] = [
      .frame, .topField, .bottomField, .topBottom, .bottomTop, .topBottomTop, .bottomTopBottom, .frameDoubling,
      .frameTripling, .topBehindBottom, .bottomBehindTop, .topBeforeBottom, .bottomBeforeTop,
    ]
    #expect(structures.map(\.rawValue) == Array(0...12))
    let periods: [UInt8: Int] = [0: 2, 1: 1, 2: 1, 3: 2, 4: 2, 5: 3, 6: 3, 7: 4, 8: 6, 9: 1, 10: 1, 11: 1, 12: 1]
    for structure in structures { #expect(structure.fieldPeriods == periods[structure.rawValue]) }
  }

  /// H.265 7.3.3, from `general_progressive_source_flag` on, and 7.3.2.2.2.
  @Test func flagsHaveTheirBits() {
    let constraints: [H265.Profile.Constraints] = [
      .progressiveSource, .interlacedSource, .nonPacked, .frameOnly, .maximum12Bit, .maximum10Bit, .maximum8Bit,
      .maximum422, .maximum420, .monochrome, .intra, .onePicture, .lowerBitRate, .maximum14Bit,
    ]
    for (index, flag) in constraints.enumerated() { #expect(flag.rawValue == 1 << UInt64(47 - index)) }
    let tools: [H265.SequenceParameterSet.RangeTools] = [
      .transformSkipRotation, .transformSkipContext, .implicitRDPCM, .explicitRDPCM, .extendedPrecision,
      .noIntraSmoothing, .highPrecisionOffsets, .persistentRiceAdaptation, .bypassAlignment,
    ]
    for (index, flag) in tools.enumerated() { #expect(flag.rawValue == 1 << UInt16(8 - index)) }
  }
}
