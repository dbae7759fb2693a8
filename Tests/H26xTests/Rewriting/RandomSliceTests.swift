// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

/// Random legal headers of H.264.
@Suite struct RandomSliceTests {
  private static let count: UInt64 = TestScope.isExhaustive ? 20_000 : 2000

  @Test func comeBackFromTheirOwnParameterSets() throws {
    for seed in 0..<Self.count {
      var random = SeededGenerator(state: seed)
      let slice = try RandomSlice(&random)
      let rewriter = try H264.SliceRewriter(from: slice.sets, to: slice.sets)
      try #require(try rewriter.rewritten(slice.bytes) == slice.bytes, "seed \(seed)")
    }
  }

  @Test func comeBackFromOtherIDs() throws {
    for seed in 0..<Self.count {
      var random = SeededGenerator(state: seed)
      let slice = try RandomSlice(&random)
      let id = UInt8(1 + random.below(255))
      let there = try H264.SliceRewriter(slice.sets, picture: [0: id], sequence: [0: UInt8(1 + random.below(31))])
      let moved = try there.rewritten(slice.bytes)
      try #require(moved != slice.bytes)
      let expected = try syntax(of: slice.bytes, there.source).replacing("pic_parameter_set_id", id)
      try #require(try syntax(of: moved, there.target) == expected, "seed \(seed)")
      let back = H264.SliceRewriter(from: there.target, to: there.source, identifiers: .init(picture: [id: 0]))
      try #require(try back.rewritten(moved) == slice.bytes, "seed \(seed)")
    }
  }

  /// Parameter sets with other lengths of fields, other defaults and more syntax elements.
  @Test func comeBackFromParameterSetsWithOtherSyntax() throws {
    for seed in 0..<Self.count {
      var random = SeededGenerator(state: seed)
      let slice = try RandomSlice(&random)
      var (sps, pps) = (slice.sps, slice.pps)
      sps.log2MaximumFrameNumber = UInt8.random(in: sps.log2MaximumFrameNumber...16, using: &random)
      switch sps.pictureOrderCountType {
      case .leastSignificantBits(let count):
        sps.pictureOrderCountType = .leastSignificantBits(log2Maximum: UInt8.random(in: count...16, using: &random))
      case .cycle(var cycle):
        cycle.isDeltaAlwaysZero = false
        sps.pictureOrderCountType = .cycle(cycle)
      case .decodingOrder: break
      }
      pps.isBottomFieldPictureOrderPresent = true
      pps.isRedundantPictureCountPresent = slice.bytes[0] & 31 != 2 || pps.isRedundantPictureCountPresent
      pps.isDeblockingControlPresent = true
      pps.usesWeightedPrediction = true
      if pps.weightedBipredictionIDC == 0 { pps.weightedBipredictionIDC = 1 }
      pps.defaultReferenceCountList0 = UInt8(1 + random.below(16))
      pps.defaultReferenceCountList1 = UInt8(1 + random.below(16))
      pps.initialQP = Int8(20 + random.below(12))
      pps.initialQS = Int32(20 + random.below(12))
      var target = H264.ParameterSets()
      try target.insert(bytes: sps.nalUnit())
      try target.insert(bytes: pps.nalUnit())
      let there = try H264.SliceRewriter(from: slice.sets, to: target)
      let moved = try there.rewritten(slice.bytes)
      let (old, new) = try (values(of: slice.bytes, there.source), values(of: moved, target))
      try #require(old.quantizationParameter == new.quantizationParameter, "seed \(seed)")
      try #require(old.references.syntax.referenceCountList0 == new.references.syntax.referenceCountList0)
      try #require(old.references.syntax.referenceCountList1 == new.references.syntax.referenceCountList1)
      try #require(old.deblocking == new.deblocking && old.pictureOrder == new.pictureOrder)
      let back = try H264.SliceRewriter(from: target, to: slice.sets)
      let last = try back.rewritten(moved)
      // Counts that had to be sent stay, even if they are the default.
      if slice.sendsReferenceCounts {
        try #require(last == slice.bytes, "seed \(seed)")
      } else {
        let names: Set = [
          "num_ref_idx_active_override_flag", "num_ref_idx_l0_active_minus1", "num_ref_idx_l1_active_minus1",
        ]
        try #require(
          try syntax(of: last, there.source).without(names) == syntax(of: slice.bytes, there.source).without(names),
          "seed \(seed)")
      }
    }
  }
}
