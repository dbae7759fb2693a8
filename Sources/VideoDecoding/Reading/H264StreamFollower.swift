// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

/// Follows `frame_num` and recovery points of an H.264 stream. If decoding began at an intra picture, it also follows
/// references.
struct H264StreamFollower: StreamFollower {
  private var inspection: AccessUnitInspection<H264>
  private var fields = FieldPairing<H264>()
  /// `PrevRefFrameNum` (H.264 7.4.3); nil after a reset.
  private var previousReferenceNumber: UInt32?
  /// The recovery under way since the last recovery point SEI message.
  private var recovery: RecoveryProgress<H264>?
  /// The SPS of the pictures since the last random access point.
  private var sequence: H264.SequenceParameterSet?
  /// The stream has recovery point SEI, so that pictures of I slices only are no random access points.
  private var marksRecoveryPoints = false
  /// The available references, if decoding began, or continues after damage, at an intra picture.
  private var references = H264.ReferenceAvailability()
  private(set) var followsReferencesFrom: UInt64?
  private var counter = H264.PictureOrderCounter()
  /// The depth of reordering since the last reset of picture order count.
  private var reordering = ReorderDepth(limit: FormatDescription.deepestReordering)
  /// The picture that is output last of all since then.
  private var latest: OutputOrder?
  private var orderSequence: UInt64 = 0
  /// The first slice of the last picture.
  private var lastSlice: H264.SliceHeader?
  /// The last picture has the same header as the previous picture, although one of a few elements must differ
  /// (7.4.1.2.4). Not for IDR pictures: some encoders give all of them the same `idr_pic_id`.
  private var hasRepeatedHeader = false

  init(lengthSize: NALLengthSize?) { inspection = AccessUnitInspection(lengthSize: lengthSize) }

  var parameterSets: [UInt8] { inspection.packagedSets }
  var endOfSequence: [UInt8] { inspection.packaged([H264.endOfSequence]) }

  mutating func insert(parameterSets nalUnits: [[UInt8]]) { inspection.insert(nalUnits) }
  mutating func read(_ accessUnit: Span<UInt8>) -> AccessUnitDescription { inspection.read(accessUnit) }

  mutating func reset(keepsReferences: Bool) {
    fields = FieldPairing()
    lastSlice = nil
    hasRepeatedHeader = false
    previousReferenceNumber = nil
    recovery = nil
    if !keepsReferences { counter = H264.PictureOrderCounter() }
    beginOrder()
  }

  private mutating func beginOrder() {
    orderSequence &+= 1
    reordering.beginSequence()
    latest = nil
  }

  mutating func forgetReferences() { followsReferencesFrom = nil }

  func use(of summary: DecodingSummary, skipping skipFrames: SessionConfiguration.SkipFrames) -> PictureUse {
    guard summary.nalUnitType != nil, !summary.randomAccess.isMarked else { return .decoded }
    switch skipFrames {
    case .none: return .decoded
    // Without the end of a recovery all that follows would count as damaged.
    case .nonReference, .bidirectional:
      if summary.isDiscardable && !summary.completesRecovery { return .skipped }
      return skipFrames == .bidirectional && summary.isBidirectional ? .hidden : .decoded
    case .nonKey: return .skipped
    }
  }

  // `frame_num` shows it.
  func pictureIsMissing(_ index: UInt64) {}

  mutating func followReferences(from index: UInt64) {
    references = H264.ReferenceAvailability()
    followsReferencesFrom = index
  }

  mutating func referencesStart(of accessUnit: Span<UInt8>, _ summary: DecodingSummary) -> UInt64? {
    if summary.randomAccess == .idr { followsReferencesFrom = nil }
    guard let since = followsReferencesFrom, summary.nalUnitType != nil else { return nil }
    let isWhole = references.next(
      accessUnit, packaging: inspection.packaging, isSecondField: summary.isSecondField,
      parameterSets: inspection.parameterSets)
    return isWhole ? since : nil
  }

  mutating func inspect(_ accessUnit: Span<UInt8>, _ description: AccessUnitDescription, index: UInt64)
    -> DecodingSummary
  {
    guard case .h264(let reading) = description.reading else { return DecodingSummary() }
    return inspect(accessUnit, reading.info, reading.parameterSets, index: index)
  }

  private mutating func inspect(
    _ accessUnit: Span<UInt8>, _ info: H264.AccessUnitInfo, _ parameterSets: H264.ParameterSets, index: UInt64
  ) -> DecodingSummary {
    var summary = inspection.take(accessUnit, info, parameterSets)
    summary.isSecondField = info.slice.map { fields.isSecond($0) } ?? false
    if info.hasPicture {
      let type: H264.NALUnitType = info.randomAccess == .idr ? .idrSlice : .slice
      summary.nalUnitType = (info.slice?.nalUnitType ?? type).rawValue
    }
    switch info.randomAccess {
    case .none: break
    // libavcodec decides by the first slice, even if slices of another picture follow it.
    case .idr where info.slice == nil || info.slice?.nalUnitType == .idrSlice: summary.randomAccess = .idr
    case .idr, .irap: break
    case .recoveryPoint(let point):
      summary.randomAccess = .recoveryPoint(frameCount: Int(point.frameCount), isExact: point.isExactMatch)
      summary.isBrokenLink = point.isBrokenLink
      marksRecoveryPoints = true
    }
    if summary.randomAccess == .none && info.isIntra && !marksRecoveryPoints { summary.randomAccess = .intra }
    if info.hasPicture { follow(header: info.slice) }
    guard let slice = info.slice else {
      // An unreadable picture may be referred to.
      summary.isReference = info.hasPicture
      return summary
    }
    follow(slice, info, &summary)
    if !info.slices.isInOrder {
      let order = H264SliceOrder(accessUnit, inspection.packaging, inspection.parameterSets)
      summary.patches += order.withheld
      if order.isDamaged { summary.isIncomplete = true }
    }
    // Slice order is arbitrary (ASO), so all slices may have to be read; nearly always the first one is first.
    if slice.firstMacroblock != 0, !hasFirstSlice(accessUnit) { summary.isIncomplete = true }
    return summary
  }

  private mutating func follow(header slice: H264.SliceHeader?) {
    hasRepeatedHeader =
      if let slice, let lastSlice { !slice.isIDR && !H264.isFirstOfPicture(slice, after: lastSlice) } else { false }
    lastSlice = slice
  }

  func isRepeated(_ accessUnit: Span<UInt8>, after last: Span<UInt8>) -> Bool {
    hasRepeatedHeader && inspection.hasSameSlices(accessUnit, last)
  }

  private func hasFirstSlice(_ accessUnit: Span<UInt8>) -> Bool {
    for range in inspection.packaging.nalUnits(of: accessUnit)
    where H264.SliceHeader.startsAtFirstMacroblock(accessUnit.extracting(range)) == true {
      return true
    }
    return false
  }

  private mutating func follow(_ count: H264.PictureOrderCount, _ summary: inout DecodingSummary) {
    if count.resetsPOC { beginOrder() }
    let order = OutputOrder(sequence: orderSequence, count: count.picture)
    summary.order = order
    summary.reorderDepth = reordering.add(count.picture, isOutput: true).depth
    // Frames in output order are 1 or 2 apart.
    summary.followsOrderGap = latest.map { Int64(order.count) - Int64($0.count) > 2 } ?? false
    latest = latest.map { max($0, order) } ?? order
  }

  private mutating func follow(
    _ slice: H264.SliceHeader, _ info: H264.AccessUnitInfo, _ summary: inout DecodingSummary
  ) {
    summary.isField = slice.isField
    summary.isReference = slice.isReference
    summary.isDiscardable = !slice.isReference
    summary.isBidirectional = slice.sliceType == .b
    guard let sps = inspection.parameterSets.sequenceParameterSet(slice.sequenceParameterSetID) else {
      return
    }
    summary.isIncomplete = RefusedParameterSets.hasUndecodableSamples(
      sps.chromaFormat, luma: sps.lumaBitDepth, chroma: sps.chromaBitDepth)
    if summary.randomAccess.isMarked || sequence == nil {
      // Not at other pictures: a damaged SPS that is corrected before the next random access point ends nothing.
      if let sequence, !slice.isIDR { summary.beginsOtherSequence = !sps.codesPictures(like: sequence) }
      sequence = sps
    }
    let count = counter.next(slice, sps: sps)
    if !summary.isSecondField { follow(count, &summary) }
    let mask: UInt32 = (1 << UInt32(sps.log2MaximumFrameNumber)) - 1
    if case .recoveryPoint(let point) = info.randomAccess {
      recovery = RecoveryProgress(point, at: slice)
    } else {
      recovery?.take(slice, sps: sps)
    }
    if slice.isIDR || recovery?.isComplete == true {
      summary.completesRecovery = true
      recovery = nil
    }
    if let previous = previousReferenceNumber, !slice.isIDR, !sps.allowsFrameNumberGaps {
      summary.followsGap = slice.frameNumber != previous && slice.frameNumber != (previous + 1) & mask
    }
    if slice.isReference { previousReferenceNumber = slice.resetsPictureOrderCount ? 0 : slice.frameNumber }
  }
}
