// SPDX-License-Identifier: MPL-2.0

extension H265: VideoCodecSyntax {
  /// H.265.
  public static var codec: FormatDescription.Codec { .h265 }
  /// "H.265".
  public static var name: String { "H.265" }
  /// "video/x-h265".
  package static var mediaType: String { "video/x-h265" }
  /// "hvc1".
  package static var outOfBandStreamFormat: String { "hvc1" }
  /// "hev1".
  package static var inBandStreamFormat: String { "hev1" }

  /// Two bytes.
  public static var nalUnitHeaderLength: Int { NALUnitHeader.byteCount }
  /// An access unit delimiter, header included, that any picture may follow.
  ///
  /// - Parameter temporalID: the temporal sub-layer of that picture, 0 to 6.
  public static func accessUnitDelimiter(temporalID: UInt8) -> [UInt8] { [0x46, min(temporalID, 6) + 1, 0x50] }
  /// The temporal sub-layer of a NAL unit, by its header; 0 if that is truncated or damaged.
  public static func temporalID(of nalUnit: Span<UInt8>) -> UInt8 {
    guard nalUnit.count > 1 else { return 0 }
    let temporalIDPlus1 = nalUnit[1] & 7
    return temporalIDPlus1 == 0 ? 0 : temporalIDPlus1 - 1
  }

  /// The configuration record, hvcC.
  public typealias ConfigurationRecord = DecoderConfigurationRecord

  /// Returns the role of a NAL unit in its access unit, by its header.
  ///
  /// - Parameter nalUnit: the NAL unit, header included; an empty one is ``NALUnitRole/other``.
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

  /// The role of a NAL unit of another layer.
  private static func layerRole(_ type: NALUnitType) -> NALUnitRole {
    switch type.rawValue {
    case 0...31: .layerSlice
    case 32...34: .sequenceParameterSetExtension
    case 38: .filler
    case 48...50: .outsideStandard
    default: .other
    }
  }

  /// Whether other pictures may refer to the picture of this slice. Those of higher temporal sub-layers refer to lower
  /// ones whatever their type, and only the SPS has the number of sub-layers: true for all.
  ///
  /// - Parameter nalUnit: a slice, header included.
  public static func isReference(_ nalUnit: Span<UInt8>) -> Bool { nalUnit.count > 0 }

  /// Whether the slice begins its picture (`first_slice_segment_in_pic_flag`). Needs no parameter set; nil if it is
  /// truncated or the type has no slice header.
  public static func startsPicture(_ nalUnit: Span<UInt8>) -> Bool? { SliceSegmentHeader.startsPicture(nalUnit) }

  /// The description of a stream with these parameter sets.
  ///
  /// - Parameters:
  ///   - sets: all of them go into the description.
  ///   - sequenceParameterSetID: the SPS that is described, nil for the first there is.
  ///   - nalLengthSize: size of the stream's length prefixes; nil for start codes.
  /// - Throws: `.missingParameterSet` when the SPS is not there.
  public static func formatDescription(
    _ sets: borrowing ParameterSets, sequenceParameterSetID: SequenceParameterSetID?, nalLengthSize: NALLengthSize?
  ) throws(BitstreamError) -> FormatDescription {
    try FormatDescription(sets, sequenceParameterSetID: sequenceParameterSetID, nalLengthSize: nalLengthSize)
  }

  /// The description of a stream with this configuration record.
  ///
  /// - Throws: `.missingParameterSet` when it holds no SPS, or the error of reading its parameter sets.
  public static func formatDescription(_ record: DecoderConfigurationRecord) throws(BitstreamError) -> FormatDescription
  {
    try FormatDescription(decoderConfigurationRecord: record)
  }

  /// The hvcC record of a description.
  ///
  /// - Throws: `.missingParameterSet` without an SPS, or the error of reading it.
  public static func configurationRecord(
    _ format: FormatDescription
  ) throws(BitstreamError) -> DecoderConfigurationRecord {
    try format.h265DecoderConfigurationRecord()
  }

  /// Frames or fields. Only picture timing SEI has the order of fields (``PictureTiming``).
  package static func scan(_ slice: SliceSegmentHeader, sps: borrowing SequenceParameterSet) -> PictureScan {
    slice.isField ? .fields(isTopFirst: true) : .frame
  }

  /// The field by `pic_struct` (Table D.2).
  package static func presentedField(
    _ message: borrowing SEIMessages.Message, sps: borrowing SequenceParameterSet
  ) -> PictureTiming.Structure? {
    do throws(BitstreamError) {
      let structure = try PictureTiming(message, sps: sps).display?.structure
      return structure?.isField == true ? structure : nil
    } catch { return nil }
  }

  /// By how much POC rises, or falls.
  package static func recoveryDistance(
    from slice: SliceSegmentHeader, to next: SliceSegmentHeader, sps: borrowing SequenceParameterSet
  ) -> Int {
    let modulus = 1 << Int(sps.log2MaximumPictureOrderCount)
    let rise = (Int(next.pictureOrderCountLSB ?? 0) - Int(slice.pictureOrderCountLSB ?? 0)) & (modulus - 1)
    return rise < modulus / 2 ? rise : rise - modulus
  }

  /// The address of a slice segment in tile scan (7.4.2.4.5).
  public static func decodingAddress(
    of slice: SliceSegmentHeader, parameterSets: borrowing ParameterSets
  ) -> UInt32 {
    parameterSets.tileScanAddress(of: slice)
  }

  /// Whether two fields make a frame: consecutive, with neighboring POCs, and the second no IRAP picture. That is a guess
  /// for fields with B pictures, whose frames are known only in the order of presentation (D.3.3).
  public static func isSecondField(_ slice: SliceSegmentHeader, of first: SliceSegmentHeader) -> Bool {
    guard slice.isField, first.isField, !slice.nalUnitType.isIRAP, slice.temporalID == first.temporalID,
      let count = slice.pictureOrderCountLSB, let before = first.pictureOrderCountLSB
    else { return false }
    // The largest value of the low bits is one less than a power of two, at least 15.
    let (low, high) = (min(count, before), max(count, before))
    return high - low == 1 || low == 0 && high >= 15 && high & (high + 1) == 0
  }

  /// Whether a slice belongs to another picture than the slice before it in decoding order.
  public static func isFirstOfPicture(_ slice: SliceSegmentHeader, after last: SliceSegmentHeader) -> Bool {
    slice.isFirstInPicture || slice.nalUnitType != last.nalUnitType || slice.temporalID != last.temporalID
      || !slice.isDependent && !last.isDependent && slice.pictureOrderCountLSB != last.pictureOrderCountLSB
  }
}

extension H265.NALUnitType: NALUnitTypeSyntax {
  /// Prefix SEI.
  public static var sei: Self { .prefixSEI }
  /// Whether it is of an IRAP picture.
  public var isRandomAccessPoint: Bool { isIRAP }
  /// Whether it is of a RASL picture.
  public var isSkippedLeading: Bool { isRASL }
  /// Types 48 to 55 begin the next access unit, regardless of their meaning (7.4.2.4.4).
  public var endsAccessUnitWhenDropped: Bool { isRTPOnly }
}

extension H265.SequenceParameterSet: SequenceParameterSetSyntax {
  /// `sps_max_num_reorder_pics`, in frames.
  public var sentReorderFrames: Int? { maximumReorderFrames }
  /// Whether nothing is reordered.
  public var followsDecodingOrder: Bool { maximumReorderPictures == 0 || forbidsBFrames }
  /// Whether the profile has only intra pictures.
  public var forbidsBFrames: Bool { profile.isIntraOnly }
  /// Whether no picture is a single field.
  public var isFrameOnly: Bool { !isFieldSequence }
  /// 2 for fields, of which two make a frame; else 1.
  public var picturesPerFrame: Int { isFieldSequence ? 2 : 1 }
  /// 1: each picture counts.
  public var usualOrderStep: Int { 1 }
  /// Whether `vui_parameters()` is there.
  public var hasVUI: Bool { vui != nil }
}

extension H265.SliceSegmentHeader: SliceHeaderSyntax {
  /// The reference picture sets.
  public typealias References = H265.ReferenceSyntax
  /// Yes: each picture sends its reference picture sets.
  public static var sendsReferences: Bool { true }
  /// `slice_segment_address`.
  public var address: UInt32 { segmentAddress }
  /// False: only picture timing SEI identifies the field (``H265/PictureTiming``).
  public var isBottomField: Bool { false }
  /// False: there are no redundant pictures.
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
  /// False: only the picture's type resets POC.
  public var mayResetPOC: Bool { false }
}

extension H265.RecoveryPoint: RecoveryPointSyntax {}

extension H265.DecoderConfigurationRecord: ConfigurationRecordSyntax {
  /// The box that holds it.
  public static var name: String { "hvcC" }
  /// The byte whose low two bits are `lengthSizeMinusOne`.
  public static var lengthSizeOffset: Int { 21 }
  /// The record with the arrays of VPS, SPS, PPS and SEI, in this order, in front of all others.
  public var inOrder: Self {
    var record = self
    let types: [H265.NALUnitType] = [
      .videoParameterSet, .sequenceParameterSet, .pictureParameterSet, .prefixSEI, .suffixSEI,
    ]
    record.arrays = types.flatMap { type in arrays.filter { $0.type == type } }
    record.arrays += arrays.filter { !types.contains($0.type) }
    return record
  }
}

extension H265: ElementCodecSyntax {
  package static var fillerHeader: UInt8 { NALUnitType.fillerData.rawValue << 1 }
  package static var endOfSequence: [UInt8] { [NALUnitType.endOfSequence.rawValue << 1, 1] }

  package static func videoParameterSetID(of nalUnit: Span<UInt8>) -> VideoParameterSetID? {
    role(of: nalUnit) == .videoParameterSet && nalUnit.count > 2 ? .init(nalUnit[2] >> 4) : nil
  }
}
