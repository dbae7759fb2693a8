// SPDX-License-Identifier: MPL-2.0

/// `payloadType` of an SEI message. These numbers mean the same in H.264 and H.265.
public struct SEIPayloadType: RawRepresentable, Sendable, Hashable {
  /// The number of Annex D.
  public let rawValue: UInt32

  /// Creates a type from any number.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// `buffering_period()`.
  public static let bufferingPeriod = SEIPayloadType(rawValue: 0)
  /// `pic_timing()`.
  public static let pictureTiming = SEIPayloadType(rawValue: 1)
  /// `user_data_registered_itu_t_t35()`: captions, active format, bar data, HDR10+.
  public static let userDataRegistered = SEIPayloadType(rawValue: 4)
  /// `user_data_unregistered()`.
  public static let userDataUnregistered = SEIPayloadType(rawValue: 5)
  /// `recovery_point()`.
  public static let recoveryPoint = SEIPayloadType(rawValue: 6)
  /// `mvc_scalable_nesting()` of H.264.
  static var multiviewNesting: Self { Self(rawValue: 37) }
  /// `stereo_video_info()`.
  public static let stereoVideoInformation = SEIPayloadType(rawValue: 21)
  /// `frame_packing_arrangement()`.
  public static let framePackingArrangement = SEIPayloadType(rawValue: 45)
  /// `display_orientation()`.
  public static let displayOrientation = SEIPayloadType(rawValue: 47)
  /// `active_parameter_sets` of H.265.
  public static let activeParameterSets = SEIPayloadType(rawValue: 129)
  /// `decoding_unit_info()` of H.265.
  static var decodingUnitInformation: Self { Self(rawValue: 130) }
  /// `decoded_picture_hash` of H.265.
  public static let decodedPictureHash = SEIPayloadType(rawValue: 132)
  /// `scalable_nesting()` of H.265.
  static var scalableNesting: Self { Self(rawValue: 133) }
  /// `time_code` of H.265.
  public static let timeCode = SEIPayloadType(rawValue: 136)
  /// `mastering_display_colour_volume()`.
  public static let masteringDisplayColourVolume = SEIPayloadType(rawValue: 137)
  /// `content_light_level_info()`.
  public static let contentLightLevel = SEIPayloadType(rawValue: 144)
  /// `alternative_transfer_characteristics()`.
  public static let alternativeTransferCharacteristics = SEIPayloadType(rawValue: 147)
  /// `ambient_viewing_environment()`.
  package static var ambientViewingEnvironment: Self { Self(rawValue: 148) }
}

extension SEIPayloadType {
  /// Annex D's name of the type in a codec, such as "user_data_unregistered"; nil if the codec has no name for it.
  package func name(in codec: FormatDescription.Codec) -> StaticString? {
    Self.name(rawValue, in: Self.shared) ?? Self.name(rawValue, in: codec == .h264 ? Self.h264 : Self.h265)
  }

  /// Creates a type from its number in digits, or from the name that Annex D of either codec has for it; nil for other
  /// text.
  package init?(_ text: some StringProtocol) {
    let bytes = Array(text.utf8)
    if let number = EditText.number(bytes[...], upTo: .max) {
      self.init(rawValue: number)
      return
    }
    for names in [Self.shared, Self.h264, Self.h265] {
      for (type, name) in names where EditText.isEqual(bytes[...], name) {
        self.init(rawValue: type)
        return
      }
    }
    return nil
  }

  private static func name(_ type: UInt32, in names: [(UInt32, StaticString)]) -> StaticString? {
    names.first { $0.0 == type }?.1
  }

  private static let shared: [(UInt32, StaticString)] = [
    (0, "buffering_period"), (1, "pic_timing"), (2, "pan_scan_rect"), (3, "filler_payload"),
    (4, "user_data_registered_itu_t_t35"), (5, "user_data_unregistered"), (6, "recovery_point"), (9, "scene_info"),
    (16, "progressive_refinement_segment_start"), (17, "progressive_refinement_segment_end"),
    (19, "film_grain_characteristics"), (22, "post_filter_hint"), (23, "tone_mapping_info"),
    (45, "frame_packing_arrangement"), (47, "display_orientation"), (137, "mastering_display_colour_volume"),
    (142, "colour_remapping_info"), (144, "content_light_level_info"), (147, "alternative_transfer_characteristics"),
    (148, "ambient_viewing_environment"), (149, "content_colour_volume"), (150, "equirectangular_projection"),
    (151, "cubemap_projection"), (154, "sphere_rotation"), (155, "regionwise_packing"), (156, "omni_viewport"),
    (200, "sei_manifest"), (201, "sei_prefix_indication"), (202, "annotated_regions"), (205, "shutter_interval_info"),
    (210, "nn_post_filter_characteristics"), (211, "nn_post_filter_activation"), (212, "phase_indication"),
    (220, "digitally_signed_content_initialization"), (221, "digitally_signed_content_selection"),
    (222, "digitally_signed_content_verification"),
  ]

  private static let h264: [(UInt32, StaticString)] = [
    (7, "dec_ref_pic_marking_repetition"), (8, "spare_pic"), (10, "sub_seq_info"),
    (11, "sub_seq_layer_characteristics"), (12, "sub_seq_characteristics"), (13, "full_frame_freeze"),
    (14, "full_frame_freeze_release"), (15, "full_frame_snapshot"), (18, "motion_constrained_slice_group_set"),
    (20, "deblocking_filter_display_preference"), (21, "stereo_video_info"), (24, "scalability_info"),
    (36, "parallel_decoding_info"), (37, "mvc_scalable_nesting"), (38, "view_scalability_info"),
    (39, "multiview_scene_info"), (40, "multiview_acquisition_info"), (46, "multiview_view_position"),
  ]

  private static let h265: [(UInt32, StaticString)] = [
    (15, "picture_snapshot"), (128, "structure_of_pictures_info"), (129, "active_parameter_sets"),
    (130, "decoding_unit_info"), (131, "temporal_sub_layer_zero_idx"), (132, "decoded_picture_hash"),
    (133, "scalable_nesting"), (134, "region_refresh_info"), (135, "no_display"), (136, "time_code"),
    (138, "segmented_rect_frame_packing_arrangement"), (139, "temporal_motion_constrained_tile_sets"),
    (140, "chroma_resampling_filter_hint"), (141, "knee_function_info"), (143, "deinterlaced_field_identification"),
    (145, "dependent_rap_indication"), (146, "coded_region_completion"), (152, "fisheye_video_info"),
    (160, "layers_not_present"),
    (161, "inter_layer_constrained_tile_sets"), (162, "bsp_nesting"), (163, "bsp_initial_arrival_time"),
    (164, "sub_bitstream_property"), (165, "alpha_channel_info"), (166, "overlay_info"),
    (176, "three_dimensional_reference_displays_info"), (177, "depth_representation_info"),
    (178, "multiview_scene_info"), (179, "multiview_acquisition_info"), (180, "multiview_view_position"),
  ]
}
