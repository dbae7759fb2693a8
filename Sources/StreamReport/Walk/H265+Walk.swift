// SPDX-License-Identifier: MPL-2.0
import H26x

extension H265: ReportedCodec {
  typealias Pictures = H265PictureWalk

  static var delimiterElement: StaticString { "pic_type" }

  static func longestSliceHeader(_ sets: borrowing ParameterSets) -> Int { sets.longestSliceHeader }

  static func shortName(_ type: UInt8) -> StaticString { NALUnitType(rawValue: type).shortName }

  static func readHeader(
    _ nalUnit: Span<UInt8>, _ record: inout NALUnitRecord, wantsFields: Bool
  ) -> NALUnitHeaderDefects {
    guard nalUnit.count > 1 else { return NALUnitHeaderDefects(isTruncated: true) }
    let (byte, second) = (nalUnit[0], nalUnit[1])
    let type = NALUnitType(headerByte: byte)
    let layer = (byte & 1) << 5 | second >> 3
    record.type = type.rawValue
    record.name = type.shortName
    record.isVCL = type.isVCL
    record.layerID = layer
    record.temporalID = second & 7 == 0 ? 0 : (second & 7) - 1
    if wantsFields {
      record.fields.append(SyntaxField("forbidden_zero_bit", Int64(byte >> 7), at: 0, count: 1))
      record.fields.append(SyntaxField("nal_unit_type", Int64(record.type), at: 1, count: 6))
      record.fields.append(SyntaxField("nuh_layer_id", Int64(layer), at: 7, count: 6))
      record.fields.append(SyntaxField("nuh_temporal_id_plus1", Int64(second & 7), at: 13, count: 3))
    }
    return NALUnitHeaderDefects(hasForbiddenBit: byte & 0x80 != 0, lacksTemporalID: second & 7 == 0)
  }

  /// A parameter set of any kind.
  enum ParameterSet {
    /// A VPS, by its `vps_reserved_0xffff_16bits`.
    case video(reserved: UInt32)
    case sequence(SequenceParameterSet)
    case picture
  }

  static func readParameterSet(
    _ nalUnit: Span<UInt8>, _ record: inout NALUnitRecord, sets: borrowing ParameterSets, trace: SyntaxTrace?
  ) -> (content: ParameterSet, hasProperEnd: Bool)? {
    // Parameter sets of other layers have the syntax of extensions that are not read here.
    guard record.layerID == 0 else { return nil }
    do throws(BitstreamError) {
      switch NALUnitType(rawValue: record.type) {
      case .videoParameterSet:
        var reserved: UInt32 = 0
        let vps = try VideoParameterSet(nalUnit: nalUnit, trace: trace, reserved: &reserved)
        record.parameterSetID = vps.id.rawValue
        return (.video(reserved: reserved), vps.hasProperEnd)
      case .sequenceParameterSet:
        let sps = try SequenceParameterSet(nalUnit: nalUnit, trace: trace)
        record.parameterSetID = sps.id.rawValue
        return (.sequence(sps), sps.hasProperEnd)
      default:
        let pps = try PictureParameterSet(nalUnit: nalUnit, trace: trace)
        record.parameterSetID = pps.id.rawValue
        return (.picture, pps.hasProperEnd)
      }
    } catch {
      record.error = error
      return nil
    }
  }

  static func sequenceParameterSet(_ set: ParameterSet) -> SequenceParameterSet? {
    if case .sequence(let sps) = set { sps } else { nil }
  }

  static func configurationFields(_ record: borrowing ConfigurationRecord) -> ConfigurationFields {
    ConfigurationFields(
      profile: record.profile.idc, flags: record.profile.compatibilityFlags, level: record.levelIDC,
      isHighTier: record.profile.isHighTier,
      format: .init(chroma: record.chromaFormat, luma: record.lumaBitDepth, chromaDepth: record.chromaBitDepth),
      hasStartCodes: record.hadStartCodes)
  }

  static func configurationFields(_ sps: SequenceParameterSet) -> ConfigurationFields {
    ConfigurationFields(
      profile: sps.profile.idc, flags: sps.profile.compatibilityFlags, level: sps.level.idc,
      isHighTier: sps.level.isHighTier,
      format: .init(chroma: sps.chromaFormat, luma: sps.lumaBitDepth, chromaDepth: sps.chromaBitDepth))
  }

  static func format(_ sps: SequenceParameterSet) -> FormatRecord {
    let crop = sps.cropRectangle
    return FormatRecord(
      width: crop.width, height: crop.height, codedWidth: sps.codedSize.width, codedHeight: sps.codedSize.height,
      profile: sps.profileName, level: sps.level.name, tier: sps.level.tierName,
      chromaFormat: sps.chromaFormat.rawValue, bitDepth: Int(sps.lumaBitDepth), colour: sps.vui?.videoSignal?.colour,
      isFullRange: sps.vui?.videoSignal?.isFullRange, isFieldSequence: sps.isFieldSequence,
      frameRate: sps.frameRate,
      maximumBitRate: sps.levelLimits?.bitRate, decodedPictureBuffer: sps.decodedPictureBufferPictures,
      reorder: sps.maximumReorderPictures)
  }
}
