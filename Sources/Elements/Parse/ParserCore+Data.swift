// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

extension ParserCore {
  // MARK: Data comes

  /// Whether downstream has to be asked how it wants the stream.
  enum PackagingNeed { case none, first, again }

  /// Data is handed over.
  mutating func begin(_ situation: ParserSituation) -> PackagingNeed {
    self.situation = situation
    diagnosis.noticeData()
    if situation.attributes.flags.contains(.discontinuity) { isDiscontinuous = true }
    // In push mode seeks come with events, and offsets may be missing. Whether the base class calls the data new says
    // nothing: after a seek back to where it was, it does not.
    if situation.isPulling, position.isJump(to: situation.offset) {
      forgetPosition()
      timestamps.forgetPosition(awaitingPosition: situation.offset != 0)
    }
    if heldSize == nil {
      if mayBatch() {
        batch.timestampsBefore = timestamps
      } else if case .some = batch.timestampsBefore {
        batch.timestampsBefore = nil
      }
    }
    guard packaging != nil else { return .first }
    return situation.isNew && heldSize == nil && scanner.isBetweenAccessUnits ? .again : .none
  }

  /// The way of a buffer: finds the next access unit in the data, reads it, and hands it on to the output.
  mutating func parse(_ frame: borrowing BaseParseFrame, _ log: ElementLog) throws(FlowError) -> ParserAction {
    aimScanner()
    timestamps.notice(situation)
    var finding: ScannerFinding
    let available: Int
    do {
      let map = try frame.map()
      let bytes = map.bytes
      available = bytes.count
      finding = find(bytes, isMarked: situation.attributes.flags.contains(.marker), log)
      if case .accessUnit(let size) = finding {
        if !accessUnit.isAnnounced, !caps.describe(sequenceParameterSetID) { return .announce }
        if !readOrder(bytes, size: size) { finding = .needsMoreData }
      }
    }
    switch finding {
    case .accessUnit(let size): return try finish(size, of: available, frame, log)
    case .unusable(let size):
      minimumFrame.skipped()
      return .answer(answer(.frame(size: size), isDropped: true, of: available))
    case .garbage(let count):
      minimumFrame.skipped()
      return .answer(answer(.skip(count), of: available))
    case .needsMoreData:
      guard available <= ParserLimits.accessUnitSize else { return .fail(Self.tooLarge(available)) }
      minimumFrame.needsMore(than: available, isPulling: situation.isPulling)
      return .answer(answer(.needsMoreData, of: available))
    }
  }

  /// Tells the scanner what to look for, between two access units.
  private mutating func aimScanner() {
    guard scanner.isBetweenAccessUnits else { return }
    scanner.listsNALUnits = splitsAccessUnits()
    scanner.cutsNALUnits = packaging?.alignment == .nalUnit && !scanner.listsNALUnits
    scanner.sliceDepth = timestamps.areMade(for: input, situation.playback) ? .referenceMarking : .pictureIdentity
  }

  /// Whether access units are cut and taken apart on the way out, where NAL units are wanted. Halves what handing each to
  /// the base class costs, but a NAL unit waits for those behind it: only where they are there already, and where they go
  /// out as they came.
  private mutating func splitsAccessUnits() -> Bool {
    guard let packaging, packaging.format == .byteStream, packaging.alignment == .nalUnit, input.isByteStream,
      situation.playback.isForward, !dropsBFrames, !situation.settings.updatesTimeCode
    else { return false }
    if situation.isPulling { return true }
    if input.alignment == .accessUnit { return true }
    return situation.isDraining ? !continuesOutput : false
  }

  /// Finds the next access unit, unless one is held, and reads what its SEI messages say.
  mutating func find(
    _ bytes: Span<UInt8>, isMarked: Bool, _ log: ElementLog
  ) -> ScannerFinding {
    if let heldSize { return .accessUnit(heldSize) }
    let finding = scanner.next(in: bytes, isMarked: isMarked, isDraining: situation.isDraining)
    follow(scanner.takeNotices(), log)
    switch finding {
    case .accessUnit(let size):
      heldSize = size
      scanner.takeAccessUnit(&accessUnit.scanned)
      accessUnit.sei = SEIContent()
      accessUnit.isOrderKnown = false
      accessUnit.isAnnounced = false
      accessUnit.isRandomAccessPoint = nil
      accessUnit.rebuiltDecodingTime = nil
      accessUnit.start = 0
      if log.isEnabled(.log) { logAccessUnit(bytes.extracting(first: size), log) }
      if accessUnit.beginsSequence || !accessUnit.scanned.seiNALUnits.isEmpty,
        sei.read(&accessUnit, bytes, sps: sequenceParameterSetID, scanner, log)
      {
        caps.invalidate()
      }
    case .unusable(let size):
      counters.bytesSkipped += UInt64(size)
      isDiscontinuous = true
    case .garbage(let count): counters.bytesSkipped += UInt64(count)
    case .needsMoreData: break
    }
    return finding
  }

  mutating func readOrder(_ bytes: Span<UInt8>, size: Int) -> Bool {
    guard accessUnit.beginsPicture, timestamps.areMade(for: input, situation.playback) else { return true }
    return timestamps.readOrder(
      of: &accessUnit, bytes, size: size, scanner, rate: caps.facts.pictureRate,
      isComplete: situation.isDraining || input.alignment != nil || bytes.count > ParserLimits.accessUnitSize / 2)
  }

  private static func tooLarge(_ size: Int) -> ElementError {
    ElementError(
      .stream(.format), "This does not look like \(Codec.name): an access unit does not end.",
      debug: "found \(size) bytes without the end of an access unit, expected at most \(ParserLimits.accessUnitSize)")
  }

  private mutating func answer(_ step: ParseStep, isDropped: Bool = false, of available: Int) -> ParserAnswer {
    diagnosis.finish(step.size)
    position.advance(by: step.size, from: situation.offset)
    var answer = ParserAnswer(step: step, isDropped: isDropped)
    answer.minimumFrameSize = minimumFrame.takeChange()
    swap(&answer.warning, &warning)
    // Nothing follows what ends where the input does.
    let isEnd =
      switch step {
      case .needsMoreData: available == 0
      case .frame(let size), .skip(let size): size == available
      }
    if situation.isDraining, situation.isPulling, isEnd {
      if case .frame = step, !isDropped {
        if diagnosis.awaitEnd() { answer.end = .afterOutput }
      } else {
        answer.end = .now
      }
    }
    return answer
  }

  // MARK: An access unit was found

  /// The access unit in hand is complete: describes it and hands it to the output.
  private mutating func finish(
    _ size: Int, of available: Int, _ frame: borrowing BaseParseFrame, _ log: ElementLog
  ) throws(FlowError) -> ParserAction {
    heldSize = nil
    guard caps.isSet else {
      log(.debug, "left out \(size) bytes: no caps yet")
      return .answer(answer(.frame(size: size), isDropped: true, of: available))
    }
    let mayBatch = mayBatch()
    minimumFrame.found(size, isPulling: situation.isPulling, batch: mayBatch ? ParserLimits.batchSize : 0)
    accessUnit.attributes = situation.attributes
    let changesTags = describe(size)
    var attributes = accessUnit.attributes
    // The base class would put every picture with a PTS into its seek index, some hundred bytes each for the life of
    // the stream: those that cannot be sought get theirs on the way out.
    if accessUnit.isRandomAccessPoint != true { attributes.pts = nil }
    frame.modifyBuffer { $0.attributes = attributes }
    var outcome = RepackagingOutcome.ready
    // When the element pulls, it is the base class that seeks, and no event tells.
    let isUnwanted =
      accessUnit.scanned.contents.contains(.bSlice)
      && (dropsBFrames || situation.isPulling && situation.playback.isForwardPredictedOnly)
    if !isUnwanted { outcome = try repackage(size, frame, log) }
    if case .failed(let error) = outcome { return .fail(cannotBeRepackaged(size, error)) }
    var isDropped = isUnwanted
    if case .empty = outcome {
      counters.bytesSkipped += UInt64(size)
      isDiscontinuous = true
      isDropped = true
    }
    var answer = answer(.frame(size: size), isDropped: isDropped, of: available)
    answer.changesTags = changesTags
    answer.publishes =
      packaging?.alignment == .accessUnit || accessUnit.scanned.contents.contains(.slice)
    guard !isDropped else { return .answer(answer) }
    answer.holdsSegment = timestamps.shift.awaitsAnnouncement && segmentHold == nil
    answer.mayBatch = mayBatch && beginBatch(size, hasOutput: frame.hasOutput)
    output.take(&accessUnit)
    return .answer(answer)
  }

  /// Counts the access unit in hand and puts on it what is known of it. Answers whether there are new tags to send.
  mutating func describe(_ size: Int) -> Bool {
    if accessUnit.beginsPicture { diagnosis.noticePicture() }
    timestamps.stamp(
      &accessUnit, caps.facts, input: input, situation, sharesTimes: packaging?.alignment == .nalUnit,
      needsDecodingTimes: Codec.timesByteStreams || input.isLengthPrefixed || packaging?.format.isLengthPrefixed == true
    )
    var flags = accessUnit.attributes.flags
    flags.remove([.marker, .header, .deltaUnit, .droppable])
    let contents = accessUnit.scanned.contents
    let isRandomAccessPoint = judgeRandomAccess()
    if !isRandomAccessPoint { flags.insert(.deltaUnit) }
    if !contents.isDisjoint(with: .headers) { flags.insert(.header) }
    if contents.contains(.accessUnitEnd) { flags.insert(.marker) }
    if contents.contains(.slice), !contents.contains(.reference) { flags.insert(.droppable) }
    if contents.contains(.damaged) { flags.insert(.corrupted) }
    if accessUnit.sei.isFirstView { flags.insert(.firstInBundle) }
    if isDiscontinuous { flags.insert(.discontinuity) }
    flags.formUnion(accessUnit.interlaceFlags)
    accessUnit.attributes.flags = flags
    isDiscontinuous = false
    counters.bytes += UInt64(size)
    if contents.contains(.accessUnitStart) {
      counters.count(isRandomAccessPoint: isRandomAccessPoint, isIDR: contents.contains(.idr))
    }
    return situation.isPulling && timestamps.areMade(for: input, situation.playback)
      && bitrates.add(bytes: size, duration: accessUnit.attributes.duration)
  }

  /// Whether decoding can begin with the access unit in hand; looked at once.
  mutating func judgeRandomAccess() -> Bool {
    if let known = accessUnit.isRandomAccessPoint { return known }
    let isIt = randomAccess.contains(
      accessUnit.scanned.contents,
      firstSlice: accessUnit.scanned.nalUnits.first { $0.contents?.contains(.slice) == true }?.contents,
      accessUnit.scanned.slice, soFar: scanner.accessUnitContents, isIntraOnly: caps.facts.isIntraOnly)
    accessUnit.isRandomAccessPoint = isIt
    return isIt
  }

  private mutating func repackage(
    _ size: Int, _ frame: borrowing BaseParseFrame, _ log: ElementLog
  ) throws(FlowError) -> RepackagingOutcome {
    guard let packaging else { return .ready }
    let timeCodes =
      accessUnit.sei.timeCodeRange != nil && situation.settings.updatesTimeCode
      ? frame.withBuffer { $0.timeCodes } : []
    return try repackager.repackage(
      &accessUnit, size: size, in: frame, from: input.packaging,
      to: input.outputPackaging(packaging), timeCodes: timeCodes,
      sps: timeCodes.isEmpty ? nil : sequenceParameterSet, log)
  }

  private func cannotBeRepackaged(_ size: Int, _ error: BitstreamError) -> ElementError {
    ElementError(
      .stream(.format), "An access unit cannot be repackaged.",
      debug: "found \(size) bytes of \(input.packaging), expected \(packaging?.format.rawValue ?? "nothing"): \(error)")
  }
}
