// SPDX-License-Identifier: MPL-2.0
import H26x

/// Checks the pictures of an H.265 stream: POC, references and buffers. Only the base layer is checked.
struct H265Checker: PictureChecking {
  typealias Codec = H265

  var common = CommonChecks()
  private var counter = H265.PictureOrderCounter()
  private var buffer = H265PictureBuffer()
  private var sps: H265.SequenceParameterSet?
  private var vps: H265.VideoParameterSet?
  private(set) var limits: LevelLimits?

  private var first: H265.SliceSegmentHeader?
  private var count: H265.PictureOrderCount?
  private var lastAddress: UInt32 = 0
  private var lastIRAP: H265.NALUnitType?
  private var hasTrailing = false
  private var isAtStart = true

  init() {}

  mutating func endSequence() {
    counter.endSequence()
    isAtStart = true
  }

  // MARK: Slices

  mutating func slice(
    _ nalUnit: Span<UInt8>, _ record: inout NALUnitRecord, sets: borrowing H265.ParameterSets, startsPicture: Bool,
    trace: SyntaxTrace?, log: inout FindingLog
  ) {
    guard record.layerID ?? 0 == 0 else { return }
    let whole: H265.WholeSliceHeader
    do throws(BitstreamError) {
      whole = try H265.WholeSliceHeader(nalUnit: nalUnit, parameterSets: sets, trace: trace)
    } catch {
      record.error = error
      return CommonChecks.reportUnreadable(error, expected: "a slice segment header", log: &log)
    }
    let slice = whole.header
    record.slice = SliceRecord(
      letter: slice.sliceType?.letter ?? common.picture.letter ?? 0x50, first: slice.segmentAddress,
      quantizationParameter: whole.quantizationParameter, pictureParameterSetID: slice.pictureParameterSetID)
    let address = sets.tileScanAddress(of: slice)
    if startsPicture || first == nil {
      begin(slice, whole.references, sets: sets, log: &log)
      common.picture.quantizationParameter = whole.quantizationParameter
    } else if let first {
      if slice.nalUnitType != first.nalUnitType || slice.temporalID != first.temporalID {
        log.report(
          .sliceMismatch, "\(H265.shortName(slice.nalUnitType.rawValue)) of sub-layer \(slice.temporalID)",
          expected: "\(H265.shortName(first.nalUnitType.rawValue)) of sub-layer \(first.temporalID)")
      }
      if address <= lastAddress {
        log.report(
          .sliceOrder, "slice_segment_address \(slice.segmentAddress), \(address) in tile scan",
          expected: "more than \(lastAddress)")
      }
    }
    lastAddress = address
    if let type = slice.sliceType { common.picture.add(type.letter) }
    guard let sps else { return }
    CommonChecks.check(whole.quantizationParameter, lumaBitDepth: sps.lumaBitDepth, log: &log)
    if slice.temporalID >= sps.subLayerCount {
      log.report(
        .temporalID, "TemporalId \(slice.temporalID)",
        expected: "sps_max_sub_layers_minus1 \(max(1, sps.subLayerCount) - 1) at most")
    }
    let refersToItself =
      sets.pictureParameterSet(slice.pictureParameterSetID)?.extensions?.screenContent?.refersToCurrentPicture ?? false
    if slice.nalUnitType.isIRAP, slice.sliceType.map({ $0 != .i }) ?? false, !refersToItself {
      log.report(.sliceMismatch, "a P or B slice in an IRAP picture", expected: "I slices")
    }
    if sps.profile.isIntraOnly, slice.sliceType.map({ $0 != .i }) ?? false {
      log.report(.profileTool, "inter prediction in an intra profile", expected: "I slices")
    }
  }

  private mutating func begin(
    _ slice: H265.SliceSegmentHeader, _ references: H265.ReferenceSyntax?, sets: borrowing H265.ParameterSets,
    log: inout FindingLog
  ) {
    endPicture(log: &log)
    let type = slice.nalUnitType
    if sps?.id != slice.sequenceParameterSetID || type.isIRAP || sps == nil {
      activate(slice.sequenceParameterSetID, of: sets)
      if sps != nil, vps == nil {
        log.report(
          .missingParameterSet, "an SPS whose VPS is missing", expected: "VPS \(sps?.videoParameterSetID ?? 0)")
      }
    }
    guard let sps else { return }
    first = slice
    if !slice.isFirstInPicture {
      log.report(
        .sliceOrder, "a picture that begins at address \(slice.segmentAddress)",
        expected: "first_slice_segment_in_pic_flag 1")
    }
    if isAtStart, lastIRAP == nil, !type.isIRAP, !common.messages.isRecoveryPoint {
      log.report(.startsLate, "a stream that does not begin with an IRAP picture", expected: "an IRAP picture")
    }
    let isComplete = picture(type, log: &log)
    let count = counter.next(slice, sps: sps)
    self.count = count
    isAtStart = false
    if count.resetsPOC {
      common.sequence += 1
      buffer.clear()
    }
    if !count.isSkipped {
      common.check(
        order: count.picture, resets: count.resetsPOC, isOutput: slice.isOutput, mayRepeat: false,
        allowed: (sps.maximumReorderPictures, "sps_max_num_reorder_pics"), log: &log)
    }
    if let references {
      let found = buffer.apply(references, order: count.picture, log2Maximum: sps.log2MaximumPictureOrderCount)
      for order in found.used { common.picture.add(reference: order) }
      if isComplete, !count.isSkipped {
        for order in found.missing {
          log.report(
            .missingReference, "a reference picture set that names POC \(order)",
            expected: "that picture in the decoded picture buffer")
        }
        if found.count >= sps.decodedPictureBufferPictures, found.count > 0 {
          log.report(
            .tooManyReferences, "\(found.count) pictures in the reference picture set",
            expected: "sps_max_dec_pic_buffering_minus1 \(sps.decodedPictureBufferPictures - 1) at most")
        }
      }
    }
    common.picture.exists = true
    common.picture.isReference = slice.isReference
    common.picture.isField = slice.isField
    common.picture.sequence = common.sequence
    common.picture.order = count.picture
    common.picture.keyframe =
      type.isIDR
      ? .idr : type.isBLA ? .bla : type.isIRAP ? .cra : common.messages.isRecoveryPoint ? .recoveryPoint : .none
  }

  private mutating func activate(_ id: UInt8, of sets: borrowing H265.ParameterSets) {
    let active = sets.sequenceParameterSet(id)
    if active != sps {
      sps = active
      limits = active.flatMap { $0.levelLimits }
    }
    vps = active.flatMap { sets.videoParameterSet($0.videoParameterSetID) }
  }

  /// Checks the order of leading and trailing pictures (7.4.2.2). Returns whether the picture's references must be
  /// present.
  private mutating func picture(_ type: H265.NALUnitType, log: inout FindingLog) -> Bool {
    if type.isIRAP {
      lastIRAP = type
      hasTrailing = false
    } else if type.isLeading {
      if hasTrailing {
        log.report(.leadingPictures, "a leading picture after a trailing one", expected: "leading pictures first")
      }
      let isForbidden: Bool
      switch lastIRAP?.rawValue {
      case 18, 20: isForbidden = true
      case 17, 19: isForbidden = type.isRASL
      default: isForbidden = false
      }
      if isForbidden {
        log.report(
          .leadingPictures, "\(H265.shortName(type.rawValue)) after \(H265.shortName(lastIRAP?.rawValue ?? 0))",
          expected: "no such leading picture")
      }
    } else {
      hasTrailing = true
    }
    return common.sequence > 0 || type.isIRAP
  }

  mutating func endPicture(log: inout FindingLog) {
    guard let slice = first, let sps, let count else { return }
    first = nil
    guard !count.isSkipped else { return }
    let limits = H265PictureBuffer.Limits(sps.highestBuffering)
    let trouble = buffer.store(count.picture, isOutput: slice.isOutput, limits)
    if common.sequence > 0 { common.report(trouble, capacity: limits.capacity, log: &log) }
    common.picture.decodedPictures = buffer.pictures.count
  }

  // MARK: SEI and the coded picture buffer

  mutating func read(
    _ message: borrowing SEIMessages.Message, sets: borrowing H265.ParameterSets
  ) throws(BitstreamError) {
    switch message.type {
    case .bufferingPeriod:
      // With HRD parameters in the VPS only, the SPS does not say the lengths of its fields.
      guard let id = sps?.id ?? firstSequence(sets), sets.sequenceParameterSet(id)?.vui?.timing?.hrdParameters != nil
      else { break }
      let period = try H265.BufferingPeriod(message, parameterSets: sets)
      activate(period.sequenceParameterSetID, of: sets)
      common.messages.hasBufferingPeriod = true
      common.messages.initialDelay = (period.nal.first ?? period.vcl.first).map { Double($0.removalDelay) / 90_000 }
      if (period.nal + period.vcl).contains(where: { $0.removalDelay == 0 }) {
        throw BitstreamError(.valueOutOfRange, "initial_cpb_removal_delay", bitOffset: 0)
      }
    case .pictureTiming:
      // The SPS may have been replaced since the last picture.
      guard let id = sps?.id ?? firstSequence(sets), let sps = sets.sequenceParameterSet(id) else { break }
      let timing = try H265.PictureTiming(message, sps: sps)
      common.messages.hasPictureTiming = true
      // Table D.2: fields, alone and in pairs across pictures.
      common.messages.isField = timing.display.map { [1, 2, 9, 10, 11, 12].contains($0.structure.rawValue) }
      // Three fields, or a frame two or three times.
      common.messages.isRepeated = timing.display.map { (5...8).contains($0.structure.rawValue) } ?? false
      if let delays = timing.delays, let tick = sps.vui?.timing, tick.timeScale > 0 {
        common.messages.removalDelay =
          Double(delays.cpbRemoval) * Double(tick.unitsInTick) / Double(tick.timeScale)
      }
    case .recoveryPoint:
      _ = try H265.RecoveryPoint(message)
      common.messages.isRecoveryPoint = true
    case .activeParameterSets: _ = try H265.ActiveParameterSets(message)
    case .decodedPictureHash: _ = try H265.DecodedPictureHash(message)
    case .timeCode: _ = try H265.TimeCode(message)
    default: try SharedMessages.read(message, into: &common.messages)
    }
  }

  private func firstSequence(_ sets: borrowing H265.ParameterSets) -> UInt8? {
    for id in UInt8(0)..<16 where sets.sequenceParameterSet(id) != nil { return id }
    return nil
  }

  var signalledBuffer: CommonChecks.SignalledBuffer? {
    guard let hrd = sps?.vui?.timing?.hrdParameters, let layer = hrd.subLayers.last,
      let first = layer.nal.first ?? layer.vcl.first
    else { return nil }
    return CommonChecks.SignalledBuffer(
      bitRate: hrd.bitRate(of: first), size: hrd.size(of: first), isConstantBitRate: first.isConstantBitRate,
      holdsVCLOnly: layer.nal.isEmpty, isLowDelay: layer.pictureRate == .variable(isLowDelay: true))
  }

  var pictureSize: UInt64 { sps.map { UInt64($0.codedSize.width) * UInt64($0.codedSize.height) } ?? 0 }

  var period: Double? {
    // frameRate(_:) counts frames; a field lasts half as long.
    guard let sps, let rate = sps.frameRate(vps) else { return nil }
    let ticks = Double(sps.ticksPerPicture)
    return ticks * Double(rate.denominator) / Double(rate.numerator) / (common.picture.isField ? 2 : 1)
  }
}

extension H265.SliceSegmentHeader.SliceType {
  /// ASCII `I`, `P` or `B`.
  var letter: UInt8 {
    switch self {
    case .i: 0x49
    case .p: 0x50
    case .b: 0x42
    }
  }
}
