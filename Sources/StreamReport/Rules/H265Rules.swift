// SPDX-License-Identifier: MPL-2.0
import H26x

extension H265: CheckedCodec {
  typealias Rules = H265Rules
}

/// Rules of H.265 on parameter sets, and the properties of it that the rules of both codecs need.
enum H265Rules: CodecRules {
  typealias Codec = H265

  static var sliceHeader: StaticString { "a slice segment header" }
  static var joinsFields: Bool { false }
  static var recordNames: RecordNames {
    RecordNames(
      profile: "general_profile_idc", level: "general_level_idc", flag: ("general_profile_compatibility_flag[", "]"))
  }
  static var lowestLevel: UInt8 { 0 }

  static func allows(_ letter: UInt8, after delimiter: AnnouncedType) -> Bool {
    switch delimiter.rawValue {
    case 0: letter == 0x49
    case 1: letter != 0x42
    default: true
    }
  }

  static func check(_ set: H265.ParameterSet, log: inout FindingLog) {
    switch set {
    case .video(let reserved):
      if reserved != 0xFFFF {
        log.report(.reservedValue, "vps_reserved_0xffff_16bits \(reserved)", expected: "65535")
      }
    case .sequence(let sps): check(sps, log: &log)
    case .picture: break
    }
  }

  /// Checks an SPS against its level and profile (Annex A).
  private static func check(_ sps: H265.SequenceParameterSet, log: inout FindingLog) {
    checkProfile(sps, log: &log)
    checkSizes(sps, log: &log)
    if let vui = sps.vui {
      ParameterSetRules.check(
        aspectRatio: vui.aspectRatioIDC, unitsInTick: vui.timing?.unitsInTick, timeScale: vui.timing?.timeScale,
        log: &log)
    }
    if let restriction = sps.vui?.bitstreamRestriction {
      ParameterSetRules.check(
        restriction.minimumSpatialSegmentation, "min_spatial_segmentation_idc", most: 4095, log: &log)
      ParameterSetRules.check(restriction.maximumBytesPerPictureDenominator, "max_bytes_per_pic_denom", log: &log)
      ParameterSetRules.check(
        restriction.maximumBitsPerMinimumCodingUnitDenominator, "max_bits_per_min_cu_denom", log: &log)
      ParameterSetRules.check(
        restriction.log2MaximumMotionVectorLengthHorizontal, "log2_max_mv_length_horizontal", log: &log)
      ParameterSetRules.check(
        restriction.log2MaximumMotionVectorLengthVertical, "log2_max_mv_length_vertical", log: &log)
    }
    let level = sps.level
    guard level.name != nil || level.idc == 255 else {
      return log.report(.unknownLevel, "general_level_idc \(level.idc)", expected: "a level of Table A.8")
    }
    if level.idc > 156, level.idc != 255 {
      log.report(.decoderLevel, "general_level_idc \(level.idc)", expected: "156 at most")
    }
    guard let limits = sps.levelLimits else { return }
    let (width, height) = (UInt64(sps.codedSize.width), UInt64(sps.codedSize.height))
    let (size, isHuge) = width.multipliedReportingOverflow(by: height)
    let isLong = max(width, height) * max(width, height) > 8 * limits.pictureSize
    if isHuge || size > limits.pictureSize || isLong {
      log.report(
        .levelFrameSize, "\(width)x\(height) luma samples",
        expected: "MaxLumaPs \(limits.pictureSize), no side above the root of 8 MaxLumaPs")
    } else if let rate = sps.frameRate, sps.hasFixedPictureRate {
      let (frames, seconds) = (UInt64(rate.numerator), UInt64(rate.denominator) * UInt64(sps.ticksPerPicture))
      let pictures = sps.isFieldSequence ? frames * 2 : frames
      if limits.isExceeded(bySize: size, pictures: pictures, inSeconds: seconds) {
        log.report(
          .levelRate, "\(size) luma samples at \(frames)/\(seconds) frames a second",
          expected: "MaxLumaSr \(limits.rate)")
      }
    }
    if !isHuge {
      let pictures = level.maximumDecodedPictures(
        lumaPictureSize: Int(clamping: size), isScreenContent: sps.profile.idc == 9 || sps.profile.idc == 11)
      if sps.decodedPictureBufferPictures > pictures {
        log.report(
          .levelBuffer, "sps_max_dec_pic_buffering \(sps.decodedPictureBufferPictures)",
          expected: "MaxDpbSize \(pictures)")
      }
    }
    guard let hrd = sps.vui?.timing?.hrdParameters, let layer = hrd.subLayers.last else { return }
    check(hrd, layer.nal, limits.nalBitRate, limits.nalCodedBuffer, log: &log)
    check(hrd, layer.vcl, limits.bitRate, limits.codedBuffer, log: &log)
  }

  /// 7.4.3.2.1: sizes of pictures and blocks.
  private static func checkSizes(_ sps: H265.SequenceParameterSet, log: inout FindingLog) {
    let block = 1 << Int(min(sps.log2MinimumCodingBlockSize, 31))
    if sps.codedSize.width % block != 0 || sps.codedSize.height % block != 0 {
      log.report(
        .reservedValue, "\(sps.codedSize.width)x\(sps.codedSize.height) luma samples",
        expected: "multiples of MinCbSizeY \(block)")
    }
    if sps.log2MinimumTransformBlockSize >= sps.log2MinimumCodingBlockSize {
      log.report(
        .reservedValue, "MinTbLog2SizeY \(sps.log2MinimumTransformBlockSize)",
        expected: "less than MinCbLog2SizeY \(sps.log2MinimumCodingBlockSize)")
    }
  }

  private static func check(
    _ hrd: H265.HRDParameters, _ buffers: [H265.HRDParameters.CodedPictureBuffer], _ bitRate: UInt64, _ size: UInt64,
    log: inout FindingLog
  ) {
    guard !buffers.isEmpty else { return }
    let lowest = buffers.map { hrd.bitRate(of: $0) }.min() ?? 0
    if lowest > bitRate { log.report(.levelBitRate, "BitRate \(lowest)", expected: "\(bitRate) at most") }
    let least = buffers.map { hrd.size(of: $0) }.min() ?? 0
    if least > size { log.report(.levelCodedBuffer, "CpbSize \(least)", expected: "\(size) at most") }
  }

  private static func checkProfile(_ sps: H265.SequenceParameterSet, log: inout FindingLog) {
    let depth = max(sps.lumaBitDepth, sps.chromaBitDepth)
    let profile = sps.profile
    let idc = profile.idc
    let allowed: (depth: UInt8, chroma: UInt8)? =
      switch idc {
      case 1, 3: (8, 1)
      case 2: (10, 1)
      default: nil
      }
    if let allowed, depth > allowed.depth || sps.chromaFormat != .yuv420 {
      log.report(
        .profileFormat, "\(sps.chromaFormat.name), \(depth) bit with general_profile_idc \(idc)",
        expected: "\(allowed.depth) bit, chroma_format_idc \(allowed.chroma)")
    }
    if idc >= 4, idc <= 11 {
      let constraints = profile.constraints
      let limit: UInt8 =
        constraints.contains(.maximum8Bit)
        ? 8 : constraints.contains(.maximum10Bit) ? 10 : constraints.contains(.maximum12Bit) ? 12 : 16
      if depth > limit || (constraints.contains(.maximum420) && sps.chromaFormat.rawValue > 1)
        || (constraints.contains(.maximum422) && sps.chromaFormat.rawValue > 2)
        || (constraints.contains(.monochrome) && sps.chromaFormat.rawValue > 0)
      {
        log.report(
          .profileFormat, "\(sps.chromaFormat.name), \(depth) bit",
          expected: "a format that the general constraint flags allow")
      }
    }
    if idc == 0 || idc > 11 {
      log.report(.unknownProfile, "general_profile_idc \(idc)", expected: "a profile of Annex A")
    }
    if idc >= 1, idc <= 3, sps.extensions?.range != nil || sps.extensions?.screenContent != nil {
      log.report(.profileTool, "extensions of the SPS with general_profile_idc \(idc)", expected: "none")
    }
    if profile.constraints.contains(.frameOnly), sps.isFieldSequence {
      log.report(
        .profileTool, "field_seq_flag 1 with general_frame_only_constraint_flag 1", expected: "one of them 0")
    }
    if profile.space != 0 { log.report(.reservedValue, "general_profile_space \(profile.space)", expected: "0") }
    if profile.constraints.rawValue & profile.reservedConstraints != 0 {
      log.report(.reservedValue, "general_reserved_zero bits that are 1", expected: "0")
    }
    // High dynamic range has 10 bit, and decoders for it have them, too.
    let common: UInt8 = sps.isHighDynamicRange ? 10 : 8
    if depth > common || sps.chromaFormat != .yuv420 {
      log.report(.decoderFormat, "\(sps.chromaFormat.name), \(depth) bit", expected: "4:2:0, \(common) bit")
    }
  }
}

extension H265.SequenceParameterSet {
  /// Whether the VUI signals the transfer characteristics of PQ or HLG.
  var isHighDynamicRange: Bool {
    guard let transfer = vui?.videoSignal?.colour?.transfer else { return false }
    return transfer == 16 || transfer == 18
  }
}

extension H265.Profile {
  /// Those of the 48 constraint bits that are reserved in this profile (7.3.3).
  fileprivate var reservedConstraints: UInt64 {
    let low: UInt64 = 0x3_FFFF_FFFE
    func isLike(_ profiles: ClosedRange<UInt8>) -> Bool { profiles.contains { isCompatible(with: $0) } }
    if isLike(4...11) {
      return isCompatible(with: 5) || isLike(9...11) ? low : low | Constraints.maximum14Bit.rawValue
    }
    let all: UInt64 = 0xFFF_FFFF_FFFE
    return isCompatible(with: 2) ? all & ~Constraints.onePicture.rawValue : all
  }
}
