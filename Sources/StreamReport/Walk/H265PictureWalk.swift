// SPDX-License-Identifier: MPL-2.0
import H26x
import Slices

/// Follows the pictures of an H.265 stream: POC, references and buffers. Only the base layer is followed.
struct H265PictureWalk: PictureWalking {
  typealias Codec = H265

  private(set) var picture = PictureRecord()
  private(set) var messages = AccessUnitSEI()
  // More pictures than any decoded picture buffer can hold.
  private var reorder = ReorderDepth(limit: 64)
  /// How many times picture order counts were reset.
  private var sequence: UInt64 = 0
  private var counter = H265.PictureOrderCounter()
  private var buffer = H265DecodedPictureBuffer()
  private(set) var sps: H265.SequenceParameterSet?
  /// The SPS of the picture before. A buffering period SEI message may have activated another one since.
  private var previousSPS: H265.SequenceParameterSet?
  private var vps: H265.VideoParameterSet?
  private(set) var limits: LevelLimits?

  private var first: H265.SliceSegmentHeader?
  private var count: H265.PictureOrderCount?
  private var lastAddress: UInt32 = 0
  /// The pictures that slices of the current picture may refer to.
  private var referenceSet = ReferenceSet()
  /// The coding parameters of the last slice.
  private var lastCoding: H265.SliceCoding?
  private var lastIRAP: H265.NALUnitType?
  private var hasTrailing = false
  private var isAtStart = true
  /// The next picture is the first of another stream: it discards no pictures.
  private var beginsStream = false

  init() {}

  var reorderDepth: Int { reorder.pictures }

  mutating func beginAccessUnit() { (picture, messages) = (PictureRecord(), AccessUnitSEI()) }

  mutating func endSequence(_ type: H265.NALUnitType) {
    counter.endSequence()
    isAtStart = true
    if type == .endOfStream { beginsStream = true }
  }

  // MARK: Slices

  mutating func slice(
    _ whole: H265.WholeSliceHeader, _ record: inout NALUnitRecord, sets: borrowing H265.ParameterSets,
    startsPicture: Bool
  ) -> H265WalkedSlice {
    let slice = whole.header
    record.slice = SliceRecord(
      letter: slice.sliceType?.letter ?? picture.letter ?? 0x50, first: slice.segmentAddress,
      quantizationParameter: whole.quantizationParameter, pictureParameterSetID: slice.pictureParameterSetID)
    var met = H265WalkedSlice(
      header: slice, quantizationParameter: whole.quantizationParameter, address: sets.tileScanAddress(of: slice))
    if startsPicture || first == nil {
      begin(slice, whole.references, sets: sets, &met)
      picture.quantizationParameter = whole.quantizationParameter
    } else if let first {
      met.before = (first, lastAddress)
    }
    lastAddress = met.address
    // A dependent slice segment has the lists of the slice.
    lastCoding = whole.coding ?? lastCoding
    if let type = slice.sliceType { picture.add(type.letter) }
    return met
  }

  private mutating func begin(
    _ slice: H265.SliceSegmentHeader, _ references: H265.ReferenceSyntax?, sets: borrowing H265.ParameterSets,
    _ met: inout H265WalkedSlice
  ) {
    met.ended = endPicture()
    let type = slice.nalUnitType
    let named = sets.sequenceParameterSet(slice.sequenceParameterSetID)
    let before = previousSPS
    previousSPS = named ?? before
    if sps?.id != slice.sequenceParameterSetID || type.isIRAP || sps == nil {
      activate(named, of: sets)
      if let sps, vps == nil { met.missingVPS = sps.videoParameterSetID }
    }
    (referenceSet, lastCoding) = (ReferenceSet(), nil)
    guard let sps else { return }
    first = slice
    var pictureStart = H265WalkedSlice.PictureStart(
      isFirst: isAtStart && lastIRAP == nil, isRecoveryPoint: messages.isRecoveryPoint, followsTrailing: hasTrailing,
      lastIRAP: lastIRAP)
    if type.isIRAP {
      lastIRAP = type
      hasTrailing = false
    } else if !type.isLeading {
      hasTrailing = true
    }
    let isComplete = sequence > 0 || type.isIRAP
    let count = counter.next(slice, sps: sps)
    self.count = count
    isAtStart = false
    if count.resetsPOC {
      // A CRA picture discards them whatever its flag is.
      let discards = type == .cra || slice.discardsPriorPictures
      if discards, sequence > 0, !beginsStream { pictureStart.discarded = buffer.waitingCount }
      sequence += 1
      reorder.beginSequence()
      buffer.clear()
    } else {
      pictureStart.activation = LateActivation(named, after: before)
    }
    beginsStream = false
    pictureStart.order = count.picture
    if !count.isSkipped {
      pictureStart.reorder = reorder.add(count.picture, isOutput: slice.isOutput)
    }
    if let references {
      let found = buffer.apply(references, order: count.picture, log2Maximum: sps.log2MaximumPictureOrderCount)
      for order in found.used { picture.add(reference: order) }
      referenceSet.earlierCount = references.shortTerm.before.count { $0.isUsed }
      referenceSet.laterCount = references.shortTerm.after.count { $0.isUsed }
      referenceSet.distances = found.used.map { found.missing.contains($0) ? nil : $0 &- count.picture }
      if isComplete, !count.isSkipped { pictureStart.references = (found.missing, found.count) }
    }
    met.pictureStart = pictureStart
    picture.exists = true
    picture.isReference = slice.isReference
    picture.isField = slice.isField
    picture.sequence = sequence
    picture.order = count.picture
    picture.keyframe =
      type.isIDR
      ? .idr : type.isBLA ? .bla : type.isIRAP ? .cra : messages.isRecoveryPoint ? .recoveryPoint : .none
  }

  var references: SliceReferences {
    guard let coding = lastCoding else { return SliceReferences() }
    return referenceSet.lists(
      .init(count: coding.referenceCountList0, entries: coding.prediction.listEntries0),
      .init(count: coding.referenceCountList1, entries: coding.prediction.listEntries1),
      refersToItself: coding.prediction.refersToItself)
  }

  private mutating func activate(_ active: H265.SequenceParameterSet?, of sets: borrowing H265.ParameterSets) {
    if active != sps {
      sps = active
      limits = active.flatMap { $0.levelLimits }
    }
    vps = active.flatMap { sets.videoParameterSet($0.videoParameterSetID) }
  }

  mutating func endAccessUnit() -> EndedPicture? { endPicture() }

  private mutating func endPicture() -> EndedPicture? {
    guard let slice = first, let sps, let count else { return nil }
    first = nil
    guard !count.isSkipped else { return nil }
    let limits = H265DecodedPictureBuffer.Limits(sps.highestBuffering)
    let trouble = buffer.store(count.picture, isOutput: slice.isOutput, limits)
    picture.decodedPictures = buffer.pictures.count
    return EndedPicture(trouble: sequence > 0 ? trouble : nil, capacity: limits.capacity)
  }

  // MARK: SEI and the coded picture buffer

  mutating func read(
    _ message: borrowing SEIMessages.Message, sets: borrowing H265.ParameterSets
  ) throws(BitstreamError) {
    switch message.type {
    case .bufferingPeriod:
      // The message may activate another SPS than that of the last picture. With HRD parameters in the VPS only, the SPS
      // does not have the lengths of its fields.
      let named = sets.sequenceParameterSet(try H265.BufferingPeriod.sequenceParameterSetID(of: message))
      guard let sps = named ?? sps ?? Self.first(in: sets), sps.vui?.timing?.hrdParameters != nil else { break }
      let period = try H265.BufferingPeriod(message, parameterSets: sets)
      activate(sets.sequenceParameterSet(period.sequenceParameterSetID), of: sets)
      try messages.takeBufferingPeriod((period.nal + period.vcl).map { $0.removalDelay })
    case .pictureTiming:
      // The SPS may have been replaced since the last picture.
      guard let id = sps?.id ?? Self.first(in: sets)?.id, let sps = sets.sequenceParameterSet(id) else { break }
      let timing = try H265.PictureTiming(message, sps: sps)
      messages.hasPictureTiming = true
      // Table D.2: fields, alone and in pairs across pictures.
      messages.isField = timing.display.map { [1, 2, 9, 10, 11, 12].contains($0.structure.rawValue) }
      // Three fields, or a frame two or three times.
      messages.isRepeated = timing.display.map { (5...8).contains($0.structure.rawValue) } ?? false
      if let delays = timing.delays, let tick = sps.vui?.timing, tick.timeScale > 0 {
        messages.removalDelay =
          Double(delays.cpbRemoval) * Double(tick.unitsInTick) / Double(tick.timeScale)
      }
    case .recoveryPoint:
      _ = try H265.RecoveryPoint(message)
      messages.isRecoveryPoint = true
    case .activeParameterSets: _ = try H265.ActiveParameterSets(message)
    case .decodedPictureHash: _ = try H265.DecodedPictureHash(message)
    case .timeCode: _ = try H265.TimeCode(message)
    default: try messages.read(message)
    }
  }

  var signalledBuffer: SignalledBuffer? {
    guard let hrd = sps?.vui?.timing?.hrdParameters, let layer = hrd.subLayers.last,
      let first = layer.nal.first ?? layer.vcl.first
    else { return nil }
    return SignalledBuffer(
      bitRate: hrd.bitRate(of: first), size: hrd.size(of: first), isConstantBitRate: first.isConstantBitRate,
      holdsVCLOnly: layer.nal.isEmpty, isLowDelay: layer.pictureRate == .variable(isLowDelay: true))
  }

  var pictureSize: UInt64 { sps.map { UInt64($0.codedSize.width) * UInt64($0.codedSize.height) } ?? 0 }

  var period: Double? {
    // frameRate(_:) counts frames; a field lasts half as long.
    guard let sps, let rate = sps.frameRate(vps) else { return nil }
    let ticks = Double(sps.ticksPerPicture)
    return ticks * Double(rate.denominator) / Double(rate.numerator) / (picture.isField ? 2 : 1)
  }

  var fixedFrameRate: Ratio? {
    guard let sps, sps.hasFixedPictureRate, sps.ticksPerPicture == 1 else { return nil }
    return sps.frameRate(vps)
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

extension H265.SequenceParameterSet {
  /// Clock ticks between pictures at a fixed rate (`elemental_duration_in_tc_minus1` + 1 of the highest sub-layer); 1
  /// without one.
  var ticksPerPicture: UInt16 {
    switch vui?.timing?.hrdParameters?.subLayers.last?.pictureRate {
    case .fixed(let ticks), .fixedWithinSequence(let ticks): max(1, ticks)
    case .variable, nil: 1
    }
  }
}

extension H265.SequenceParameterSet {
  /// Whether HRD parameters or the VUI signal a fixed picture rate. Without one, the timing is not a frame rate.
  var hasFixedPictureRate: Bool {
    guard let rate = vui?.timing?.hrdParameters?.subLayers.last?.pictureRate else {
      return vui?.timing?.ticksPerPictureOrderCount != nil
    }
    if case .variable = rate { return false }
    return true
  }
}
