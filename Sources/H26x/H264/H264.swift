// SPDX-License-Identifier: MPL-2.0

extension H264: VideoCodecSyntax {
  /// H.264.
  public static var codec: FormatDescription.Codec { .h264 }
  /// "H.264".
  public static var name: String { "H.264" }
  /// "video/x-h264".
  package static var mediaType: String { "video/x-h264" }
  /// "avc".
  package static var outOfBandStreamFormat: String { "avc" }
  /// "avc3".
  package static var inBandStreamFormat: String { "avc3" }

  /// One byte.
  public static var nalUnitHeaderLength: Int { 1 }
  /// `primary_pic_type` 7: any slices.
  public static func accessUnitDelimiter(temporalID: UInt8) -> [UInt8] { [0x09, 0xF0] }
  /// 0: the header has no temporal sub-layer.
  public static func temporalID(of nalUnit: Span<UInt8>) -> UInt8 { 0 }

  /// SPS, PPS and SPS extension; a subset SPS stays in the stream.
  public static var typesInConfigurationRecord: NALUnitTypeSet {
    NALUnitTypeSet([NALUnitType.sequenceParameterSet, .pictureParameterSet, .sequenceParameterSetExtension])
  }

  /// The configuration record, avcC.
  public typealias ConfigurationRecord = DecoderConfigurationRecord

  /// Returns the role of a NAL unit in its access unit, by `nal_unit_type` (Table 7-1).
  public static func role(of nalUnit: Span<UInt8>) -> NALUnitRole {
    guard nalUnit.count > 0 else { return .other }
    switch NALUnitType(headerByte: nalUnit[0]).rawValue {
    case 1, 2, 5: return .slice
    case 3, 4, 19: return .slicePart
    case 20, 21: return .layerSlice
    case 6: return .sei
    case 7: return .sequenceParameterSet
    case 8: return .pictureParameterSet
    case 9: return .accessUnitDelimiter
    case 10, 11: return .end
    case 12: return .filler
    case 13, 15: return .sequenceParameterSetExtension
    case 24...27, 29: return .outsideStandard
    default: return .other
    }
  }

  /// Whether `nal_ref_idc` is not 0.
  public static func isReference(_ nalUnit: Span<UInt8>) -> Bool { nalUnit.count > 0 && nalUnit[0] & 0x60 != 0 }

  /// Whether `first_mb_in_slice` is 0; nil for NAL units without it.
  public static func startsPicture(_ nalUnit: Span<UInt8>) -> Bool? { SliceHeader.startsAtFirstMacroblock(nalUnit) }

  /// Describes the stream that these parameter sets are of.
  ///
  /// - Throws: `.missingParameterSet` when the SPS is not there.
  public static func formatDescription(
    _ sets: borrowing ParameterSets, sequenceParameterSetID: SequenceParameterSetID?, nalLengthSize: NALLengthSize?
  ) throws(BitstreamError) -> FormatDescription {
    try FormatDescription(sets, sequenceParameterSetID: sequenceParameterSetID, nalLengthSize: nalLengthSize)
  }

  /// Describes the stream that an avcC record is of.
  ///
  /// - Throws: `.missingParameterSet` when it holds no SPS, or the error of reading its parameter sets.
  public static func formatDescription(_ record: DecoderConfigurationRecord) throws(BitstreamError) -> FormatDescription
  {
    try FormatDescription(decoderConfigurationRecord: record)
  }

  /// The avcC record of a description.
  ///
  /// - Throws: `.missingParameterSet` without an SPS, or the error of reading it.
  public static func configurationRecord(
    _ format: FormatDescription
  ) throws(BitstreamError) -> DecoderConfigurationRecord {
    try format.h264DecoderConfigurationRecord()
  }

  /// How a picture was scanned: in fields (MBAFF frames too) or as a frame.
  package static func scan(_ slice: SliceHeader, sps: borrowing SequenceParameterSet) -> PictureScan {
    if slice.isField { return .fields(isTopFirst: !slice.isBottomField) }
    guard !sps.isFrameOnly, sps.isMacroblockAdaptiveFrameField else { return .frame }
    // The field with the lower POC comes first (8.2.1); with equal ones the top field, by convention.
    return .fields(isTopFirst: slice.deltaPictureOrderCountBottom >= 0 && slice.deltaPictureOrderCount1 >= 0)
  }

  /// By how much `frame_num` rises.
  package static func recoveryDistance(
    from slice: SliceHeader, to next: SliceHeader, sps: borrowing SequenceParameterSet
  ) -> Int {
    Int((next.frameNumber &- slice.frameNumber) & (1 << UInt32(sps.log2MaximumFrameNumber) - 1))
  }

  /// Whether two fields are a complementary field pair (3.30, 3.31). They are consecutive, of opposite parity and
  /// equal `frame_num`. The second is no IDR picture, and no reference if the first is none.
  public static func isSecondField(_ slice: SliceHeader, of first: SliceHeader) -> Bool {
    slice.isField && first.isField && first.isBottomField != slice.isBottomField
      && first.frameNumber == slice.frameNumber && !slice.isIDR && (first.isReference || !slice.isReference)
  }

  /// Whether two slices belong to different pictures (7.4.1.2.4).
  public static func isFirstOfPicture(_ slice: SliceHeader, after last: SliceHeader) -> Bool {
    AccessUnitDetector.isFirstOfPicture(slice, after: last)
  }
}

extension H264.SequenceParameterSet: SequenceParameterSetSyntax {
  /// Whether nothing is reordered: `pic_order_cnt_type` is 2, the profile has no B slices, or the VUI or the profile
  /// sets a reorder depth of 0.
  public var followsDecodingOrder: Bool {
    pictureOrderCountType == .decodingOrder || forbidsBFrames || maximumReorderFrames == 0
  }
  /// Whether it is of the Constrained Baseline profile or an intra profile. Of Baseline without `constraint_set1_flag`
  /// the picture order counts are taken at their word.
  public var forbidsBFrames: Bool { profile.forbidsBSlices && (profile.idc != 66 || profile.isConstrained(toSet: 1)) }
  /// 1: the fields of a frame are known by their slice headers.
  public var picturesPerFrame: Int { 1 }
  /// 2: both fields of a frame count.
  public var usualOrderStep: Int { 2 }
  /// Whether `vui_parameters()` is there.
  public var hasVUI: Bool { vui != nil }
}

extension H264.SliceHeader: SliceHeaderSyntax {
  /// Changes of the reference picture lists, and reference marking.
  public typealias References = H264.ReferenceSyntax
  /// No: pictures send only changes.
  public static var sendsReferences: Bool { false }
  /// Whether `redundant_pic_cnt` is not 0.
  public var isRedundant: Bool { redundantPictureCount != 0 }
  /// `first_mb_in_slice`.
  public var address: UInt32 { firstMacroblock }
  /// Whether `first_mb_in_slice` is 0.
  public var isFirstInPicture: Bool { firstMacroblock == 0 }
  /// By `slice_type`.
  public var prediction: SlicePrediction? {
    switch sliceType {
    case .i, .si: .intra
    case .p, .sp: .forward
    case .b: .bidirectional
    }
  }
  /// Whether MMCO 5 is possible: only reference pictures have MMCOs, and IDR pictures have none.
  public var mayResetPOC: Bool { isReference && !isIDR }
}

extension H264.RecoveryPoint: RecoveryPointSyntax {}

extension H264.NALUnitType {
  /// False: RTP's types end no access unit (7.4.1.2.3).
  public var endsAccessUnitWhenDropped: Bool { false }
}

extension H264.ParameterSets {
  /// Always nil: parameter sets with a defect are not stored.
  public func defect(of nalUnit: Span<UInt8>) -> BitstreamError? { nil }
}

extension H264.DecoderConfigurationRecord: ConfigurationRecordSyntax {
  /// The box that holds it.
  public static var name: String { "avcC" }
  /// The byte whose low two bits are `lengthSizeMinusOne`.
  public static var lengthSizeOffset: Int { 4 }
  /// Itself: avcC has an array for each kind.
  public var inOrder: Self { self }
  /// All NAL units of the record: SPS, SPS extensions, PPS.
  public var nalUnits: [[UInt8]] {
    sequenceParameterSets + (high?.sequenceParameterSetExtensions ?? []) + pictureParameterSets
  }
}

extension H264: ElementCodecSyntax {
  package static var fillerHeader: UInt8 { NALUnitType.fillerData.rawValue }
  package static var endOfSequence: [UInt8] { [NALUnitType.endOfSequence.rawValue] }
  /// nil: there are none.
  package static func videoParameterSetID(of nalUnit: Span<UInt8>) -> VideoParameterSetID? { nil }
  /// nil: the fields of a frame are neighbors in decoding order (7.4.1.2.4).
  package static func presentedField(
    _ message: borrowing SEIMessages.Message, sps: borrowing SequenceParameterSet
  ) -> H265.PictureTiming.Structure? { nil }
}
