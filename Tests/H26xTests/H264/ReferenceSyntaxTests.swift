// SPDX-License-Identifier: MPL-2.0

import H26x
import Testing

@Suite struct ReferenceSyntaxTests {
  private typealias Weights = H264.ReferenceSyntax.PredictionWeights

  private func sets(weighted: Bool, bipredictionIDC: UInt8, chroma: ChromaFormat) throws -> H264.ParameterSets {
    var sps = try Samples.sps()
    sps.isFrameOnly = false
    sps.log2MaximumFrameNumber = 4
    sps.pictureOrderCountType = .leastSignificantBits(log2Maximum: 6)
    sps.chromaFormat = chroma
    var pps = try H264.PictureParameterSet(bytes: Samples.highPPS)
    pps.isRedundantPictureCountPresent = true
    pps.usesWeightedPrediction = weighted
    pps.weightedBipredictionIDC = bipredictionIDC
    pps.defaultReferenceCountList0 = 2
    pps.defaultReferenceCountList1 = 1
    var sets = H264.ParameterSets()
    try sets.insert(bytes: sps.nalUnit())
    try sets.insert(bytes: pps.nalUnit())
    return sets
  }

  private func references(_ bytes: [UInt8], _ sets: H264.ParameterSets) throws -> H264.ReferenceSyntax {
    try #require(try H264.SliceHeader.withReferences(nalUnit: bytes.span, parameterSets: sets).references)
  }

  /// `pred_weight_table()` of a P slice (7.3.3.2), entry by entry.
  @Test func readsWeightsOfAPSlice() throws {
    let bytes = SliceBuilder(sliceType: 0).nalUnit { writer in
      writer.flag(false)
      writer.flag(false)
      writer.ue(5)
      writer.ue(3)
      writer.flag(true)
      writer.se(-128)
      writer.se(127)
      writer.flag(false)
      writer.flag(false)
      writer.flag(true)
      for value: Int32 in [1, -2, 3, -4] { writer.se(value) }
      // MMCO 1 for the oldest picture comes first.
      writer.flag(false)
    }
    let found = try references(bytes, try sets(weighted: true, bipredictionIDC: 0, chroma: .yuv420))
    let weights = try #require(found.predictionWeights)
    #expect(weights.lumaLog2Denominator == 5 && weights.chromaLog2Denominator == 3)
    #expect(weights.list0.count == 2 && weights.list1.isEmpty)
    #expect(weights.list0[0].luma?.weight == -128 && weights.list0[0].luma?.offset == 127)
    #expect(weights.list0[0].cb == nil && weights.list0[0].cr == nil && weights.list0[1].luma == nil)
    #expect(weights.list0[1].cb?.weight == 1 && weights.list0[1].cb?.offset == -2)
    #expect(weights.list0[1].cr?.weight == 3 && weights.list0[1].cr?.offset == -4)
    #expect(found.marking == .slidingWindow && found.referenceCountList0 == 2 && found.referenceCountList1 == 0)
  }

  /// Both lists of a B slice, monochrome: no chroma is sent.
  @Test func readsWeightsOfAMonochromeBSlice() throws {
    let bytes = SliceBuilder(referenceIDC: 0, sliceType: 1).nalUnit { writer in
      for _ in 0..<4 { writer.flag(false) }
      writer.ue(7)
      writer.flag(false)
      writer.flag(true)
      writer.se(10)
      writer.se(11)
      writer.flag(true)
      writer.se(12)
      writer.se(13)
    }
    let found = try references(bytes, try sets(weighted: false, bipredictionIDC: 1, chroma: .monochrome))
    let weights = try #require(found.predictionWeights)
    #expect(weights.lumaLog2Denominator == 7 && weights.chromaLog2Denominator == 0)
    #expect(weights.list0.map { $0.luma?.weight } == [nil, 10] && weights.list0[1].luma?.offset == 11)
    #expect(weights.list1.map { $0.luma?.weight } == [12] && weights.list1[0].luma?.offset == 13)
    #expect(found.marking == nil && !found.usesSpatialDirectPrediction)
  }

  /// With `weighted_bipred_idc` 2 no weights are sent; it does not apply to P slices, nor `weighted_pred_flag` to B
  /// slices.
  @Test func readsWeightsOnlyIfTheyAreSent() throws {
    let forward = SliceBuilder(referenceIDC: 0, sliceType: 0).nalUnit { writer in
      writer.flag(false)
      writer.flag(false)
    }
    let both = SliceBuilder(referenceIDC: 0, sliceType: 1).nalUnit { writer in
      for _ in 0..<4 { writer.flag(false) }
    }
    #expect(
      try references(forward, sets(weighted: false, bipredictionIDC: 1, chroma: .yuv420)).predictionWeights == nil)
    #expect(try references(both, sets(weighted: true, bipredictionIDC: 2, chroma: .yuv420)).predictionWeights == nil)
    #expect(try references(both, sets(weighted: true, bipredictionIDC: 0, chroma: .yuv420)).predictionWeights == nil)
  }

  /// The reference marking of an IDR picture, and a weight out of range.
  @Test func readsMarkingAndChecksWeights() throws {
    let sets = try sets(weighted: true, bipredictionIDC: 0, chroma: .yuv420)
    for (prior, long) in [(true, false), (false, true)] {
      let idr = SliceBuilder(type: 5, sliceType: 2).nalUnit { writer in
        writer.flag(prior)
        writer.flag(long)
      }
      #expect(try references(idr, sets).marking == .idr(noOutputOfPriorPictures: prior, isLongTerm: long))
    }
    let bytes = SliceBuilder(sliceType: 0).nalUnit { writer in
      writer.flag(false)
      writer.flag(false)
      writer.ue(8)
    }
    let error = failure { () throws(BitstreamError) in
      _ = try H264.SliceHeader.withReferences(nalUnit: bytes.span, parameterSets: sets)
    }
    #expect(error?.reason == .valueOutOfRange && error?.element.description == "luma_log2_weight_denom")
  }
}
