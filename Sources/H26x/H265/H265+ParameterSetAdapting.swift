// SPDX-License-Identifier: MPL-2.0

extension H265.SequenceParameterSet {
  /// Returns this SPS of an encoder for pictures that are put into another stream.
  ///
  /// The pictures are decoded as before. Profile, tier, level, decoded picture buffer, reorder depth, latency, crop and
  /// color are signaled as in the other stream, so that decoders treat both alike. The pictures have one temporal
  /// sub-layer and no HRD parameters. They have picture timing if the other stream's have `pic_struct`. The ids stay.
  ///
  /// - Parameter other: the SPS of the other stream. The encoder must use fewer reference pictures than its
  ///   ``decodedPictureBufferPictures``.
  /// - Throws: `.unsupported` if the samples have another format, the pictures have another size, or the encoder uses an
  ///   extension. Likewise if the other stream is intra-only (A.3.5), or if its pictures are fields. The error names the
  ///   syntax element.
  package func adapted(to other: Self) throws(BitstreamError) -> Self {
    if codedSize.width != other.codedSize.width { throw Self.unlike("pic_width_in_luma_samples") }
    if codedSize.height != other.codedSize.height { throw Self.unlike("pic_height_in_luma_samples") }
    if chromaFormat != other.chromaFormat { throw Self.unlike("chroma_format_idc") }
    if hasSeparateColourPlanes || other.hasSeparateColourPlanes { throw Self.unlike("separate_colour_plane_flag") }
    if lumaBitDepth != other.lumaBitDepth { throw Self.unlike("bit_depth_luma_minus8") }
    if chromaBitDepth != other.chromaBitDepth { throw Self.unlike("bit_depth_chroma_minus8") }
    if extensions != nil { throw Self.unlike("sps_extension_present_flag") }
    if other.profile.constraints.contains(.intra) { throw Self.unlike("general_intra_constraint_flag") }
    if other.isFieldSequence { throw Self.unlike("field_seq_flag") }
    var sps = self
    (sps.subLayerCount, sps.hasNestedTemporalIDs) = (1, true)
    sps.profileTierLevel = other.profileTierLevel
      .ofOneSubLayer(hasPictureStructure: other.vui?.isPictureStructurePresent ?? false)
    sps.conformanceWindow = other.conformanceWindow
    sps.buffering = [other.highestBuffering]
    sps.vui = other.vui
    sps.vui?.hasNeutralChroma = false
    sps.vui?.timing?.hrdParameters = nil
    // The encoder's picture order counts may be less or more dense.
    sps.vui?.timing?.ticksPerPictureOrderCount = nil
    sps.vui?.bitstreamRestriction = vui?.bitstreamRestriction
    return sps
  }

  private static func unlike(_ element: StaticString) -> BitstreamError {
    BitstreamError(.unsupported, element, bitOffset: 0)
  }
}

extension H265.VideoParameterSet {
  /// Returns this VPS of an encoder, for pictures with an SPS of
  /// ``H265/SequenceParameterSet/adapted(to:)``. The id stays.
  package func adapted(to sps: H265.SequenceParameterSet) -> Self {
    var vps = self
    (vps.subLayerCount, vps.hasNestedTemporalIDs) = (sps.subLayerCount, sps.hasNestedTemporalIDs)
    vps.profileTierLevel = sps.profileTierLevel
    vps.buffering = sps.buffering
    (vps.timing, vps.hrdParameters) = (nil, [])
    return vps
  }
}

extension H265.ProfileTierLevel {
  /// The same of a stream with one temporal sub-layer. If the stream has progressive and interlaced pictures, picture
  /// timing has to tell them apart (7.4.4).
  fileprivate func ofOneSubLayer(hasPictureStructure: Bool) -> Self {
    var adapted = self
    adapted.subLayers = []
    let scanTypes: H265.Profile.Constraints = [.progressiveSource, .interlacedSource]
    if !hasPictureStructure, profile.constraints.isSuperset(of: scanTypes) {
      adapted.profile.constraints.subtract(scanTypes)
    }
    return adapted
  }
}
