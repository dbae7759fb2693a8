// SPDX-License-Identifier: MPL-2.0
import H26x

extension H265: ReportedCodec {
  typealias Checker = H265Checker

  static func longestSliceHeader(_ sets: borrowing ParameterSets) -> Int { sets.longestSliceHeader }

  static func shortName(_ type: UInt8) -> StaticString {
    switch type {
    case 0: "TRAIL_N"
    case 1: "TRAIL_R"
    case 2: "TSA_N"
    case 3: "TSA_R"
    case 4: "STSA_N"
    case 5: "STSA_R"
    case 6: "RADL_N"
    case 7: "RADL_R"
    case 8: "RASL_N"
    case 9: "RASL_R"
    case 16: "BLA_W_LP"
    case 17: "BLA_W_RADL"
    case 18: "BLA_N_LP"
    case 19: "IDR_W_RADL"
    case 20: "IDR_N_LP"
    case 21: "CRA"
    case 32: "VPS"
    case 33: "SPS"
    case 34: "PPS"
    case 35: "AUD"
    case 36: "EOS"
    case 37: "EOB"
    case 38: "filler"
    case 39: "SEI"
    case 40: "suffix SEI"
    case 48: "aggregation packet"
    case 49: "fragmentation unit"
    case 50: "PACI"
    case 51...63: "unspecified"
    default: "reserved"
    }
  }

  static func readHeader(
    _ nalUnit: Span<UInt8>, _ record: inout NALUnitRecord, wantsFields: Bool, log: inout FindingLog
  ) {
    guard nalUnit.count > 1 else {
      return log.report(.truncated, "a NAL unit of one byte", expected: "a header of two")
    }
    let (byte, second) = (nalUnit[0], nalUnit[1])
    let type = NALUnitType(headerByte: byte)
    let layer = (byte & 1) << 5 | second >> 3
    record.type = type.rawValue
    record.name = shortName(record.type)
    record.isVCL = type.isVCL
    record.layerID = layer
    record.temporalID = second & 7 == 0 ? 0 : (second & 7) - 1
    if wantsFields {
      record.fields.append(SyntaxField("forbidden_zero_bit", Int64(byte >> 7), at: 0, count: 1))
      record.fields.append(SyntaxField("nal_unit_type", Int64(record.type), at: 1, count: 6))
      record.fields.append(SyntaxField("nuh_layer_id", Int64(layer), at: 7, count: 6))
      record.fields.append(SyntaxField("nuh_temporal_id_plus1", Int64(second & 7), at: 13, count: 3))
    }
    if byte & 0x80 != 0 { log.report(.forbiddenBit, "forbidden_zero_bit 1", expected: "0") }
    if second & 7 == 0 { log.report(.temporalID, "nuh_temporal_id_plus1 0", expected: "1 to 7") }
    let temporal = record.temporalID ?? 0
    switch record.type {
    case 16...23, 32, 33, 36, 37:
      if temporal != 0 {
        log.report(.temporalID, "TemporalId \(temporal) with \(record.name)", expected: "TemporalId 0")
      }
    case 2, 3:
      if temporal == 0 { log.report(.temporalID, "TemporalId 0 with \(record.name)", expected: "more than 0") }
    case 4, 5:
      if temporal == 0, layer == 0 {
        log.report(.temporalID, "TemporalId 0 with \(record.name)", expected: "more than 0")
      }
    // 51 to 63 are unspecified: applications may use them.
    case 10...15, 24...31, 41...50:
      log.report(.reservedType, "nal_unit_type \(record.type)", expected: "one that Table 7-1 defines")
    default: break
    }
    if record.type == 22 || record.type == 23 {
      log.report(.reservedType, "nal_unit_type \(record.type)", expected: "one that Table 7-1 defines")
    }
  }

  static func readParameterSet(
    _ nalUnit: Span<UInt8>, _ record: inout NALUnitRecord, sets: borrowing ParameterSets, trace: SyntaxTrace?,
    log: inout FindingLog
  ) {
    // Parameter sets of other layers have the syntax of extensions that are not read here.
    guard record.layerID == 0 else { return }
    do throws(BitstreamError) {
      let endsProperly: Bool
      switch NALUnitType(rawValue: record.type) {
      case .videoParameterSet:
        let vps = try VideoParameterSet(nalUnit: nalUnit, trace: trace)
        (record.parameterSetID, endsProperly) = (vps.id, vps.hasProperEnd)
        // After 16 bits of id, flags and counts.
        var reader = BitReader(nalUnit, from: nalUnitHeaderLength + 2)
        let reserved = try reader.u(16, "vps_reserved_0xffff_16bits")
        if reserved != 0xFFFF {
          log.report(.reservedValue, "vps_reserved_0xffff_16bits \(reserved)", expected: "65535")
        }
      case .sequenceParameterSet:
        let sps = try SequenceParameterSet(nalUnit: nalUnit, trace: trace)
        (record.parameterSetID, endsProperly) = (sps.id, sps.hasProperEnd)
        H265Rules.check(sps, log: &log)
      default:
        let pps = try PictureParameterSet(nalUnit: nalUnit, trace: trace)
        (record.parameterSetID, endsProperly) = (pps.id, pps.hasProperEnd)
      }
      if !endsProperly {
        log.report(.trailingBits, "other bits at the end of \(record.name)", expected: "rbsp_trailing_bits()")
      }
    } catch {
      record.error = error
      log.report(.unreadableParameterSet, "\(record.name): \(ReportText(error))", expected: "a parameter set")
    }
  }

  static var recordNames: RecordNames {
    RecordNames(
      profile: "general_profile_idc", flag: ("general_profile_compatibility_flag[", "]"), level: "general_level_idc",
      lowestLevel: 0)
  }

  static func facts(_ record: borrowing ConfigurationRecord) -> RecordFacts {
    RecordFacts(
      profile: record.profile.idc, flags: record.profile.compatibilityFlags, level: record.levelIDC,
      isHighTier: record.profile.isHighTier,
      format: .init(chroma: record.chromaFormat, luma: record.lumaBitDepth, chromaDepth: record.chromaBitDepth))
  }

  static func facts(_ sps: SequenceParameterSet) -> RecordFacts {
    RecordFacts(
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
      isFullRange: sps.vui?.videoSignal?.isFullRange,
      frameRate: sps.frameRate,
      maximumBitRate: sps.levelLimits?.bitRate, decodedPictureBuffer: sps.decodedPictureBufferPictures,
      reorder: sps.maximumReorderPictures)
  }
}
