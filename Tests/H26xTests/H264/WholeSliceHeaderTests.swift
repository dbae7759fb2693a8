// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

@Suite struct WholeSliceHeaderTests {
  /// The legal values of the elements of a P and a B slice with every part.
  @Test(arguments: [UInt32(0), 1]) func acceptsLegalValuesOnly(_ sliceType: UInt32) throws {
    let isB = sliceType == 1
    var sps = try Samples.sps()
    sps.pictureOrderCountType =
      isB
      ? .leastSignificantBits(log2Maximum: 6)
      : .cycle(
        .init(
          isDeltaAlwaysZero: false, offsetForNonReferencePicture: 0, offsetForTopToBottomField: 0,
          offsetsForReferenceFrames: []))
    var pps = try H264.PictureParameterSet(bytes: Samples.highPPS)
    pps.isBottomFieldPictureOrderPresent = true
    pps.isRedundantPictureCountPresent = true
    pps.usesWeightedPrediction = true
    pps.weightedBipredictionIDC = 1
    pps.isDeblockingControlPresent = true
    var sets = H264.ParameterSets()
    try sets.insert(bytes: sps.nalUnit())
    try sets.insert(bytes: pps.nalUnit())
    var writer = BitWriter()
    writer.u(8, 0x41)
    writer.ue(3)  // first_mb_in_slice
    writer.ue(sliceType)
    writer.ue(0)
    writer.u(Int(sps.log2MaximumFrameNumber), 3)
    if isB { writer.u(6, 9) }
    writer.se(-4)
    if !isB { writer.se(5) }
    writer.ue(2)  // redundant_pic_cnt
    if isB { writer.flag(true) }
    writer.flag(true)  // num_ref_idx_active_override_flag
    writer.ue(1)
    if isB { writer.ue(1) }
    for _ in 0..<(isB ? 2 : 1) {
      writer.flag(true)  // ref_pic_list_modification_flag
      for value: UInt32 in [0, 7, 2, 1, 3] { writer.ue(value) }
    }
    writer.ue(5)  // luma_log2_weight_denom
    writer.ue(4)
    for _ in 0..<(isB ? 4 : 2) {
      writer.flag(true)
      for value: Int32 in [-128, 127] { writer.se(value) }
      writer.flag(true)
      for value: Int32 in [1, -2, 3, -4] { writer.se(value) }
    }
    writer.flag(true)  // adaptive_ref_pic_marking_mode_flag
    for value: UInt32 in [1, 4, 2, 3, 3, 2, 6, 4, 1, 6, 0, 0] { writer.ue(value) }
    writer.ue(1)  // cabac_init_idc
    writer.se(-5)  // slice_qp_delta
    writer.ue(2)  // disable_deblocking_filter_idc
    writer.se(-3)
    writer.se(4)
    let end = writer.bitCount
    writer.trailingBits()
    let bytes = writer.bytes
    let trace = SyntaxTrace()
    let whole = try H264.WholeSliceHeader(nalUnit: bytes.span, parameterSets: sets, trace: trace)
    #expect(trace.elements.last.map { $0.bitOffset + $0.bitCount } == end)
    #expect(whole.cabacInitIDC == 1 && whole.disableDeblockingFilterIDC == 2)
    #expect(whole.alphaOffsetDiv2 == -3 && whole.betaOffsetDiv2 == 4)
    #expect(whole.quantizationParameter == Int(pps.initialQP) - 5)
    #expect(whole.references?.referenceCountList0 == 2 && whole.references?.referenceCountList1 == (isB ? 2 : 0))
    try expectLegalValues("H.264 slice header \(sliceType)", bytes) { bytes, trace throws(BitstreamError) in
      let trace = trace ?? SyntaxTrace()
      _ = try H264.WholeSliceHeader(nalUnit: bytes.span, parameterSets: sets, trace: trace)
      return described(trace)
    }
  }
}
