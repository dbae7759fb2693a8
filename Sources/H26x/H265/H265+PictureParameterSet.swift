// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// `pic_parameter_set_rbsp()` (7.3.2.3), NAL unit type 34.
  public struct PictureParameterSet: Sendable, Hashable {
    /// `pps_pic_parameter_set_id`, 0 to 63.
    public var id: PictureParameterSetID
    /// `pps_seq_parameter_set_id`, 0 to 15.
    public var sequenceParameterSetID: SequenceParameterSetID
    /// `dependent_slice_segments_enabled_flag`.
    public var allowsDependentSlices = false
    /// `output_flag_present_flag`: slice headers have `pic_output_flag`.
    public var isOutputFlagPresent = false
    /// `num_extra_slice_header_bits`, 0 to 7.
    public var extraSliceHeaderBits: UInt8 = 0
    /// `sign_data_hiding_enabled_flag`.
    public var hidesSigns = false
    /// `cabac_init_present_flag`.
    public var isCABACInitPresent = false
    /// `num_ref_idx_l0_default_active_minus1` + 1, 1 to 15.
    public var defaultReferenceCountList0: UInt8 = 1
    /// `num_ref_idx_l1_default_active_minus1` + 1, 1 to 15.
    public var defaultReferenceCountList1: UInt8 = 1
    /// `init_qp_minus26` + 26, −48 to 51.
    public var initialQP: Int8 = 26
    /// `constrained_intra_pred_flag`.
    public var usesConstrainedIntraPrediction = false
    /// `transform_skip_enabled_flag`.
    public var allowsTransformSkip = false
    /// `cu_qp_delta_enabled_flag` and `diff_cu_qp_delta_depth`, 0 to 3; nil if the flag is 0.
    public var codingUnitQPDepth: UInt8?
    /// `pps_cb_qp_offset`, −12 to 12.
    public var cbQPOffset: Int8 = 0
    /// `pps_cr_qp_offset`, −12 to 12.
    public var crQPOffset: Int8 = 0
    /// `pps_slice_chroma_qp_offsets_present_flag`.
    public var areSliceChromaOffsetsPresent = false
    /// `weighted_pred_flag`.
    public var usesWeightedPrediction = false
    /// `weighted_bipred_flag`.
    public var usesWeightedBiprediction = false
    /// `transquant_bypass_enabled_flag`: lossless coding units.
    public var allowsTransformBypass = false
    /// `tiles_enabled_flag` and the tiles; nil if the flag is 0.
    public var tiles: Tiles?
    /// `entropy_coding_sync_enabled_flag`: wavefronts.
    public var usesWavefronts = false
    /// `pps_loop_filter_across_slices_enabled_flag`.
    public var filtersAcrossSlices = false
    /// `deblocking_filter_control_present_flag` and its fields; nil if the flag is 0.
    public var deblocking: Deblocking?
    /// `pps_scaling_list_data_present_flag` and the lists; nil if the flag is 0.
    public var scalingLists: ScalingLists?
    /// `lists_modification_present_flag`.
    public var isListModificationPresent = false
    /// `log2_parallel_merge_level_minus2` + 2, 2 to 6.
    public var log2ParallelMergeLevel: UInt8 = 2
    /// `slice_segment_header_extension_present_flag`.
    public var isSliceHeaderExtensionPresent = false
    /// `pps_extension_present_flag` and its fields; nil if the flag is 0.
    public var extensions: Extensions?
    /// Whether the NAL unit ended correctly; see ``SequenceParameterSet/hasProperEnd``.
    public var hasProperEnd = true

    /// The division of pictures into tiles (6.5.1).
    public struct Tiles: Sendable, Hashable {
      /// `num_tile_columns_minus1` + 1, 1 to 20.
      public var columnCount: UInt8
      /// `num_tile_rows_minus1` + 1, 1 to 22.
      public var rowCount: UInt8
      /// `column_width_minus1` + 1 and `row_height_minus1` + 1 of all but the last, in coding tree blocks; nil if
      /// `uniform_spacing_flag` is 1.
      public var sizes: Sizes?
      /// `loop_filter_across_tiles_enabled_flag`.
      public var filtersAcrossTiles = true

      /// Widths and heights.
      public struct Sizes: Sendable, Hashable {
        /// The width of each column of tiles but the last, in coding tree blocks.
        public var widths: [UInt32]
        /// The height of each row of tiles but the last, in coding tree blocks.
        public var heights: [UInt32]

        /// Creates sizes.
        public init(widths: [UInt32], heights: [UInt32]) {
          self.widths = widths
          self.heights = heights
        }
      }

      /// Creates uniform tiles.
      public init(columnCount: UInt8, rowCount: UInt8) {
        self.columnCount = columnCount
        self.rowCount = rowCount
      }
    }

    /// Control of the deblocking filter.
    public struct Deblocking: Sendable, Hashable {
      /// `deblocking_filter_override_enabled_flag`.
      public var isOverrideEnabled = false
      /// `pps_beta_offset_div2` and `pps_tc_offset_div2`, −6 to 6 each; nil if `pps_deblocking_filter_disabled_flag`
      /// is 1.
      public var offsets: Offsets?

      /// Half the offsets.
      public struct Offsets: Sendable, Hashable {
        /// `pps_beta_offset_div2`, −6 to 6.
        public var beta: Int8
        /// `pps_tc_offset_div2`, −6 to 6.
        public var tc: Int8

        /// Creates offsets.
        public init(beta: Int8, tc: Int8) {
          self.beta = beta
          self.tc = tc
        }
      }

      /// Creates one.
      public init(isOverrideEnabled: Bool = false, offsets: Offsets? = nil) {
        self.isOverrideEnabled = isOverrideEnabled
        self.offsets = offsets
      }
    }

    /// Creates a PPS with the simplest value for everything else.
    public init(id: PictureParameterSetID, sequenceParameterSetID: SequenceParameterSetID) {
      self.id = id
      self.sequenceParameterSetID = sequenceParameterSetID
    }

    /// Reads the NAL unit, header included. Its SPS is not needed.
    ///
    /// - Parameters:
    ///   - nalUnit: the NAL unit.
    ///   - trace: records the syntax elements; nil for no record.
    /// - Throws: any ``BitstreamError``; `.wrongNALUnitType` when it is not of type 34.
    public init(nalUnit: Span<UInt8>, trace: SyntaxTrace? = nil) throws(BitstreamError) {
      _ = try NALUnitHeader(nalUnit, of: .pictureParameterSet)
      var reader = BitReader(nalUnit, from: NALUnitHeader.byteCount, trace: trace)
      try self.init(&reader)
      hasProperEnd = reader.endsProperly()
    }
  }
}
