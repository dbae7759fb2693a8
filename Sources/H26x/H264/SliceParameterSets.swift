// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// The parameter sets of a slice.
  struct SliceParameterSets: Sendable {
    let pps: PictureParameterSet
    let sps: SequenceParameterSet
    let parameters: SliceParameters

    /// Looks the sets up.
    ///
    /// - Parameters:
    ///   - id: `pic_parameter_set_id`.
    ///   - sets: all sets.
    ///   - forSubset: for NAL unit types 20 and 21, whose PPS refers to a subset SPS, or to the SPS if there is none.
    /// - Throws: `.missingParameterSet`.
    init(
      _ id: PictureParameterSetID, in sets: borrowing ParameterSets, forSubset: Bool
    ) throws(BitstreamError) {
      guard let parameters = sets.sliceParameters(id, forSubset: forSubset), let pps = sets.pictureParameterSet(id)
      else { throw BitstreamError(.missingParameterSet, "pic_parameter_set_id", bitOffset: 0) }
      let subset = forSubset ? sets.subsetSequenceParameterSet(pps.sequenceParameterSetID)?.base : nil
      guard let sps = subset ?? sets.sequenceParameterSet(pps.sequenceParameterSetID) else {
        throw BitstreamError(.missingParameterSet, "seq_parameter_set_id", bitOffset: 0)
      }
      (self.pps, self.sps, self.parameters) = (pps, sps, parameters)
    }

    /// The first syntax element by which slice data would be read or decoded in another way with other parameter sets;
    /// nil if there is none. Scaling lists and the size of the decoded picture buffer are not compared.
    ///
    /// - Parameters:
    ///   - other: the other parameter sets.
    ///   - values: of the slice's header.
    func firstConflict(with other: borrowing SliceParameterSets, _ values: SliceHeaderValues) -> StaticString? {
      let (sps, pps, otherSPS, otherPPS) = (sps, pps, other.sps, other.pps)
      if pps.usesCABAC != otherPPS.usesCABAC { return "entropy_coding_mode_flag" }
      if sps.widthInMacroblocks != otherSPS.widthInMacroblocks { return "pic_width_in_mbs_minus1" }
      if sps.heightInMacroblocks != otherSPS.heightInMacroblocks { return "pic_height_in_map_units_minus1" }
      if sps.chromaFormat != otherSPS.chromaFormat { return "chroma_format_idc" }
      if sps.hasSeparateColourPlanes != otherSPS.hasSeparateColourPlanes { return "separate_colour_plane_flag" }
      if sps.lumaBitDepth != otherSPS.lumaBitDepth { return "bit_depth_luma_minus8" }
      if sps.chromaBitDepth != otherSPS.chromaBitDepth { return "bit_depth_chroma_minus8" }
      if sps.bypassesTransformAtZero != otherSPS.bypassesTransformAtZero {
        return "qpprime_y_zero_transform_bypass_flag"
      }
      if !values.isField, sps.isMacroblockAdaptiveFrameField != otherSPS.isMacroblockAdaptiveFrameField {
        return "mb_adaptive_frame_field_flag"
      }
      if values.sliceType == .b, sps.usesDirect8x8Inference != otherSPS.usesDirect8x8Inference {
        return "direct_8x8_inference_flag"
      }
      let (high, otherHigh) = (pps.high ?? .neutral(pps), otherPPS.high ?? .neutral(otherPPS))
      if high.uses8x8Transform != otherHigh.uses8x8Transform { return "transform_8x8_mode_flag" }
      if pps.chromaQPIndexOffset != otherPPS.chromaQPIndexOffset { return "chroma_qp_index_offset" }
      if high.secondChromaQPIndexOffset != otherHigh.secondChromaQPIndexOffset {
        return "second_chroma_qp_index_offset"
      }
      if pps.usesConstrainedIntraPrediction != otherPPS.usesConstrainedIntraPrediction {
        return "constrained_intra_pred_flag"
      }
      return pps.sliceGroups == otherPPS.sliceGroups ? nil : "num_slice_groups_minus1"
    }
  }
}
