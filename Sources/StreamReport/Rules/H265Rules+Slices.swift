// SPDX-License-Identifier: MPL-2.0
import H26x

/// Rules of H.265 on headers of NAL units and slice segments.
extension H265Rules {
  static func check(_ header: NALUnitHeaderDefects, _ record: NALUnitRecord, log: inout FindingLog) {
    guard !header.isTruncated else {
      return log.report(.truncated, "a NAL unit of one byte", expected: "a header of two")
    }
    if header.hasForbiddenBit { log.report(.forbiddenBit, "forbidden_zero_bit 1", expected: "0") }
    if header.lacksTemporalID { log.report(.temporalID, "nuh_temporal_id_plus1 0", expected: "1 to 7") }
    let temporal = record.temporalID ?? 0
    switch record.type {
    case 16...23, 32, 33, 36, 37:
      if temporal != 0 {
        log.report(.temporalID, "TemporalId \(temporal) with \(record.name)", expected: "TemporalId 0")
      }
    case 2, 3:
      if temporal == 0 { log.report(.temporalID, "TemporalId 0 with \(record.name)", expected: "more than 0") }
    case 4, 5:
      if temporal == 0, record.layerID == 0 {
        log.report(.temporalID, "TemporalId 0 with \(record.name)", expected: "more than 0")
      }
    default: break
    }
    switch record.type {
    // 51 to 63 are unspecified: applications may use them.
    case 10...15, 22...31, 41...50:
      log.report(.reservedType, "nal_unit_type \(record.type)", expected: "a type that Table 7-1 defines")
    default: break
    }
  }

  static func check(_ met: H265WalkedSlice, in walk: borrowing NALUnitWalk<H265>, log: inout FindingLog) {
    let slice = met.header
    if let ended = met.ended { PictureRules.check(ended, log: &log) }
    if let id = met.missingVPS {
      log.report(.missingParameterSet, "an SPS whose VPS is missing", expected: "VPS \(id.rawValue)")
    }
    guard let sps = walk.pictures.sps else { return }
    if let start = met.pictureStart { check(slice, start, sps, log: &log) }
    if met.pictureStart != nil, slice.nalUnitType.isIRAP,
      let tiles = walk.sets.pictureParameterSet(slice.pictureParameterSetID)?.tiles
    {
      check(tiles, sps, log: &log)
    }
    if let before = met.before { check(met, in: before.first, after: before.lastAddress, log: &log) }
    PictureRules.check(quantizationParameter: met.quantizationParameter, lumaBitDepth: sps.lumaBitDepth, log: &log)
    if slice.temporalID >= sps.subLayerCount {
      log.report(
        .temporalID, "TemporalId \(slice.temporalID)",
        expected: "sps_max_sub_layers_minus1 \(max(1, sps.subLayerCount) - 1) at most")
    }
    guard let type = slice.sliceType, type != .i else { return }
    if slice.nalUnitType.isIRAP, walk.sets.pictureParameterSet(slice.pictureParameterSetID)?.refersToItself != true {
      log.report(.sliceMismatch, "a P or B slice in an IRAP picture", expected: "I slices")
    }
    if sps.profile.isIntraOnly {
      log.report(.profileTool, "inter prediction in an intra profile", expected: "I slices")
    }
  }

  /// The first slice segment of a picture.
  private static func check(
    _ slice: H265.SliceSegmentHeader, _ start: H265WalkedSlice.PictureStart, _ sps: H265.SequenceParameterSet,
    log: inout FindingLog
  ) {
    let type = slice.nalUnitType
    if !slice.isFirstInPicture {
      log.report(
        .sliceOrder, "a picture that begins at address \(slice.segmentAddress)",
        expected: "first_slice_segment_in_pic_flag 1")
    }
    if start.isFirst, !type.isIRAP, !start.isRecoveryPoint {
      log.report(.startsLate, "a stream that does not begin with an IRAP picture", expected: "an IRAP picture")
    }
    if let activation = start.activation {
      PictureRules.check(activation, expected: "an IRAP picture that begins a coded video sequence", log: &log)
    }
    if type == .cra {
      PictureRules.check(
        discarded: start.discarded, by: "a CRA picture after the end of a sequence",
        expected: "a BLA picture with no_output_of_prior_pics_flag 0", log: &log)
    } else {
      PictureRules.check(
        discarded: start.discarded, by: "an IRAP picture with no_output_of_prior_pics_flag 1",
        expected: "no_output_of_prior_pics_flag 0", log: &log)
    }
    if !type.isIRAP, type.isLeading { check(leading: type, start, log: &log) }
    if let reorder = start.reorder {
      PictureRules.check(
        order: start.order, reorder, mayRepeat: false,
        allowed: (sps.maximumReorderPictures, "sps_max_num_reorder_pics"), log: &log)
    }
    guard let references = start.references else { return }
    for order in references.missing {
      log.report(
        .missingReference, "a reference picture set that names POC \(order)",
        expected: "that picture in the decoded picture buffer")
    }
    if references.count >= sps.decodedPictureBufferPictures, references.count > 0 {
      log.report(
        .tooManyReferences, "\(references.count) pictures in the reference picture set",
        expected: "sps_max_dec_pic_buffering_minus1 \(sps.decodedPictureBufferPictures - 1) at most")
    }
  }

  /// The number of tiles (A.4.1), and their sizes (A.3.2 to A.3.5).
  private static func check(
    _ tiles: H265.PictureParameterSet.Tiles, _ sps: H265.SequenceParameterSet, log: inout FindingLog
  ) {
    let (columns, rows) = (Int(tiles.columnCount), Int(tiles.rowCount))
    if let limits = sps.level.partitionLimits, columns > limits.tileColumns || rows > limits.tileRows {
      log.report(
        .levelTiles, "\(columns)x\(rows) tiles", expected: "\(limits.tileColumns)x\(limits.tileRows) at most")
    }
    guard 1...4 ~= sps.profile.idc, 3...6 ~= sps.log2CodingTreeBlockSize else { return }
    let size = 1 << Int(sps.log2CodingTreeBlockSize)
    let width = size * smallest(of: columns, in: sps.widthInCodingTreeBlocks, tiles.sizes?.widths)
    let height = size * smallest(of: rows, in: sps.heightInCodingTreeBlocks, tiles.sizes?.heights)
    if width < 256 || height < 64 {
      log.report(
        .profileTool, "tiles of \(width)x\(height) luma samples with general_profile_idc \(sps.profile.idc)",
        expected: "256x64 at least")
    }
  }

  /// The size of the smallest column or row, in coding tree blocks (6.5.1).
  private static func smallest(of count: Int, in whole: Int, _ sizes: [UInt32]?) -> Int {
    guard let sizes else { return whole / max(1, count) }
    var (smallest, left) = (whole, whole)
    for size in sizes {
      smallest = min(smallest, Int(clamping: size))
      left = max(0, left - min(left, Int(clamping: size)))
    }
    return min(smallest, left)
  }

  /// The order of leading and trailing pictures (7.4.2.2).
  private static func check(
    leading type: H265.NALUnitType, _ start: H265WalkedSlice.PictureStart, log: inout FindingLog
  ) {
    if start.followsTrailing {
      log.report(.leadingPictures, "a leading picture after a trailing one", expected: "leading pictures first")
    }
    let isForbidden =
      switch start.lastIRAP?.rawValue {
      case 18, 20: true
      case 17, 19: type.isRASL
      default: false
      }
    if isForbidden {
      log.report(
        .leadingPictures, "\(H265.shortName(type.rawValue)) after \(H265.shortName(start.lastIRAP?.rawValue ?? 0))",
        expected: "no such leading picture")
    }
  }

  /// A slice segment that is not the first of its picture.
  private static func check(
    _ met: H265WalkedSlice, in first: H265.SliceSegmentHeader, after lastAddress: UInt32, log: inout FindingLog
  ) {
    let slice = met.header
    if slice.nalUnitType != first.nalUnitType || slice.temporalID != first.temporalID {
      log.report(
        .sliceMismatch, "\(H265.shortName(slice.nalUnitType.rawValue)) of sub-layer \(slice.temporalID)",
        expected: "\(H265.shortName(first.nalUnitType.rawValue)) of sub-layer \(first.temporalID)")
    }
    if met.address <= lastAddress {
      log.report(
        .sliceOrder, "slice_segment_address \(slice.segmentAddress), \(met.address) in tile scan",
        expected: "more than \(lastAddress)")
    }
  }
}

extension H265.PictureParameterSet {
  /// Whether pictures may refer to themselves (`pps_curr_pic_ref_enabled_flag`).
  fileprivate var refersToItself: Bool { extensions?.screenContent?.refersToCurrentPicture ?? false }
}
