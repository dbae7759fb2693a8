// SPDX-License-Identifier: MPL-2.0
import H26x

extension H264: ReportedCodec {
  typealias Pictures = H264PictureWalk

  static var delimiterElement: StaticString { "primary_pic_type" }

  static func longestSliceHeader(_ sets: borrowing ParameterSets) -> Int { sets.longestSliceHeader }

  static func shortName(_ type: UInt8) -> StaticString {
    // It has half as many types as H.265.
    type < 32 ? NALUnitType(rawValue: type).shortName : "unspecified"
  }

  static func readHeader(
    _ nalUnit: Span<UInt8>, _ record: inout NALUnitRecord, wantsFields: Bool
  ) -> NALUnitHeaderDefects {
    guard nalUnit.count > 0 else { return NALUnitHeaderDefects() }
    let byte = nalUnit[0]
    let reference = byte >> 5 & 3
    let type = NALUnitType(headerByte: byte)
    record.type = type.rawValue
    record.name = type.shortName
    record.isVCL = type.isVCL || record.type == 19 || record.type == 20 || record.type == 21
    record.referenceIDC = reference
    if wantsFields {
      record.fields.append(SyntaxField("forbidden_zero_bit", Int64(byte >> 7), at: 0, count: 1))
      record.fields.append(SyntaxField("nal_ref_idc", Int64(reference), at: 1, count: 2))
      record.fields.append(SyntaxField("nal_unit_type", Int64(record.type), at: 3, count: 5))
    }
    return NALUnitHeaderDefects(hasForbiddenBit: byte & 0x80 != 0)
  }

  /// A parameter set of any kind.
  enum ParameterSet {
    case sequence(SequenceParameterSet)
    case picture(PictureParameterSet)
    case other
  }

  static func readParameterSet(
    _ nalUnit: Span<UInt8>, _ record: inout NALUnitRecord, sets: borrowing ParameterSets, trace: SyntaxTrace?
  ) -> (content: ParameterSet, hasProperEnd: Bool)? {
    do throws(BitstreamError) {
      switch NALUnitType(rawValue: record.type) {
      case .sequenceParameterSet:
        let sps = try SequenceParameterSet(nalUnit: nalUnit, trace: trace)
        record.parameterSetID = sps.id.rawValue
        return (.sequence(sps), sps.hasProperEnd)
      case .pictureParameterSet:
        var reader = BitReader(nalUnit, from: 1)
        let id = UInt8(truncatingIfNeeded: try reader.ue(in: 0...255, "pic_parameter_set_id"))
        let sequence = SequenceParameterSetID(
          UInt8(truncatingIfNeeded: try reader.ue(in: 0...31, "seq_parameter_set_id")))
        let format = sets.sequenceParameterSet(sequence)?.chromaFormat ?? .yuv420
        let pps = try PictureParameterSet(nalUnit: nalUnit, chromaFormat: format, trace: trace)
        record.parameterSetID = id
        return (.picture(pps), pps.hasProperEnd)
      case .subsetSequenceParameterSet:
        record.parameterSetID = try SubsetSequenceParameterSet(nalUnit: nalUnit, trace: trace).base.id.rawValue
      default: record.parameterSetID = try SequenceParameterSetExtension(nalUnit: nalUnit, trace: trace).id.rawValue
      }
      return (.other, true)
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
      profile: record.profile.idc, flags: UInt32(record.profile.constraintFlags) << 24, level: record.levelIDC,
      format: record.high.map { .init(chroma: $0.chromaFormat, luma: $0.lumaBitDepth, chromaDepth: $0.chromaBitDepth) },
      hasStartCodes: record.hadStartCodes)
  }

  static func configurationFields(_ sps: SequenceParameterSet) -> ConfigurationFields {
    ConfigurationFields(
      profile: sps.profile.idc, flags: UInt32(sps.profile.constraintFlags) << 24, level: sps.levelIDC,
      format: .init(chroma: sps.chromaFormat, luma: sps.lumaBitDepth, chromaDepth: sps.chromaBitDepth))
  }

  static func format(_ sps: SequenceParameterSet) -> FormatRecord {
    let crop = sps.cropRectangle
    return FormatRecord(
      width: crop.width, height: crop.height, codedWidth: sps.codedSize.width, codedHeight: sps.codedSize.height,
      profile: sps.profile.name, level: sps.level.name, chromaFormat: sps.chromaFormat.rawValue,
      bitDepth: Int(sps.lumaBitDepth), colour: sps.vui?.videoSignal?.colour,
      isFullRange: sps.vui?.videoSignal?.isFullRange, frameRate: sps.frameRate,
      maximumBitRate: sps.levelLimits?.bitRate,
      decodedPictureBuffer: sps.decodedPictureBufferFrames, reorder: sps.maximumReorderFrames)
  }
}
