// SPDX-License-Identifier: MPL-2.0
import H26x

/// Checks the pictures of an H.264 stream: `frame_num`, POC, references and buffers.
struct H264Checker: PictureChecking {
  typealias Codec = H264

  var common = CommonChecks()
  private var counter = H264.PictureOrderCounter()
  private var buffer = H264PictureBuffer()
  private var sps: H264.SequenceParameterSet?
  private(set) var limits: LevelLimits?

  /// The first slice of the current picture, and its reference marking.
  private var first: (slice: H264.SliceHeader, marking: H264.ReferenceSyntax.ReferenceMarking?)?
  private var count: H264.PictureOrderCount?
  private var lastMacroblock: UInt32 = 0
  private var openField: H264.SliceHeader?
  /// `PrevRefFrameNum`; nil before the first picture.
  private var previousReferenceNumber: UInt32?
  private var previousWasIDR: (id: UInt16, isSecondField: Bool)?
  /// Whether every picture that may be referred to has been seen: since the first IDR picture or reset.
  private var isComplete = false

  init() {}

  mutating func endSequence() {}

  // MARK: Slices

  mutating func slice(
    _ nalUnit: Span<UInt8>, _ record: inout NALUnitRecord, sets: borrowing H264.ParameterSets, startsPicture: Bool,
    trace: SyntaxTrace?, log: inout FindingLog
  ) {
    let whole: H264.WholeSliceHeader
    do throws(BitstreamError) {
      whole = try H264.WholeSliceHeader(nalUnit: nalUnit, parameterSets: sets, trace: trace)
    } catch {
      record.error = error
      return CommonChecks.reportUnreadable(error, expected: "a slice header", log: &log)
    }
    let slice = whole.header
    record.slice = SliceRecord(
      letter: slice.sliceType.letter, first: slice.firstMacroblock,
      quantizationParameter: whole.quantizationParameter, pictureParameterSetID: slice.pictureParameterSetID,
      frameNumber: slice.frameNumber)
    if !whole.endsWithOnes {
      log.report(.unreadableSlice, "cabac_alignment_one_bit 0", expected: "1")
    }
    guard slice.redundantPictureCount == 0 else { return }
    if startsPicture || first == nil {
      begin(slice, whole.references?.marking, sets: sets, log: &log)
      common.picture.quantizationParameter = whole.quantizationParameter
    } else if let first {
      check(slice, in: first.slice, log: &log)
    }
    lastMacroblock = slice.firstMacroblock
    common.picture.add(slice.sliceType.letter)
    guard let sps else { return }
    CommonChecks.check(whole.quantizationParameter, lumaBitDepth: sps.lumaBitDepth, log: &log)
    if let pps = sets.pictureParameterSet(slice.pictureParameterSetID) {
      H264Rules.check(slice, pps, sps, log: &log)
    }
    if let references = whole.references { list(slice, references, sps, log: &log) }
  }

  private func check(_ slice: H264.SliceHeader, in first: H264.SliceHeader, log: inout FindingLog) {
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
      sps?.hasSeparateColourPlanes != true
    {
      log.report(.sliceOrder, "first_mb_in_slice \(slice.firstMacroblock)", expected: "more than \(lastMacroblock)")
    }
  }

  private mutating func begin(
    _ slice: H264.SliceHeader, _ marking: H264.ReferenceSyntax.ReferenceMarking?, sets: borrowing H264.ParameterSets,
    log: inout FindingLog
  ) {
    endPicture(log: &log)
    if sps?.id != slice.sequenceParameterSetID || slice.isIDR || sps == nil {
      activate(slice.sequenceParameterSetID, of: sets)
    }
    guard let sps else { return }
    first = (slice, marking)
    if !slice.allowsArbitraryOrder, slice.firstMacroblock != 0 {
      log.report(.sliceOrder, "a picture that begins at macroblock \(slice.firstMacroblock)", expected: "macroblock 0")
    }
    let isSecondField = openField.map { H264.isSecondField(slice, of: $0) } ?? false
    openField = slice.isField && !isSecondField ? slice : nil
    let count = counter.next(slice, sps: sps)
    self.count = count
    if slice.isIDR {
      if let before = previousWasIDR, !isSecondField, before.id == slice.idrPictureID {
        log.report(
          .idrPictureID, "idr_pic_id \(slice.idrPictureID) twice in a row", expected: "another value than before")
      }
      isComplete = true
    } else if previousReferenceNumber == nil, !common.messages.isRecoveryPoint {
      log.report(.startsLate, "a stream that does not begin with an IDR picture", expected: "an IDR picture")
    }
    previousWasIDR = slice.isIDR ? (slice.idrPictureID, isSecondField) : isSecondField ? previousWasIDR : nil
    if !isSecondField {
      if count.resetsPOC {
        common.sequence += 1
        // Pictures that wait for output are output before this picture, or dropped.
        if slice.isIDR { buffer.clear() }
      }
      common.check(
        order: count.picture, resets: count.resetsPOC, mayRepeat: !isComplete,
        allowed: sps.sentReorderFrames.map { ($0, "max_num_reorder_frames") }, log: &log)
    }
    if !slice.isIDR, !isSecondField { checkFrameNumber(slice, sps, log: &log) }
    buffer.wrap(to: slice.frameNumber, maximum: 1 << UInt32(sps.log2MaximumFrameNumber & 31))
    common.picture.isFieldPair = isSecondField && common.picture.exists
    common.picture.exists = true
    common.picture.isReference = slice.isReference
    common.picture.isField = slice.isField
    common.picture.isSecondField = isSecondField
    common.picture.sequence = common.sequence
    common.picture.order = common.picture.order ?? count.picture
    common.picture.keyframe =
      slice.isIDR ? .idr : common.messages.isRecoveryPoint ? .recoveryPoint : common.picture.keyframe
  }

  private mutating func activate(_ id: UInt8, of sets: borrowing H264.ParameterSets) {
    let active = sets.sequenceParameterSet(id)
    guard active != sps else { return }
    sps = active
    limits = active.flatMap { $0.levelLimits }
  }

  /// 7.4.3, `frame_num`, and 8.2.5.2, gaps in it.
  private mutating func checkFrameNumber(
    _ slice: H264.SliceHeader, _ sps: H264.SequenceParameterSet, log: inout FindingLog
  ) {
    guard let previous = previousReferenceNumber else { return }
    let mask = (UInt32(1) << UInt32(sps.log2MaximumFrameNumber & 31)) - 1
    let distance = (slice.frameNumber &- previous) & mask
    if distance == 0 {
      // Second fields, which share frame_num with the first, do not come here.
      if isComplete {
        log.report(
          .frameNumberRepeated, "frame_num \(slice.frameNumber) again", expected: "frame_num \((previous + 1) & mask)")
      }
      return
    }
    guard distance > 1 else { return }
    if isComplete, !sps.allowsFrameNumberGaps {
      log.report(
        .frameNumberGap, "frame_num \(slice.frameNumber) after \(previous)",
        expected: "frame_num \((previous + 1) & mask)")
    }
    // Stores "non-existing" frames for the missing ones: only the last max_num_ref_frames, which replace the others.
    let filled = min(distance - 1, UInt32(max(1, sps.maximumReferenceFrames)))
    for step in (1...filled).reversed() {
      let number = (slice.frameNumber &- step) & mask
      buffer.wrap(to: number, maximum: mask + 1)
      buffer.slide(limit: Int(sps.maximumReferenceFrames))
      var frame = H264PictureBuffer.Frame(
        frameNumber: number, fields: H264PictureBuffer.Fields.both, top: 0, bottom: 0, exists: false)
      frame.shortTerm = H264PictureBuffer.Fields.both
      _ = buffer.store(frame, isSecondField: false, capacity: capacity(sps))
    }
  }

  private func capacity(_ sps: H264.SequenceParameterSet) -> Int { min(16, sps.decodedPictureBufferFrames) }

  /// Reference picture lists (8.2.4).
  private mutating func list(
    _ slice: H264.SliceHeader, _ syntax: H264.ReferenceSyntax, _ sps: H264.SequenceParameterSet, log: inout FindingLog
  ) {
    guard !slice.sliceType.isIntra, let count else { return }
    let current = slice.fields
    let maximum = UInt32(1) << UInt32(sps.log2MaximumFrameNumber & 31)
    let isB = slice.sliceType == .b
    let firstField = common.picture.isSecondField && !buffer.frames.isEmpty ? buffer.frames.count - 1 : nil
    let initial = buffer.initialLists(isB: isB, current: current, order: count.picture, firstField: firstField)
    for isList1 in [false, true] {
      let list = isList1 ? initial.1 : initial.0
      let steps = isList1 ? syntax.modificationsList1 : syntax.modificationsList0
      let length = isList1 ? syntax.referenceCountList1 : syntax.referenceCountList0
      guard length > 0 else { continue }
      let (entries, missing) = buffer.modified(
        list, by: steps, count: Int(length), current: current, frameNumber: slice.frameNumber, maximum: maximum)
      for entry in entries where entry.exists { common.picture.add(reference: entry.order) }
      guard isComplete else { continue }
      for number in missing {
        log.report(
          .missingReference, "a reference list that names picture number \(number)",
          expected: "a picture that is marked as reference")
      }
      if list.isEmpty, missing.isEmpty {
        log.report(.missingReference, "no reference picture for a \(isB ? "B" : "P") slice", expected: "one at least")
      }
    }
  }

  // MARK: The end of a picture

  mutating func endPicture(log: inout FindingLog) {
    guard let (slice, marking) = first, let sps, let count else { return }
    first = nil
    let fields = slice.fields
    var frame = H264PictureBuffer.Frame(
      frameNumber: slice.frameNumber, fields: fields, top: count.top ?? count.bottom ?? 0,
      bottom: count.bottom ?? count.top ?? 0)
    frame.awaitsOutput = true
    if slice.isReference { mark(slice, marking, sps, &frame, log: &log) }
    if slice.resetsPictureOrderCount {
      frame.frameNumber = 0
      // A field pair whose first field resets stays one frame.
      if !common.picture.isSecondField { buffer.clear() }
      isComplete = true
    }
    if slice.isReference || previousReferenceNumber == nil {
      previousReferenceNumber = frame.frameNumber
    } else if let previous = previousReferenceNumber, slice.frameNumber != previous {
      // After a gap, PrevRefFrameNum is that of the last non-existing frame.
      let mask = (UInt32(1) << UInt32(sps.log2MaximumFrameNumber & 31)) - 1
      if (slice.frameNumber &- previous) & mask > 1 { previousReferenceNumber = (slice.frameNumber &- 1) & mask }
    }
    let trouble = buffer.store(frame, isSecondField: common.picture.isSecondField, capacity: capacity(sps))
    if isComplete { common.report(trouble, capacity: capacity(sps), log: &log) }
    common.picture.decodedPictures = buffer.frames.count
  }

  /// 8.2.5
  private mutating func mark(
    _ slice: H264.SliceHeader, _ marking: H264.ReferenceSyntax.ReferenceMarking?, _ sps: H264.SequenceParameterSet,
    _ frame: inout H264PictureBuffer.Frame, log: inout FindingLog
  ) {
    let fields = slice.fields
    let limit = Int(sps.maximumReferenceFrames)
    frame.shortTerm = fields
    switch marking {
    case .idr(_, let isLongTerm):
      if isLongTerm { (frame.shortTerm, frame.longTerm, frame.longTermIndex) = (0, fields, 0) }
    case .adaptive(let operations):
      for operation in operations { perform(operation, slice, &frame, log: &log) }
      let count = buffer.referenceCount + (joinsReference(frame) ? 0 : 1)
      if isComplete, count > max(1, limit) {
        log.report(.tooManyReferences, "\(count) reference frames", expected: "max_num_ref_frames \(limit)")
        buffer.slide(limit: limit)
      }
    default:
      if !joinsReference(frame) { buffer.slide(limit: limit) }
    }
  }

  /// Whether this is the second field of a frame whose first field is a reference.
  private func joinsReference(_ frame: H264PictureBuffer.Frame) -> Bool {
    guard common.picture.isSecondField, let last = buffer.frames.last else { return false }
    return last.isReference && last.fields & frame.fields == 0
  }

  private mutating func perform(
    _ operation: H264.ReferenceSyntax.ReferenceMarking.Operation, _ slice: H264.SliceHeader,
    _ frame: inout H264PictureBuffer.Frame, log: inout FindingLog
  ) {
    let current = slice.fields
    let number = slice.isField ? 2 * Int64(slice.frameNumber) + 1 : Int64(slice.frameNumber)
    let named = number - Int64(operation.first) - 1
    func missing(_ name: StaticString, _ value: Int64) {
      guard isComplete else { return }
      log.report(
        .missingMarked, "operation \(operation.code) for \(name) \(value)",
        expected: "a picture that is marked as reference")
    }
    switch operation.code {
    case 1:
      if let found = buffer.shortTerm(named, current: current) {
        buffer.unmarkShortTerm(found)
      } else {
        missing("picture number", named)
      }
    case 2:
      if let found = buffer.longTerm(Int64(operation.first), current: current) {
        buffer.unmarkLongTerm(found)
      } else {
        missing("long-term picture number", Int64(operation.first))
      }
    case 3:
      if let found = buffer.shortTerm(named, current: current) {
        buffer.makeLongTerm(found, as: operation.second)
      } else {
        missing("picture number", named)
      }
    case 4: buffer.limitLongTerm(to: operation.first)
    case 5: buffer.unmarkAll()
    case 6:
      (frame.shortTerm, frame.longTerm, frame.longTermIndex) = (0, current, operation.first)
      buffer.freeLongTerm(operation.first, exceptLast: joinsReference(frame))
    default: break
    }
  }

  // MARK: SEI and the coded picture buffer

  mutating func read(
    _ message: borrowing SEIMessages.Message, sets: borrowing H264.ParameterSets
  ) throws(BitstreamError) {
    switch message.type {
    case .bufferingPeriod:
      let period = try H264.BufferingPeriod(message, parameterSets: sets)
      activate(period.sequenceParameterSetID, of: sets)
      common.messages.hasBufferingPeriod = true
      common.messages.initialDelay = (period.nal.first ?? period.vcl.first).map { Double($0.removalDelay) / 90_000 }
      if (period.nal + period.vcl).contains(where: { $0.removalDelay == 0 }) {
        throw BitstreamError(.valueOutOfRange, "initial_cpb_removal_delay", bitOffset: 0)
      }
    case .pictureTiming:
      // The SPS may have been replaced since the last picture.
      guard let sps = sps.flatMap({ sets.sequenceParameterSet($0.id) }) ?? Self.first(in: sets) else { break }
      let timing = try H264.PictureTiming(message, sps: sps)
      common.messages.hasPictureTiming = true
      common.messages.isRepeated = timing.structure.map { $0.fieldPeriods > 2 } ?? false
      common.messages.isField = timing.structure.map { $0.fieldPeriods == 1 }
      if let delays = timing.delays, let tick = sps.vui?.timing, tick.timeScale > 0 {
        common.messages.removalDelay =
          Double(delays.cpbRemoval) * Double(tick.unitsInTick) / Double(tick.timeScale)
      }
    case .recoveryPoint:
      _ = try H264.RecoveryPoint(message)
      common.messages.isRecoveryPoint = true
    default: try SharedMessages.read(message, into: &common.messages)
    }
  }

  /// The first SPS in the store, for SEI messages before the first slice, which would refer to one.
  private static func first(in sets: borrowing H264.ParameterSets) -> H264.SequenceParameterSet? {
    for id in UInt8(0)..<32 {
      if let sps = sets.sequenceParameterSet(id) { return sps }
    }
    return nil
  }

  var signalledBuffer: CommonChecks.SignalledBuffer? {
    guard let hrd = sps?.vui?.nalHRD ?? sps?.vui?.vclHRD, let first = hrd.buffers.first else { return nil }
    return CommonChecks.SignalledBuffer(
      bitRate: hrd.bitRate(of: first), size: hrd.size(of: first), isConstantBitRate: first.isConstantBitRate,
      holdsVCLOnly: sps?.vui?.nalHRD == nil, isLowDelay: sps?.vui?.isLowDelayHRD ?? false)
  }

  var pictureSize: UInt64 { sps.map { UInt64($0.widthInMacroblocks) * UInt64($0.heightInMacroblocks) } ?? 0 }

  var period: Double? {
    sps?.frameRate.map { Double($0.denominator) / Double($0.numerator) / (common.picture.isField ? 2 : 1) }
  }
}

extension H264.SliceHeader {
  /// The fields of the picture, as a bit set of `H264PictureBuffer.Fields`.
  fileprivate var fields: UInt8 {
    !isField
      ? H264PictureBuffer.Fields.both : isBottomField ? H264PictureBuffer.Fields.bottom : H264PictureBuffer.Fields.top
  }
}

extension H264.SliceHeader.SliceType {
  /// ASCII `I`, `P` or `B`; SI slices count as I, SP slices as P.
  var letter: UInt8 {
    switch self {
    case .i, .si: 0x49
    case .p, .sp: 0x50
    case .b: 0x42
    }
  }
}
