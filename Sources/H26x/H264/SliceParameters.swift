// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// The fields of a PPS and its SPS that reading a slice header needs. A plain value, so that reading touches no
  /// reference count.
  package struct SliceParameters: Sendable, Hashable {
    /// `pic_parameter_set_id`.
    package let pictureParameterSetID: PictureParameterSetID
    /// `seq_parameter_set_id`.
    package let sequenceParameterSetID: SequenceParameterSetID
    /// `separate_colour_plane_flag`.
    let hasSeparateColourPlanes: Bool
    let log2MaximumFrameNumber: UInt8
    /// `frame_mbs_only_flag`.
    package let isFrameOnly: Bool
    /// 0, 1 or 2.
    package let pictureOrderCountType: UInt8
    let log2MaximumPictureOrderCount: UInt8
    let isDeltaPictureOrderAlwaysZero: Bool
    let isBottomFieldPictureOrderPresent: Bool
    let isRedundantPictureCountPresent: Bool
    let defaultReferenceCountList0: UInt8
    let defaultReferenceCountList1: UInt8
    let usesWeightedPrediction: Bool
    let weightedBipredictionIDC: UInt8
    let chromaFormat: ChromaFormat
    /// `ChromaArrayType` is 0.
    var isMonochrome: Bool { hasSeparateColourPlanes || chromaFormat == .monochrome }
    let allowsArbitrarySliceOrder: Bool
    /// `PicSizeInMbs` of a frame.
    package let frameSizeInMacroblocks: UInt32

    /// Combines a PPS with its SPS.
    package init(_ pps: PictureParameterSet, _ sps: SequenceParameterSet) {
      pictureParameterSetID = pps.id
      sequenceParameterSetID = pps.sequenceParameterSetID
      hasSeparateColourPlanes = sps.hasSeparateColourPlanes
      log2MaximumFrameNumber = sps.log2MaximumFrameNumber
      isFrameOnly = sps.isFrameOnly
      switch sps.pictureOrderCountType {
      case .leastSignificantBits(let log2Maximum):
        pictureOrderCountType = 0
        log2MaximumPictureOrderCount = log2Maximum
        isDeltaPictureOrderAlwaysZero = false
      case .cycle(let cycle):
        pictureOrderCountType = 1
        log2MaximumPictureOrderCount = 0
        isDeltaPictureOrderAlwaysZero = cycle.isDeltaAlwaysZero
      case .decodingOrder:
        pictureOrderCountType = 2
        log2MaximumPictureOrderCount = 0
        isDeltaPictureOrderAlwaysZero = false
      }
      isBottomFieldPictureOrderPresent = pps.isBottomFieldPictureOrderPresent
      isRedundantPictureCountPresent = pps.isRedundantPictureCountPresent
      defaultReferenceCountList0 = pps.defaultReferenceCountList0
      defaultReferenceCountList1 = pps.defaultReferenceCountList1
      usesWeightedPrediction = pps.usesWeightedPrediction
      weightedBipredictionIDC = pps.weightedBipredictionIDC
      chromaFormat = sps.chromaFormat
      allowsArbitrarySliceOrder = sps.profile.allowsArbitrarySliceOrder || pps.sliceGroups != nil
      frameSizeInMacroblocks = UInt32(clamping: sps.widthInMacroblocks * sps.heightInMacroblocks)
    }
  }
}
