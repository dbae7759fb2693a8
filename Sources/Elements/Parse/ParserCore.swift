// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The parser without its element: stages that own their state, and a buffer's way through them.
///
/// Used on the sink pad's streaming thread only. It never calls other code: it returns actions, and the element
/// reports their outcome.
///
/// reader (finder, caps, timestamps, random access) → repackager → output
struct ParserCore<Codec: ParserCodec>: Sendable {
  // MARK: Stages

  private(set) var reader = ParserReader<Codec>()
  private var intake = ParserIntake<Codec>()
  private var repackager = OutputRepackager<Codec>()
  private var output = ParserOutput<Codec>()
  private var batch = AccessUnitBatch<Codec>()
  private var skipped = SkippedRange()

  // MARK: Between the stages

  /// The access unit found last.
  private var accessUnit = ParsedAccessUnit<Codec>()
  /// Something was output since the position in the stream was last forgotten.
  private var continuesOutput = false
  /// Buffers are passed through: `codec_data` cannot be read, and nothing here needs it.
  private(set) var passesThrough = false
  /// Drops upstream's segment event; the shifted one is sent in its place.
  private var segmentHold: Pad.Probe?

  // MARK: Caps and packaging

  /// The input's format and alignment, for ``OutputPackaging``.
  var inputPackaging: (format: StreamFormat<Codec>?, alignment: StreamAlignment?) {
    (reader.input.streamFormat, reader.input.alignment)
  }

  /// The output's packaging; nil before it is agreed.
  var packaging: OutputPackaging<Codec>? { reader.packaging }

  /// Takes upstream's caps.
  ///
  /// - Parameter isChanged: whether they differ from those before.
  /// - Returns: whether `codec_data` can be read.
  mutating func take(
    _ sinkCaps: CompressedCaps<Codec>, isChanged: Bool, _ log: ElementLog
  ) throws(SinkCapsRefusal) -> Bool {
    if isChanged { reader.forgetFormat() }
    output.cancelParameterSets()
    passesThrough = false
    guard try reader.take(sinkCaps, log) else { return false }
    takeChanges()
    return true
  }

  /// Sets the output's packaging, which downstream requires.
  ///
  /// - Parameter isNewInput: whether upstream's caps are new, rather than downstream's.
  /// - Returns: the number of bytes to request from now on; nil for as many as before.
  mutating func agree(on packaging: OutputPackaging<Codec>, isNewInput: Bool, _ log: ElementLog) -> Int? {
    if reader.agree(on: packaging, isNewInput: isNewInput, log) { output.insertParameterSets() }
    return intake.configure(isLengthPrefixed: reader.input.isLengthPrefixed)
  }

  /// The number of bytes to request; nil for as many as before.
  mutating func takeMinimumFrameSize() -> Int? { intake.takeMinimumFrameSize() }

  /// Passes buffers through unchanged.
  mutating func passThrough(_ packaging: OutputPackaging<Codec>) {
    passesThrough = true
    reader.passThrough(packaging)
  }

  /// The caps to send for the current access unit, based on upstream's; nil when none can be made.
  mutating func proposeCaps(upstream: borrowing Caps, _ log: ElementLog) -> CapsProposal? {
    accessUnit.announce()
    return reader.proposeCaps(for: accessUnit, upstream: upstream, log)
  }

  /// The caps to send in front of all data, by the parameter sets of upstream's; nil if these have none. Those of the
  /// first access unit may differ, by SEI for instance.
  mutating func proposeCapsBeforeData(upstream: borrowing Caps, _ log: ElementLog) -> CapsProposal? {
    defer { reader.invalidateCaps() }
    return reader.proposeCaps(for: ParsedAccessUnit<Codec>(), upstream: upstream, log)
  }

  /// Decides whether proposed caps are sent, once downstream was queried about the profile.
  mutating func judgeCaps(
    _ proposed: borrowing Caps, codecData: [UInt8], current: borrowing Caps?, _ log: ElementLog
  ) -> CapsChange {
    let change = reader.judgeCaps(proposed, codecData: codecData, current: current)
    if case .inBand = change {
      if !accessUnit.scanned.contents.contains(.parameterSets) { output.insertParameterSets() }
      log(.debug, "only codec_data has changed: parameter sets go in-band at the next IDR picture")
    }
    return change
  }

  /// Caps were sent, or could not be.
  mutating func sentCaps(_ areSet: Bool) { reader.sentCaps(areSet) }

  // MARK: Events

  /// Forgets the position in the stream: what comes next need not follow on what came before.
  private mutating func forgetPosition() {
    reader.forgetPosition()
    accessUnit = ParsedAccessUnit<Codec>()
    continuesOutput = false
    intake.forgetPosition()
    batch = AccessUnitBatch<Codec>()
  }

  /// FLUSH_STOP has passed.
  mutating func flush() {
    forgetPosition()
    reader.flush()
    output.insertParameterSets()
  }

  /// A segment begins; all data of the one before has been output.
  mutating func begin(_ segment: Segment?, sequenceNumber: UInt32) {
    forgetPosition()
    reader.begin(segment, sequenceNumber: sequenceNumber)
    output.forgetTime()
  }

  /// A new stream begins.
  mutating func beginStream() { reader.beginStream() }

  /// Upstream has sent GAP.
  mutating func noticeGap() { intake.noticeGap() }

  /// Upstream has sent EOS: what comes is the rest.
  mutating func noticeEnd() { reader.noticeEnd() }

  /// Keeps the probe that drops upstream's segment.
  mutating func hold(_ segment: Pad.Probe) { segmentHold = segment }

  /// Gives that probe back, to be removed.
  mutating func takeSegmentHold() -> Pad.Probe? { segmentHold.take() }

  /// The stream has ended. Returns the error to post, if any.
  mutating func end(isEmptyFile: Bool = false) -> ElementError? {
    intake.end(
      hasParameterSets: reader.finder.hasMetParameterSets, reader.finder.scanner.errors, isEmptyFile: isEmptyFile)
  }

  // MARK: Data comes

  /// Data is handed over.
  mutating func begin(_ snapshot: InputSnapshot) -> PackagingNeed {
    reader.begin(snapshot)
    if skipped.contains(snapshot.offset) { return .none }
    if intake.begin(snapshot) {
      forgetPosition()
      reader.jump()
    }
    intake.notice(snapshot.offset)
    if reader.finder.heldSize == nil {
      if continuesOutput && reader.mayBatch { batch.prepare(reader.timestamps) } else { batch.forbid() }
    }
    guard reader.packaging != nil else { return .first }
    return snapshot.isNew && reader.finder.isBetweenAccessUnits ? .again : .none
  }

  /// Finds the next access unit in the data, reads it, and hands it to the output.
  mutating func parse(_ frame: borrowing BaseParseFrame, _ log: ElementLog) throws(FlowError) -> ParserAction {
    reader.aim(continuesOutput: continuesOutput)
    var finding: ScannerFinding
    let available: Int
    do {
      let map = try frame.map()
      let bytes = map.bytes
      available = bytes.count
      if reader.lacksBytes(available) { forgetPosition() }
      finding = reader.find(
        bytes, isMarked: reader.snapshot.attributes.flags.contains(.marker), &accessUnit, log)
      takeChanges()
      if case .accessUnit(let size) = finding {
        if !accessUnit.isAnnounced, !reader.describes(accessUnit) { return .announce }
        if !reader.readOrder(of: &accessUnit, bytes, size: size) { finding = .needsMoreData }
      }
    }
    switch finding {
    case .accessUnit(let size): return try finish(size, of: available, frame, log)
    case .unusable(let size):
      intake.skipped()
      return .answer(answer(.frame(size: size), isDropped: true, of: available))
    case .garbage(let count):
      intake.skipped()
      return .answer(answer(.skip(count), of: available))
    case .needsMoreData:
      guard available <= ParserLimits.accessUnitSize else {
        return .fail(ParserFailure<Codec>.endless(available).message)
      }
      intake.needsMore(than: available, isPulling: reader.snapshot.isPulling)
      return .answer(answer(.needsMoreData, of: available))
    }
  }

  /// Takes what has changed with the data.
  @inline(__always) private mutating func takeChanges() {
    guard let changes = reader.takeChanges() else { return }
    // A stream that begins with damage may have lost its parameter sets.
    let hasLostSets = changes.hasBadLength && Codec.repeatsSetsAfterDamage && reader.caps.awaitsFirstBuffer
    if changes.wantsParameterSets || hasLostSets { output.insertParameterSets() }
    if let warning = changes.warning { intake.warn(warning) }
  }

  private mutating func answer(_ step: ParseStep, isDropped: Bool = false, of available: Int) -> ParserAnswer {
    reader.consume(step.size)
    return intake.answer(step, isDropped: isDropped, of: available, reader.snapshot)
  }

  // MARK: An access unit was found

  /// Describes the access unit that was found and hands it to the output.
  private mutating func finish(
    _ size: Int, of available: Int, _ frame: borrowing BaseParseFrame, _ log: ElementLog
  ) throws(FlowError) -> ParserAction {
    reader.letGo()
    guard reader.caps.isSet else {
      log(.debug, "dropped \(size) bytes: no caps yet")
      return .answer(answer(.frame(size: size), isDropped: true, of: available))
    }
    if continuesOutput, size == available, reader.isRemnant(accessUnit) {
      log(.debug, "dropped \(size) bytes at the end: no picture follows")
      reader.drop(size)
      return .answer(answer(.frame(size: size), isDropped: true, of: available))
    }
    let mayBatch = continuesOutput && reader.mayBatch
    intake.found(size, isPulling: reader.snapshot.isPulling, mayBatch: mayBatch)
    let changesTags = describe(size, reader.snapshot.attributes)
    var attributes = accessUnit.attributes
    // GstBaseParse puts every picture with a PTS into its seek index, some hundred bytes each for the life of the
    // stream. Pictures that are no seek targets get their PTS on the way out.
    if accessUnit.isRandomAccessPoint != true { attributes.pts = nil }
    frame.modifyBuffer { $0.attributes = attributes }
    let isSkipped = reader.snapshot.playback.isForwardPredictedOnly && accessUnit.scanned.contents.contains(.bSlice)
    var isReady = false
    if !isSkipped {
      switch try repackage(size, frame, log) {
      case .ready: isReady = true
      case .empty: reader.drop(size)
      case .failed(let error):
        return .fail(
          ParserFailure<Codec>.unwritable(size, from: reader.input.packaging, to: packaging?.format, error).message)
      }
    }
    var answer = answer(.frame(size: size), isDropped: !isReady, of: available)
    answer.changesTags = changesTags
    answer.wantsSamples = reader.wantsSamples
    answer.leadIn = reader.takeLeadIn()
    answer.publishes = packaging?.alignment == .accessUnit || accessUnit.scanned.contents.contains(.slice)
    guard isReady else { return .answer(answer) }
    answer.holdsSegment = reader.timestamps.shift.awaitsAnnouncement && segmentHold == nil
    answer.mayBatch = mayBatch && !frame.hasOutput && batch.begin(with: accessUnit, size: size)
    output.take(&accessUnit, at: 0)
    return .answer(answer)
  }

  /// Sets the times and flags of the current access unit. Returns whether there are new tags.
  private mutating func describe(_ size: Int, _ upstream: Buffer.Attributes) -> Bool {
    if accessUnit.beginsPicture { intake.noticePicture() }
    return reader.describe(&accessUnit, size: size, upstream)
  }

  private mutating func repackage(
    _ size: Int, _ frame: borrowing BaseParseFrame, _ log: ElementLog
  ) throws(FlowError) -> RepackagingOutcome {
    guard let packaging else { return .ready }
    let timeCodes =
      accessUnit.sei.timeCodeRange != nil && reader.snapshot.settings.updatesTimeCode
      ? frame.withBuffer { $0.timeCodes } : []
    let sps = timeCodes.isEmpty ? nil : reader.sequenceParameterSetID(of: accessUnit)
    return try repackager.repackage(
      &accessUnit, size: size, in: frame, from: reader.input.packaging,
      to: reader.input.outputPackaging(packaging), timeCodes: timeCodes,
      sps: sps.flatMap { reader.finder.scanner.parameterSets.sequenceParameterSet($0) }, log)
  }

  // MARK: What the base class sends

  /// The base class is about to push the frame, or the rest of it.
  mutating func beginOutput(of frame: borrowing BaseParseFrame) -> OutputStart {
    guard reader.caps.isSet else { return .noCaps }
    if passesThrough {
      intake.noticePicture()
      return .begun
    }
    continuesOutput = true
    beginOutput(given: output.isFirstOfFrame ? frame.withOutput { $0.attributes } : nil, isLast: true)
    let isBehind =
      output.accessUnit.scanned.contents.contains(.idr)
      && reader.snapshot.playback.isOver(at: output.accessUnit.completed.pts)
    return isBehind ? .afterSegment : .begun
  }

  /// Begins to output the access unit that the output has taken.
  ///
  /// - Parameters:
  ///   - given: the base class's times, if the access unit is at the beginning of a frame.
  ///   - isLast: whether it is the last one of its frame.
  @inline(__always) private mutating func beginOutput(given: Buffer.Attributes?, isLast: Bool) {
    let isFirst = reader.caps.awaitsFirstBuffer
    let segment = reader.release(&output.accessUnit, given: given)
    output.begin(isFirst: isFirst, isLast: isLast, segment: segment)
  }

  /// The next action to send the access unit.
  mutating func nextOutput(of frame: borrowing BaseParseFrame, _ log: ElementLog) throws(FlowError) -> OutputAction {
    guard let packaging, !passesThrough else { return .leave }
    if let announcement = output.nextAnnouncement() { return announcement }
    let surroundings = OutputSurroundings<Codec>(
      packaging: packaging, nalPackaging: reader.input.outputPackaging(packaging),
      contentsSoFar: reader.finder.scanner.cutsNALUnits ? reader.finder.scanner.accessUnitContents : nil,
      frameRate: reader.caps.timing.frameRate, tick: reader.caps.timing.tick,
      configInterval: reader.snapshot.settings.configInterval)
    if output.decideOnInsertions(surroundings) {
      output.insert(reader.finder.inserted(into: packaging), packaging.alignment)
    }
    return try output.nextBuffer(frame, surroundings, log)
  }

  /// A force-key-unit request was answered in front of the picture that is about to be output.
  mutating func answeredKeyUnit() { output.insertParameterSets() }

  // MARK: Elsewhere in the file

  /// Takes samples of the whole file; none where it cannot be sampled.
  mutating func learn(_ samples: [FileSample]) { reader.learn(samples) }

  /// Returns a scout that reads ahead for an accurate seek whose first data has come; nil if there is no such seek.
  mutating func scout() -> SeekScout<Codec>? {
    guard let target = reader.snapshot.target, intake.isFresh, reader.isRawFile,
      reader.snapshot.playback.isForward, let offset = reader.snapshot.offset
    else { return nil }
    return SeekScout(reader, from: offset, at: reader.snapshot.attributes.dts, to: target)
  }

  /// Goes on in front of the keyframe that was found, unless that is here.
  mutating func arrive(_ scout: SeekScout<Codec>) {
    guard let entry = scout.arrival else { return }
    skipped.begin(from: reader.snapshot.offset, to: entry.offset)
    accessUnit = ParsedAccessUnit<Codec>()
    intake.expectAgain(entry.offset)
    if reader.arrive(entry.reader, end: scout.reader) { output.makeUpForParameterSets() }
  }

  /// How the current data is skipped, or a part of it; nil when it is not.
  mutating func skip(_ available: Int) -> (step: ParseStep, isDropped: Bool)? {
    skipped.skip(available, at: reader.snapshot.offset)
  }

  // MARK: Access units past the base class

  /// Finds the next access unit in the same data. Returns whether it may be output in the same frame: then push the one
  /// before.
  mutating func continueBatch(_ bytes: Span<UInt8>, _ log: ElementLog) -> Bool {
    guard batch.end < bytes.count else { return false }
    let rest = bytes.extracting(batch.end...)
    let finding = reader.find(rest, isMarked: false, &accessUnit, log)
    takeChanges()
    guard case .accessUnit(let size) = finding else {
      batch.skip(finding.size)
      return false
    }
    // New caps, for example, must not overtake the pending access unit.
    guard reader.mayJoinBatch(&accessUnit), reader.readOrder(of: &accessUnit, rest, size: size),
      reader.timestamps.hasPicture
    else { return false }
    reader.letGo()
    batch.add(size, changesTags: describe(size, Buffer.Attributes()))
    beginOutput(given: nil, isLast: false)
    return true
  }

  /// The access unit before was pushed. Returns the time at which it ends.
  mutating func pushedOfBatch() -> ClockTime? {
    let position = output.accessUnit.attributes.end
    output.take(&accessUnit, at: batch.advance())
    return position
  }

  /// Pushing failed, as by a flush: nothing of the frame counts as sent.
  mutating func interruptBatch() {
    let before = batch.timestampsBefore
    forgetPosition()
    reader.takeBack(before)
    intake.expectAgain(reader.snapshot.offset)
  }

  /// Ends the batch.
  mutating func endBatch() -> AccessUnitBatch<Codec>.Result {
    intake.finish(batch.end, from: reader.snapshot.offset, unanswered: batch.addedBytes)
    reader.consume(batch.addedBytes, behind: batch.end - batch.addedBytes)
    return batch.finish(output.accessUnit.attributes, isOne: output.isFirstOfFrame)
  }
}
