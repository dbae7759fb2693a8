// SPDX-License-Identifier: MPL-2.0
import H26x
import Slices

/// Follows the pictures of an H.264 stream: `frame_num`, POC, references and buffers.
struct H264PictureWalk: PictureWalking {
  typealias Codec = H264

  private(set) var picture = PictureRecord()
  private(set) var messages = AccessUnitSEI()
  // More frames than any decoded picture buffer can hold.
  private var reorder = ReorderDepth(limit: 64)
  /// How many times picture order counts were reset.
  private var sequence: UInt64 = 0
  /// The stream has shown a recovery point SEI.
  private var marksRecoveryPoints = false
  private var counter = H264.PictureOrderCounter()
  private var buffer = H264DecodedPictureBuffer()
  private(set) var sps: H264.SequenceParameterSet?
  /// The SPS of the picture before. A buffering period SEI message may have activated another one since.
  private var previousSPS: H264.SequenceParameterSet?
  private(set) var limits: LevelLimits?
  /// The next picture is the first of another stream: it discards no pictures.
  private var beginsStream = false

  /// The first slice of the current picture, and its reference marking.
  private var first: (slice: H264.SliceHeader, marking: H264.ReferenceSyntax.ReferenceMarking?)?
  private var count: H264.PictureOrderCount?
  private var lastMacroblock: UInt32 = 0
  /// The reference picture lists of the last slice; empty ones if they name missing pictures.
  private var lists: ([H264DecodedPictureBuffer.Entry], [H264DecodedPictureBuffer.Entry]) = ([], [])
  private var openField: H264.SliceHeader?
  /// `PrevRefFrameNum`; nil before the first picture.
  private var previousReferenceNumber: UInt32?
  private var previousIDR: (id: UInt16, isSecondField: Bool)?
  /// Whether every picture that may be referred to has been seen: since the first IDR picture or reset.
  private var isComplete = false

  init() {}

  var reorderDepth: Int { reorder.pictures }

  mutating func beginAccessUnit() { (picture, messages) = (PictureRecord(), AccessUnitSEI()) }

  mutating func endSequence(_ type: H264.NALUnitType) {
    if type == .endOfStream { beginsStream = true }
  }

  // MARK: Slices

  mutating func slice(
    _ whole: H264.WholeSliceHeader, _ record: inout NALUnitRecord, sets: borrowing H264.ParameterSets,
    startsPicture: Bool
  ) -> H264WalkedSlice {
    let slice = whole.header
    record.slice = SliceRecord(
      letter: slice.sliceType.letter, first: slice.firstMacroblock,
      quantizationParameter: whole.quantizationParameter, pictureParameterSetID: slice.pictureParameterSetID,
      frameNumber: slice.frameNumber)
    var met = H264WalkedSlice(
      header: slice, quantizationParameter: whole.quantizationParameter, endsWithOnes: whole.endsWithOnes)
    lists = ([], [])
    guard slice.redundantPictureCount == 0 else { return met }
    if startsPicture || first == nil {
      begin(slice, whole.references?.marking, sets: sets, &met)
      picture.quantizationParameter = whole.quantizationParameter
    } else if let first {
      met.before = (first.slice, lastMacroblock)
    }
    lastMacroblock = slice.firstMacroblock
    picture.add(slice.sliceType.letter)
    if let sps, let references = whole.references { list(slice, references, sps, &met) }
    return met
  }

  private mutating func begin(
    _ slice: H264.SliceHeader, _ marking: H264.ReferenceSyntax.ReferenceMarking?, sets: borrowing H264.ParameterSets,
    _ met: inout H264WalkedSlice
  ) {
    met.ended = endPicture()
    let named = sets.sequenceParameterSet(slice.sequenceParameterSetID)
    let before = previousSPS
    previousSPS = named ?? before
    if sps?.id != slice.sequenceParameterSetID || slice.isIDR || sps == nil { activate(named) }
    guard let sps else { return }
    first = (slice, marking)
    let isSecondField = openField.map { H264.isSecondField(slice, of: $0) } ?? false
    openField = slice.isField && !isSecondField ? slice : nil
    let count = counter.next(slice, sps: sps)
    self.count = count
    if slice.isIDR { isComplete = true }
    var pictureStart = H264WalkedSlice.PictureStart(
      isFirst: previousReferenceNumber == nil, isRecoveryPoint: messages.isRecoveryPoint, isComplete: isComplete,
      order: count.picture)
    if slice.isIDR, !isSecondField { pictureStart.previousIDRPictureID = previousIDR?.id }
    if !slice.isIDR { pictureStart.activation = LateActivation(named, after: before) }
    previousIDR = slice.isIDR ? (slice.idrPictureID, isSecondField) : isSecondField ? previousIDR : nil
    if !isSecondField {
      if count.resetsPOC {
        sequence += 1
        reorder.beginSequence()
        // Pictures that wait for output are output before this picture, or dropped.
        if slice.isIDR {
          if case .idr(noOutputOfPriorPictures: true, _) = marking, !beginsStream {
            // Decoders may output the others as soon as they are decoded.
            pictureStart.discarded = min(buffer.waitingCount, before?.maximumReorderFrames ?? 0)
          }
          buffer.clear()
        }
      }
      pictureStart.reorder = reorder.add(count.picture, isOutput: true)
    }
    if !slice.isIDR, !isSecondField, let previous = previousReferenceNumber {
      pictureStart.previousFrameNumber = previous
      buffer.fillGap(before: slice, after: previous, sps, capacity: sps.decodedPictureBufferFrames)
    }
    beginsStream = false
    met.pictureStart = pictureStart
    buffer.wrap(to: slice.frameNumber, maximum: 1 << UInt32(sps.log2MaximumFrameNumber & 31))
    picture.isFieldPair = isSecondField && picture.exists
    picture.exists = true
    picture.isReference = slice.isReference
    picture.isField = slice.isField
    picture.isSecondField = isSecondField
    picture.sequence = sequence
    picture.order = picture.order ?? count.picture
    picture.keyframe = slice.isIDR ? .idr : messages.isRecoveryPoint ? .recoveryPoint : picture.keyframe
  }

  private mutating func activate(_ active: H264.SequenceParameterSet?) {
    guard active != sps else { return }
    sps = active
    limits = active.flatMap { $0.levelLimits }
  }

  /// Reference picture lists (8.2.4).
  private mutating func list(
    _ slice: H264.SliceHeader, _ syntax: H264.ReferenceSyntax, _ sps: H264.SequenceParameterSet,
    _ met: inout H264WalkedSlice
  ) {
    guard !slice.sliceType.isIntra, let count else { return }
    let current = slice.fields
    let maximum = UInt32(1) << UInt32(sps.log2MaximumFrameNumber & 31)
    let firstField = picture.isSecondField && !buffer.frames.isEmpty ? buffer.frames.count - 1 : nil
    let initial = buffer.initialLists(
      isB: slice.sliceType == .b, current: current, order: count.picture, firstField: firstField)
    for isList1 in [false, true] {
      let list = isList1 ? initial.1 : initial.0
      let steps = isList1 ? syntax.modificationsList1 : syntax.modificationsList0
      let length = isList1 ? syntax.referenceCountList1 : syntax.referenceCountList0
      guard length > 0 else { continue }
      let (entries, missing) = buffer.modified(
        list, by: steps, count: Int(length), current: current, frameNumber: slice.frameNumber, maximum: maximum)
      for entry in entries where entry.exists { picture.add(reference: entry.order) }
      if missing.isEmpty { if isList1 { lists.1 = entries } else { lists.0 = entries } }
      guard isComplete else { continue }
      if list.isEmpty || !missing.isEmpty { met.defects.append((missing, list.isEmpty)) }
    }
  }

  var references: SliceReferences {
    // The count of a picture with MMCO 5 is that behind it.
    guard let count, let first, first.slice.isIDR || !first.slice.resetsPictureOrderCount else {
      return SliceReferences()
    }
    func distances(_ list: [H264DecodedPictureBuffer.Entry]) -> [Int32?] {
      list.map { $0.exists ? $0.order &- count.picture : nil }
    }
    return SliceReferences(
      list0: distances(lists.0), list1: distances(lists.1), areFrames: !first.slice.isField)
  }

  // MARK: The end of a picture

  mutating func endAccessUnit() -> EndedPicture? {
    let ended = endPicture()
    judgeIntraPicture()
    return ended
  }

  /// Takes a picture of I slices for one to begin at, unless the stream signals such pictures.
  private mutating func judgeIntraPicture() {
    if messages.isRecoveryPoint { marksRecoveryPoints = true }
    guard !marksRecoveryPoints, picture.keyframe == .none, picture.letter == 0x49, !picture.onlyCompletes else {
      return
    }
    picture.keyframe = .intra
  }

  private mutating func endPicture() -> EndedPicture? {
    guard let (slice, marking) = first, let sps, let count else { return nil }
    first = nil
    let fields = slice.fields
    var frame = H264DecodedPictureBuffer.Frame(
      frameNumber: slice.frameNumber, fields: fields, top: count.top ?? count.bottom ?? 0,
      bottom: count.bottom ?? count.top ?? 0)
    frame.awaitsOutput = true
    var ended = EndedPicture(capacity: sps.decodedPictureBufferFrames)
    if slice.isReference { mark(slice, marking, sps, &frame, &ended) }
    if slice.resetsPictureOrderCount {
      frame.frameNumber = 0
      // A field pair whose first field resets stays one frame.
      if !picture.isSecondField { buffer.clear() }
      isComplete = true
    }
    if slice.isReference || previousReferenceNumber == nil {
      previousReferenceNumber = frame.frameNumber
    } else if let previous = previousReferenceNumber, slice.frameNumber != previous {
      // After a gap, PrevRefFrameNum comes from the last non-existing frame.
      if slice.frameNumber(after: previous, sps) > 1 {
        previousReferenceNumber = (slice.frameNumber &- 1) & sps.frameNumberMask
      }
    }
    let trouble = buffer.store(frame, isSecondField: picture.isSecondField, capacity: ended.capacity)
    if isComplete { ended.trouble = trouble }
    picture.decodedPictures = buffer.frames.count
    return ended
  }

  /// 8.2.5
  private mutating func mark(
    _ slice: H264.SliceHeader, _ marking: H264.ReferenceSyntax.ReferenceMarking?, _ sps: H264.SequenceParameterSet,
    _ frame: inout H264DecodedPictureBuffer.Frame, _ ended: inout EndedPicture
  ) {
    let fields = slice.fields
    let limit = Int(sps.maximumReferenceFrames)
    frame.shortTerm = fields
    switch marking {
    case .idr(_, let isLongTerm):
      if isLongTerm { (frame.shortTerm, frame.longTerm, frame.longTermIndex) = (0, fields, 0) }
    case .adaptive(let operations):
      for operation in operations { perform(operation, slice, &frame, &ended) }
      let count = buffer.referenceCount + (joinsReference(frame) ? 0 : 1)
      if isComplete {
        ended.references = (count, limit)
        if count > max(1, limit) { buffer.slide(limit: limit) }
      }
    default:
      if !joinsReference(frame) { buffer.slide(limit: limit) }
    }
  }

  /// Whether this is the second field of a frame whose first field is a reference.
  private func joinsReference(_ frame: H264DecodedPictureBuffer.Frame) -> Bool {
    guard picture.isSecondField, let last = buffer.frames.last else { return false }
    return last.isReference && last.fields & frame.fields == 0
  }

  private mutating func perform(
    _ operation: H264.ReferenceSyntax.ReferenceMarking.Operation, _ slice: H264.SliceHeader,
    _ frame: inout H264DecodedPictureBuffer.Frame, _ ended: inout EndedPicture
  ) {
    guard !buffer.perform(operation, of: slice, &frame, joins: joinsReference(frame)), isComplete else { return }
    let (name, number): (StaticString, Int64) =
      operation.code == 2
      ? ("long-term picture number", Int64(operation.first)) : ("picture number", operation.pictureNumber(slice))
    ended.missing.append((UInt32(operation.code), name, number))
  }

  // MARK: SEI and the coded picture buffer

  mutating func read(
    _ message: borrowing SEIMessages.Message, sets: borrowing H264.ParameterSets
  ) throws(BitstreamError) {
    switch message.type {
    case .bufferingPeriod:
      let period = try H264.BufferingPeriod(message, parameterSets: sets)
      activate(sets.sequenceParameterSet(period.sequenceParameterSetID))
      try messages.takeBufferingPeriod((period.nal + period.vcl).map { $0.removalDelay })
    case .pictureTiming:
      // The SPS may have been replaced since the last picture.
      guard let sps = sps.flatMap({ sets.sequenceParameterSet($0.id) }) ?? Self.first(in: sets) else { break }
      let timing = try H264.PictureTiming(message, sps: sps)
      messages.hasPictureTiming = true
      messages.isRepeated = timing.structure.map { $0.fieldPeriods > 2 } ?? false
      messages.isField = timing.structure.map { $0.fieldPeriods == 1 }
      if let delays = timing.delays, let tick = sps.vui?.timing, tick.timeScale > 0 {
        messages.removalDelay =
          Double(delays.cpbRemoval) * Double(tick.unitsInTick) / Double(tick.timeScale)
      }
    case .recoveryPoint:
      _ = try H264.RecoveryPoint(message)
      messages.isRecoveryPoint = true
    default: try messages.read(message)
    }
  }

  var signalledBuffer: SignalledBuffer? {
    guard let hrd = sps?.vui?.nalHRD ?? sps?.vui?.vclHRD, let first = hrd.buffers.first else { return nil }
    return SignalledBuffer(
      bitRate: hrd.bitRate(of: first), size: hrd.size(of: first), isConstantBitRate: first.isConstantBitRate,
      holdsVCLOnly: sps?.vui?.nalHRD == nil, isLowDelay: sps?.vui?.isLowDelayHRD ?? false)
  }

  var pictureSize: UInt64 { sps.map { UInt64($0.widthInMacroblocks) * UInt64($0.heightInMacroblocks) } ?? 0 }

  var period: Double? {
    sps?.frameRate.map { Double($0.denominator) / Double($0.numerator) / (picture.isField ? 2 : 1) }
  }

  var fixedFrameRate: Ratio? { sps?.vui?.timing?.isFixedFrameRate == true ? sps?.frameRate : nil }
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
