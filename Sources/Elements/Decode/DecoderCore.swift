// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import VideoDecoding

/// A buffer's way through a decoder: frames become access units, whose format is read before they are decoded; output
/// and session are made ready for it; the session decodes, and its results end the frames.
///
/// It never calls other code. The element fetches the next action until there is none, performs each between two
/// accesses, and reports how it went; whatever happens in between, a flush or new caps included, only changes which
/// action is next.
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
  /// Start codes were found where lengths should be, and reported.
  private var hasRepaired = false

  private enum Draining {
    /// Complete access units are decoded; the one whose NAL units are still coming stays.
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

  /// Each frame holds NAL units instead of an access unit; `nil` before caps. `mutating`, like others, only because a core
  /// that is borrowed would be copied.
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

  /// Pictures are decoded into downstream's buffers where that is possible.
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

  /// Decodes the first access unit, whose bytes these are, or finds out what has to be done before.
  mutating func decode(_ bytes: Span<UInt8>, as request: FrameRequest) {
    guard let repaired = reader.repaired(bytes) else { return decode(sound: bytes, as: request) }
    if !hasRepaired { outcomes.add(.warn(.misplacedStartCodes)) }
    hasRepaired = true
    decode(sound: repaired.span, as: request)
  }

  private mutating func decode(sound bytes: Span<UInt8>, as request: FrameRequest) {
    guard let accessUnit = reader.queue.first else { return }
    guard !request.keyUnitsOnly || accessUnit.description != nil || isOfKeyUnit(bytes, request) else {
      reader.removeFirst()
      return outcomes.skip(accessUnit.number)
    }
    let (description, isNew, hasFormat) = reader.read(bytes)
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
    do throws(DecodeError) {
      try session.decode(bytes, description, number: accessUnit.number, as: request)
      // A second field: the drain behind the first one has waited for it.
      if request.keyUnitsOnly && !request.isSyncPoint { session.drain() }
      if session.isAwaitingRandomAccessPoint { outcomes.requestSyncPoint(for: accessUnit.number) }
    } catch {
      outcomes.refuse(accessUnit.number, error)
    }
  }

  /// Whether an access unit is shown in key-unit trick mode.
  private mutating func isOfKeyUnit(_ bytes: Span<UInt8>, _ request: FrameRequest) -> Bool {
    let hasFirstField = reader.awaitsSecondField
    let isPart = reader.isOfKeyUnit(bytes, request)
    // The first field has stayed alone, and no drain will come for it.
    if hasFirstField && !isPart { session.drain() }
    return isPart
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

  /// What is next for the first access unit.
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

  /// Plans the output for the picture that is to be output, or else for the first access unit.
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
    // Where downstream does not take this picture's format, those that follow are downloaded at once.
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

  /// Downstream has not accepted the plan: what was to be output cannot be.
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
      } else if reader.formats.hasNewParameterSets {
        try session.accept(format)
      }
      reader.settle()
      updateLatency(plan.info.frameRate)
    } catch {
      fail(session.isCancelled ? nil : DecoderMessage(error))
    }
  }

  /// Releases the frame that was to be output, or decoded; with a message that ends the stream, if there is one.
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

  /// Everything inside is to be output; more may come.
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
    output.flush()
    session.flush()
    while let result = session.nextResult() { outcomes.add(.release(FrameNumber(truncatingIfNeeded: result.tag))) }
  }

  /// For the `stats` property.
  var statistics: DecoderStatistics { mutating get { outcomes.statistics(session.statistics) } }

  // MARK: What is next

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
          if draining == .everything || !reader.awaitsSecondField { session.drain() }
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
