// SPDX-License-Identifier: MPL-2.0
import H26x

/// Rules of H.264 on headers of NAL units and slices.
extension H264Rules {
  static func check(_ header: NALUnitHeaderDefects, _ record: NALUnitRecord, log: inout FindingLog) {
    if header.hasForbiddenBit { log.report(.forbiddenBit, "forbidden_zero_bit 1", expected: "0") }
    let reference = record.referenceIDC ?? 0
    switch record.type {
    case 5, 7, 8, 13, 15:
      if reference == 0 {
        log.report(.referenceIDC, "nal_ref_idc 0 with nal_unit_type \(record.type)", expected: "not 0")
      }
    case 6, 9, 10, 11, 12:
      if reference != 0 {
        log.report(.referenceIDC, "nal_ref_idc \(reference) with nal_unit_type \(record.type)", expected: "0")
      }
    // 0, 28, 30 and 31 are unspecified: applications may use them, though RTP has another use for 28.
    case 17, 18, 22...27, 29:
      log.report(.reservedType, "nal_unit_type \(record.type)", expected: "a type that Table 7-1 defines")
    default: break
    }
  }

  static func check(_ met: H264WalkedSlice, in walk: borrowing NALUnitWalk<H264>, log: inout FindingLog) {
    let slice = met.header
    if !met.endsWithOnes {
      log.report(.unreadableSlice, "cabac_alignment_one_bit 0", expected: "1")
    }
    if let ended = met.ended { PictureRules.check(ended, log: &log) }
    guard slice.redundantPictureCount == 0, let sps = walk.pictures.sps else { return }
    if let start = met.pictureStart { check(slice, start, sps, log: &log) }
    if let before = met.before { check(slice, in: before.first, after: before.lastMacroblock, sps, log: &log) }
    PictureRules.check(quantizationParameter: met.quantizationParameter, lumaBitDepth: sps.lumaBitDepth, log: &log)
    if let pps = walk.sets.pictureParameterSet(slice.pictureParameterSetID) { check(slice, pps, sps, log: &log) }
    for (missing, isEmpty) in met.defects {
      for number in missing {
        log.report(
          .missingReference, "a reference list that names picture number \(number)",
          expected: "a picture that is marked as reference")
      }
      if isEmpty, missing.isEmpty {
        let name: StaticString = slice.sliceType == .b ? "B" : "P"
        log.report(.missingReference, "no reference picture for a \(name) slice", expected: "at least one")
      }
    }
  }

  /// The first slice of a picture.
  private static func check(
    _ slice: H264.SliceHeader, _ start: H264WalkedSlice.PictureStart, _ sps: H264.SequenceParameterSet,
    log: inout FindingLog
  ) {
    if !slice.allowsArbitraryOrder, slice.firstMacroblock != 0 {
      log.report(.sliceOrder, "a picture that begins at macroblock \(slice.firstMacroblock)", expected: "macroblock 0")
    }
    if slice.isIDR {
      if start.previousIDRPictureID == slice.idrPictureID {
        log.report(
          .idrPictureID, "idr_pic_id \(slice.idrPictureID) twice in a row", expected: "a different value")
      }
    } else if start.isFirst, !start.isRecoveryPoint {
      log.report(.startsLate, "a stream that does not begin with an IDR picture", expected: "an IDR picture")
    }
    if let activation = start.activation {
      PictureRules.check(activation, expected: "an IDR picture", log: &log)
    }
    PictureRules.check(
      discarded: start.discarded, by: "an IDR picture with no_output_of_prior_pics_flag 1",
      expected: "no_output_of_prior_pics_flag 0", log: &log)
    if let reorder = start.reorder {
      PictureRules.check(
        order: start.order, reorder, mayRepeat: !start.isComplete,
        allowed: sps.sentReorderFrames.map { ($0, "max_num_reorder_frames") }, log: &log)
    }
    // 7.4.3, frame_num. While pictures may be missing, so may numbers.
    guard start.isComplete, let previous = start.previousFrameNumber else { return }
    let distance = slice.frameNumber(after: previous, sps)
    if distance == 0 {
      log.report(
        .frameNumberRepeated, "frame_num \(slice.frameNumber) again",
        expected: "frame_num \((previous + 1) & sps.frameNumberMask)")
    } else if distance > 1, !sps.allowsFrameNumberGaps {
      log.report(
        .frameNumberGap, "frame_num \(slice.frameNumber) after \(previous)",
        expected: "frame_num \((previous + 1) & sps.frameNumberMask)")
    }
  }

  /// A slice that is not the first of its picture.
  private static func check(
    _ slice: H264.SliceHeader, in first: H264.SliceHeader, after lastMacroblock: UInt32,
    _ sps: H264.SequenceParameterSet, log: inout FindingLog
  ) {
    if slice.isReference != first.isReference || slice.isIDR != first.isIDR || slice.frameNumber != first.frameNumber {
      log.report(
        .sliceMismatch, "frame_num \(slice.frameNumber), nal_ref_idc \(slice.referenceIDC)",
        expected: "frame_num \(first.frameNumber), nal_ref_idc \(first.referenceIDC) as in the picture's first slice")
    }
    if slice.isTypeOfWholePicture || first.isTypeOfWholePicture, slice.sliceType != first.sliceType {
      log.report(
        .sliceMismatch, "slices of two types with slice_type 5 to 9",
        expected: "slice_type 0 to 4, or slices of one type")
    }
    if !slice.allowsArbitraryOrder, slice.firstMacroblock <= lastMacroblock, slice.colourPlaneID == first.colourPlaneID,
      !sps.hasSeparateColourPlanes
    {
      log.report(.sliceOrder, "first_mb_in_slice \(slice.firstMacroblock)", expected: "more than \(lastMacroblock)")
    }
  }

  /// Checks the tools that a slice uses against the profile.
  private static func check(
    _ slice: H264.SliceHeader, _ pps: H264.PictureParameterSet, _ sps: H264.SequenceParameterSet, log: inout FindingLog
  ) {
    let profile = sps.profile.idc
    let isBaseline = profile == 66
    func forbid(_ isUsed: Bool, _ tool: StaticString) {
      if isUsed {
        log.report(.profileTool, "\(tool) with profile_idc \(profile)", expected: "a profile that has it")
      }
    }
    if isBaseline {
      forbid(pps.usesCABAC, "CABAC")
      forbid(slice.sliceType == .b, "B slices")
      forbid(pps.usesWeightedPrediction || pps.weightedBipredictionIDC != 0, "weighted prediction")
    }
    if isBaseline || profile == 77 || profile == 88 {
      forbid(pps.high.map { $0.uses8x8Transform || $0.scalingLists != nil } ?? false, "8x8 transforms or scaling lists")
    }
    if profile == 88 || profile == 44 { forbid(pps.usesCABAC, "CABAC") }
    if sps.profile.isConstrained(toSet: 5), sps.profile.forbidsBSlicesBySet5 {
      forbid(slice.sliceType == .b, "B slices and constraint_set5_flag 1")
    }
    let isConstrained = isBaseline && sps.profile.isConstrained(toSet: 1)
    if isConstrained || (profile != 66 && profile != 88) {
      forbid(pps.sliceGroups != nil, "slice groups")
      forbid(pps.isRedundantPictureCountPresent, "redundant pictures")
    }
    if profile != 88 { forbid(slice.sliceType == .sp || slice.sliceType == .si, "switching slices") }
    if profile != 88 { forbid(slice.nalUnitType == .slicePartitionA, "data partitioning") }
    if sps.profile.isIntraOnly { forbid(!slice.sliceType.isIntra, "inter prediction in an intra profile") }
  }
}
