// SPDX-License-Identifier: MPL-2.0

extension H265.PictureParameterSet {
  init(_ reader: inout BitReader) throws(BitstreamError) {
    id = .init(try reader.ue8(in: 0...63, "pps_pic_parameter_set_id"))
    sequenceParameterSetID = .init(try reader.ue8(in: 0...15, "pps_seq_parameter_set_id"))
    allowsDependentSlices = try reader.flag("dependent_slice_segments_enabled_flag")
    isOutputFlagPresent = try reader.flag("output_flag_present_flag")
    extraSliceHeaderBits = try reader.u8(3, "num_extra_slice_header_bits")
    hidesSigns = try reader.flag("sign_data_hiding_enabled_flag")
    isCABACInitPresent = try reader.flag("cabac_init_present_flag")
    defaultReferenceCountList0 = try reader.ue8(in: 0...14, "num_ref_idx_l0_default_active_minus1") + 1
    defaultReferenceCountList1 = try reader.ue8(in: 0...14, "num_ref_idx_l1_default_active_minus1") + 1
    // The lower bound is −(26 + QpBdOffsetY), with a bit depth of 16.
    initialQP = 26 + (try reader.se8(in: -74...25, "init_qp_minus26"))
    usesConstrainedIntraPrediction = try reader.flag("constrained_intra_pred_flag")
    allowsTransformSkip = try reader.flag("transform_skip_enabled_flag")
    if try reader.flag("cu_qp_delta_enabled_flag") {
      codingUnitQPDepth = try reader.ue8(in: 0...3, "diff_cu_qp_delta_depth")
    }
    cbQPOffset = try reader.se8(in: -12...12, "pps_cb_qp_offset")
    crQPOffset = try reader.se8(in: -12...12, "pps_cr_qp_offset")
    areSliceChromaOffsetsPresent = try reader.flag("pps_slice_chroma_qp_offsets_present_flag")
    usesWeightedPrediction = try reader.flag("weighted_pred_flag")
    usesWeightedBiprediction = try reader.flag("weighted_bipred_flag")
    allowsTransformBypass = try reader.flag("transquant_bypass_enabled_flag")
    let hasTiles = try reader.flag("tiles_enabled_flag")
    usesWavefronts = try reader.flag("entropy_coding_sync_enabled_flag")
    if hasTiles { tiles = try Tiles(&reader) }
    filtersAcrossSlices = try reader.flag("pps_loop_filter_across_slices_enabled_flag")
    if try reader.flag("deblocking_filter_control_present_flag") { deblocking = try Deblocking(&reader) }
    if try reader.flag("pps_scaling_list_data_present_flag") { scalingLists = try H265.ScalingLists(&reader) }
    isListModificationPresent = try reader.flag("lists_modification_present_flag")
    log2ParallelMergeLevel = 2 + (try reader.ue8(in: 0...4, "log2_parallel_merge_level_minus2"))
    isSliceHeaderExtensionPresent = try reader.flag("slice_segment_header_extension_present_flag")
    if try reader.flag("pps_extension_present_flag") {
      extensions = try Extensions(&reader, allowsTransformSkip: allowsTransformSkip)
    }
  }

  /// The NAL unit with emulation prevention bytes: the inverse of ``init(nalUnit:trace:)``.
  public func nalUnit() -> [UInt8] {
    var writer = BitWriter()
    H265.NALUnitHeader(type: .pictureParameterSet).write(to: &writer)
    writer.ue(UInt32(id.rawValue))
    writer.ue(UInt32(sequenceParameterSetID.rawValue))
    writer.flag(allowsDependentSlices)
    writer.flag(isOutputFlagPresent)
    writer.u(3, UInt32(extraSliceHeaderBits))
    writer.flag(hidesSigns)
    writer.flag(isCABACInitPresent)
    writer.ue(UInt32(max(1, defaultReferenceCountList0)) - 1)
    writer.ue(UInt32(max(1, defaultReferenceCountList1)) - 1)
    writer.se(Int32(initialQP) - 26)
    writer.flag(usesConstrainedIntraPrediction)
    writer.flag(allowsTransformSkip)
    writer.flag(codingUnitQPDepth != nil)
    if let codingUnitQPDepth { writer.ue(UInt32(codingUnitQPDepth)) }
    writer.se(Int32(cbQPOffset))
    writer.se(Int32(crQPOffset))
    writer.flag(areSliceChromaOffsetsPresent)
    writer.flag(usesWeightedPrediction)
    writer.flag(usesWeightedBiprediction)
    writer.flag(allowsTransformBypass)
    writer.flag(tiles != nil)
    writer.flag(usesWavefronts)
    tiles?.write(to: &writer)
    writer.flag(filtersAcrossSlices)
    writer.flag(deblocking != nil)
    deblocking?.write(to: &writer)
    writer.flag(scalingLists != nil)
    scalingLists?.write(to: &writer)
    writer.flag(isListModificationPresent)
    writer.ue(UInt32(max(2, log2ParallelMergeLevel)) - 2)
    writer.flag(isSliceHeaderExtensionPresent)
    writer.flag(extensions != nil)
    extensions?.write(to: &writer, allowsTransformSkip: allowsTransformSkip)
    writer.trailingBits()
    return writer.bytes
  }
}

extension H265.PictureParameterSet.Tiles {
  fileprivate init(_ reader: inout BitReader) throws(BitstreamError) {
    // Levels end at 20 columns and 22 rows (Table A.8).
    columnCount = try reader.ue8(in: 0...19, "num_tile_columns_minus1") + 1
    rowCount = try reader.ue8(in: 0...21, "num_tile_rows_minus1") + 1
    if try !reader.flag("uniform_spacing_flag") {
      sizes = Sizes(
        widths: try Self.sizes(&reader, count: columnCount - 1, "column_width_minus1"),
        heights: try Self.sizes(&reader, count: rowCount - 1, "row_height_minus1"))
    }
    filtersAcrossTiles = try reader.flag("loop_filter_across_tiles_enabled_flag")
  }

  private static func sizes(
    _ reader: inout BitReader, count: UInt8, _ element: StaticString
  ) throws(BitstreamError) -> [UInt32] {
    var sizes: [UInt32] = []
    for _ in 0..<count { sizes.append(try reader.ue(in: 0...0xFFFF, element) + 1) }
    return sizes
  }

  fileprivate func write(to writer: inout BitWriter) {
    writer.ue(UInt32(max(1, columnCount)) - 1)
    writer.ue(UInt32(max(1, rowCount)) - 1)
    writer.flag(sizes == nil)
    if let sizes {
      for size in sizes.widths + sizes.heights { writer.ue(max(1, size) - 1) }
    }
    writer.flag(filtersAcrossTiles)
  }
}

extension H265.PictureParameterSet.Deblocking {
  fileprivate init(_ reader: inout BitReader) throws(BitstreamError) {
    isOverrideEnabled = try reader.flag("deblocking_filter_override_enabled_flag")
    if try !reader.flag("pps_deblocking_filter_disabled_flag") {
      offsets = Offsets(
        beta: try reader.se8(in: -6...6, "pps_beta_offset_div2"), tc: try reader.se8(in: -6...6, "pps_tc_offset_div2"))
    }
  }

  fileprivate func write(to writer: inout BitWriter) {
    writer.flag(isOverrideEnabled)
    writer.flag(offsets == nil)
    if let offsets {
      writer.se(Int32(offsets.beta))
      writer.se(Int32(offsets.tc))
    }
  }
}
