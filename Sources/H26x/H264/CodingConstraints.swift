// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// The constraints that an SPS puts on pictures of another encoder that are to stand under it.
  package struct CodingConstraints: Sendable, Hashable {
    /// `PicWidthInMbs`.
    package let widthInMacroblocks: Int
    /// `FrameHeightInMbs`.
    package let heightInMacroblocks: Int
    /// `chroma_format_idc`.
    package let chromaFormat: ChromaFormat
    /// The bit depth of luma, 8 to 14.
    package let lumaBitDepth: UInt8
    /// The bit depth of chroma, 8 to 14.
    package let chromaBitDepth: UInt8
    /// `frame_mbs_only_flag`: fields are not allowed.
    package let isFrameOnly: Bool
    /// Whether frames need the syntax of MBAFF (`mb_adaptive_frame_field_flag`). Fields do not.
    package let needsMBAFF: Bool
    /// Whether the profile, and those of the constraint flags, have CABAC (A.2).
    package let allowsCABAC: Bool
    /// Whether they have the 8×8 transform, scaling lists, and separate QP offsets of Cb and Cr.
    package let allows8x8Transform: Bool
    /// Whether they have weighted prediction.
    package let allowsWeightedPrediction: Bool
    /// `max_num_ref_frames`, 0 to 16; 0 if the profile has intra pictures only. With 0 all pictures are intra.
    package let maximumReferenceFrames: UInt8
    /// `pic_order_cnt_type` 2: pictures are not reordered, and of two consecutive frames one is a reference (8.2.1.3).
    package let isOutputInDecodingOrder: Bool
    /// `qpprime_y_zero_transform_bypass_flag`: macroblocks of the lowest QP have no transform.
    package let bypassesTransformAtZero: Bool
    /// Whether the SPS has scaling lists. A PPS replaces them.
    package let hasScalingLists: Bool

    /// The reason for which pictures of another encoder cannot stand under an SPS.
    package enum Obstacle: Error, Sendable, Hashable {
      /// `pic_order_cnt_type` is 1: the output order depends on the order of references in the stream.
      case pictureOrderCountCycle
      /// `separate_colour_plane_flag` is 1, which encoders do not have.
      case separateColourPlanes
    }

    /// Reads the constraints off an SPS.
    ///
    /// - Throws: the reason for which it cannot serve.
    package init(_ sps: SequenceParameterSet) throws(Obstacle) {
      guard !sps.hasSeparateColourPlanes else { throw .separateColourPlanes }
      switch sps.pictureOrderCountType {
      case .leastSignificantBits: isOutputInDecodingOrder = false
      case .cycle: throw .pictureOrderCountCycle
      case .decodingOrder: isOutputInDecodingOrder = true
      }
      let profile = sps.profile
      // A stream may keep the constraints of Baseline, Main and Extended besides those of its own profile.
      let isBaseline = profile.idc == 66 || profile.isConstrained(toSet: 0)
      let isExtended = profile.idc == 88 || profile.isConstrained(toSet: 2)
      allowsCABAC = !isBaseline && !isExtended && profile.idc != 44
      allows8x8Transform =
        profile.hasHighSyntax && !isBaseline && !isExtended && !profile.isConstrained(toSet: 1)
      allowsWeightedPrediction = !isBaseline
      maximumReferenceFrames = profile.isIntraOnly ? 0 : sps.maximumReferenceFrames
      widthInMacroblocks = sps.widthInMacroblocks
      heightInMacroblocks = sps.heightInMacroblocks
      chromaFormat = sps.chromaFormat
      lumaBitDepth = sps.lumaBitDepth
      chromaBitDepth = sps.chromaBitDepth
      isFrameOnly = sps.isFrameOnly
      needsMBAFF = !sps.isFrameOnly && sps.isMacroblockAdaptiveFrameField
      bypassesTransformAtZero = sps.bypassesTransformAtZero
      hasScalingLists = sps.scalingLists != nil
    }
  }
}
