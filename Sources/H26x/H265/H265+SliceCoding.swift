// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// The part of a slice segment header after the reference picture sets (7.3.6.1): the slice's coding parameters.
  public struct SliceCoding: Sendable, Hashable {
    /// `num_ref_idx_l0_active_minus1` + 1, 0 to 15; 0 for I slices.
    public let referenceCountList0: UInt8
    /// `num_ref_idx_l1_active_minus1` + 1, 0 to 15; 0 except for B slices.
    public let referenceCountList1: UInt8
    /// `SliceQpY` (7-54): 26 + `init_qp_minus26` + `slice_qp_delta`, −48 to 51.
    public let quantizationParameter: Int
    /// `slice_deblocking_filter_disabled_flag`.
    public let disablesDeblocking: Bool
    /// `slice_sao_luma_flag`.
    package let usesLumaOffset: Bool
    /// `slice_sao_chroma_flag`.
    package let usesChromaOffset: Bool
    /// The elements between the reference picture lists and `slice_qp_delta`.
    package let prediction: Prediction
    /// The offsets to the QP of chroma and of colour transforms.
    package let offsets: Offsets
    /// The end of the header.
    package let end: SliceSegmentEnd

    /// The elements of P and B slices that reading slice data depends on.
    package struct Prediction: Sendable, Hashable {
      /// `mvd_l1_zero_flag`.
      package var hasNoDifferencesOfBiprediction = false
      /// `cabac_init_flag`.
      package var swapsInitialContexts = false
      /// `MaxNumMergeCand`: 5 − `five_minus_max_num_merge_cand`, 1 to 5; 0 for I slices.
      package var mergeCandidateCount: UInt8 = 0
      /// `use_integer_mv_flag`; nil if absent.
      package var usesIntegerVectors: Bool?
      /// `pps_curr_pic_ref_enabled_flag`; false for I slices.
      package var refersToItself = false
      /// `list_entry_l0`; empty if list 0 is not modified.
      package var listEntries0: [UInt8] = []
      /// `list_entry_l1`; empty if list 1 is not modified.
      package var listEntries1: [UInt8] = []
    }

    /// Offsets to QP (7.4.7.1).
    package struct Offsets: Sendable, Hashable {
      /// `slice_cb_qp_offset`, −12 to 12.
      package var cb: Int8 = 0
      /// `slice_cr_qp_offset`, −12 to 12.
      package var cr: Int8 = 0
      /// `slice_act_y_qp_offset`, −12 to 12.
      package var transformedLuma: Int8 = 0
      /// `slice_act_cb_qp_offset`, −12 to 12.
      package var transformedCb: Int8 = 0
      /// `slice_act_cr_qp_offset`, −12 to 12.
      package var transformedCr: Int8 = 0
      /// `cu_chroma_qp_offset_enabled_flag`.
      package var areCodingUnitOffsetsEnabled = false
    }

    /// `num_entry_point_offsets`.
    public var entryPointCount: UInt32 { end.entryPointCount }
    /// `slice_segment_header_extension_length` in bytes, 0 to 256.
    public var headerExtensionLength: Int { end.headerExtensionLength }
    /// The start of `slice_segment_data()`, in bits from the start of the NAL unit, without emulation prevention
    /// bytes.
    public var dataBitOffset: Int { end.dataBitOffset }

    /// Reads the rest of the header after the reference picture sets.
    init(
      _ reader: inout BitReader, _ header: SliceSegmentHeader, _ references: ReferenceSyntax,
      parameterSets: borrowing ParameterSets
    ) throws(BitstreamError) {
      guard let pps = parameterSets.pictureParameterSet(header.pictureParameterSetID),
        let sps = parameterSets.sequenceParameterSet(header.sequenceParameterSetID), let type = header.sliceType
      else { throw BitstreamError(.missingParameterSet, "slice_pic_parameter_set_id", bitOffset: reader.bitOffset) }
      let hasChroma = sps.chromaArrayType != .monochrome
      usesLumaOffset = sps.usesSampleAdaptiveOffset ? try reader.flag("slice_sao_luma_flag") : false
      usesChromaOffset =
        sps.usesSampleAdaptiveOffset && hasChroma ? try reader.flag("slice_sao_chroma_flag") : false
      var counts = (UInt8(0), UInt8(0))
      var prediction = Prediction()
      if !type.isIntra {
        counts = try Self.referenceCounts(&reader, type, pps)
        prediction = try Self.readPrediction(&reader, type, counts, references, pps: pps, sps: sps)
      }
      self.prediction = prediction
      (referenceCountList0, referenceCountList1) = counts
      let start = reader.bitOffset
      quantizationParameter = Int(pps.initialQP) + Int(try reader.se(in: -99...99, "slice_qp_delta"))
      guard -48...51 ~= quantizationParameter else {
        throw BitstreamError(.valueOutOfRange, "slice_qp_delta", bitOffset: start)
      }
      offsets = try Self.readOffsets(&reader, pps)
      disablesDeblocking = try Self.disablesDeblocking(&reader, pps)
      if pps.filtersAcrossSlices, usesLumaOffset || usesChromaOffset || !disablesDeblocking {
        _ = try reader.flag("slice_loop_filter_across_slices_enabled_flag")
      }
      end = try SliceSegmentEnd(&reader, pps: pps, sps: sps)
    }

    private static func referenceCounts(
      _ reader: inout BitReader, _ type: SliceSegmentHeader.SliceType, _ pps: PictureParameterSet
    ) throws(BitstreamError) -> (UInt8, UInt8) {
      let isB = type == .b
      guard try reader.flag("num_ref_idx_active_override_flag") else {
        return (pps.defaultReferenceCountList0, isB ? pps.defaultReferenceCountList1 : 0)
      }
      let list0 = try reader.ue8(in: 0...14, "num_ref_idx_l0_active_minus1") + 1
      return (list0, isB ? try reader.ue8(in: 0...14, "num_ref_idx_l1_active_minus1") + 1 : 0)
    }

    /// Reads list modifications to merge candidates.
    private static func readPrediction(
      _ reader: inout BitReader, _ type: SliceSegmentHeader.SliceType, _ counts: (UInt8, UInt8),
      _ references: ReferenceSyntax, pps: PictureParameterSet, sps: SequenceParameterSet
    ) throws(BitstreamError) -> Prediction {
      var prediction = Prediction()
      let isB = type == .b
      let refersToItself = pps.extensions?.screenContent?.refersToCurrentPicture ?? false
      prediction.refersToItself = refersToItself
      let total = references.usedCount + (refersToItself ? 1 : 0)
      // Entries that refer to the picture itself, bit 0 for the first.
      var own = (UInt32(0), UInt32(0))
      if refersToItself {
        own = (Self.ownEntries(counts.0, of: total), Self.ownEntries(counts.1, of: total))
        // Without modification, a list that is too short for it ends with the picture itself (8.3.4).
        if total > Int(counts.0), counts.0 > 0 { own.0 |= 1 << UInt32(counts.0 - 1) }
      }
      if pps.isListModificationPresent, total > 1 {
        if try reader.flag("ref_pic_list_modification_flag_l0") {
          prediction.listEntries0 = try readList(&reader, counts.0, total: total, "list_entry_l0")
          if refersToItself { own.0 = Self.ownEntries(prediction.listEntries0, of: total) }
        }
        if isB, try reader.flag("ref_pic_list_modification_flag_l1") {
          prediction.listEntries1 = try readList(&reader, counts.1, total: total, "list_entry_l1")
          if refersToItself { own.1 = Self.ownEntries(prediction.listEntries1, of: total) }
        }
      }
      if isB { prediction.hasNoDifferencesOfBiprediction = try reader.flag("mvd_l1_zero_flag") }
      if pps.isCABACInitPresent { prediction.swapsInitialContexts = try reader.flag("cabac_init_flag") }
      if references.usesTemporalMotionVectors {
        let isFromList0 = isB ? try reader.flag("collocated_from_l0_flag") : true
        let count = isFromList0 ? counts.0 : counts.1
        if count > 1 { _ = try reader.ue8(in: 0...(count - 1), "collocated_ref_idx") }
      }
      if (pps.usesWeightedPrediction && type == .p) || (pps.usesWeightedBiprediction && isB) {
        let hasChroma = sps.chromaArrayType != .monochrome
        let isPrecise = sps.extensions?.range?.contains(.highPrecisionOffsets) ?? false
        _ = try reader.ue(in: 0...7, "luma_log2_weight_denom")
        if hasChroma { _ = try reader.se(in: -7...7, "delta_chroma_log2_weight_denom") }
        let depths = isPrecise ? (luma: sps.lumaBitDepth, chroma: sps.chromaBitDepth) : (luma: 8, chroma: 8)
        try readWeights(&reader, .list0, count: counts.0, own: own.0, hasChroma: hasChroma, bitDepths: depths)
        if isB {
          try readWeights(&reader, .list1, count: counts.1, own: own.1, hasChroma: hasChroma, bitDepths: depths)
        }
      }
      prediction.mergeCandidateCount = 5 - (try reader.ue8(in: 0...4, "five_minus_max_num_merge_cand"))
      if sps.extensions?.screenContent?.motionVectorResolutionControl == 2 {
        prediction.usesIntegerVectors = try reader.flag("use_integer_mv_flag")
      }
      return prediction
    }

    /// The entries of an unmodified list that refer to the picture itself: it is the last of `total`, which repeat
    /// (8.3.4).
    private static func ownEntries(_ count: UInt8, of total: Int) -> UInt32 {
      var entries: UInt32 = 0
      for index in 0..<Int(count) where total > 0 && index % total == total - 1 { entries |= 1 << UInt32(index) }
      return entries
    }

    /// The entries of a modified list that refer to the picture itself.
    private static func ownEntries(_ list: [UInt8], of total: Int) -> UInt32 {
      var entries: UInt32 = 0
      for (index, entry) in list.enumerated() where Int(entry) == total - 1 { entries |= 1 << UInt32(index) }
      return entries
    }

    /// Reads the entries of a list.
    private static func readList(
      _ reader: inout BitReader, _ count: UInt8, total: Int, _ element: StaticString
    ) throws(BitstreamError) -> [UInt8] {
      let length = Int(ceilLog2(total))
      var entries: [UInt8] = []
      for _ in 0..<count { entries.append(UInt8(truncatingIfNeeded: try reader.u(length, element))) }
      return entries
    }

    /// One list of `pred_weight_table()` (7.3.6.3). References to the picture itself have no weight.
    private static func readWeights(
      _ reader: inout BitReader, _ names: WeightNames, count: UInt8, own: UInt32, hasChroma: Bool,
      bitDepths: (luma: UInt8, chroma: UInt8)
    ) throws(BitstreamError) {
      let others = (0..<UInt32(count)).lazy.filter { own >> $0 & 1 == 0 }
      var luma: UInt32 = 0
      for index in others { luma |= (try reader.u(1, names.lumaFlag)) << index }
      var chroma: UInt32 = 0
      if hasChroma {
        for index in others { chroma |= (try reader.u(1, names.chromaFlag)) << index }
      }
      let lumaHalf = Int32(1) << Int32(min(bitDepths.luma, 16) - 1)
      let chromaHalf = Int32(1) << Int32(min(bitDepths.chroma, 16) - 1)
      for index in 0..<UInt32(count) {
        if luma >> index & 1 != 0 {
          _ = try reader.se(in: -128...127, names.luma)
          _ = try reader.se(in: -lumaHalf...lumaHalf - 1, names.lumaOffset)
        }
        guard chroma >> index & 1 != 0 else { continue }
        for _ in 0..<2 {
          _ = try reader.se(in: -128...127, names.chroma)
          _ = try reader.se(in: -4 * chromaHalf...4 * chromaHalf - 1, names.chromaOffset)
        }
      }
    }

    private static func readOffsets(
      _ reader: inout BitReader, _ pps: PictureParameterSet
    ) throws(BitstreamError) -> Offsets {
      var offsets = Offsets()
      if pps.areSliceChromaOffsetsPresent {
        offsets.cb = try reader.se8(in: -12...12, "slice_cb_qp_offset")
        offsets.cr = try reader.se8(in: -12...12, "slice_cr_qp_offset")
      }
      if pps.extensions?.screenContent?.colourTransform?.areSliceOffsetsPresent ?? false {
        offsets.transformedLuma = try reader.se8(in: -12...12, "slice_act_qp_offset")
        offsets.transformedCb = try reader.se8(in: -12...12, "slice_act_qp_offset")
        offsets.transformedCr = try reader.se8(in: -12...12, "slice_act_qp_offset")
      }
      if pps.extensions?.range?.chromaOffsets != nil {
        offsets.areCodingUnitOffsetsEnabled = try reader.flag("cu_chroma_qp_offset_enabled_flag")
      }
      return offsets
    }

    private static func disablesDeblocking(
      _ reader: inout BitReader, _ pps: PictureParameterSet
    ) throws(BitstreamError) -> Bool {
      guard let deblocking = pps.deblocking else { return false }
      guard deblocking.isOverrideEnabled, try reader.flag("deblocking_filter_override_flag") else {
        return deblocking.offsets == nil
      }
      if try reader.flag("slice_deblocking_filter_disabled_flag") { return true }
      _ = try reader.se(in: -6...6, "slice_beta_offset_div2")
      _ = try reader.se(in: -6...6, "slice_tc_offset_div2")
      return false
    }
  }
}

/// The names of `pred_weight_table()`'s elements for a list.
private struct WeightNames {
  let lumaFlag, chromaFlag, luma, lumaOffset, chroma, chromaOffset: StaticString

  static let list0 = WeightNames(
    lumaFlag: "luma_weight_l0_flag", chromaFlag: "chroma_weight_l0_flag", luma: "delta_luma_weight_l0",
    lumaOffset: "luma_offset_l0", chroma: "delta_chroma_weight_l0", chromaOffset: "delta_chroma_offset_l0")
  static let list1 = WeightNames(
    lumaFlag: "luma_weight_l1_flag", chromaFlag: "chroma_weight_l1_flag", luma: "delta_luma_weight_l1",
    lumaOffset: "luma_offset_l1", chroma: "delta_chroma_weight_l1", chromaOffset: "delta_chroma_offset_l1")
}
