// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// The fields of a PPS and its SPS that reading the front of a slice segment header needs. A plain value, so that
  /// reading touches no reference count.
  package struct SliceParameters: Sendable, Hashable {
    /// `pps_pic_parameter_set_id`.
    package let pictureParameterSetID: PictureParameterSetID
    /// `pps_seq_parameter_set_id`.
    package let sequenceParameterSetID: SequenceParameterSetID
    /// `PicSizeInCtbsY`.
    package let codingTreeBlockCount: UInt32
    /// `log2_max_pic_order_cnt_lsb_minus4` + 4.
    package let log2MaximumPictureOrderCount: UInt8
    let segmentAddressLength: UInt8
    /// Whether slice headers list entry points: with tiles or wavefronts.
    let hasEntryPoints: Bool
    let extraSliceHeaderBits: UInt8
    let allowsDependentSlices: Bool
    let isOutputFlagPresent: Bool
    let hasSeparateColourPlanes: Bool
    let isFieldSequence: Bool
    /// `sps_max_sub_layers_minus1`: the highest temporal sub-layer.
    let highestTemporalID: UInt8

    /// Combines a PPS with its SPS.
    package init(_ pps: PictureParameterSet, _ sps: SequenceParameterSet) {
      pictureParameterSetID = pps.id
      sequenceParameterSetID = pps.sequenceParameterSetID
      codingTreeBlockCount = UInt32(clamping: sps.codingTreeBlockCount)
      log2MaximumPictureOrderCount = sps.log2MaximumPictureOrderCount
      segmentAddressLength = H265.ceilLog2(sps.codingTreeBlockCount)
      hasEntryPoints = pps.tiles != nil || pps.usesWavefronts
      extraSliceHeaderBits = pps.extraSliceHeaderBits
      allowsDependentSlices = pps.allowsDependentSlices
      isOutputFlagPresent = pps.isOutputFlagPresent
      hasSeparateColourPlanes = sps.hasSeparateColourPlanes
      isFieldSequence = sps.isFieldSequence
      highestTemporalID = max(sps.subLayerCount, 1) - 1
    }
  }

  /// `Ceil( Log2( count ) )`: bits of an index below `count`, 0 to 31.
  static func ceilLog2(_ count: Int) -> UInt8 {
    count > 1 ? UInt8(Int.bitWidth - (count - 1).leadingZeroBitCount) : 0
  }
}
