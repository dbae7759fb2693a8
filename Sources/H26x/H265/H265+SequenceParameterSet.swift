// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// `seq_parameter_set_rbsp()` (7.3.2.2) of the base layer, NAL unit type 33.
  public struct SequenceParameterSet: Sendable, Hashable {
    /// `sps_video_parameter_set_id`, 0 to 15.
    public var videoParameterSetID: VideoParameterSetID = 0
    /// `sps_max_sub_layers_minus1` + 1, 1 to 7.
    public var subLayerCount: UInt8 = 1
    /// `sps_temporal_id_nesting_flag`.
    public var hasNestedTemporalIDs = true
    /// `profile_tier_level()`.
    public var profileTierLevel: ProfileTierLevel
    /// `sps_seq_parameter_set_id`, 0 to 15.
    public var id: SequenceParameterSetID = 0
    /// `chroma_format_idc`.
    public var chromaFormat: ChromaFormat = .yuv420
    /// `separate_colour_plane_flag`: three monochrome pictures in one.
    public var hasSeparateColourPlanes = false
    /// `pic_width_in_luma_samples` and `pic_height_in_luma_samples`.
    public var codedSize: VideoSize
    /// `conformance_window_flag` and the offsets.
    public var conformanceWindow: Window?
    /// `bit_depth_luma_minus8` + 8, 8 to 16.
    public var lumaBitDepth: UInt8 = 8
    /// `bit_depth_chroma_minus8` + 8, 8 to 16.
    public var chromaBitDepth: UInt8 = 8
    /// `log2_max_pic_order_cnt_lsb_minus4` + 4, 4 to 16.
    public var log2MaximumPictureOrderCount: UInt8 = 8
    /// Sizes of the decoded picture buffer: one entry for each sub-layer, or one for all when
    /// `sps_sub_layer_ordering_info_present_flag` is 0.
    public var buffering: [SubLayerBuffering] = [SubLayerBuffering()]
    /// `log2_min_luma_coding_block_size_minus3` + 3, 3 or more.
    public var log2MinimumCodingBlockSize: UInt8 = 3
    /// `log2_diff_max_min_luma_coding_block_size`.
    public var log2CodingBlockSizeRange: UInt8 = 3
    /// `log2_min_luma_transform_block_size_minus2` + 2, 2 to 5.
    public var log2MinimumTransformBlockSize: UInt8 = 2
    /// `log2_diff_max_min_luma_transform_block_size`.
    public var log2TransformBlockSizeRange: UInt8 = 3
    /// `max_transform_hierarchy_depth_inter`, 0 to 4.
    public var maximumTransformDepthInter: UInt8 = 0
    /// `max_transform_hierarchy_depth_intra`, 0 to 4.
    public var maximumTransformDepthIntra: UInt8 = 0
    /// `scaling_list_enabled_flag` and the lists.
    public var scaling = Scaling.flat
    /// `amp_enabled_flag`: asymmetric motion partitions.
    public var usesAsymmetricPartitions = false
    /// `sample_adaptive_offset_enabled_flag`.
    public var usesSampleAdaptiveOffset = false
    /// `pcm_enabled_flag` and its fields; nil if the flag is 0.
    public var pcm: PCM?
    /// The short-term reference picture sets for slice headers to select from, 64 at most.
    public var referencePictureSets: [ShortTermReferencePictureSet] = []
    /// `long_term_ref_pics_present_flag` and the pictures for slice headers to select from, 32 at most; nil if the
    /// flag is 0.
    public var longTermReferences: [LongTermReference]?
    /// `sps_temporal_mvp_enabled_flag`.
    public var usesTemporalMotionVectors = false
    /// `strong_intra_smoothing_enabled_flag`.
    public var usesStrongIntraSmoothing = false
    /// `vui_parameters()`.
    public var vui: VUIParameters?
    /// `sps_extension_present_flag` and its fields; nil if the flag is 0.
    public var extensions: Extensions?
    /// Whether the NAL unit ended correctly, with `rbsp_trailing_bits()` and nothing after. Otherwise it is still
    /// usable: there are such encoders.
    public var hasProperEnd = true

    /// Offsets from the edges of a picture, in units of chroma samples (7.4.3.2.1).
    public struct Window: Sendable, Hashable {
      /// From the left edge.
      public var left: UInt32
      /// From the right edge.
      public var right: UInt32
      /// From the upper edge.
      public var top: UInt32
      /// From the lower edge.
      public var bottom: UInt32

      /// Creates a window.
      public init(left: UInt32, right: UInt32, top: UInt32, bottom: UInt32) {
        self.left = left
        self.right = right
        self.top = top
        self.bottom = bottom
      }
    }

    /// Size of the decoded picture buffer, up to a temporal sub-layer.
    public struct SubLayerBuffering: Sendable, Hashable {
      /// `sps_max_dec_pic_buffering_minus1` + 1, 1 to 16 pictures.
      public var maximumDecodedPictures: UInt8
      /// `sps_max_num_reorder_pics`: how many pictures may precede one in decoding order and follow it in output order.
      public var maximumReorderPictures: UInt8
      /// `sps_max_latency_increase_plus1`; 0 for no bound.
      public var maximumLatencyIncreasePlus1: UInt32

      /// Creates one.
      public init(
        maximumDecodedPictures: UInt8 = 1, maximumReorderPictures: UInt8 = 0, maximumLatencyIncreasePlus1: UInt32 = 0
      ) {
        self.maximumDecodedPictures = maximumDecodedPictures
        self.maximumReorderPictures = maximumReorderPictures
        self.maximumLatencyIncreasePlus1 = maximumLatencyIncreasePlus1
      }
    }

    /// How coefficients are scaled.
    public enum Scaling: Sendable, Hashable {
      /// `scaling_list_enabled_flag` 0: all factors are equal.
      case flat
      /// The lists of Tables 7-5 and 7-6.
      case standard
      /// `sps_scaling_list_data_present_flag`.
      case explicit(ScalingLists)
    }

    /// The format of uncompressed (PCM) blocks.
    public struct PCM: Sendable, Hashable {
      /// `pcm_sample_bit_depth_luma_minus1` + 1, 1 to 16.
      public var lumaBitDepth: UInt8
      /// `pcm_sample_bit_depth_chroma_minus1` + 1, 1 to 16.
      public var chromaBitDepth: UInt8
      /// `log2_min_pcm_luma_coding_block_size_minus3` + 3, 3 to 5.
      public var log2MinimumBlockSize: UInt8
      /// `log2_diff_max_min_pcm_luma_coding_block_size`.
      public var log2BlockSizeRange: UInt8
      /// `pcm_loop_filter_disabled_flag`.
      public var disablesLoopFilter: Bool

      /// Creates one.
      public init(
        lumaBitDepth: UInt8, chromaBitDepth: UInt8, log2MinimumBlockSize: UInt8, log2BlockSizeRange: UInt8,
        disablesLoopFilter: Bool
      ) {
        self.lumaBitDepth = lumaBitDepth
        self.chromaBitDepth = chromaBitDepth
        self.log2MinimumBlockSize = log2MinimumBlockSize
        self.log2BlockSizeRange = log2BlockSizeRange
        self.disablesLoopFilter = disablesLoopFilter
      }
    }

    /// A long-term reference picture for slice headers to select.
    public struct LongTermReference: Sendable, Hashable {
      /// `lt_ref_pic_poc_lsb_sps`.
      public var pictureOrderCountLSB: UInt32
      /// `used_by_curr_pic_lt_sps_flag`.
      public var isUsed: Bool

      /// Creates one.
      public init(pictureOrderCountLSB: UInt32, isUsed: Bool) {
        self.pictureOrderCountLSB = pictureOrderCountLSB
        self.isUsed = isUsed
      }
    }

    /// Creates an SPS for a picture size, with the simplest value for everything else.
    public init(profileTierLevel: ProfileTierLevel, codedSize: VideoSize) {
      self.profileTierLevel = profileTierLevel
      self.codedSize = codedSize
    }

    /// Reads the NAL unit of a sequence parameter set of the base layer, header included.
    ///
    /// - Parameters:
    ///   - nalUnit: the NAL unit.
    ///   - trace: records the syntax elements; nil for no record.
    /// - Throws: any ``BitstreamError``; `.wrongNALUnitType` when it is not of type 33, `.unsupported` for another
    ///   layer, whose SPS depends on the base layer's.
    public init(nalUnit: Span<UInt8>, trace: SyntaxTrace? = nil) throws(BitstreamError) {
      try self.init(nalUnit: nalUnit, trace: trace, isLenient: false)
    }

    /// Reads a NAL unit. If its VUI or the rest after it is unreadable, the part before is kept, as in other
    /// decoders. It suffices to decode every stream.
    ///
    /// - Throws: the error of ``init(nalUnit:trace:)``, if something before the VUI is unreadable or there is no VUI.
    package static func usable(_ nalUnit: Span<UInt8>) throws(BitstreamError) -> SequenceParameterSet {
      try SequenceParameterSet(nalUnit: nalUnit, trace: nil, isLenient: true)
    }

    private init(nalUnit: Span<UInt8>, trace: SyntaxTrace?, isLenient: Bool) throws(BitstreamError) {
      let header = try NALUnitHeader(nalUnit, of: .sequenceParameterSet)
      guard header.layerID == 0 else { throw BitstreamError(.unsupported, "nuh_layer_id", bitOffset: 7) }
      var reader = BitReader(nalUnit, from: NALUnitHeader.byteCount, trace: trace)
      try self.init(&reader, isLenient: isLenient)
      if hasProperEnd { hasProperEnd = reader.endsProperly() }
    }
  }
}
