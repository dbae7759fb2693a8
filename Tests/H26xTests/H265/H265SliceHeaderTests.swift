// SPDX-License-Identifier: MPL-2.0

import H26x
import Testing

@Suite struct H265SliceHeaderTests {
  @Test func distinguishesPictures() throws {
    let sets = try H265Samples.store()
    let idr = try H265.SliceSegmentHeader(bytes: H265Samples.slice(.idrWithRADL), sets)
    #expect(idr.isIDR && idr.isFirstInPicture && idr.pictureOrderCountLSB == 0 && idr.segmentAddress == 0)
    #expect(idr.sliceType == .i && idr.isOutput && !idr.isDependent && idr.isReference)
    let next = try H265.SliceSegmentHeader(
      bytes: H265Samples.slice(.tsaN, count: 0xA5, address: 17, temporalID: 2), sets)
    #expect(!next.isIDR && !next.isFirstInPicture && next.pictureOrderCountLSB == 0xA5 && next.segmentAddress == 17)
    #expect(next.temporalID == 2 && !next.isReference && next.pictureParameterSetID == 0)
  }

  @Test func readsEveryFieldThatIdentifiesThePicture() throws {
    var sps = H265Samples.plainSPS()
    sps.chromaFormat = .yuv444
    sps.hasSeparateColourPlanes = true
    sps.log2MaximumPictureOrderCount = 13
    var pps = H265.PictureParameterSet(id: 7, sequenceParameterSetID: 0)
    pps.extraSliceHeaderBits = 7
    pps.isOutputFlagPresent = true
    pps.allowsDependentSlices = true
    let sets = try H265Samples.store(sps, pps)
    func slice(dependent: Bool) -> [UInt8] {
      var writer = BitWriter()
      H265.NALUnitHeader(type: .cra, temporalID: 0).write(to: &writer)
      writer.flag(false)
      writer.flag(true)  // no_output_of_prior_pics_flag
      writer.ue(7)
      writer.flag(dependent)
      writer.u(5, 31)
      if !dependent {
        writer.u(7, 0b1010101)
        writer.ue(0)
        writer.flag(false)
        writer.u(2, 2)
        writer.u(13, 0x1234)
      }
      writer.trailingBits()
      return writer.bytes
    }
    let header = try H265.SliceSegmentHeader(bytes: slice(dependent: false), sets)
    #expect(header.discardsPriorPictures && header.pictureParameterSetID == 7 && header.segmentAddress == 31)
    #expect(header.sliceType == .b && !header.isOutput && header.colourPlaneID == 2)
    #expect(header.pictureOrderCountLSB == 0x1234)
    let dependent = try H265.SliceSegmentHeader(bytes: slice(dependent: true), sets)
    #expect(dependent.isDependent && dependent.segmentAddress == 31)
    #expect(dependent.sliceType == nil && dependent.pictureOrderCountLSB == nil)
  }

  /// Tile by tile, and in each of them row by row (6.5.1): in a picture of 8 × 4 coding tree blocks.
  @Test(
    arguments: [
      (columns: [0, 8], rows: [0, 4], sizes: nil), (columns: [0, 2, 5, 8], rows: [0, 2, 4], sizes: nil),
      (columns: [0, 1, 7, 8], rows: [0, 3, 4], sizes: ([1, 6], [3])),
      // More tiles than coding tree blocks.
      (columns: [0, 8], rows: [0, 4], sizes: ([8, 1], [4])),
    ] as [(columns: [Int], rows: [Int], sizes: ([UInt32], [UInt32])?)])
  func convertsAddressesToTileScan(columns: [Int], rows: [Int], sizes: ([UInt32], [UInt32])?) throws {
    var pps = H265.PictureParameterSet(id: 0, sequenceParameterSetID: 0)
    var tiles = H265.PictureParameterSet.Tiles(
      columnCount: UInt8(sizes.map { $0.0.count + 1 } ?? columns.count - 1),
      rowCount: UInt8(sizes.map { $0.1.count + 1 } ?? rows.count - 1))
    tiles.sizes = sizes.map { .init(widths: $0.0, heights: $0.1) }
    pps.tiles = tiles
    let sets = try H265Samples.store(H265Samples.plainSPS(), pps)
    var expected: [Int: Int] = [:]
    for (top, bottom) in zip(rows, rows.dropFirst()) {
      for (left, right) in zip(columns, columns.dropFirst()) {
        for y in top..<bottom { for x in left..<right { expected[y * 8 + x] = expected.count } }
      }
    }
    for address in 0..<32 {
      let slice = try H265.SliceSegmentHeader(bytes: H265Samples.slice(.trailingR, address: UInt32(address)), sets)
      #expect(Int(sets.tileScanAddress(of: slice)) == expected[address], "\(address)")
    }
  }

  @Test func describesAnErrorAndItsPosition() throws {
    let sets = try H265Samples.store()
    func error(_ bytes: [UInt8]) -> BitstreamError? {
      failure { () throws(BitstreamError) in _ = try H265.SliceSegmentHeader(bytes: bytes, sets) }
    }
    #expect(
      error(H265Samples.slice(.trailingR, pps: 3))
        == BitstreamError(.missingParameterSet, "slice_pic_parameter_set_id", bitOffset: 17))
    #expect(error(H265Samples.slice(.trailingR, pps: 64))?.reason == .valueOutOfRange)
    #expect(error(H265Samples.slice(.trailingR, layerID: 1))?.reason == .unsupported)
    #expect(error(H265Samples.nalUnit(39))?.reason == .wrongNALUnitType)
    #expect(error(H265Samples.nalUnit(22))?.reason == .wrongNALUnitType)
    #expect(error([0x02, 0x01]) == BitstreamError(.truncated, "first_slice_segment_in_pic_flag", bitOffset: 16))
    // 24 coding tree blocks: addresses have five bits, and 24 to 31 are illegal.
    var sps = H265Samples.plainSPS()
    sps.codedSize = VideoSize(width: 192, height: 128)
    let fewer = try H265Samples.store(sps)
    let beyond = failure { () throws(BitstreamError) in
      _ = try H265.SliceSegmentHeader(bytes: H265Samples.slice(.trailingR, address: 24), fewer)
    }
    #expect(beyond == BitstreamError(.valueOutOfRange, "slice_segment_address", bitOffset: 18))
  }

  @Test func findsAPictureStartWithoutParameterSets() {
    func starts(_ bytes: [UInt8]) -> Bool? { H265.SliceSegmentHeader.startsPicture(bytes.span) }
    #expect(starts(H265Samples.slice(.trailingR)) == true)
    #expect(starts(H265Samples.slice(.trailingR, address: 3)) == false)
    #expect(starts([0x02, 0x01]) == nil)
    #expect(starts(H265Samples.vps) == nil)
  }

  /// Reference picture sets of the SPS and of the slice header, and long-term pictures with and without MSBs.
  @Test func referencePictureSetsAreReadFromSPSAndSliceHeader() throws {
    var sps = H265Samples.plainSPS()
    sps.referencePictureSets = (1...3).map { .init(before: [.init(delta: -$0, isUsed: true)]) }
    sps.longTermReferences = [
      .init(pictureOrderCountLSB: 10, isUsed: true), .init(pictureOrderCountLSB: 20, isUsed: false),
      .init(pictureOrderCountLSB: 30, isUsed: true),
    ]
    sps.usesTemporalMotionVectors = true
    let sets = try H265Samples.store(sps)
    var writer = BitWriter()
    H265.NALUnitHeader(type: .trailingR).write(to: &writer)
    writer.flag(true)
    writer.ue(0)
    writer.ue(1)
    writer.u(8, 99)
    writer.flag(true)  // short_term_ref_pic_set_sps_flag
    writer.u(2, 2)
    writer.ue(2)  // num_long_term_sps
    writer.ue(2)  // num_long_term_pics
    writer.u(2, 1)
    writer.flag(false)
    writer.u(2, 2)
    writer.flag(true)
    writer.ue(3)
    writer.u(8, 200)
    writer.flag(true)
    writer.flag(true)
    writer.ue(5)
    writer.u(8, 201)
    writer.flag(false)
    writer.flag(true)
    writer.ue(6)
    writer.flag(true)  // slice_temporal_mvp_enabled_flag
    writer.trailingBits()
    let bytes = writer.bytes
    let (header, syntax) = try H265.SliceSegmentHeader.withReferences(nalUnit: bytes.span, parameterSets: sets)
    let references = try #require(syntax)
    #expect(header.pictureOrderCountLSB == 99)
    #expect(references.shortTermIndex == 2)
    #expect(references.shortTerm.before == [.init(delta: -3, isUsed: true)])
    #expect(references.longTerm.map(\.pictureOrderCountLSB) == [20, 30, 200, 201])
    #expect(references.longTerm.map(\.isUsed) == [false, true, true, false])
    #expect(references.longTerm.map(\.cyclesBefore) == [nil, 3, 5, 11])
    #expect(references.usedCount == 3)
    #expect(references.usesTemporalMotionVectors)
    // An index beyond the sets.
    var wrong = BitWriter()
    H265.NALUnitHeader(type: .trailingR).write(to: &wrong)
    wrong.flag(true)
    wrong.ue(0)
    wrong.ue(1)
    wrong.u(8, 99)
    wrong.u(3, 0b111)
    wrong.trailingBits()
    let broken = wrong.bytes
    #expect(
      failure { () throws(BitstreamError) in
        _ = try H265.SliceSegmentHeader.withReferences(nalUnit: broken.span, parameterSets: sets)
      } == BitstreamError(.valueOutOfRange, "short_term_ref_pic_set_idx", bitOffset: 30))
  }

  /// A header with every part, up to the slice data.
  @Test(arguments: [UInt32(0), 1]) func readsAWholeHeader(_ sliceType: UInt32) throws {
    let isB = sliceType == 0
    var sps = H265Samples.plainSPS()
    sps.usesSampleAdaptiveOffset = true
    sps.usesTemporalMotionVectors = true
    var spsExtensions = H265.SequenceParameterSet.Extensions()
    var content = H265.SequenceParameterSet.ScreenContent()
    content.motionVectorResolutionControl = 2
    spsExtensions.screenContent = content
    sps.extensions = spsExtensions
    var pps = H265.PictureParameterSet(id: 0, sequenceParameterSetID: 0)
    pps.isListModificationPresent = true
    pps.isCABACInitPresent = true
    pps.usesWeightedPrediction = true
    pps.usesWeightedBiprediction = true
    pps.areSliceChromaOffsetsPresent = true
    pps.initialQP = 30
    pps.filtersAcrossSlices = true
    pps.deblocking = .init(isOverrideEnabled: true, offsets: nil)
    pps.usesWavefronts = true
    pps.isSliceHeaderExtensionPresent = true
    var ppsExtensions = H265.PictureParameterSet.Extensions()
    var range = H265.PictureParameterSet.RangeExtension()
    range.chromaOffsets = .init(depth: 0, entries: [.init(cb: 1, cr: 1)])
    ppsExtensions.range = range
    pps.extensions = ppsExtensions
    let sets = try H265Samples.store(sps, pps)
    var writer = BitWriter()
    H265.NALUnitHeader(type: .trailingR).write(to: &writer)
    writer.flag(true)
    writer.ue(0)
    writer.ue(sliceType)
    writer.u(8, 4)
    writer.flag(false)  // a set of three, of which two are used
    writer.ue(3)
    writer.ue(0)
    for used in [true, false, true] {
      writer.ue(0)
      writer.flag(used)
    }
    writer.flag(true)  // slice_temporal_mvp_enabled_flag
    writer.u(2, 0b01)  // slice_sao_luma_flag, slice_sao_chroma_flag
    writer.flag(true)
    writer.ue(2)  // num_ref_idx_l0_active_minus1
    if isB { writer.ue(1) }
    writer.flag(true)
    writer.u(3, 0b101)  // list_entry_l0
    if isB { writer.flag(false) }
    if isB { writer.flag(true) }  // mvd_l1_zero_flag
    writer.flag(true)  // cabac_init_flag
    if isB { writer.flag(false) }  // collocated_from_l0_flag
    writer.ue(1)
    writer.ue(7)
    writer.se(-7)
    for count in isB ? [3, 2] : [3] {
      for index in 0..<count { writer.flag(index == 0) }
      for index in 0..<count { writer.flag(index == 1) }
      writer.se(-128)
      writer.se(127)
      for _ in 0..<2 {
        writer.se(127)
        writer.se(-512)
      }
    }
    writer.ue(4)  // five_minus_max_num_merge_cand
    writer.flag(true)  // use_integer_mv_flag
    writer.se(-9)  // slice_qp_delta
    writer.se(-12)
    writer.se(12)
    writer.flag(true)  // cu_chroma_qp_offset_enabled_flag
    writer.flag(true)  // deblocking_filter_override_flag
    writer.flag(false)
    writer.se(6)
    writer.se(-6)
    writer.flag(false)  // slice_loop_filter_across_slices_enabled_flag
    writer.ue(3)
    writer.ue(31)
    for offset: UInt32 in [1, 2, 3] { writer.u(32, offset) }
    writer.ue(2)
    writer.u(16, 0xBEEF)
    let end = writer.bitCount
    writer.trailingBits()
    let data = writer.bitCount
    writer.u(8, 0x55)
    let bytes = writer.bytes
    let trace = SyntaxTrace()
    let whole = try H265.WholeSliceHeader(nalUnit: bytes.span, parameterSets: sets, trace: trace)
    let coding = try #require(whole.coding)
    #expect(whole.quantizationParameter == 21)
    #expect(coding.referenceCountList0 == 3 && coding.referenceCountList1 == (isB ? 2 : 0))
    #expect(coding.prediction.listEntries0 == [1, 0, 1] && coding.prediction.listEntries1.isEmpty)
    #expect(!coding.disablesDeblocking && coding.entryPointCount == 3 && coding.headerExtensionLength == 2)
    #expect(coding.dataBitOffset == data)
    #expect(whole.references?.usedCount == 2)
    // The elements follow one another without a gap, from the end of the NAL unit header to the end of the slice
    // header.
    var offset = 16
    for element in trace.elements {
      #expect(element.bitOffset == offset, "\(element.name)")
      offset += element.bitCount
    }
    #expect(offset == end + 1)
    try expectLegalValues("H.265 slice header \(sliceType)", bytes) { bytes, trace throws(BitstreamError) in
      let trace = trace ?? SyntaxTrace()
      _ = try H265.WholeSliceHeader(nalUnit: bytes.span, parameterSets: sets, trace: trace)
      return described(trace)
    }
    for count in 3..<bytes.count - 1 {
      let part = Array(bytes[..<count])
      #expect(
        failure { () throws(BitstreamError) in
          _ = try H265.WholeSliceHeader(nalUnit: part.span, parameterSets: sets)
        } != nil)
    }
  }
}
