// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The parser without its element: stages that own their state, and a buffer's way through them.
///
/// Used on the sink pad's streaming thread only. It never calls out: it returns what has to be done, and the element
/// reports how that went.
///
/// input format → finder (scanner, SEI) → caps → timestamps → random access → repackager → output
struct ParserCore<Codec: ParserCodec>: Sendable {
  // MARK: Stages

  private var input = ParserInputFormat<Codec>()
  private var intake = ParserIntake<Codec>()
  private var finder = AccessUnitFinder<Codec>()
  private var caps = SourceCaps<Codec>()
  private var timestamps = ParserTimestamps<Codec>()
  private var randomAccess = RandomAccess<Codec>()
  private(set) var packaging: OutputPackaging<Codec>?
  private var repackager = OutputRepackager<Codec>()
  private var output = ParserOutput<Codec>()
  private var batch = AccessUnitBatch<Codec>()
  private var counters = ParserStatistics()
  /// Of a raw file's pictures, of which the base class may get several as one frame.
  private var bitrates = BitrateRange()
  private var recovery = GradualRecovery<Codec>()
  /// How long a raw file lasts.
  private(set) var pace = StreamPace()

  // MARK: Between the stages

  /// The base class's information about the current data.
  private var situation = ParserSituation()
  /// What was found last.
  private var accessUnit = ParsedAccessUnit<Codec>()
  /// The next access unit gets DISCONT.
  private var isDiscontinuous = false
  /// Something went out since the position in the stream was last forgotten.
  private var continuesOutput = false
  /// Buffers are passed through: `codec_data` cannot be read, and nobody here needs it.
  private(set) var passesThrough = false
  /// Bytes of the file from the next data on that are skipped after a seek.
  private var skipped: Range<UInt64>?
  /// Drops upstream's segment event; the shifted one is sent in its place.
  private var segmentHold: Pad.Probe?

  // MARK: Caps and packaging

  /// The input's format and alignment, for ``OutputPackaging``.
  var inputPackaging: (format: StreamFormat<Codec>?, alignment: StreamAlignment?) {
    (input.streamFormat, input.alignment)
  }

  /// Takes upstream's caps.
  ///
  /// - Parameter isChanged: whether they differ from those before.
  /// - Returns: whether `codec_data` can be read.
  mutating func take(
    _ sinkCaps: CompressedCaps<Codec>, isChanged: Bool, _ log: ElementLog
  ) throws(SinkCapsRefusal) -> Bool {
    if isChanged { forgetFormat() }
    output.cancelParameterSets()
    passesThrough = false
    guard try input.take(sinkCaps) else { return false }
    if let record = sinkCaps.record {
      finder.store(record, log)
      takeChanges()
    }
    caps.invalidate()
    return true
  }

  /// Forgets what was known about the format from upstream's caps and from the stream.
  private mutating func forgetFormat() {
    finder.forgetFormat()
    input = ParserInputFormat<Codec>()
    packaging = nil
    caps.restart(parameterSetChanges: finder.scanner.parameterSetChanges)
    randomAccess = RandomAccess<Codec>()
  }

  /// Sets the output's packaging, which downstream wants.
  ///
  /// - Parameter isNewInput: whether upstream's caps are new, rather than downstream's.
  /// - Returns: bytes to ask for from now on; nil for as many as before.
  mutating func agree(on packaging: OutputPackaging<Codec>, isNewInput: Bool, _ log: ElementLog) -> Int? {
    if input.streamFormat == nil { input.assumeByteStream() }
    if packaging != self.packaging { caps.invalidate() }
    if isNewInput ? input.hasSets(lackedBy: packaging) : packaging.looksForSets(after: self.packaging) {
      output.insertParameterSets()
    }
    self.packaging = packaging
    finder.configure(input, for: packaging)
    log(
      .debug,
      "\(input.packaging), \(input.alignment?.rawValue ?? "unaligned") in, \(packaging.format.rawValue)/\(packaging.alignment.rawValue) out"
    )
    return intake.configure(isLengthPrefixed: input.isLengthPrefixed)
  }

  /// Bytes to ask for; nil for as many as before.
  mutating func takeMinimumFrameSize() -> Int? { intake.takeMinimumFrameSize() }

  /// Passes buffers through unchanged.
  mutating func passThrough(_ packaging: OutputPackaging<Codec>) {
    passesThrough = true
    self.packaging = packaging
    caps.sent(true)
  }

  /// The caps to send for the current access unit, based on upstream's; nil when none can be made.
  mutating func proposeCaps(upstream: borrowing Caps, _ log: ElementLog) -> CapsProposal? {
    accessUnit.isAnnounced = true
    guard let packaging else { return nil }
    return caps.propose(
      sequenceParameterSetID, of: finder.scanner, as: packaging, input: input, sequence: finder.sei.sequence,
      upstream: upstream, settings: situation.settings, log)
  }

  /// Decides whether proposed caps are sent, once downstream was asked about the profile.
  mutating func judgeCaps(
    _ proposed: borrowing Caps, codecData: [UInt8], current: borrowing Caps?, _ log: ElementLog
  ) -> CapsChange {
    let change = caps.judge(proposed, codecData: codecData, current: current)
    if case .inBand = change {
      if !accessUnit.scanned.contents.contains(.parameterSets) { output.insertParameterSets() }
      log(.debug, "only codec_data has changed: parameter sets go in-band at the next IDR picture")
    }
    return change
  }

  /// Caps went out, or could not.
  mutating func sentCaps(_ areSet: Bool) { caps.sent(areSet) }

  /// The SPS id of the current picture or, in front of its first slice, of the next picture.
  private var sequenceParameterSetID: UInt8? {
    finder.sequenceParameterSetID(of: accessUnit, described: caps.describedID)
  }

  // MARK: Events

  /// Forgets the position in the stream: what comes next need not follow on what came before.
  private mutating func forgetPosition() {
    finder.forgetPosition()
    randomAccess.forgetPosition()
    accessUnit = ParsedAccessUnit<Codec>()
    continuesOutput = false
    intake.forgetPosition()
    recovery.forgetPosition()
    batch = AccessUnitBatch<Codec>()
  }

  /// FLUSH_STOP has passed.
  mutating func flush() {
    forgetPosition()
    timestamps.forgetPosition(awaitingPosition: false)
    output.insertParameterSets()
    isDiscontinuous = true
  }

  /// A segment begins; all data of the one before has been output.
  mutating func begin(_ segment: Segment?, sequenceNumber: UInt32) {
    forgetPosition()
    timestamps.beginSegment(segment, sequenceNumber: sequenceNumber)
    output.forgetTime()
  }

  /// A new stream begins.
  mutating func beginStream() { timestamps.beginStream() }

  /// Upstream has sent GAP.
  mutating func noticeGap() { intake.noticeGap() }

  /// Keeps the probe that drops upstream's segment.
  mutating func hold(_ segment: Pad.Probe) { segmentHold = segment }

  /// Gives that probe back, to be removed.
  mutating func takeSegmentHold() -> Pad.Probe? { segmentHold.take() }

  /// The stream has ended. Returns the error to post, if any.
  mutating func end(isEmptyFile: Bool = false) -> ElementError? {
    intake.end(hasParameterSets: finder.hasMetParameterSets, finder.scanner.errors, isEmptyFile: isEmptyFile)
  }

  /// What was counted so far.
  ///
  /// Reads the scanner in place: passing it to a function copies it, for each access unit.
  @inline(__always) var statistics: ParserStatistics {
    var result = counters
    result.nalUnits = finder.scanner.nalUnitCounts
    result.parameterSetChanges = finder.scanner.parameterSetChanges
    result.errors = finder.scanner.errors
    result.seiErrors = finder.sei.errors
    return result
  }

  // MARK: Data comes

  /// Data is handed over.
  mutating func begin(_ situation: ParserSituation) -> PackagingNeed {
    self.situation = situation
    if skipped != nil {
      if situation.offset == skipped?.lowerBound { return .none }
      skipped = nil
    }
    if situation.attributes.flags.contains(.discontinuity) { isDiscontinuous = true }
    if intake.begin(situation) {
      forgetPosition()
      timestamps.forgetPosition(
        awaitingPosition: situation.offset != 0, isPositionKnown: situation.attributes.dts != nil)
    }
    if finder.heldSize == nil {
      if mayBatch() { batch.prepare(timestamps) } else { batch.forbid() }
    }
    guard packaging != nil else { return .first }
    return situation.isNew && finder.isBetweenAccessUnits ? .again : .none
  }

  /// Finds the next access unit in the data, reads it, and hands it to the output.
  mutating func parse(_ frame: borrowing BaseParseFrame, _ log: ElementLog) throws(FlowError) -> ParserAction {
    aim()
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
      intake.skipped()
      return .answer(answer(.frame(size: size), isDropped: true, of: available))
    case .garbage(let count):
      intake.skipped()
      return .answer(answer(.skip(count), of: available))
    case .needsMoreData:
      guard available <= ParserLimits.accessUnitSize else {
        return .fail(ParserFailure<Codec>.endless(available).message)
      }
      intake.needsMore(than: available, isPulling: situation.isPulling)
      return .answer(answer(.needsMoreData, of: available))
    }
  }

  /// Tells the scanner what to look for, between two access units.
  private mutating func aim() {
    guard finder.scanner.isBetweenAccessUnits else { return }
    finder.aim(
      listing: splitsAccessUnits(), cutting: packaging?.alignment == .nalUnit,
      timestamps.areMade(for: input, situation.playback) ? .referenceMarking : .pictureIdentity)
  }

  /// Whether, for alignment=nal output, whole access units go to the base class and are split on the way out. Halves
  /// the base class's share of the CPU, but a NAL unit waits for the rest of its access unit: only where that is here
  /// already, and is sent unchanged.
  private mutating func splitsAccessUnits() -> Bool {
    guard let packaging, packaging.format == .byteStream, packaging.alignment == .nalUnit, input.isByteStream,
      situation.playback.isForward, !situation.settings.updatesTimeCode
    else { return false }
    if situation.isPulling || input.alignment == .accessUnit { return true }
    return situation.isDraining && !continuesOutput
  }

  /// Finds the next access unit, unless one was found already.
  private mutating func find(_ bytes: Span<UInt8>, isMarked: Bool, _ log: ElementLog) -> ScannerFinding {
    if let size = finder.heldSize {
      if size <= bytes.count { return .accessUnit(size) }
      // The file has become shorter since.
      forgetPosition()
    }
    let finding = finder.find(
      in: bytes, isMarked: isMarked, isDraining: situation.isDraining, describedID: caps.describedID, &accessUnit, log)
    takeChanges()
    switch finding {
    case .unusable(let size):
      counters.skip(size)
      isDiscontinuous = true
    case .garbage(let count): counters.skip(count)
    case .accessUnit, .needsMoreData: break
    }
    return finding
  }

  /// Has the caps checked again when they may have changed.
  @inline(__always) private mutating func takeChanges() {
    guard let changes = finder.takeChanges() else { return }
    // A stream that begins with damage may have lost its parameter sets.
    let hasLostSets = changes.hasBadLength && Codec.repeatsSetsAfterDamage && caps.awaitsFirstBuffer
    if changes.wantsParameterSets || hasLostSets { output.insertParameterSets() }
    if changes.changesSequence { caps.invalidate() }
    if let warning = changes.warning { intake.warn(warning) }
    caps.follow(parameterSetChanges: finder.scanner.parameterSetChanges)
  }

  private mutating func readOrder(_ bytes: Span<UInt8>, size: Int) -> Bool {
    guard accessUnit.beginsPicture, timestamps.areMade(for: input, situation.playback) else { return true }
    return timestamps.readOrder(
      of: &accessUnit, bytes, size: size, finder.scanner, rate: caps.facts.pictureRate,
      isComplete: situation.isDraining || input.alignment != nil || bytes.count > ParserLimits.accessUnitSize / 2)
  }

  private mutating func answer(_ step: ParseStep, isDropped: Bool = false, of available: Int) -> ParserAnswer {
    pace.consume(step.size, at: situation.offset)
    return intake.answer(step, isDropped: isDropped, of: available, situation)
  }

  // MARK: An access unit was found

  /// Describes the access unit that was found and hands it to the output.
  private mutating func finish(
    _ size: Int, of available: Int, _ frame: borrowing BaseParseFrame, _ log: ElementLog
  ) throws(FlowError) -> ParserAction {
    finder.letGo()
    guard caps.isSet else {
      log(.debug, "left out \(size) bytes: no caps yet")
      return .answer(answer(.frame(size: size), isDropped: true, of: available))
    }
    let mayBatch = mayBatch()
    intake.found(size, isPulling: situation.isPulling, mayBatch: mayBatch)
    accessUnit.attributes = situation.attributes
    let changesTags = describe(size)
    var attributes = accessUnit.attributes
    // GstBaseParse puts every picture with a PTS into its seek index, some hundred bytes each for the life of the
    // stream. Pictures that are no seek targets get their PTS on the way out.
    if accessUnit.isRandomAccessPoint != true { attributes.pts = nil }
    frame.modifyBuffer { $0.attributes = attributes }
    var isDropped = situation.playback.isForwardPredictedOnly && accessUnit.scanned.contents.contains(.bSlice)
    if !isDropped {
      switch try repackage(size, frame, log) {
      case .ready: break
      case .empty:
        counters.skip(size)
        isDiscontinuous = true
        isDropped = true
      case .failed(let error):
        return .fail(
          ParserFailure<Codec>.unwritable(size, from: input.packaging, to: packaging?.format, error).message)
      }
    }
    var answer = answer(.frame(size: size), isDropped: isDropped, of: available)
    answer.changesTags = changesTags
    answer.wantsSamples = isRawFile && caps.facts.frameRate != nil && pace.awaitsSamples
    answer.leadIn = recovery.takeLongest(caps.facts.frameRate)
    answer.publishes = packaging?.alignment == .accessUnit || accessUnit.scanned.contents.contains(.slice)
    guard !isDropped else { return .answer(answer) }
    answer.holdsSegment = timestamps.shift.awaitsAnnouncement && segmentHold == nil
    answer.mayBatch =
      mayBatch && !frame.hasOutput && accessUnit.attributes.pts != nil && accessUnit.isRandomAccessPoint == false
      && batch.begin(size, decoding: accessUnit.attributes.dts)
    output.take(&accessUnit)
    return .answer(answer)
  }

  /// Counts the current access unit, and sets its times and flags. Returns whether there are new tags.
  private mutating func describe(_ size: Int) -> Bool {
    if accessUnit.beginsPicture { intake.noticePicture() }
    timestamps.stamp(
      &accessUnit, caps.facts, input: input, situation, sharesTimes: packaging?.alignment == .nalUnit,
      needsDecodingTimes: Codec.timesByteStreams || input.isLengthPrefixed || packaging?.format.isLengthPrefixed == true
    )
    let isRandomAccessPoint = judgeRandomAccess()
    accessUnit.setFlags(isRandomAccessPoint: isRandomAccessPoint, isDiscontinuous: isDiscontinuous)
    isDiscontinuous = false
    counters.count(size, accessUnit.scanned.contents, isRandomAccessPoint: isRandomAccessPoint)
    guard isRawFile else { return false }
    if recovery.isUnderWay || accessUnit.recoveryPoint != nil {
      recovery.notice(accessUnit, finder.scanner.parameterSets)
    }
    pace.notice(lasting: accessUnit.attributes.duration)
    return bitrates.add(bytes: size, duration: accessUnit.attributes.duration, average: pace.bitrate)
  }

  /// Whether the input is a file of a raw stream, whose timestamps are made here. `mutating` only because a core that is
  /// borrowed would be copied.
  private var isRawFile: Bool {
    mutating get { situation.isPulling && timestamps.areMade(for: input, situation.playback) }
  }

  /// Whether decoding can begin with the current access unit; decided once.
  private mutating func judgeRandomAccess() -> Bool {
    if let known = accessUnit.isRandomAccessPoint { return known }
    let isIt = randomAccess.contains(
      accessUnit.scanned, soFar: finder.scanner.accessUnitContents, isIntraOnly: caps.facts.isIntraOnly)
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
    let sps = timeCodes.isEmpty ? nil : sequenceParameterSetID
    return try repackager.repackage(
      &accessUnit, size: size, in: frame, from: input.packaging,
      to: input.outputPackaging(packaging), timeCodes: timeCodes,
      sps: sps.flatMap { finder.scanner.parameterSets.sequenceParameterSet($0) }, log)
  }

  // MARK: What the base class sends

  /// The base class is about to push the frame, or the rest of it.
  mutating func beginOutput(of frame: borrowing BaseParseFrame) -> OutputStart {
    guard caps.isSet else { return .noCaps }
    if passesThrough {
      intake.noticePicture()
      return .begun
    }
    let start = output.begin(
      frame, &timestamps, areTimesMade: timestamps.areMade(for: input, situation.playback), situation.playback,
      isFirst: caps.awaitsFirstBuffer)
    caps.noticeBuffer()
    continuesOutput = true
    return start
  }

  /// The next action to send the access unit.
  mutating func nextOutput(of frame: borrowing BaseParseFrame, _ log: ElementLog) throws(FlowError) -> OutputAction {
    guard let packaging, !passesThrough else { return .leave }
    if let announcement = output.nextAnnouncement(&timestamps) { return announcement }
    let surroundings = OutputSurroundings<Codec>(
      packaging: packaging, nalPackaging: input.outputPackaging(packaging),
      contentsSoFar: finder.scanner.cutsNALUnits ? finder.scanner.accessUnitContents : nil,
      frameRate: caps.facts.frameRate, tick: caps.facts.tick, configInterval: situation.settings.configInterval)
    if output.decideOnInsertions(surroundings) {
      output.insert(finder.scanner.parameterSets.nalUnits, packaging.alignment)
    }
    return try output.nextBuffer(frame, surroundings, log)
  }

  /// A force-key-unit request was answered in front of the picture that is about to go out.
  mutating func answeredKeyUnit() { output.insertParameterSets() }

  /// The lowest and highest bitrate of pictures in bit/s, for tags; nil before there were enough.
  var bitrateRange: ClosedRange<UInt32>? { bitrates.toTell }
  /// The average bitrate in bit/s, for tags.
  var averageBitrate: UInt32? { bitrates.averageToTell }

  // MARK: Samples of the file

  /// How long the pictures last that begin before `end` in bytes from the middle of the stream. For a copy of the parser.
  mutating func duration(of bytes: Span<UInt8>, before end: Int, _ log: ElementLog) -> ClockTime {
    finder.forgetPosition()
    finder.aim(listing: false, cutting: false, .pictureIdentity)
    var (place, duration) = (0, ClockTime.zero)
    while place < min(end, bytes.count) {
      let finding = finder.find(
        in: bytes.extracting(place...), isMarked: false, isDraining: true, describedID: caps.describedID, &accessUnit,
        log)
      guard finding.size > 0 else { break }
      place += finding.size
      guard case .accessUnit = finding else { continue }
      finder.letGo()
      // The first one may be the end of a picture.
      guard accessUnit.scanned.slice?.isFirstInPicture == true else { continue }
      duration = duration + (timestamps.duration(of: accessUnit, caps.facts) ?? .zero)
    }
    return duration
  }

  // MARK: Ahead of the output

  /// What reads ahead for an accurate seek whose first data has come; nil where there is none.
  mutating func scout() -> SeekScout<Codec>? {
    guard let target = situation.target, intake.isFresh, isRawFile, situation.playback.isForward,
      let offset = situation.offset
    else { return nil }
    return SeekScout(self, from: offset, at: situation.attributes.dts, to: target)
  }

  /// Finds the next access unit like ``parse(_:_:)``, without output.
  ///
  /// - Parameters:
  ///   - position: the time of the first picture, where the base class gives it.
  ///   - isEnd: whether the file ends with these bytes.
  mutating func skim(
    _ bytes: Span<UInt8>, at offset: UInt64, from position: ClockTime?, isEnd: Bool, _ log: ElementLog
  ) -> SkimmedAccessUnit<Codec> {
    (situation.offset, situation.isDraining, situation.attributes) = (offset, isEnd, Buffer.Attributes())
    aim()
    let finding = find(bytes, isMarked: false, log)
    guard case .accessUnit(let size) = finding else {
      consumeSkimmed(finding.size)
      return finding.size > 0 ? .other(finding.size) : .incomplete
    }
    if !accessUnit.isAnnounced, !caps.describe(sequenceParameterSetID) { return .announce }
    let contents = accessUnit.scanned.contents
    let mayBegin = !contents.isDisjoint(with: [.randomAccess, .recoveryPoint]) || contents.isIntra
    let before = mayBegin ? self : nil
    guard readOrder(bytes, size: size) else { return .incomplete }
    finder.letGo()
    accessUnit.attributes = Buffer.Attributes()
    _ = describe(size)
    var times = accessUnit.attributes
    times.dts = times.dts ?? position
    timestamps.takePosition(&times)
    consumeSkimmed(size)
    guard accessUnit.beginsPicture else { return .other(size) }
    guard accessUnit.isRandomAccessPoint == true, let before else { return .picture(size, times, nil) }
    guard !contents.contains(.randomAccess), let point = accessUnit.recoveryPoint, point.distance > 0 else {
      return .picture(size, times, SeekEntry(before, at: offset, times.pts))
    }
    // Pictures of another recovery are never those of a run from the beginning.
    guard point.isExactMatch, !point.isBrokenLink, let slice = accessUnit.scanned.slice else {
      return .picture(size, times, nil)
    }
    return .picture(size, times, SeekEntry(before, at: offset, times.pts, RecoveryProgress(point, at: slice)))
  }

  /// Takes the picture that was skimmed last to the recovery that began at an entry.
  func advance(_ recovery: inout RecoveryProgress<Codec>) {
    guard let slice = accessUnit.scanned.slice,
      let sps = finder.scanner.parameterSets.sequenceParameterSet(slice.sequenceParameterSetID)
    else { return }
    recovery.take(slice, sps: sps)
  }

  private mutating func consumeSkimmed(_ size: Int) {
    pace.consume(size, at: situation.offset)
    intake.finish(size, from: situation.offset, unanswered: size)
  }

  /// The parser that goes on with the keyframe at this offset, which this one has just found.
  ///
  /// - Parameters:
  ///   - origin: the parser where reading ahead began.
  ///   - scout: where it ended.
  func arrived(at offset: UInt64, from origin: ParserCore<Codec>, scout: ParserCore<Codec>) -> ParserCore<Codec> {
    var core = self
    core.arrive(at: offset, from: origin, scout: scout)
    return core
  }

  private mutating func arrive(at offset: UInt64, from origin: ParserCore<Codec>, scout: ParserCore<Codec>) {
    recovery.forgetPosition()
    recovery.learn(from: scout.recovery)
    skipped = origin.situation.offset.flatMap { $0 < offset ? $0..<offset : nil }
    finder.forgetPosition()
    accessUnit = ParsedAccessUnit<Codec>()
    situation = origin.situation
    isDiscontinuous = true
    caps.invalidate()
    let isChanged = finder.scanner.parameterSetChanges != origin.finder.scanner.parameterSetChanges
    if isChanged { output.makeUpForParameterSets() }
  }

  /// How the current data is skipped, or a part of it; nil when it is not.
  mutating func skip(_ available: Int) -> (step: ParseStep, isDropped: Bool)? {
    guard let rest = skipped, situation.offset == rest.lowerBound else { return nil }
    // The base class gives up where it is to skip a lot that it holds, but not where that is a frame.
    let isDropped = available > ParserLimits.skipSize
    let size = min(Int(clamping: rest.upperBound - rest.lowerBound), isDropped ? available : Int(Int32.max))
    let next = rest.lowerBound + UInt64(size)
    skipped = next < rest.upperBound ? next..<rest.upperBound : nil
    return (isDropped ? .frame(size: size) : .skip(size), isDropped)
  }

  /// Takes samples of the whole file; none where it cannot be sampled.
  mutating func learn(_ samples: [FileSample]) {
    pace.learn(samples)
    bitrates.expect(pace.bitrate)
  }

  // MARK: Access units past the base class

  /// Whether access units may be pushed from here as long as the stream continues like this. `mutating` only because a
  /// core that is borrowed would be copied.
  private mutating func mayBatch() -> Bool {
    guard situation.isPulling, continuesOutput, situation.playback.isWhole,
      !situation.settings.updatesTimeCode, let packaging, packaging.format == .byteStream,
      caps.facts.frameRate != nil, timestamps.areMade(for: input, situation.playback)
    else { return false }
    return packaging.alignment == .accessUnit || finder.scanner.listsNALUnits
  }

  /// Finds the next access unit in the same data. Returns whether it may go out in the same frame: then push the one
  /// before.
  mutating func continueBatch(_ bytes: Span<UInt8>, _ log: ElementLog) -> Bool {
    guard batch.end < bytes.count else { return false }
    let rest = bytes.extracting(batch.end...)
    let finding = find(rest, isMarked: false, log)
    guard case .accessUnit(let size) = finding else {
      batch.skip(finding.size)
      return false
    }
    // New caps, for example, must not overtake the pending access unit.
    guard continuesSequence(), readOrder(rest, size: size), timestamps.hasPicture else { return false }
    finder.letGo()
    accessUnit.attributes = Buffer.Attributes()
    batch.add(size, changesTags: describe(size))
    output.beginInBatch(&timestamps, isFirst: caps.awaitsFirstBuffer)
    caps.noticeBuffer()
    return true
  }

  /// The access unit before was pushed. Returns the time at which it ends.
  mutating func pushedOfBatch() -> ClockTime? {
    let position = output.accessUnit.attributes.end
    accessUnit.follow(at: batch.advance())
    output.take(&accessUnit)
    return position
  }

  /// Pushing failed, as by a flush: nothing of the frame counts as sent.
  mutating func interruptBatch() {
    let before = batch.timestampsBefore
    forgetPosition()
    pace.interrupt()
    if let before { timestamps = before }
    intake.expectAgain(situation.offset)
  }

  /// Ends the batch.
  mutating func endBatch() -> AccessUnitBatch<Codec>.Result {
    intake.finish(batch.end, from: situation.offset, unanswered: batch.addedBytes)
    let first = UInt64(batch.end - batch.addedBytes)
    pace.consume(batch.addedBytes, at: situation.offset.map { $0 &+ first })
    return batch.finish(output.accessUnit.attributes, isOne: output.accessUnit.start == 0)
  }

  /// Whether the current access unit is another picture of the sequence, about which the base class has nothing to
  /// decide. Random access points go into its index, and get the parameter sets so far and no later ones.
  private mutating func continuesSequence() -> Bool {
    accessUnit.beginsPicture && caps.describe(sequenceParameterSetID) && !isDiscontinuous
      && (accessUnit.scanned.dropped.isEmpty || finder.scanner.listsNALUnits) && !judgeRandomAccess()
  }
}
