// SPDX-License-Identifier: MPL-2.0

/// One change of a stream's headers, for ``StreamEditor``. No edit changes how slices are read or decoded.
///
/// If a stream does not have the part of the VUI that an edit belongs to, the edit adds the part, even for the
/// inferred value. All other values of the part are those that the Recommendations infer in its absence (H.264 E.2.1,
/// H.265 E.3.1). An edit that changes nothing leaves a parameter set as it is, bit for bit.
public enum StreamEdit: Sendable, Hashable {
  /// `colour_primaries`, `transfer_characteristics` and the matrix; nil removes them
  /// (`colour_description_present_flag`).
  case colour(ColourDescription?)
  /// `colour_primaries` alone.
  case primaries(UInt8)
  /// `transfer_characteristics` alone.
  case transfer(UInt8)
  /// `matrix_coefficients`, in H.265 `matrix_coeffs`, alone.
  case matrix(UInt8)
  /// `video_full_range_flag`.
  case fullRange(Bool)
  /// `video_format`, 0 to 5 (H.264 table E-2, H.265 table E.2).
  case videoFormat(UInt8)
  /// Removes video format, range and colour (`video_signal_type_present_flag`).
  case removeVideoSignal
  /// `chroma_sample_loc_type_top_field` and `_bottom_field`; nil removes them.
  case chromaLocation(ChromaLocation?)
  /// The sample aspect ratio, by its code if it has one (H.264 table E-1, H.265 table E.1); nil removes it.
  case sampleAspectRatio(Ratio?)
  /// `overscan_appropriate_flag`; nil removes it.
  case overscanAppropriate(Bool?)
  /// Frames a second: `num_units_in_tick` and `time_scale` of the VUI, and of H.265's VPS if it has them. nil removes
  /// them, which is refused if HRD parameters need them.
  case frameRate(Ratio?)
  /// `frame_cropping_flag`, in H.265 `conformance_window_flag`, and the offsets. Refused if the chroma format does
  /// not allow them, or if nothing of the picture would be left.
  case crop(CropMargins)
  /// `level_idc`, in H.265 `general_level_idc` of VPS and SPS. Refused if the parameter sets do not keep the level's
  /// limits.
  ///
  /// In H.264, values inferred from the level are kept: if `bitstream_restriction_flag` is 0,
  /// `max_dec_frame_buffering` and `max_num_reorder_frames` are written with the values that were inferred (E.2.1).
  /// Level 1b is `constraint_set3_flag` in the profiles that have it so (A.3.1).
  case level(StreamLevel)
  /// `general_tier_flag` of H.265.
  case highTier(Bool)
  /// `constraint_setN_flag` of H.264, N from 0 to 5. Whether the pictures keep to it is not checked.
  case constraintSet(Int, Bool)
  /// `general_profile_compatibility_flag[ j ]` of H.265, in VPS and SPS: whether decoders of profile j can decode the
  /// stream. Refused for 0 at the profile itself. Refused for 1, unless a stream of one of the Main profiles has the
  /// samples of Main (1) or Main 10 (2).
  case compatibleProfile(UInt8, Bool)
  /// A constraint flag of H.265's general profile, in VPS and SPS. Refused if the SPS contradicts it. Whether there
  /// is frame packing SEI is not checked.
  case sourceConstraint(H265.SourceConstraint, Bool)
  /// The reorder depth: how many frames at most precede a frame in decoding order and follow it in output order.
  /// `buffer` is the number of frames that the decoded picture buffer holds; nil for the number that each SPS needs
  /// with that depth. `max_num_reorder_frames` and `max_dec_frame_buffering` of H.264's VUI;
  /// `sps_max_num_reorder_pics` and `sps_max_dec_pic_buffering_minus1` + 1 of H.265, in SPS and VPS.
  ///
  /// In H.264, the number needed is `max_num_ref_frames` plus the depth, but no more than before, unless the depth
  /// itself is more. In H.265 it is as many as before, unless the depth needs more.
  case reordering(UInt8, buffer: UInt8?)
  /// Removes HRD parameters, and from SEI all that depends on them: buffering period and decoding unit information, and
  /// the delays in picture timing.
  case removeHRD
  /// Removes the NAL units of layers and views above the base layer. In H.265 these are all with a `nuh_layer_id`
  /// above 0. In H.264 they are subset sequence parameter sets and coded slice extensions (Annexes G, H and I).
  /// Announcements of them in the base layer's own headers stay.
  case removeLayers
  /// Adds an access unit delimiter to access units that have none. It announces the slice types that are there
  /// (`primary_pic_type`, in H.265 `pic_type`). A delimiter that excludes a slice of its access unit is corrected.
  case insertDelimiters
  /// Removes access unit delimiters.
  case removeDelimiters
  /// Removes SEI messages of a type.
  ///
  /// With picture timing goes the flag of the VUI that demands it (`pic_struct_present_flag`,
  /// `frame_field_info_present_flag`). Refused if HRD parameters, or pictures that are fields in H.265, need it.
  case removeSEI(SEIPayloadType)
  /// Removes SEI messages of all types but these. Picture timing is demanded as for ``removeSEI(_:)``.
  case keepSEI(Set<SEIPayloadType>)
  /// Removes metadata: its SEI messages, but not others in the same NAL unit, or its NAL units.
  ///
  /// Dolby Vision is refused in profile 5, whose pictures have wrong colours without it, unless the edit is forced.
  case removeMetadata(RemovableMetadata, isForced: Bool = false)
  /// Makes Dolby Vision's profile 8.1 of profile 7: the RPUs are converted, and the enhancement layer is removed.
  /// Refused for other profiles, and for an RPU that is damaged or has unknown syntax.
  case convertDolbyVision
  /// Adds an SEI message in front of the slices of some access units.
  case insertSEI(SEIInsertion)
  /// Changes the time codes of the picture of an access unit, counted in decoding order from 0: the
  /// `clock_timestamp()`s of H.264's picture timing, which must be there. H.265 has them in a message of their own.
  case clockTimestamps([ClockTimestamp?], accessUnit: Int)
}

extension H265 {
  /// A constraint flag of the general profile that restricts what a stream of any profile has (7.4.4). All others are
  /// a part of the profile itself.
  public enum SourceConstraint: UInt8, Sendable, CaseIterable {
    /// `general_progressive_source_flag`.
    case progressiveSource
    /// `general_interlaced_source_flag`.
    case interlacedSource
    /// `general_non_packed_constraint_flag`: no frame packing arrangement SEI.
    case nonPacked
    /// `general_frame_only_constraint_flag`: no pictures that are fields.
    case frameOnly

    private static let names: [StaticString] = ["progressive-source", "interlaced-source", "non-packed", "frame-only"]

    /// Reads its name, such as "progressive-source"; nil for other text.
    init?(text: ArraySlice<UInt8>) {
      guard let index = EditText.index(text, among: Self.names) else { return nil }
      self = Self.allCases[index]
    }

    /// The names that ``init(text:)`` reads.
    package static var list: String { "progressive-source, interlaced-source, non-packed or frame-only" }
  }
}
