// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

/// Follows POC and reference picture sets of an H.265 stream, in which libavcodec reports no damage.
struct H265StreamFollower: StreamFollower {
  private var inspection: AccessUnitInspection<H265>
  private let verifiesPictureHash: Bool
  private var pictures = H265.ReferencePictures()
  /// The SPS of the pictures since the last random access point.
  private var sequence: H265.SequenceParameterSet?
  /// The highest POC since the picture that began the coded video sequence.
  private var highestOrder = Int32.min
  /// Counts the sequences of POCs so far.
  private var orderSequence: UInt64 = 0
  /// The last recovery point.
  private var recovery: Recovery?
  /// The stream marks random access points, so that pictures of I slices only are none.
  private var marksRandomAccess = false

  private struct Recovery {
    /// The access unit at which it begins, and its POC.
    let start: UInt64
    let startOrder: Int32
    /// The POC from which on pictures are correct.
    let order: Int32
    let isBrokenLink: Bool
  }

  init(lengthSize: NALLengthSize?, verifiesPictureHash: Bool) {
    inspection = AccessUnitInspection(lengthSize: lengthSize)
    self.verifiesPictureHash = verifiesPictureHash
  }

  var parameterSets: [UInt8] { inspection.packagedSets }
  var endOfSequence: [UInt8] { inspection.packaged([H265.endOfSequence]) }

  mutating func insert(parameterSets nalUnits: [[UInt8]]) { inspection.insert(nalUnits) }
  mutating func read(_ accessUnit: Span<UInt8>) -> AccessUnitDescription { inspection.read(accessUnit) }

  mutating func reset(keepsReferences: Bool) {
    orderSequence &+= 1
    guard !keepsReferences else { return }
    pictures = H265.ReferencePictures()
    highestOrder = .min
    recovery = nil
  }

  // Each picture's reference picture set lists its references: intra pictures need no following.
  var followsReferencesFrom: UInt64? { nil }
  func forgetReferences() {}
  func followReferences(from index: UInt64) {}
  func referencesStart(of accessUnit: Span<UInt8>, _ summary: DecodingSummary) -> UInt64? { nil }

  // A repeated picture shows in its POC.
  func isRepeated(_ accessUnit: Span<UInt8>, after last: Span<UInt8>) -> Bool { false }

  func use(of summary: DecodingSummary, skipping skipFrames: SessionConfiguration.SkipFrames) -> PictureUse {
    skipFrames == .nonReference && summary.isDiscardable ? .skipped : .decoded
  }

  mutating func pictureIsMissing(_ index: UInt64) { pictures.remove(index) }

  mutating func inspect(_ accessUnit: Span<UInt8>, _ description: AccessUnitDescription, index: UInt64)
    -> DecodingSummary
  {
    guard case .h265(let reading) = description.reading else { return DecodingSummary() }
    return inspect(accessUnit, reading.info, reading.parameterSets, index: index)
  }

  private mutating func inspect(
    _ accessUnit: Span<UInt8>, _ info: H265.AccessUnitInfo, _ parameterSets: H265.ParameterSets, index: UInt64
  ) -> DecodingSummary {
    var summary = inspection.take(accessUnit, info, parameterSets)
    guard info.hasPicture else {
      if info.endsSequence { pictures.endSequence() }
      return summary
    }
    if info.endsSequenceBeforePicture { pictures.endSequence() }
    summary.nalUnitType = (info.sliceType ?? .trailingR).rawValue
    summary.isIncomplete = !info.slices.hasFirst || !info.slices.isInOrder || info.slices.hasUnreadable
    // An unreadable picture may be referred to.
    summary.isReference = true
    if let (slice, references) = info.references { follow(slice, references, info, index, &summary) }
    if info.endsSequenceBehindPicture { pictures.endSequence() }
    if verifiesPictureHash { summary.hash = hash(in: accessUnit, info.seiRanges) }
    return summary
  }

  private mutating func follow(
    _ slice: H265.SliceSegmentHeader, _ references: H265.ReferenceSyntax, _ info: H265.AccessUnitInfo,
    _ index: UInt64, _ summary: inout DecodingSummary
  ) {
    guard let sps = inspection.parameterSets.sequenceParameterSet(slice.sequenceParameterSetID) else {
      return
    }
    if RefusedParameterSets.hasUndecodableSamples(
      sps.chromaFormat, luma: sps.lumaBitDepth, chroma: sps.chromaBitDepth)
    {
      summary.isIncomplete = true
    }
    // libavcodec makes no picture when the first slice segment is missing.
    let use = pictures.next(slice, references, sps: sps, number: info.slices.hasFirst ? index : nil)
    let type = slice.nalUnitType
    if type.isIRAP {
      summary.randomAccess = use.order.resetsPOC ? .idr : .cra
      summary.completesRecovery = true
      marksRandomAccess = true
      recovery = nil
    } else if case .recoveryPoint(let point) = info.randomAccess {
      summary.randomAccess = .recoveryPoint(
        frameCount: Int(max(0, point.pictureOrderCount)), isExact: point.isExactMatch)
      let order = use.order.picture
      recovery = Recovery(
        start: index, startOrder: order, order: order &+ point.pictureOrderCount, isBrokenLink: point.isBrokenLink)
      marksRandomAccess = true
    } else if info.isIntra && !marksRandomAccess {
      summary.randomAccess = .intra
    }
    if summary.randomAccess.isMarked || sequence == nil {
      if let sequence, !use.order.resetsPOC {
        // Pictures that precede an IRAP picture in decoding order precede it in output order (7.4.2.2).
        let goesBack = type.isIRAP && !use.isRepeated && use.order.picture < highestOrder
        summary.beginsOtherSequence = goesBack || !sps.codesPictures(like: sequence)
      }
      sequence = sps
    }
    if use.order.resetsPOC { highestOrder = .min }
    if use.order.resetsPOC || summary.beginsOtherSequence { orderSequence &+= 1 }
    if slice.isOutput, !use.order.isSkipped {
      summary.displayOrder = OutputOrder(sequence: orderSequence, count: use.order.picture)
    }
    if !use.order.isSkipped { highestOrder = max(highestOrder, use.order.picture) }
    var isBehindBrokenLink = false
    if let recovery {
      summary.awaitsRecovery = use.order.picture < recovery.order
      if summary.awaitsRecovery {
        isBehindBrokenLink = recovery.isBrokenLink
      } else {
        summary.recoveredSince = recovery.start
        summary.completesRecovery = true
      }
    }
    // Once a recovery is complete, references from before its start are not missed.
    let isMissed = { (order: Int32) in
      summary.recoveredSince == nil || self.recovery.map { order >= $0.startOrder } ?? true
    }
    summary.isLeading = type.isLeading
    summary.isSkipped = use.order.isSkipped
    summary.isShown = slice.isOutput
    summary.isReference = !use.isRepeated
    // Pictures of higher sub-layers may refer to sub-layer non-reference pictures.
    summary.isDiscardable = type.isSubLayerNonReference && slice.temporalID + 1 >= sps.subLayerCount
    let lacksReferences = use.missing.contains(where: isMissed)
    summary.references = DecodingSummary.References(
      pictures: use.references, areComplete: !lacksReferences && !isBehindBrokenLink, kept: pictures.numbers)
  }

  /// The picture hash, in a suffix SEI or (in older streams) in front of the picture.
  private func hash(in accessUnit: Span<UInt8>, _ ranges: [Range<Int>]) -> H265.DecodedPictureHash? {
    for range in ranges.reversed() {
      var messages = SEIMessages(accessUnit.extracting(range), headerLength: H265.nalUnitHeaderLength)
      do throws(BitstreamError) {
        while let message = try messages.next() {
          if message.type == .decodedPictureHash { return try H265.DecodedPictureHash(message) }
        }
      } catch {
        continue
      }
    }
    return nil
  }
}
