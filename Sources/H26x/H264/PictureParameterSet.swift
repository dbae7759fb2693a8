// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// `pic_parameter_set_rbsp()` (7.3.2.2), NAL unit type 8.
  public struct PictureParameterSet: Sendable, Hashable {
    /// `pic_parameter_set_id`, 0 to 255.
    public var id: PictureParameterSetID
    /// `seq_parameter_set_id`, 0 to 31.
    public var sequenceParameterSetID: SequenceParameterSetID
    /// `entropy_coding_mode_flag`: CABAC rather than CAVLC.
    public var usesCABAC: Bool
    /// `bottom_field_pic_order_in_frame_present_flag`.
    public var isBottomFieldPictureOrderPresent: Bool
    /// Flexible macroblock ordering; nil with a single slice group.
    public var sliceGroups: SliceGroups?
    /// `num_ref_idx_l0_default_active_minus1` + 1, 1 to 32.
    public var defaultReferenceCountList0: UInt8
    /// `num_ref_idx_l1_default_active_minus1` + 1, 1 to 32.
    public var defaultReferenceCountList1: UInt8
    /// `weighted_pred_flag`.
    public var usesWeightedPrediction: Bool
    /// `weighted_bipred_idc`, 0 to 2.
    public var weightedBipredictionIDC: UInt8
    /// `pic_init_qp_minus26` + 26.
    public var initialQP: Int8
    /// `pic_init_qs_minus26` + 26, 0 to 51. Any value can be read: only SP and SI slices need it, and some encoders
    /// write illegal values there.
    public var initialQS: Int32
    /// `chroma_qp_index_offset`, −12 to 12.
    public var chromaQPIndexOffset: Int8
    /// `deblocking_filter_control_present_flag`.
    public var isDeblockingControlPresent: Bool
    /// `constrained_intra_pred_flag`.
    public var usesConstrainedIntraPrediction: Bool
    /// `redundant_pic_cnt_present_flag`.
    public var isRedundantPictureCountPresent: Bool
    /// The High profiles' syntax elements; nil if the PPS ends before them.
    public var high: High?
    /// Whether the NAL unit ended correctly; see ``SequenceParameterSet/hasProperEnd``.
    public var hasProperEnd = true

    /// The syntax elements that the High profiles add.
    public struct High: Sendable, Hashable {
      /// `transform_8x8_mode_flag`.
      public var uses8x8Transform: Bool
      /// `pic_scaling_matrix_present_flag` and the lists: 6, 8 or 12; nil if no matrix is present.
      public var scalingLists: [ScalingList]?
      /// `second_chroma_qp_index_offset`, −12 to 12.
      public var secondChromaQPIndexOffset: Int8
    }

    /// Slice groups (8.2.2).
    public struct SliceGroups: Sendable, Hashable {
      /// `num_slice_groups_minus1` + 1, 2 to 8.
      public var count: UInt8
      /// `slice_group_map_type` and its parameters.
      public var map: Map

      /// How macroblocks are assigned to slice groups.
      public enum Map: Sendable, Hashable {
        /// Type 0: `run_length_minus1` of each group.
        case interleaved(runLengthsMinus1: [UInt32])
        /// Type 1.
        case dispersed
        /// Type 2: `top_left` and `bottom_right` of each group but the last.
        case foreground([Rectangle])
        /// Types 3 to 5: box-out, raster scan, wipe.
        case evolving(type: UInt8, isDirectionReversed: Bool, changeRateMinus1: UInt32)
        /// Type 6: `slice_group_id` of each map unit.
        case explicit([UInt8])
      }

      /// A rectangle by the addresses of its first and last map unit.
      public struct Rectangle: Sendable, Hashable {
        /// `top_left`, the address of a map unit.
        public var topLeft: UInt32
        /// `bottom_right`, the address of a map unit.
        public var bottomRight: UInt32
      }
    }

    /// Reads the NAL unit.
    ///
    /// - Parameters:
    ///   - nalUnit: the NAL unit, header byte included.
    ///   - chromaFormat: of its SPS. Only the number of 8×8 scaling lists depends on it.
    ///   - trace: records the syntax elements; nil for no record.
    /// - Throws: any ``BitstreamError``; `.wrongNALUnitType` when it is not of type 8.
    public init(
      nalUnit: Span<UInt8>, chromaFormat: ChromaFormat = .yuv420, trace: SyntaxTrace? = nil
    ) throws(BitstreamError) {
      let header = try NALUnitHeader(nalUnit)
      guard header.type == .pictureParameterSet else {
        throw BitstreamError(.wrongNALUnitType, "nal_unit_type", bitOffset: 3)
      }
      var reader = BitReader(nalUnit, from: header.byteCount, trace: trace)
      id = .init(try reader.ue8(in: 0...255, "pic_parameter_set_id"))
      sequenceParameterSetID = .init(try reader.ue8(in: 0...31, "seq_parameter_set_id"))
      usesCABAC = try reader.flag("entropy_coding_mode_flag")
      isBottomFieldPictureOrderPresent = try reader.flag("bottom_field_pic_order_in_frame_present_flag")
      let groups = try reader.ue8(in: 0...7, "num_slice_groups_minus1") + 1
      if groups > 1 { sliceGroups = try SliceGroups(&reader, count: groups) }
      defaultReferenceCountList0 = try reader.ue8(in: 0...31, "num_ref_idx_l0_default_active_minus1") + 1
      defaultReferenceCountList1 = try reader.ue8(in: 0...31, "num_ref_idx_l1_default_active_minus1") + 1
      usesWeightedPrediction = try reader.flag("weighted_pred_flag")
      // 3 is reserved; tolerated, as h264parse does, so that its slices can be read.
      weightedBipredictionIDC = try reader.u8(2, "weighted_bipred_idc")
      // The lower bound is −(26 + QpBdOffsetY), with a bit depth of 14.
      initialQP = 26 + (try reader.se8(in: -62...25, "pic_init_qp_minus26"))
      initialQS = 26 + (try reader.se(in: -(1 << 30)...1 << 30, "pic_init_qs_minus26"))
      chromaQPIndexOffset = try reader.se8(in: -12...12, "chroma_qp_index_offset")
      isDeblockingControlPresent = try reader.flag("deblocking_filter_control_present_flag")
      usesConstrainedIntraPrediction = try reader.flag("constrained_intra_pred_flag")
      isRedundantPictureCountPresent = try reader.flag("redundant_pic_cnt_present_flag")
      if reader.moreRBSPData() { high = try High(&reader, chromaFormat: chromaFormat) }
      hasProperEnd = reader.endsProperly()
    }

    /// The NAL unit (`nal_ref_idc` 3) with emulation prevention bytes: the inverse of
    /// ``init(nalUnit:chromaFormat:trace:)``.
    public func nalUnit() -> [UInt8] {
      var writer = BitWriter()
      writer.u(8, 0x68)
      writer.ue(UInt32(id.rawValue))
      writer.ue(UInt32(sequenceParameterSetID.rawValue))
      writer.flag(usesCABAC)
      writer.flag(isBottomFieldPictureOrderPresent)
      if let sliceGroups { sliceGroups.write(to: &writer) } else { writer.ue(0) }
      writer.ue(UInt32(max(1, defaultReferenceCountList0) - 1))
      writer.ue(UInt32(max(1, defaultReferenceCountList1) - 1))
      writer.flag(usesWeightedPrediction)
      writer.u(2, UInt32(weightedBipredictionIDC))
      writer.se(Int32(initialQP) - 26)
      writer.se(initialQS &- 26)
      writer.se(Int32(chromaQPIndexOffset))
      writer.flag(isDeblockingControlPresent)
      writer.flag(usesConstrainedIntraPrediction)
      writer.flag(isRedundantPictureCountPresent)
      if let high {
        writer.flag(high.uses8x8Transform)
        writer.flag(high.scalingLists != nil)
        if let lists = high.scalingLists { ScalingList.write(lists, to: &writer) }
        writer.se(Int32(high.secondChromaQPIndexOffset))
      }
      writer.trailingBits()
      return writer.bytes
    }
  }
}

extension H264.PictureParameterSet.High {
  fileprivate init(_ reader: inout BitReader, chromaFormat: ChromaFormat) throws(BitstreamError) {
    uses8x8Transform = try reader.flag("transform_8x8_mode_flag")
    if try reader.flag("pic_scaling_matrix_present_flag") {
      let number = 6 + (uses8x8Transform ? (chromaFormat == .yuv444 ? 6 : 2) : 0)
      scalingLists = try H264.ScalingList.lists(&reader, "pic_scaling_list_present_flag", number: number)
    }
    secondChromaQPIndexOffset = try reader.se8(in: -12...12, "second_chroma_qp_index_offset")
  }
}
