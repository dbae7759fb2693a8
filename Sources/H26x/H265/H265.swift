// SPDX-License-Identifier: MPL-2.0

/// The syntax of ITU-T H.265. Clause numbers are of its edition 2023-09.
public enum H265: VideoCodecSyntax {
  public static var codec: FormatDescription.Codec { .h265 }
  public static var name: String { "H.265" }
  public static var mediaType: String { "video/x-h265" }
  public static var outOfBandStreamFormat: String { "hvc1" }
  public static var inBandStreamFormat: String { "hev1" }

  public static var nalUnitHeaderLength: Int { NALUnitHeader.byteCount }
  public static var accessUnitDelimiter: [UInt8] { [0x46, 0x01, 0x50] }

  /// The configuration record, hvcC.
  public typealias ConfigurationRecord = DecoderConfigurationRecord

  public static func role(of nalUnit: Span<UInt8>) -> NALUnitRole {
    guard nalUnit.count > 1 else { return .other }
    let type = NALUnitType(headerByte: nalUnit[0])
    let isBase = nalUnit[0] & 1 == 0 && nalUnit[1] < 8
    guard isBase else { return layerRole(type) }
    switch type.rawValue {
    case 0...9, 16...21: return .slice
    case 10...15, 22...31: return .slicePart
    case 32: return .videoParameterSet
    case 33: return .sequenceParameterSet
    case 34: return .pictureParameterSet
    case 35: return .accessUnitDelimiter
    case 36, 37: return .end
    case 38: return .filler
    case 39: return .sei
    case 40: return .suffixSEI
    case 48...50: return .outsideStandard
    default: return .other
    }
  }

  /// What belongs to another layer says nothing of the base layer.
  private static func layerRole(_ type: NALUnitType) -> NALUnitRole {
    switch type.rawValue {
    case 0...31: .layerSlice
    case 32...34: .sequenceParameterSetExtension
    case 38: .filler
    case 48...50: .outsideStandard
    default: .other
    }
  }

  public static func isReference(_ nalUnit: Span<UInt8>) -> Bool {
    nalUnit.count > 0 && !NALUnitType(headerByte: nalUnit[0]).isSubLayerNonReference
  }

  public static func startsPicture(_ nalUnit: Span<UInt8>) -> Bool? { SliceSegmentHeader.startsPicture(nalUnit) }

  public static func formatDescription(
    _ sets: borrowing ParameterSets, sequenceParameterSetID: UInt8?, nalLengthSize: NALLengthSize?
  ) throws(BitstreamError) -> FormatDescription {
    try FormatDescription(sets, sequenceParameterSetID: sequenceParameterSetID, nalLengthSize: nalLengthSize)
  }

  public static func formatDescription(_ record: DecoderConfigurationRecord) throws(BitstreamError) -> FormatDescription
  {
    try FormatDescription(decoderConfigurationRecord: record)
  }

  public static func configurationRecord(
    _ format: FormatDescription
  ) throws(BitstreamError) -> DecoderConfigurationRecord {
    try format.h265DecoderConfigurationRecord()
  }

  /// Which field comes first, only picture timing SEI tells (``PictureTiming``).
  public static func scan(_ slice: SliceSegmentHeader, sps: borrowing SequenceParameterSet) -> PictureScan {
    slice.isField ? .fields(isTopFirst: true) : .frame
  }

  /// Two fields with neighbouring picture order counts, one right after the other, of which the second begins nothing.
  public static func isSecondField(_ slice: SliceSegmentHeader, of first: SliceSegmentHeader) -> Bool {
    guard slice.isField, first.isField, !slice.nalUnitType.isIRAP, slice.temporalID == first.temporalID,
      let count = slice.pictureOrderCountLSB, let before = first.pictureOrderCountLSB
    else { return false }
    // The low bits end at one less than a power of two, at least 15.
    let (low, high) = (min(count, before), max(count, before))
    return high - low == 1 || low == 0 && high >= 15 && high & (high + 1) == 0
  }

  public static func isFirstOfPicture(_ slice: SliceSegmentHeader, after last: SliceSegmentHeader) -> Bool {
    slice.isFirstInPicture || slice.nalUnitType != last.nalUnitType || slice.temporalID != last.temporalID
      || !slice.isDependent && !last.isDependent && slice.pictureOrderCountLSB != last.pictureOrderCountLSB
  }
}

extension H265.NALUnitType: NALUnitTypeSyntax {
  /// SEI in front of the picture.
  public static var sei: Self { .prefixSEI }
  /// Whether it is of an IRAP picture.
  public var isRandomAccessPoint: Bool { isIRAP }
  /// Whether it is of a RASL picture.
  public var isSkippedLeading: Bool { isRASL }
  /// Types 48 to 55 end an access unit, whatever they are (7.4.2.4.4).
  public var endsAccessUnitWhenLeftOut: Bool { isOutsideStandard }
}

extension H265.SequenceParameterSet: SequenceParameterSetSyntax {
  /// `sps_max_num_reorder_pics`, in frames.
  public var sentReorderFrames: Int? { maximumReorderFrames }
  /// Counts are always sent.
  public var followsDecodingOrder: Bool { false }
  /// Whether every picture is intra coded.
  public var forbidsBFrames: Bool { profile.isIntraOnly }
  /// Whether no picture is a single field.
  public var isFrameOnly: Bool { !isFieldSequence }
  /// Whether `vui_parameters()` is there.
  public var hasVUI: Bool { vui != nil }
}

extension H265.SliceSegmentHeader: SliceHeaderSyntax {
  /// Which field it is, only picture timing SEI tells (``H265/PictureTiming``).
  public var isBottomField: Bool { false }
  /// There are no redundant pictures.
  public var isRedundant: Bool { false }
  /// By `slice_type`.
  public var prediction: SlicePrediction? {
    switch sliceType {
    case .i: .intra
    case .p: .forward
    case .b: .bidirectional
    case nil: nil
    }
  }
  /// The picture's type alone resets counts.
  public var mayResetPOC: Bool { false }
}

extension H265.RecoveryPoint: RecoveryPointSyntax {}

extension H265.DecoderConfigurationRecord: ConfigurationRecordSyntax {}
