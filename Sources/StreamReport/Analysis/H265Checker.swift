// SPDX-License-Identifier: MPL-2.0
import H26x

/// Looks at the pictures of an H.265 stream: order, references and buffers. Of several layers the base counts.
struct H265Checker: PictureChecking {
  typealias Codec = H265

  private(set) var picture = PictureFacts()
  private var counter = H265.PictureOrderCounter()
  private var buffer = H265PictureBuffer()
  private var reorder = ReorderDepth()
  private var model = BufferModel()
  private var sps: H265.SequenceParameterSet?
  private var vps: H265.VideoParameterSet?
  private var limits: LevelLimits?

  private var first: H265.SliceSegmentHeader?
  private var count: H265.PictureOrderCount?
  private var lastAddress: UInt32 = 0
  private var lastIRAP: H265.NALUnitType?
  private var hasTrailing = false
  private var isAtStart = true
  private var sequence: UInt64 = 0

  // Of the current access unit.
  private var isRecoveryPoint = false
  private var initialDelay: Double?
  private var removalDelay: Double?

  var reorderDepth: Int { reorder.maximum }

  init() {}

  mutating func beginAccessUnit() {
    picture = PictureFacts()
    (isRecoveryPoint, initialDelay, removalDelay) = (false, nil, nil)
  }

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
      if error.reason == .missingParameterSet {
        log.report(
          .missingParameterSet, "a slice whose PPS or SPS did not come", expected: "the PPS and its SPS before it")
      } else {
        log.report(.unreadableSlice, ReportText(error), expected: "a slice segment header")
      }
      return
    }
    let slice = whole.header
    record.slice = SliceRecord(
      letter: slice.sliceType?.letter ?? picture.letter ?? 0x50, first: slice.segmentAddress,
      quantizationParameter: whole.quantizationParameter, pictureParameterSetID: slice.pictureParameterSetID)
    if startsPicture || first == nil {
      begin(slice, whole.references, sets: sets, log: &log)
      picture.quantizationParameter = whole.quantizationParameter
    } else if let first {
      if slice.nalUnitType != first.nalUnitType || slice.temporalID != first.temporalID {
        log.report(
          .sliceMismatch, "\(H265.shortName(slice.nalUnitType.rawValue)) of sub-layer \(slice.temporalID)",
          expected: "\(H265.shortName(first.nalUnitType.rawValue)) of sub-layer \(first.temporalID)")
      }
      if slice.segmentAddress <= lastAddress {
        log.report(
          .sliceOrder, "slice_segment_address \(slice.segmentAddress)", expected: "more than \(lastAddress)")
      }
    }
    lastAddress = slice.segmentAddress
    if let type = slice.sliceType { picture.add(type.letter) }
    guard let sps else { return }
    if let value = whole.quantizationParameter {
      let lowest = -6 * (Int(sps.lumaBitDepth) - 8)
      if value < lowest || value > 51 { log.report(.quantization, "SliceQpY \(value)", expected: "\(lowest) to 51") }
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
      sps = sets.sequenceParameterSet(slice.sequenceParameterSetID)
      limits = sps.flatMap { LevelLimits($0) }
      vps = sps.flatMap { sets.videoParameterSet($0.videoParameterSetID) }
      if sps != nil, vps == nil {
        log.report(
          .missingParameterSet, "an SPS whose VPS did not come", expected: "VPS \(sps?.videoParameterSetID ?? 0)")
      }
    }
    guard let sps else { return }
    first = slice
    if !slice.isFirstInPicture {
      log.report(
        .sliceOrder, "a picture that begins at address \(slice.segmentAddress)",
        expected: "first_slice_segment_in_pic_flag 1")
    }
    if isAtStart, lastIRAP == nil, !type.isIRAP, !isRecoveryPoint {
      log.report(.startsLate, "a stream that does not begin with an IRAP picture", expected: "an IRAP picture")
      lastIRAP = .idrWithRADL
    }
    let isComplete = picture(type, log: &log)
    let count = counter.next(slice, sps: sps)
    self.count = count
    isAtStart = false
    if count.resetsPOC {
      sequence += 1
      buffer.clear()
    }
    if !count.isSkipped {
      let (depth, isRepeated) = reorder.add(count.picture, resets: count.resetsPOC)
      if isRepeated {
        log.report(
          .pictureOrderRepeated, "picture order count \(count.picture) again",
          expected: "one of its own in the sequence")
      }
      let sent = sps.maximumReorderPictures
      if depth > sent {
        log.report(
          .reorderDepth, "\(depth) pictures that precede one and are shown behind it",
          expected: "sps_max_num_reorder_pics \(sent) at most")
      }
    }
    if let references {
      let found = buffer.apply(references, order: count.picture, log2Maximum: sps.log2MaximumPictureOrderCount)
      picture.add(references: found.used)
      if isComplete, !count.isSkipped {
        for order in found.missing {
          log.report(
            .missingReference, "a reference picture set that names order count \(order)",
            expected: "that picture in the decoded picture buffer")
        }
        if found.count >= sps.decodedPictureBufferPictures, found.count > 0 {
          log.report(
            .tooManyReferences, "\(found.count) pictures in the reference picture set",
            expected: "sps_max_dec_pic_buffering_minus1 \(sps.decodedPictureBufferPictures - 1) at most")
        }
      }
    }
    picture.exists = true
    picture.isReference = slice.isReference
    picture.isField = slice.isField
    picture.sequence = sequence
    picture.order = count.picture
    picture.keyframe =
      type.isIDR ? .idr : type.isBLA ? .bla : type.isIRAP ? .cra : isRecoveryPoint ? .recoveryPoint : .none
  }

  /// Which types may follow which (7.4.2.2). Answers whether all that the picture refers to must be there.
  private mutating func picture(_ type: H265.NALUnitType, log: inout FindingLog) -> Bool {
    if type.isIRAP {
      lastIRAP = type
      hasTrailing = false
    } else if type.isLeading {
      if hasTrailing {
        log.report(.leadingPictures, "a leading picture behind a trailing one", expected: "leading pictures first")
      }
      let isForbidden: Bool
      switch lastIRAP?.rawValue {
      case 18, 20: isForbidden = true
      case 17, 19: isForbidden = type.isRASL
      default: isForbidden = false
      }
      if isForbidden {
        log.report(
          .leadingPictures, "\(H265.shortName(type.rawValue)) behind \(H265.shortName(lastIRAP?.rawValue ?? 0))",
          expected: "no such leading picture")
      }
    } else {
      hasTrailing = true
    }
    return sequence > 0 || type.isIRAP
  }

  mutating func endPicture(log: inout FindingLog) {
    guard let slice = first, let sps, let count else { return }
    first = nil
    guard !count.isSkipped else { return }
    let limits = H265PictureBuffer.Limits(sps.highestBuffering)
    let trouble = buffer.store(count.picture, isOutput: slice.isOutput, limits)
    if sequence > 0 {
      if trouble.isFull {
        log.report(
          .decodedBufferFull, "every picture of the buffer is a reference",
          expected: "room in a buffer of \(limits.capacity) pictures")
      }
      if let late = trouble.late {
        log.report(
          .outputOrder, "picture order count \(late.order) due behind \(late.behind)",
          expected: "pictures in order with sps_max_num_reorder_pics \(limits.reorder)")
      }
    }
    picture.decodedPictures = buffer.pictures.count
  }

  // MARK: SEI and the coded picture buffer

  mutating func messages(
    _ nalUnit: Span<UInt8>, _ record: inout NALUnitRecord, sets: borrowing H265.ParameterSets, trace: SyntaxTrace?,
    log: inout FindingLog
  ) {
    var messages = SEIMessages(nalUnit, headerLength: 2, trace: trace)
    do throws(BitstreamError) {
      while let message = try messages.next() {
        if record.messages.count < 64 { record.messages.append(message.type.rawValue) }
        // Other layers have parameter sets of their own.
        guard record.layerID == 0 else { continue }
        try read(message, sets: sets)
      }
    } catch {
      record.error = error
      log.report(.unreadableSEI, ReportText(error), expected: "an SEI message as Annex D has it")
    }
  }

  private mutating func read(
    _ message: borrowing SEIMessages.Message, sets: borrowing H265.ParameterSets
  ) throws(BitstreamError) {
    switch message.type {
    case .bufferingPeriod:
      // With HRD parameters in the VPS alone, its lengths are those of the VPS.
      guard let id = sps?.id ?? onlySequence(sets), sets.sequenceParameterSet(id)?.vui?.timing?.hrdParameters != nil
      else { break }
      let period = try H265.BufferingPeriod(message, parameterSets: sets)
      sps = sps ?? sets.sequenceParameterSet(period.sequenceParameterSetID)
      initialDelay = (period.nal.first ?? period.vcl.first).map { Double($0.removalDelay) / 90_000 }
    case .pictureTiming:
      guard let sps else { break }
      let timing = try H265.PictureTiming(message, sps: sps)
      if let delays = timing.delays, let tick = sps.vui?.timing, tick.timeScale > 0 {
        removalDelay = Double(delays.cpbRemoval) * Double(tick.unitsInTick) / Double(tick.timeScale)
      }
    case .recoveryPoint:
      _ = try H265.RecoveryPoint(message)
      isRecoveryPoint = true
    case .activeParameterSets: _ = try H265.ActiveParameterSets(message)
    case .decodedPictureHash: _ = try H265.DecodedPictureHash(message)
    case .timeCode: _ = try H265.TimeCode(message)
    default: try SharedMessages.read(message)
    }
  }

  private func onlySequence(_ sets: borrowing H265.ParameterSets) -> UInt8? {
    for id in UInt8(0)..<16 where sets.sequenceParameterSet(id) != nil { return id }
    return nil
  }

  mutating func endAccessUnit(
    bytes: UInt64, codedBytes: UInt64, duration: Double?, log: inout FindingLog
  ) -> (fullness: Int64?, size: Int64?) {
    guard let sps, picture.exists else { return (nil, nil) }
    var bits = bytes * 8
    let parameters: BufferModel.Parameters
    if let hrd = sps.vui?.timing?.hrdParameters, let layer = hrd.subLayers.last,
      let first = layer.nal.first ?? layer.vcl.first
    {
      parameters = .init(
        bitRate: hrd.bitRate(of: first), size: hrd.size(of: first), isConstantBitRate: first.isConstantBitRate,
        isSignalled: true)
      if layer.nal.isEmpty { bits = codedBytes * 8 }
    } else if let limits {
      bits = codedBytes * 8
      parameters = .init(
        bitRate: limits.bitRate, size: limits.codedBuffer, isConstantBitRate: false, isSignalled: false)
    } else {
      return (nil, nil)
    }
    // frameRate(_:) halves the rate of pictures for fields.
    let period = sps.frameRate(vps).map { Double($0.denominator) / Double($0.numerator) / (picture.isField ? 2 : 1) }
    let fullness = model.next(
      bits: bits, parameters, initialDelay: initialDelay, removalDelay: removalDelay, duration: duration ?? period,
      log: &log)
    return (fullness, fullness == nil ? nil : Int64(clamping: parameters.size))
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
