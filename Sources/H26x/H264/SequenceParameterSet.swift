// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// `seq_parameter_set_data()` (7.3.2.1.1), the body of NAL unit types 7 and 15.
  public struct SequenceParameterSet: Sendable, Hashable {
    /// `profile_idc` and the constraint flags.
    public var profile: Profile
    /// `level_idc`.
    public var levelIDC: UInt8
    /// `seq_parameter_set_id`, 0 to 31.
    public var id: SequenceParameterSetID
    /// `chroma_format_idc`.
    public var chromaFormat: ChromaFormat = .yuv420
    /// `separate_colour_plane_flag`: three monochrome pictures in one.
    public var hasSeparateColourPlanes = false
    /// `bit_depth_luma_minus8` + 8, 8 to 14.
    public var lumaBitDepth: UInt8 = 8
    /// `bit_depth_chroma_minus8` + 8, 8 to 14.
    public var chromaBitDepth: UInt8 = 8
    /// `qpprime_y_zero_transform_bypass_flag`.
    public var bypassesTransformAtZero = false
    /// `seq_scaling_list_present_flag` and the lists: 8, or 12 with 4:4:4; nil if no matrix is present.
    public var scalingLists: [ScalingList]?
    /// `log2_max_frame_num_minus4` + 4, 4 to 16.
    public var log2MaximumFrameNumber: UInt8
    /// `pic_order_cnt_type` and its parameters.
    public var pictureOrderCountType: PictureOrderCountType
    /// `max_num_ref_frames`, 0 to 16.
    public var maximumReferenceFrames: UInt8
    /// `gaps_in_frame_num_value_allowed_flag`.
    public var allowsFrameNumberGaps: Bool
    /// `pic_width_in_mbs_minus1` + 1.
    public var widthInMacroblocks: Int
    /// `pic_height_in_map_units_minus1` + 1.
    public var heightInMapUnits: Int
    /// `frame_mbs_only_flag`: no fields and no MBAFF.
    public var isFrameOnly: Bool
    /// `mb_adaptive_frame_field_flag`.
    public var isMacroblockAdaptiveFrameField = false
    /// `direct_8x8_inference_flag`.
    public var usesDirect8x8Inference: Bool
    /// `frame_cropping_flag` and the offsets.
    public var cropping: Cropping?
    /// `vui_parameters()`.
    public var vui: VUI?
    /// Whether the NAL unit ended correctly, with `rbsp_trailing_bits()` and nothing after. Otherwise it is still
    /// usable: there are such encoders.
    public var hasProperEnd = true

    /// `pic_order_cnt_type` (8.2.1).
    public enum PictureOrderCountType: Sendable, Hashable {
      /// 0: the low bits are sent. `log2_max_pic_order_cnt_lsb_minus4` + 4, 4 to 16.
      case leastSignificantBits(log2Maximum: UInt8)
      /// 1: a cycle of expected differences.
      case cycle(Cycle)
      /// 2: output order is decoding order.
      case decodingOrder
    }

    /// The parameters of `pic_order_cnt_type` 1.
    public struct Cycle: Sendable, Hashable {
      /// `delta_pic_order_always_zero_flag`.
      public var isDeltaAlwaysZero: Bool
      /// `offset_for_non_ref_pic`.
      public var offsetForNonReferencePicture: Int32
      /// `offset_for_top_to_bottom_field`.
      public var offsetForTopToBottomField: Int32
      /// `offset_for_ref_frame[]`, at most 255.
      public var offsetsForReferenceFrames: [Int32]

      /// Creates one.
      public init(
        isDeltaAlwaysZero: Bool, offsetForNonReferencePicture: Int32, offsetForTopToBottomField: Int32,
        offsetsForReferenceFrames: [Int32]
      ) {
        self.isDeltaAlwaysZero = isDeltaAlwaysZero
        self.offsetForNonReferencePicture = offsetForNonReferencePicture
        self.offsetForTopToBottomField = offsetForTopToBottomField
        self.offsetsForReferenceFrames = offsetsForReferenceFrames
      }
    }

    /// `frame_crop_*_offset`, in crop units (7.4.2.1.1).
    public struct Cropping: Sendable, Hashable {
      /// `frame_crop_left_offset`.
      public var left: UInt32
      /// `frame_crop_right_offset`.
      public var right: UInt32
      /// `frame_crop_top_offset`.
      public var top: UInt32
      /// `frame_crop_bottom_offset`.
      public var bottom: UInt32

      /// Creates offsets.
      public init(left: UInt32, right: UInt32, top: UInt32, bottom: UInt32) {
        self.left = left
        self.right = right
        self.top = top
        self.bottom = bottom
      }
    }

    /// Reads the NAL unit of a sequence parameter set, header byte included.
    ///
    /// - Parameters:
    ///   - nalUnit: the NAL unit, header included, without start code or length prefix.
    ///   - trace: records the syntax elements; nil for no record.
    /// - Throws: any ``BitstreamError``; `.wrongNALUnitType` when it is not of type 7.
    public init(nalUnit: Span<UInt8>, trace: SyntaxTrace? = nil) throws(BitstreamError) {
      try self.init(nalUnit: nalUnit, trace: trace, isLenient: false)
    }

    /// Reads a NAL unit. If its VUI is unreadable, all that precedes it is kept, with which every stream can be
    /// decoded, as other decoders do.
    ///
    /// - Throws: the error of ``init(nalUnit:trace:)``, if something before the VUI is unreadable or there is no VUI.
    package static func usable(_ nalUnit: Span<UInt8>) throws(BitstreamError) -> SequenceParameterSet {
      try SequenceParameterSet(nalUnit: nalUnit, trace: nil, isLenient: true)
    }

    private init(nalUnit: Span<UInt8>, trace: SyntaxTrace?, isLenient: Bool) throws(BitstreamError) {
      let header = try NALUnitHeader(nalUnit)
      guard header.type == .sequenceParameterSet else {
        throw BitstreamError(.wrongNALUnitType, "nal_unit_type", bitOffset: 3)
      }
      var reader = BitReader(nalUnit, from: header.byteCount, trace: trace)
      try self.init(&reader, isLenient: isLenient)
      if hasProperEnd { hasProperEnd = reader.endsProperly() }
    }
  }
}
