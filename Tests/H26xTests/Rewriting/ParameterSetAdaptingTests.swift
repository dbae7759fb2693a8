// SPDX-License-Identifier: MPL-2.0

import TestSupport
import Testing

@testable import H26x

/// An encoder's PPS under the SPS of another stream, and the constraints of that SPS.
@Suite struct ParameterSetAdaptingTests {
  private typealias List = H264.ScalingList

  private static let flat4 = List.explicit([UInt8](repeating: 16, count: 16))
  private static let flat8 = List.explicit([UInt8](repeating: 16, count: 64))
  private static let own4 = List.explicit((1...16).map { $0 })
  private static let own8 = List.explicit((1...64).map { $0 })

  private func adapted(
    _ lists: [List]?, own: [List]?, other: [List]?, uses8x8: Bool = true, chroma: ChromaFormat = .yuv420
  ) throws -> [List]? {
    var pps = try H264.PictureParameterSet(bytes: Samples.highPPS)
    pps.high?.uses8x8Transform = uses8x8
    pps.high?.scalingLists = lists
    var sps = try Samples.sps()
    sps.profile = H264.Profile(idc: 244, constraintFlags: 0)
    sps.chromaFormat = chroma
    var target = sps
    target.id = 5
    (sps.scalingLists, target.scalingLists) = (own, other)
    let result = try pps.adapted(from: sps, to: target)
    var expected = pps
    expected.sequenceParameterSetID = 5
    expected.high?.scalingLists = result.high?.scalingLists
    #expect(result == expected)
    #expect(try H264.PictureParameterSet(bytes: result.nalUnit(), chromaFormat: chroma) == result)
    return result.high?.scalingLists
  }

  @Test func scalingListsStayThoseOfTheEncoder() throws {
    let eight = [List](repeating: .fallback, count: 8)
    let twelve = [List](repeating: .fallback, count: 12)
    let flat6 = [List](repeating: Self.flat4, count: 6)
    #expect(try adapted(nil, own: nil, other: nil) == nil)
    #expect(try adapted(nil, own: eight, other: eight) == nil)
    // Flat lists, if the stream has others.
    #expect(try adapted(nil, own: nil, other: eight, uses8x8: false) == flat6)
    #expect(try adapted(nil, own: nil, other: eight) == flat6 + [Self.flat8, Self.flat8])
    #expect(
      try adapted(nil, own: nil, other: twelve, chroma: .yuv444) == flat6 + [List](repeating: Self.flat8, count: 6))
    // The SPS's own lists move to the PPS. Default lists are those that the first of each kind falls back to.
    let standard: [List] = [
      .standard, .fallback, .fallback, .standard, .fallback, .fallback, .standard, .standard,
    ]
    #expect(try adapted(nil, own: eight, other: nil) == standard)
    #expect(try adapted(nil, own: eight, other: nil, uses8x8: false) == Array(standard[..<6]))
    var own = eight
    (own[0], own[7]) = (Self.own4, Self.own8)
    var moved = standard
    (moved[0], moved[7]) = (Self.own4, Self.own8)
    #expect(try adapted(nil, own: own, other: nil) == moved)
    #expect(try adapted(eight, own: own, other: nil) == moved)
    // Lists of the PPS stay.
    var sent = standard
    sent[1] = Self.own4
    #expect(try adapted(sent, own: own, other: eight) == sent)
    #expect(try adapted(eight, own: nil, other: own) == standard)
  }

  @Test func aProfileWithoutTheToolsIsRefused() throws {
    var pps = try H264.PictureParameterSet(bytes: Samples.highPPS)
    pps.high = nil
    (pps.usesCABAC, pps.usesWeightedPrediction, pps.weightedBipredictionIDC) = (false, false, 0)
    let plain = pps
    let own = try Samples.sps()
    func refusal(
      _ profile: (UInt8, UInt8), _ change: (inout H264.PictureParameterSet) -> Void
    ) throws -> String? {
      var sps = own
      sps.profile = H264.Profile(idc: profile.0, constraintFlags: profile.1)
      var pps = plain
      change(&pps)
      return failure { () throws(BitstreamError) in
        let found = try pps.adapted(from: own, to: sps)
        if !sps.profile.hasHighSyntax, found.high != nil { throw BitstreamError(.unsupported, "high", bitOffset: 0) }
      }?.element.description
    }
    let (baseline, main, highAndMain) = ((UInt8(66), UInt8(0)), (UInt8(77), UInt8(0)), (UInt8(100), UInt8(0x40)))
    for profile in [baseline, main, (100, 0), highAndMain] {
      #expect(try refusal(profile) { _ in } == nil)
      // Elements of High that have no effect are left out.
      #expect(
        try refusal(profile) {
          $0.high = .init(
            uses8x8Transform: false, scalingLists: nil, secondChromaQPIndexOffset: $0.chromaQPIndexOffset)
        } == nil)
    }
    #expect(try refusal(main) { $0.usesCABAC = true } == nil)
    #expect(try refusal(baseline) { $0.usesCABAC = true } == "entropy_coding_mode_flag")
    #expect(try refusal(baseline) { $0.usesWeightedPrediction = true } == "weighted_pred_flag")
    for profile in [main, highAndMain] {
      #expect(
        try refusal(profile) {
          $0.high = .init(uses8x8Transform: true, scalingLists: nil, secondChromaQPIndexOffset: 0)
        } == "transform_8x8_mode_flag")
      #expect(
        try refusal(profile) {
          $0.high = .init(uses8x8Transform: false, scalingLists: [.standard], secondChromaQPIndexOffset: 0)
        } == "pic_scaling_matrix_present_flag")
      #expect(
        try refusal(profile) {
          $0.high = .init(
            uses8x8Transform: false, scalingLists: nil, secondChromaQPIndexOffset: $0.chromaQPIndexOffset + 1)
        } == "second_chroma_qp_index_offset")
    }
  }

  @Test func anSPSStatesItsConstraints() throws {
    typealias Constraints = H264.CodingConstraints
    var sps = try Samples.sps()
    var found = try Constraints(sps)
    #expect(found.widthInMacroblocks == 80 && found.heightInMacroblocks == 45)
    #expect(found.chromaFormat == .yuv420 && found.lumaBitDepth == 8 && found.chromaBitDepth == 8)
    #expect(found.isFrameOnly && !found.needsMBAFF && !found.isOutputInDecodingOrder && !found.hasScalingLists)
    #expect(found.allowsCABAC && found.allows8x8Transform && found.allowsWeightedPrediction)
    #expect(found.maximumReferenceFrames == sps.maximumReferenceFrames && !found.bypassesTransformAtZero)
    (sps.isFrameOnly, sps.heightInMapUnits, sps.pictureOrderCountType) = (false, 23, .decodingOrder)
    sps.scalingLists = [List](repeating: .fallback, count: 8)
    found = try Constraints(sps)
    #expect(found.heightInMacroblocks == 46 && !found.isFrameOnly && !found.needsMBAFF)
    #expect(found.isOutputInDecodingOrder && found.hasScalingLists)
    sps.isMacroblockAdaptiveFrameField = true
    #expect(try Constraints(sps).needsMBAFF)
    // CABAC, the 8×8 transform and weighted prediction, by profile and constraint flags.
    for (idc, flags, cabac, eight, weights) in [
      (66, 0, false, false, false), (66, 0x40, false, false, false), (77, 0, true, false, true),
      (77, 0x80, false, false, false), (88, 0, false, false, true), (100, 0, true, true, true),
      (100, 0x40, true, false, true), (100, 0x20, false, false, true), (44, 0, false, true, true),
      (244, 0, true, true, true),
    ] as [(UInt8, UInt8, Bool, Bool, Bool)] {
      sps.profile = H264.Profile(idc: idc, constraintFlags: flags)
      found = try Constraints(sps)
      #expect(found.allowsCABAC == cabac && found.allows8x8Transform == eight, "\(idc) \(flags)")
      #expect(found.allowsWeightedPrediction == weights, "\(idc) \(flags)")
    }
    // Intra profiles.
    for idc: UInt8 in [44, 110] {
      sps.profile = H264.Profile(idc: idc, constraintFlags: 0x10)
      #expect(try Constraints(sps).maximumReferenceFrames == 0)
    }
  }

  @Test func anSPSThatCannotServeStatesTheReason() throws {
    typealias Constraints = H264.CodingConstraints
    var sps = try Samples.sps()
    sps.pictureOrderCountType = .cycle(
      .init(
        isDeltaAlwaysZero: true, offsetForNonReferencePicture: 0, offsetForTopToBottomField: 0,
        offsetsForReferenceFrames: []))
    #expect(throws: Constraints.Obstacle.pictureOrderCountCycle) { try Constraints(sps) }
    let pps = try H264.PictureParameterSet(bytes: Samples.highPPS)
    #expect(throws: BitstreamError(.unsupported, "pic_order_cnt_type", bitOffset: 0)) {
      try pps.adapted(from: sps, to: sps)
    }
    sps.hasSeparateColourPlanes = true
    #expect(throws: Constraints.Obstacle.separateColourPlanes) { try Constraints(sps) }
  }
}
