// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// The part of a slice segment header about reference pictures (7.3.6.1): which pictures the decoded picture buffer
  /// must keep.
  public struct ReferenceSyntax: Sendable, Hashable {
    /// `short_term_ref_pic_set_idx`; nil if the set is in the slice header, and for IDR pictures.
    public let shortTermIndex: UInt8?
    /// The short-term reference picture set; an empty one for IDR pictures.
    public let shortTerm: ShortTermReferencePictureSet
    /// The long-term reference pictures.
    public let longTerm: [LongTerm]
    /// `slice_temporal_mvp_enabled_flag`.
    public let usesTemporalMotionVectors: Bool

    /// A long-term reference picture.
    public struct LongTerm: Sendable, Hashable {
      /// `PocLsbLt`: the low bits of its picture order count.
      public let pictureOrderCountLSB: UInt32
      /// `UsedByCurrPicLt`: the current picture may refer to it; else only later ones.
      public let isUsed: Bool
      /// `DeltaPocMsbCycleLt`: how many times `MaxPicOrderCntLsb` it lies further back; nil if the low bits alone
      /// identify it.
      public let cyclesBefore: UInt32?
    }

    /// How many other pictures the current one may refer to: `NumPicTotalCurr` (7-55) without the picture itself.
    public var usedCount: Int { shortTerm.usedCount + longTerm.count { $0.isUsed } }

    /// Most long-term pictures in a slice header, of each kind. The largest decoded picture buffer holds half as
    /// many; some encoders also list pictures that are no longer in it.
    private static let maximumLongTermCount: UInt32 = 32

    init(
      _ reader: inout BitReader, _ header: SliceSegmentHeader, parameterSets: borrowing ParameterSets
    ) throws(BitstreamError) {
      guard let sps = parameterSets.sequenceParameterSet(header.sequenceParameterSetID) else {
        throw BitstreamError(.missingParameterSet, "pps_seq_parameter_set_id", bitOffset: reader.bitOffset)
      }
      guard !header.isIDR else {
        (shortTermIndex, shortTerm, longTerm) = (nil, ShortTermReferencePictureSet(), [])
        usesTemporalMotionVectors = false
        return
      }
      let sets = sps.referencePictureSets
      if try reader.flag("short_term_ref_pic_set_sps_flag") {
        let start = reader.bitOffset
        let index = try reader.u(Int(ceilLog2(sets.count)), "short_term_ref_pic_set_idx")
        guard index < sets.count else {
          throw BitstreamError(.valueOutOfRange, "short_term_ref_pic_set_idx", bitOffset: start)
        }
        shortTermIndex = UInt8(truncatingIfNeeded: index)
        shortTerm = sets[Int(index)]
      } else {
        shortTermIndex = nil
        shortTerm = try ShortTermReferencePictureSet(&reader, index: sets.count, sets: sets, isInSlice: true)
      }
      longTerm = sps.longTermReferences == nil ? [] : try Self.longTerm(&reader, sps)
      usesTemporalMotionVectors =
        sps.usesTemporalMotionVectors ? try reader.flag("slice_temporal_mvp_enabled_flag") : false
    }

    private static func longTerm(
      _ reader: inout BitReader, _ sps: SequenceParameterSet
    ) throws(BitstreamError) -> [LongTerm] {
      let known = sps.longTermReferences ?? []
      let limit = Self.maximumLongTermCount
      let knownCount = known.isEmpty ? 0 : try reader.ue(in: 0...limit, "num_long_term_sps")
      let count = knownCount + (try reader.ue(in: 0...limit, "num_long_term_pics"))
      var pictures: [LongTerm] = []
      var cycles: UInt32 = 0
      for index in 0..<count {
        let entry: SequenceParameterSet.LongTermReference
        if index < knownCount {
          let start = reader.bitOffset
          let place = Int(try reader.u(Int(ceilLog2(known.count)), "lt_idx_sps"))
          guard place < known.count else { throw BitstreamError(.valueOutOfRange, "lt_idx_sps", bitOffset: start) }
          entry = known[place]
        } else {
          let lsb = try reader.u(Int(sps.log2MaximumPictureOrderCount), "poc_lsb_lt")
          entry = .init(pictureOrderCountLSB: lsb, isUsed: try reader.flag("used_by_curr_pic_lt_flag"))
        }
        // Counted from the entry before, except for the first of each kind (7-52).
        if index == 0 || index == knownCount { cycles = 0 }
        let hasCycles = try reader.flag("delta_poc_msb_present_flag")
        if hasCycles { cycles &+= try reader.ue(in: 0...UInt32.max - 1, "delta_poc_msb_cycle_lt") }
        pictures.append(
          LongTerm(
            pictureOrderCountLSB: entry.pictureOrderCountLSB, isUsed: entry.isUsed,
            cyclesBefore: hasCycles ? cycles : nil))
      }
      return pictures
    }
  }
}
