// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import VideoDecoding

/// A buffer's way through a decoder. Frames become access units, and an access unit's format is read before it is
/// decoded. Output and session are prepared for that format. The session decodes, and its results end the frames.
///
/// It never calls other code. The element fetches the next action until there is none, performs each between two
/// accesses, and reports the outcome. Anything in between, a flush or new caps included, only changes which action is
/// next.
///
/// reader (frame collection, queue, format) → output → session → output → outcomes
struct DecoderCore<Codec: DecoderCodec> {
  // MARK: Stages

  private var reader = DecoderReader<Codec>()
  private(set) var session: DecoderSession
  private(set) var output = DecoderOutput<Codec>()
  private var outcomes: FrameOutcomes<Codec>
  private var latency = ReportedLatency()

  // MARK: Between the stages

  private var settings = DecoderSettings()
  /// Failures in a row that are allowed; below 0 without limit.
  private var maximumErrors: Int32 = -1
  /// The next picture to output.
  private var outgoing: OutgoingPicture?
  private var draining: Draining?
  /// In key-unit trick mode: a keyframe's first field is decoded, and its second one may be next.
  private var awaitsSecondField = false
  /// An unusable default from the environment was reported.
  private var hasReportedDefaults = false
  /// Start codes were found where lengths should be, and reported.
  private var hasRepaired = false

  private enum Draining {
    /// Complete access units are decoded; an access unit whose NAL units are still coming stays.
    case completeAccessUnits
    case everything
  }

  private struct OutgoingPicture {
    let number: FrameNumber
    let picture: DecodedPicture
    /// Its caps are negotiated, or cannot be.
    var isAgreed: Bool
  }

  /// - Parameters:
  ///   - cancellation: ends waits for an isolated codec.
  ///   - makeSession: makes sessions; tests make some that fail.
  init(
    log: Log, cancellation: Cancellation = Cancellation(),
    makeSession: @escaping DecoderSession.Maker = { (format, configuration, allocator) throws(DecodeError) in
      try DecompressionSession(format: format, configuration: configuration, allocator: allocator)
    }
  ) {
    outcomes = FrameOutcomes(log: log)
    session = DecoderSession(cancellation: cancellation, makeSession)
  }

  // MARK: Caps

  /// Each frame holds NAL units instead of an access unit; `nil` before caps. `mutating`, like others, only because a
  /// core that is borrowed would be copied.
  var isNALAligned: Bool? { mutating get { reader.isNALAligned } }

  /// Drains what came under earlier caps, if the next ones package NAL units differently.
  mutating func finish(before next: CompressedCaps<Codec>) {
    if reader.isPackagedDifferently(next) == true { drain() }
  }

  /// Takes new sink caps.
  mutating func begin(_ next: DecoderInput<Codec>) {
    let isOtherPackaging = reader.isPackagedDifferently(next.caps) ?? true
    if isOtherPackaging { session.close() }
    reader.begin(next, isOtherPackaging: isOtherPackaging)
  }

  // MARK: Frames

  /// Whether pictures are decoded into downstream's buffers, if possible.
  var rendersDirectly: Bool { mutating get { settings.directRendering } }

  /// Takes the settings of the next buffer.
  mutating func use(_ settings: DecoderSettings, maximumErrors: Int32) {
    self.settings = settings
    self.maximumErrors = maximumErrors
  }

  /// Takes a frame that is an access unit.
  mutating func receive(_ number: FrameNumber) { reader.receive(number) }

  /// Takes a frame of NAL units.
  mutating func receive(_ number: FrameNumber, nalUnits: borrowing Buffer) throws(FlowError) {
    try reader.receive(number, nalUnits: nalUnits)
  }

  /// Frames of an access unit become one.
  private mutating func join(_ collected: DecoderReader<Codec>.Collected) {
    switch collected {
    case .accessUnit(let numbers):
      if let first = numbers.first, numbers.count > 1 { outcomes.add(.join(Array(numbers.dropFirst()), to: first)) }
    case .unreadable(let numbers):
      outcomes.release(numbers)
      outcomes.add(.fail(DecoderMessage(.unreadableInput)))
    }
  }

  /// Decodes the first access unit, given its bytes, or determines which step must come first.
  mutating func decode(_ bytes: Span<UInt8>, as request: FrameRequest) {
    guard let repaired = reader.repaired(bytes) else { return decode(sound: bytes, as: request) }
    if !hasRepaired { outcomes.add(.warn(.misplacedStartCodes)) }
    hasRepaired = true
    decode(sound: repaired.span, as: request)
  }

  private mutating func decode(sound bytes: Span<UInt8>, as request: FrameRequest) {
    guard let accessUnit = reader.queue.first else { return }
    let (description, isNew, hasFormat) = reader.read(bytes)
    guard session.isOpen || !request.decoding.isLeftOut else {
      reader.removeFirst()
      return outcomes.skip(accessUnit.number)
    }
    // No picture is missed, so that this counts only if no error is allowed.
    if maximumErrors == 0, !description.hasSlice, reader.failsWithoutSlice(bytes) {
      reader.removeFirst()
      return outcomes.add(.reportFailure(accessUnit.number, DecodeError(badData: "the access unit has no slice")))
    }
    if isNew || !hasFormat { outcomes.judge(isUsable: hasFormat && description.hasSlice) }
    guard hasFormat else {
      reader.removeFirst()
      return outcomes.refuse(accessUnit.number, hasSlice: description.hasSlice)
    }
    if isNew {
      // Pictures before a splice belong to the caps before it.
      if description.formatChanged { session.finishSequence(before: bytes, description) }
      // An undecodable format under an open session is taken for a damaged SPS: the session flags its pictures.
      let isReady = session.isOpen && reader.formats.isSettled && !(session.isToBeReplaced && description.isIDR)
      if !isReady && (!session.isOpen || reader.isDecodable) { return reader.prepare(.planning) }
    }
    session.apply(settings, for: request)
    // The session's result will end the frame.
    reader.removeFirst()
    let completesKeyUnit = awaitsSecondField && description.isSecondField
    // The first field has stayed alone, and no drain will come for it.
    if awaitsSecondField && !completesKeyUnit { session.drain() }
    awaitsSecondField = request.trickMode.keyUnitsOnly && request.isSyncPoint && description.isFirstField
    do throws(DecodeError) {
      try session.decode(bytes, description, request.decoding)
      // The drain behind the first field has waited for this one.
      if completesKeyUnit { session.drain() }
      if session.isAwaitingRandomAccessPoint { outcomes.requestSyncPoint(for: accessUnit.number) }
    } catch {
      outcomes.refuse(accessUnit.number, error)
    }
  }

  /// The bytes of the first access unit cannot be read.
  mutating func discard(_ number: FrameNumber) {
    if reader.queue.first?.number == number { release(number) }
  }

  /// The first access unit is done with, and no picture of it is missed.
  private mutating func release(_ number: FrameNumber) {
    reader.removeFirst()
    outcomes.add(.release(number))
  }

  // MARK: Output and session are made ready

  /// The next step for the first access unit.
  private mutating func prepare(_ number: FrameNumber, _ needsReconfigure: Bool) -> DecoderAction<Codec>? {
    switch reader.queue.preparation {
    case .done: return .decode(number)
    case .planning: return .askDownstream
    case .negotiating(let plan):
      output.beginFormat()
      if output.isAgreed(plan) && !needsReconfigure || output.defers(plan) { agreed() } else { output.propose(plan) }
    case .opening(let plan): open(by: plan)
    }
    return nil
  }

  /// Plans the output for the next picture to output, or else for the first access unit.
  ///
  /// - Parameters:
  ///   - allowed: what both pads allow; `nil` when nothing is linked.
  ///   - listed: what downstream lists, in its order; `nil` when nothing is linked.
  ///   - isReverse: the stream is played backwards.
  ///   - needsReconfigure: downstream has requested another negotiation.
  mutating func plan(allowed: borrowing Caps?, listed: borrowing Caps?, isReverse: Bool, needsReconfigure: Bool) {
    let preference = session.preference(settings, in: listed, isReverse: isReverse)
    do throws(ElementError) {
      if let outgoing {
        let plan = try plan(for: outgoing.picture, preference, allowed: allowed)
        if let plan, !output.isAgreed(plan) || needsReconfigure { output.propose(plan) } else { agreed() }
      } else if let accessUnit = reader.queue.first, case .planning = reader.queue.preparation {
        try plan(for: accessUnit, preference, allowed: allowed)
      }
    } catch {
      fail(DecoderMessage(error))
    }
  }

  private mutating func plan(
    for accessUnit: AccessUnitQueue.AccessUnit, _ preference: OutputPreference, allowed: borrowing Caps?
  ) throws(ElementError) {
    guard let format = reader.formats.format, let description = accessUnit.description, let input = reader.input else {
      return release(accessUnit.number)
    }
    output.expect(format, scan: description.scan, isNew: reader.formats.isNewFormat)
    let layout = description.isIDR || !session.canContinue(with: format) ? nil : session.layout
    let (plan, isOfSession) = try output.plan(
      format, of: input, stream: reader.formats, keeping: layout, preferring: preference, allowed: allowed)
    session.replaceSoon(!isOfSession)
    // Pictures of another size or sample format must be output before this one's caps are sent. If only, say, the frame
    // rate in the caps changed, draining within a group of pictures would only cost time.
    if let agreed = output.agreed, !agreed.isAgreed(plan), description.isIDR || agreed.layout != plan.layout {
      session.drain()
    }
    reader.prepare(.negotiating(plan))
  }

  private mutating func plan(
    for picture: DecodedPicture, _ preference: OutputPreference, allowed: borrowing Caps?
  ) throws(ElementError) -> OutputPlan? {
    guard let format = reader.formats.settledFormat, let input = reader.input else { return nil }
    let (plan, isOfSession) = try output.plan(
      picture, format, of: input, stream: reader.formats, preferring: preference, allowed: allowed)
    // The session's layout stays until it can be replaced.
    if !isOfSession { session.replaceSoon(true) }
    // If downstream does not take this picture's format, the pictures after it are downloaded immediately.
    if picture.isOfDevice && !plan.layout.isOfDevice { session.stopKeepingSurfaces() }
    return plan
  }

  /// The plan to negotiate with downstream now.
  mutating func takeProposal() -> OutputPlan? { output.takeProposal() }

  /// The allocation query has shown whether libavcodec can decode into downstream's buffers.
  mutating func choosePool(isDirect: Bool) { output.choosePool(isDirect: isDirect) }

  /// Downstream has accepted the plan; pictures go into this pool.
  mutating func negotiated(_ plan: OutputPlan, pool: consuming BufferPool?) {
    do throws(ElementError) {
      let line = try output.negotiated(plan, pool: pool)
      if let line { outcomes.note(.info, line) }
      agreed()
    } catch {
      fail(DecoderMessage(error))
    }
  }

  /// Downstream has not accepted the plan: the planned pictures cannot be output.
  mutating func negotiationFailed() {
    output.negotiationFailed()
    fail(nil)
  }

  private mutating func agreed() {
    if outgoing != nil {
      outgoing?.isAgreed = true
    } else if case .negotiating(let plan) = reader.queue.preparation {
      reader.prepare(.opening(plan))
      if !keepsSession(plan) { session.drain() }
    }
  }

  private func keepsSession(_ plan: OutputPlan) -> Bool {
    guard let format = reader.formats.format else { return false }
    return session.canContinue(with: format) && session.layout == plan.sessionLayout
      && (session.canKeepSurfaces || !plan.layout.isOfDevice)
  }

  private mutating func open(by plan: OutputPlan) {
    guard let format = reader.formats.format, let isLive = reader.input?.isLive else { return fail(nil) }
    do throws(DecodeError) {
      if !keepsSession(plan) {
        try session.open(
          format, layout: plan.sessionLayout, keepsSurfaces: plan.layout.isOfDevice, settings: settings, isLive: isLive,
          allocator: output.allocator)
        outcomes.sessionOpened(format, settings, isLive: isLive)
        reportDefaults()
      } else if reader.formats.hasNewParameterSets {
        try session.accept(format)
      }
      reader.settle()
      updateLatency(plan.info.frameRate)
    } catch {
      fail(session.isCancelled ? nil : DecoderMessage(error))
    }
  }

  /// Reports, once, what the environment demands and does not get.
  private mutating func reportDefaults() {
    guard !hasReportedDefaults else { return }
    hasReportedDefaults = true
    if settings.isIsolationForbidden { outcomes.add(.warn(.notIsolated)) }
    if let fault = DecoderDefaults.current.fault { outcomes.add(.warn(.ignoredDefault(fault))) }
  }

  /// Releases the frame whose turn it was to be output or decoded; with a message that ends the stream, if there is
  /// one.
  private mutating func fail(_ message: DecoderMessage<Codec>?) {
    if let outgoing {
      outcomes.add(.release(outgoing.number))
      self.outgoing = nil
    } else if let accessUnit = reader.queue.first {
      release(accessUnit.number)
    }
    if let message { outcomes.add(.fail(message)) }
  }

  // MARK: Results end their frames

  private mutating func take(_ result: SessionResult, _ needsReconfigure: Bool) {
    let number = FrameNumber(truncatingIfNeeded: result.tag)
    switch result {
    case .frame(let picture):
      outcomes.take(picture, of: number)
      outgoing = OutgoingPicture(
        number: number, picture: picture, isAgreed: output.follow(picture) && !needsReconfigure)
    case .dropped(_, let reason): outcomes.drop(number, reason)
    case .failed(_, let error): outcomes.add(.reportFailure(number, error))
    }
  }

  /// A frame with this PTS could not be decoded.
  mutating func failed(_ error: DecodeError, number: FrameNumber, pts: ClockTime?) {
    let isGivenUp = outcomes.fail(number, error, pts: pts, limit: maximumErrors, isLost: session.isLost)
    // Earlier pictures still wait inside: they are shown before the stream ends.
    if isGivenUp { session.drain() }
  }

  private mutating func send(_ outgoing: OutgoingPicture) -> DecoderAction<Codec> {
    guard outgoing.isAgreed else { return .askDownstream }
    updateLatency(output.agreed?.info.frameRate)
    if let due = latency.takeDue() { return .setLatency(due) }
    self.outgoing = nil
    return .finish(outgoing.number, outgoing.picture)
  }

  /// A picture was copied on its way out.
  mutating func pictureCopied() { outcomes.pictureCopied() }

  private mutating func updateLatency(_ rate: Fraction?) {
    guard let frames = session.latency else { return }
    latency.update(frames: frames + reader.latency, rate: rate)
  }

  // MARK: Flow

  /// Outputs everything inside; more may come.
  ///
  /// - Parameter keepingBegun: except an access unit whose NAL units are still coming.
  mutating func drain(keepingBegun: Bool = false) { draining = keepingBegun ? .completeAccessUnits : .everything }

  /// The stream has ended, and everything was output.
  mutating func end() { outcomes.end(session) }

  /// A seek: nothing that is still inside is output any more.
  mutating func flush() {
    reader.flush()
    outcomes.flush()
    outgoing = nil
    draining = nil
    awaitsSecondField = false
    output.flush()
    session.flush()
    while let result = session.nextResult() { outcomes.add(.release(FrameNumber(truncatingIfNeeded: result.tag))) }
  }

  /// For the `stats` property.
  var statistics: DecoderStatistics { mutating get { outcomes.statistics(session.statistics) } }

  // MARK: The next action

  /// The next action; `nil` when the next frame, or a drain, has to come first.
  ///
  /// - Parameter needsReconfigure: downstream has requested another negotiation.
  mutating func nextAction(needsReconfigure: Bool) -> DecoderAction<Codec>? {
    while true {
      if let action = nextOutcome() { return action }
      if let outgoing { return send(outgoing) }
      if let result = session.nextResult() {
        take(result, needsReconfigure)
      } else if let verdict = outcomes.takeVerdict() {
        outcomes.release(reader.removeAll())
        return .fail(verdict)
      } else if let accessUnit = reader.queue.first {
        if let action = prepare(accessUnit.number, needsReconfigure) { return action }
      } else if let collected = reader.takeCollected() {
        join(collected)
      } else if let draining {
        if draining == .everything, let rest = reader.takeRest() {
          join(rest)
        } else {
          // The base class drains behind each sync point in key-unit trick mode, between two fields too.
          if draining == .everything || !awaitsSecondField { session.drain() }
          self.draining = nil
        }
      } else {
        return nil
      }
    }
  }

  private mutating func nextOutcome() -> DecoderAction<Codec>? {
    if let action = outcomes.next() { return action }
    if output.proposal != nil { return .negotiate }
    return outcomes.nextWarning(of: &session) ?? latency.takeDue().map { .setLatency($0) }
  }
}
