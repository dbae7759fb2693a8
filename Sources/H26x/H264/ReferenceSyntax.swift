// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// The part of the slice header about reference pictures (7.3.3.1 to 7.3.3.3).
  public struct ReferenceSyntax: Sendable, Hashable {
    /// `direct_spatial_mv_pred_flag`; false outside B slices.
    public let usesSpatialDirectPrediction: Bool
    /// `num_ref_idx_active_override_flag`; false outside P, SP and B slices.
    package let overridesReferenceCounts: Bool
    /// `num_ref_idx_l0_active_minus1` + 1, 0 to 32.
    public let referenceCountList0: UInt8
    /// `num_ref_idx_l1_active_minus1` + 1, 0 to 32.
    public let referenceCountList1: UInt8
    /// `ref_pic_list_modification()` of list 0, empty when the flag is 0.
    public let modificationsList0: [ListModification]
    /// `ref_pic_list_modification()` of list 1, empty when the flag is 0.
    public let modificationsList1: [ListModification]
    /// `pred_weight_table()`; nil if absent.
    public let predictionWeights: PredictionWeights?
    /// `dec_ref_pic_marking()`; nil for non-reference pictures.
    public let marking: ReferenceMarking?

    /// One step of `ref_pic_list_modification()` or `ref_pic_list_mvc_modification()`.
    public struct ListModification: Sendable, Hashable {
      /// `modification_of_pic_nums_idc`, 0, 1, 2, 4 or 5.
      public let operation: UInt8
      /// `abs_diff_pic_num_minus1`, `long_term_pic_num` or `abs_diff_view_idx_minus1`.
      public let value: UInt32
    }

    init(
      _ reader: inout BitReader, sliceType: SliceHeader.SliceType, isField: Bool, isReference: Bool, isIDR: Bool,
      isMultiview: Bool, parameters: SliceParameters, keepsWeights: Bool
    ) throws(BitstreamError) {
      let isB = sliceType == .b
      usesSpatialDirectPrediction = isB ? try reader.flag("direct_spatial_mv_pred_flag") : false
      var (count0, count1, overrides) = (UInt8(0), UInt8(0), false)
      if !sliceType.isIntra {
        count0 = parameters.defaultReferenceCountList0
        count1 = isB ? parameters.defaultReferenceCountList1 : 0
        overrides = try reader.flag("num_ref_idx_active_override_flag")
        if overrides {
          let highest: UInt8 = isField ? 31 : 15
          count0 = try reader.ue8(in: 0...highest, "num_ref_idx_l0_active_minus1") + 1
          if isB { count1 = try reader.ue8(in: 0...highest, "num_ref_idx_l1_active_minus1") + 1 }
        }
      }
      overridesReferenceCounts = overrides
      referenceCountList0 = count0
      referenceCountList1 = count1
      modificationsList0 =
        sliceType.isIntra
        ? []
        : try Self.modifications(
          &reader, "ref_pic_list_modification_flag_l0", count: count0, isMultiview: isMultiview)
      modificationsList1 =
        isB
        ? try Self.modifications(
          &reader, "ref_pic_list_modification_flag_l1", count: count1, isMultiview: isMultiview) : []
      let isWeighted =
        (parameters.usesWeightedPrediction && (sliceType == .p || sliceType == .sp))
        || (parameters.weightedBipredictionIDC == 1 && isB)
      predictionWeights =
        isWeighted
        ? try PredictionWeights(
          &reader, count0: count0, count1: count1, isMonochrome: parameters.isMonochrome, keepsEntries: keepsWeights)
        : nil
      marking = isReference ? try ReferenceMarking(&reader, isIDR: isIDR) : nil
    }

    private static func modifications(
      _ reader: inout BitReader, _ flag: StaticString, count: UInt8, isMultiview: Bool
    ) throws(BitstreamError) -> [ListModification] {
      var steps: [ListModification] = []
      guard try reader.flag(flag) else { return steps }
      // At most num_ref_idx_active_minus1 + 1 steps, and the one that ends them (7.4.3.1).
      for _ in 0...count {
        let operation = try reader.ue8(in: 0...(isMultiview ? 5 : 3), "modification_of_pic_nums_idc")
        if operation == 3 { return steps }
        let name: StaticString =
          switch operation {
          case 2: "long_term_pic_num"
          case 4, 5: "abs_diff_view_idx_minus1"
          default: "abs_diff_pic_num_minus1"
          }
        steps.append(
          ListModification(operation: operation, value: try reader.ue(in: 0...UInt32.max - 1, name)))
      }
      throw BitstreamError(.valueOutOfRange, "modification_of_pic_nums_idc", bitOffset: reader.bitOffset)
    }
  }
}
