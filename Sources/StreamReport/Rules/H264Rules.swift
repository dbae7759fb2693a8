// SPDX-License-Identifier: MPL-2.0
import H26x

extension H264: CheckedCodec {
  typealias Rules = H264Rules
}

/// Rules of H.264 on parameter sets, and the properties of it that the rules of both codecs need.
enum H264Rules: CodecRules {
  typealias Codec = H264

  static var sliceHeader: StaticString { "a slice header" }
  static var joinsFields: Bool { true }
  static var recordNames: RecordNames {
    RecordNames(profile: "AVCProfileIndication", level: "AVCLevelIndication", flag: ("constraint_set", "_flag"))
  }
  /// Level 1b may be 9 or 11.
  static var lowestLevel: UInt8 { 11 }

  static func allows(_ letter: UInt8, after delimiter: AnnouncedType) -> Bool {
    switch delimiter.rawValue {
    case 0, 3, 5: letter == 0x49
    case 1, 4, 6: letter != 0x42
    default: true
    }
  }

  static func check(_ set: H264.ParameterSet, log: inout FindingLog) {
    switch set {
    case .sequence(let sps): check(sps, log: &log)
    case .picture(let pps): check(pps, log: &log)
    case .other: break
    }
  }

  /// Checks an SPS against its level and profile (Annex A).
  private static func check(_ sps: H264.SequenceParameterSet, log: inout FindingLog) {
    if sps.profile.constraintFlags & 3 != 0 {
      log.report(.reservedValue, "reserved_zero_2bits \(sps.profile.constraintFlags & 3)", expected: "0")
    }
    if sps.profile.name == nil {
      log.report(.unknownProfile, "profile_idc \(sps.profile.idc)", expected: "a profile of Annex A")
    }
    if let vui = sps.vui {
      ParameterSetRules.check(
        aspectRatio: vui.aspectRatioIDC, unitsInTick: vui.timing?.unitsInTick, timeScale: vui.timing?.timeScale,
        log: &log)
    }
    if let restriction = sps.vui?.bitstreamRestriction {
      ParameterSetRules.check(restriction.maximumBytesPerPictureDenominator, "max_bytes_per_pic_denom", log: &log)
      ParameterSetRules.check(restriction.maximumBitsPerMacroblockDenominator, "max_bits_per_mb_denom", log: &log)
      ParameterSetRules.check(
        restriction.log2MaximumMotionVectorLengthHorizontal, "log2_max_mv_length_horizontal", log: &log)
      ParameterSetRules.check(
        restriction.log2MaximumMotionVectorLengthVertical, "log2_max_mv_length_vertical", log: &log)
    }
    checkFormat(sps, log: &log)
    if sps.lumaBitDepth > 8 || sps.chromaFormat != .yuv420 {
      log.report(
        .decoderFormat, "\(sps.chromaFormat.name), \(sps.lumaBitDepth) bit", expected: "4:2:0, 8 bit")
    } else if !sps.isFrameOnly {
      log.report(.decoderFormat, "interlaced tools", expected: "frame_mbs_only_flag 1")
    }
    guard let limits = sps.levelLimits else {
      return log.report(.unknownLevel, "level_idc \(sps.levelIDC)", expected: "a level of Table A-1")
    }
    if sps.levelIDC > 51 { log.report(.decoderLevel, "level_idc \(sps.levelIDC)", expected: "51 at most") }
    check(sps, limits, log: &log)
  }

  /// Checks values of a PPS that decoders do without.
  private static func check(_ pps: H264.PictureParameterSet, log: inout FindingLog) {
    if pps.weightedBipredictionIDC > 2 {
      log.report(.reservedValue, "weighted_bipred_idc \(pps.weightedBipredictionIDC)", expected: "0 to 2")
    }
    if !(0...51).contains(pps.initialQS) {
      log.report(.reservedValue, "pic_init_qs_minus26 \(pps.initialQS - 26)", expected: "-26 to 25")
    }
  }

  private static func check(_ sps: H264.SequenceParameterSet, _ limits: LevelLimits, log: inout FindingLog) {
    let (width, height) = (UInt64(sps.widthInMacroblocks), UInt64(sps.heightInMacroblocks))
    let (size, isHuge) = width.multipliedReportingOverflow(by: height)
    let isLong = max(width, height) * max(width, height) > 8 * limits.pictureSize
    if isHuge || size > limits.pictureSize || isLong {
      log.report(
        .levelFrameSize, "\(width)x\(height) macroblocks",
        expected: "MaxFS \(limits.pictureSize) macroblocks, no side above the root of 8 MaxFS")
    } else if let rate = sps.frameRate, sps.vui?.timing?.isFixedFrameRate == true,
      limits.isExceeded(bySize: size, pictures: UInt64(rate.numerator), inSeconds: UInt64(rate.denominator))
    {
      log.report(
        .levelRate, "\(size) macroblocks at \(rate.numerator)/\(rate.denominator) frames a second",
        expected: "MaxMBPS \(limits.rate)")
    }
    let frames = sps.maximumDecodedPictureBufferFrames
    if let sent = sps.vui?.bitstreamRestriction?.maximumDecodedFrameBuffering, Int(sent) > frames {
      log.report(.levelBuffer, "max_dec_frame_buffering \(sent)", expected: "MaxDpbFrames \(frames)")
    }
    if Int(sps.maximumReferenceFrames) > frames {
      log.report(.levelBuffer, "max_num_ref_frames \(sps.maximumReferenceFrames)", expected: "MaxDpbFrames \(frames)")
    }
    if let sent = sps.vui?.bitstreamRestriction?.maximumDecodedFrameBuffering, sent < sps.maximumReferenceFrames {
      log.report(
        .tooManyReferences, "max_num_ref_frames \(sps.maximumReferenceFrames)",
        expected: "max_dec_frame_buffering \(sent) at most")
    }
    if !sps.isFrameOnly, sps.levelIDC < 21 || sps.levelIDC > 41 {
      log.report(
        .profileTool, "frame_mbs_only_flag 0 at level_idc \(sps.levelIDC)", expected: "1, except at levels 2.1 to 4.1")
    }
    if let restriction = sps.vui?.bitstreamRestriction,
      restriction.maximumReorderFrames > restriction.maximumDecodedFrameBuffering
    {
      log.report(
        .reorderDepth, "max_num_reorder_frames \(restriction.maximumReorderFrames)",
        expected: "max_dec_frame_buffering \(restriction.maximumDecodedFrameBuffering) at most")
    }
    check(sps.vui?.nalHRD, limits.nalBitRate, limits.nalCodedBuffer, log: &log)
    check(sps.vui?.vclHRD, limits.bitRate, limits.codedBuffer, log: &log)
  }

  /// At least one of the buffers must conform to the level (A.3.1).
  private static func check(
    _ hrd: H264.HRDParameters?, _ bitRate: UInt64, _ size: UInt64, log: inout FindingLog
  ) {
    guard let hrd, !hrd.buffers.isEmpty else { return }
    let lowest = hrd.buffers.map { hrd.bitRate(of: $0) }.min() ?? 0
    if lowest > bitRate { log.report(.levelBitRate, "BitRate \(lowest)", expected: "\(bitRate) at most") }
    let least = hrd.buffers.map { hrd.size(of: $0) }.min() ?? 0
    if least > size { log.report(.levelCodedBuffer, "CpbSize \(least)", expected: "\(size) at most") }
  }

  private static func checkFormat(_ sps: H264.SequenceParameterSet, log: inout FindingLog) {
    let depth = max(sps.lumaBitDepth, sps.chromaBitDepth)
    let allowed: (depth: UInt8, chroma: UInt8)? =
      switch sps.profile.idc {
      case 100, 118, 128: (8, 1)
      case 110: (10, 1)
      case 122: (10, 2)
      case 244, 44: (14, 3)
      default: nil
      }
    if !sps.isFrameOnly, sps.profile.isConstrained(toSet: 4), sps.profile.demandsFramesBySet4 {
      log.report(.profileTool, "frame_mbs_only_flag 0 with constraint_set4_flag 1", expected: "1")
    }
    guard let allowed else {
      if sps.profile.idc == 66, !sps.isFrameOnly {
        log.report(.profileTool, "frame_mbs_only_flag 0 in the Baseline profile", expected: "1")
      }
      return
    }
    if depth > allowed.depth || sps.chromaFormat.rawValue > allowed.chroma {
      log.report(
        .profileFormat, "\(sps.chromaFormat.name), \(depth) bit with profile_idc \(sps.profile.idc)",
        expected: "\(allowed.depth) bit, chroma_format_idc \(allowed.chroma) at most")
    }
  }
}
