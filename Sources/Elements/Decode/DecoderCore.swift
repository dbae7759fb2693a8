// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import VideoDecoding

/// The way of a buffer through a decoder: frames become access units, their format is known before they are decoded,
/// output and session are made ready for it, the session decodes, and its results end the frames.
///
/// Never calls out. Whoever owns it asks for the next action until there is none, performs each between two accesses,
/// and reports what came of it; whatever happens in between, another flush or other caps included, only changes which
/// action is next.
struct DecoderCore {
  typealias Codec = H264

  private let log: Log
  private var settings = DecoderSettings()
  /// Failures in a row that are allowed; below 0 without limit.
  private var maximumErrors: Int32 = -1

  private var input: CompressedCaps<Codec>?
  private var isLive = false
  private var collection = FrameCollection()
  private var formats = FormatFollower()
  private(set) var session: DecoderSession
  private(set) var output = DecoderOutput()
  private var health = DecoderHealth()
  private var latency = ReportedLatency()

  /// Access units whose turn has not come.
  private var waiting: [WaitingAccessUnit] = []
  /// How far output and session are ready for the first of them.
  private var preparation = Preparation.done
  /// The picture whose turn it is to go out.
  private var outgoing: OutgoingPicture?
  /// What is to be done before anything else.
  private var errands: [DecoderAction] = []
  private var isDraining = false

  private struct WaitingAccessUnit {
    let number: FrameNumber
    /// What its first slice says, once that was read.
    var summary: Codec.FormatTracker.Summary?
  }

  private struct OutgoingPicture {
    let number: FrameNumber
    let picture: DecodedPicture
    /// Its caps are agreed on, or cannot be.
    var isAgreed: Bool
  }

  private enum Preparation {
    case done
    /// Downstream is to be asked what it takes.
    case planning
    /// The plan is to be agreed on, once earlier pictures are out.
    case negotiating(OutputPlan)
    /// A session is to be opened, or told, once earlier pictures are out.
    case opening(OutputPlan)
  }

  /// - Parameter makeSession: makes sessions; tests put some in that fail.
  init(
    log: Log,
    makeSession: @escaping DecoderSession.Maker = { (format, configuration, allocator) throws(DecodeError) in
      try DecompressionSession(format: format, configuration: configuration, allocator: allocator)
    }
  ) {
    self.log = log
    session = DecoderSession(makeSession)
  }

  // MARK: Caps

  /// Each frame holds NAL units instead of an access unit; `nil` before caps.
  var isNALAligned: Bool? { input?.isNALAligned }

  /// Ends what the caps before began, if these package NAL units otherwise.
  mutating func finish(before next: CompressedCaps<Codec>) {
    if let input, !input.isPackaged(like: next) { drain() }
  }

  /// Takes new sink caps.
  mutating func begin(_ next: CompressedCaps<Codec>, info: VideoInfo, isLive: Bool) {
    let isOtherPackaging = input.map { !$0.isPackaged(like: next) } ?? true
    if isOtherPackaging { session.close() }
    formats.begin(next, isOtherPackaging: isOtherPackaging)
    output.begin(next, info: info)
    input = next
    self.isLive = isLive
  }

  // MARK: Frames

  /// What was set for the next buffer.
  mutating func use(_ settings: DecoderSettings, maximumErrors: Int32) {
    self.settings = settings
    self.maximumErrors = maximumErrors
  }

  /// A frame has come that is an access unit.
  mutating func receive(_ number: FrameNumber) { waiting.append(WaitingAccessUnit(number: number)) }

  /// A frame has come that holds NAL units.
  mutating func receive(_ number: FrameNumber, nalUnits: borrowing Buffer) throws(FlowError) {
    guard let input else { return }
    try collection.put(number, nalUnits, packaging: input.packaging)
  }

  /// The next access unit that is complete, if there is one; its frames become one.
  private mutating func takeCollected() -> Bool {
    guard let input, input.isNALAligned else { return false }
    do throws(FlowError) {
      guard let numbers = try collection.next(&formats) else { return false }
      join(numbers)
      return true
    } catch {
      note(.warning, "NAL units cannot be read: \(error)")
      collection.flush()
      return false
    }
  }

  private mutating func join(_ numbers: [FrameNumber]) {
    guard let first = numbers.first else { return }
    for number in numbers.dropFirst() { errands.append(.append(number, to: first)) }
    waiting.append(WaitingAccessUnit(number: first))
  }

  /// Decodes the access unit whose turn it is, whose bytes these are, or finds out what has to be done before.
  mutating func decode(_ bytes: Span<UInt8>, as request: FrameRequest) {
    guard var unit = waiting.first else { return }
    guard request.isSyncPoint || !request.keyUnitsOnly else {
      health.accessUnitSkipped()
      return end(unit, .release(unit.number))
    }
    if unit.summary == nil {
      let summary = formats.read(bytes)
      guard formats.format != nil else {
        if health.accessUnitRefused() { note(.warning, "no parameter sets yet: dropping pictures") }
        return end(unit, .drop(unit.number))
      }
      unit.summary = summary
      waiting[0] = unit
      // The pictures before a splice belong to the caps before it.
      if summary.formatChanged { session.finishSequence(before: bytes) }
      if !formats.isSettled || !session.isOpen || (session.isToBeReplaced && summary.isIDR) {
        preparation = .planning
        return
      }
    }
    session.skip(skipFrames(request))
    do throws(DecodeError) {
      try session.decode(bytes, number: unit.number, as: request)
      // The base class keeps the frame until its result ends it.
      end(unit, nil)
      if session.isAwaitingRandomAccessPoint { requestSyncPoint(for: unit.number) }
    } catch {
      // Empty buffers and the like: nothing to decode.
      note(.debug, "access unit \(unit.number) not taken: \(error.message)")
      _ = health.accessUnitRefused()
      end(unit, .drop(unit.number))
    }
  }

  /// The bytes of the access unit whose turn it is cannot be had.
  mutating func discard(_ number: FrameNumber) {
    guard let unit = waiting.first, unit.number == number else { return }
    end(unit, .release(number))
  }

  /// Pictures to leave out: those that the user does not want, or that would be too late.
  private func skipFrames(_ request: FrameRequest) -> SessionConfiguration.SkipFrames {
    let wanted = settings.skipFrame.sessionValue
    return wanted == .none && (request.isLate || request.forwardPredictedOnly) ? .nonReference : wanted
  }

  private mutating func end(_ unit: WaitingAccessUnit, _ action: DecoderAction?) {
    waiting.removeFirst()
    preparation = .done
    if let action { errands.append(action) }
  }

  // MARK: Flow

  /// Everything that is inside is to go out; more may come.
  mutating func drain() { isDraining = true }

  /// The stream has ended, and everything is out.
  mutating func end() {
    if session.isLost, let message = health.lossAtTheEnd {
      errands.append(.fail(message))
    } else if !session.isOpen, let error = health.missingParameterSets {
      errands.append(.fail(DecoderMessage(error)))
    }
  }

  /// A seek: nothing that is inside goes out any more.
  mutating func flush() {
    collection.flush()
    waiting.removeAll(keepingCapacity: true)
    errands.removeAll(keepingCapacity: true)
    preparation = .done
    outgoing = nil
    isDraining = false
    output.flush()
    session.flush()
    while let result = session.nextResult() { errands.append(.release(FrameNumber(truncatingIfNeeded: result.tag))) }
    health.flush()
  }

  /// For the `stats` property.
  var statistics: DecoderStatistics {
    DecoderStatistics(
      session: session.statistics, refused: health.refused, copied: health.copied, lastFault: health.lastFault)
  }

  // MARK: What is next

  /// What is to be done next; `nil` when the next frame, or a drain, has to come first.
  ///
  /// - Parameter needsReconfigure: downstream asks to agree anew.
  mutating func nextAction(needsReconfigure: Bool) -> DecoderAction? {
    while true {
      if let errand = nextErrand() { return errand }
      if let outgoing { return nextAction(for: outgoing) }
      if let result = session.nextResult() {
        take(result, needsReconfigure)
      } else if let verdict = health.takeVerdict() {
        for unit in waiting { errands.append(.release(unit.number)) }
        waiting.removeAll()
        preparation = .done
        return .fail(verdict)
      } else if let unit = waiting.first {
        if let action = nextAction(for: unit, needsReconfigure) { return action }
      } else if takeCollected() {
        continue
      } else if isDraining {
        if let rest = collection.takeRest() {
          join(rest)
        } else {
          isDraining = false
          session.drain()
        }
      } else {
        return nil
      }
    }
  }

  private mutating func nextErrand() -> DecoderAction? {
    if !errands.isEmpty { return errands.removeFirst() }
    if output.proposal != nil { return .negotiate }
    if let notice = session.nextNotice() { return .warn(message(for: notice)) }
    return latency.takeDue().map { .setLatency($0) }
  }

  private mutating func message(for notice: SessionNotice) -> DecoderMessage {
    switch notice {
    case .codecLost(let error): health.codecLost(error)
    case .beganWithoutRandomAccessPoint: DecoderMessage.noRandomAccessPoint
    }
  }

  private mutating func note(_ level: Log.Level, _ text: @autoclosure () -> String) {
    if log.isEnabled(level) { errands.append(.log(level, text())) }
  }
}

// MARK: Results

extension DecoderCore {
  private mutating func take(_ result: SessionResult, _ needsReconfigure: Bool) {
    let number = FrameNumber(truncatingIfNeeded: result.tag)
    switch result {
    case .frame(let picture):
      if picture.isCorrupt { requestSyncPoint(for: number) } else { health.pictureDecoded() }
      outgoing = OutgoingPicture(
        number: number, picture: picture, isAgreed: output.fits(picture) && !needsReconfigure)
    case .dropped(_, let reason):
      note(.debug, "frame \(number) dropped: \(reason)")
      switch reason {
      case .secondField, .noPicture, .doNotOutput, .flushed, .notShown:
        // Nothing that anyone should miss.
        errands.append(.release(number))
      case .beforeRandomAccessPoint, .noReference, .sessionLost, .corrupt:
        requestSyncPoint(for: number)
        errands.append(.drop(number))
      case .skipped:
        errands.append(.drop(number))
      }
    case .failed(_, let error):
      errands.append(.reportFailure(number, error))
    }
  }

  private mutating func requestSyncPoint(for number: FrameNumber) {
    if health.mayRequestSyncPoint() { errands.append(.requestSyncPoint(number)) }
  }

  /// A frame does not decode that was to be shown at this time.
  mutating func failed(_ error: DecodeError, number: FrameNumber, pts: ClockTime?) {
    requestSyncPoint(for: number)
    errands.append(.drop(number))
    let fault = PictureFault(error: error, frameNumber: number, pts: pts)
    switch health.judge(fault, limit: maximumErrors) {
    case .ignore: break
    case .log: note(.warning, fault.description)
    // Of a lost codec the session's notice tells.
    case .warn: if !session.isLost { errands.append(.warn(DecoderMessage(fault))) }
    // The pictures before it wait inside for their turn: they are shown before the stream ends.
    case .giveUp: session.drain()
    }
  }

  private mutating func nextAction(for outgoing: OutgoingPicture) -> DecoderAction? {
    guard outgoing.isAgreed else { return .askDownstream }
    updateLatency()
    if let due = latency.takeDue() { return .setLatency(due) }
    self.outgoing = nil
    return .finish(outgoing.number, outgoing.picture)
  }

  /// A picture was copied on its way out.
  mutating func pictureCopied() { health.pictureCopied() }

  private mutating func updateLatency() {
    guard let frames = session.latency else { return }
    latency.update(
      frames: frames + (input?.isNALAligned == true && collection.waitsForNext ? 1 : 0),
      rate: output.agreed?.info.frameRate)
  }
}

// MARK: Preparation

extension DecoderCore {
  private mutating func nextAction(for unit: WaitingAccessUnit, _ needsReconfigure: Bool) -> DecoderAction? {
    switch preparation {
    case .done: return .decode(unit.number)
    case .planning: return .askDownstream
    case .negotiating(let plan):
      if output.isAgreed(plan) && !needsReconfigure { agreed() } else { output.propose(plan) }
    case .opening(let plan): open(by: plan)
    }
    return nil
  }

  /// Plans the output, for the picture that is to go out or else for the access unit whose turn it is.
  ///
  /// - Parameters:
  ///   - allowed: what both pads allow; `nil` when nothing is linked.
  ///   - needsReconfigure: downstream asks to agree anew.
  mutating func plan(allowed: borrowing Caps?, needsReconfigure: Bool) {
    do throws(ElementError) {
      if let outgoing {
        let plan = try plan(for: outgoing.picture, allowed: allowed)
        if let plan, !output.isAgreed(plan) || needsReconfigure { output.propose(plan) } else { agreed() }
      } else if let unit = waiting.first, case .planning = preparation {
        try plan(for: unit, allowed: allowed)
      }
    } catch {
      fail(DecoderMessage(error))
    }
  }

  private mutating func plan(for unit: WaitingAccessUnit, allowed: borrowing Caps?) throws(ElementError) {
    guard let format = formats.format, let summary = unit.summary else { return end(unit, .release(unit.number)) }
    output.expect(format, scan: summary.scan, isNew: formats.isNewFormat)
    let layout = summary.isIDR || !session.canContinue(with: format) ? nil : session.layout
    let (plan, isOfSession) = try output.plan(format, stream: formats, keeping: layout, allowed: allowed)
    session.replaceSoon(!isOfSession)
    // Pictures of another size or sample format come out before this one's caps go out. When nothing but, say, the
    // frame rate in the caps changed, draining in the middle of a group would only cost time.
    if let agreed = output.agreed, !agreed.isAgreed(plan), summary.isIDR || agreed.layout != plan.layout {
      session.drain()
    }
    preparation = .negotiating(plan)
  }

  private mutating func plan(
    for picture: DecodedPicture, allowed: borrowing Caps?
  ) throws(ElementError) -> OutputPlan? {
    guard let format = formats.settledFormat else { return nil }
    let (plan, isOfSession) = try output.plan(picture, of: format, stream: formats, allowed: allowed)
    // The session keeps putting out what it was made for until it can be replaced.
    if !isOfSession { session.replaceSoon(true) }
    return plan
  }

  /// The plan to agree on with downstream now.
  mutating func takeProposal() -> OutputPlan? { output.takeProposal() }

  /// Downstream answered what its buffers are like.
  mutating func choosePool(isDirect: Bool) { output.choosePool(isDirect: isDirect) }

  /// Downstream agreed to the plan; pictures go into this pool.
  mutating func negotiated(_ plan: OutputPlan, pool: consuming BufferPool?) {
    do throws(ElementError) {
      let line = try output.negotiated(plan, pool: pool)
      if let line { note(.info, line) }
      agreed()
    } catch {
      fail(DecoderMessage(error))
    }
  }

  /// Downstream did not agree: what was to go out cannot.
  mutating func negotiationFailed() {
    output.negotiationFailed()
    fail(nil)
  }

  private mutating func agreed() {
    if outgoing != nil {
      outgoing?.isAgreed = true
    } else if case .negotiating(let plan) = preparation {
      preparation = .opening(plan)
      if !keepsSession(plan) { session.drain() }
    }
  }

  private func keepsSession(_ plan: OutputPlan) -> Bool {
    guard let format = formats.format else { return false }
    return session.canContinue(with: format) && session.layout == plan.sessionLayout
  }

  private mutating func open(by plan: OutputPlan) {
    guard let format = formats.format else { return fail(nil) }
    let allocator = output.allocator
    do throws(DecodeError) {
      if !keepsSession(plan) {
        try session.open(
          format, layout: plan.sessionLayout, settings: settings, isLive: isLive, allocator: allocator)
        let (threads, isLive) = (settings.threadType, isLive)
        note(.info, "session for \(format.summary), threads \(threads), live \(isLive)")
      } else if formats.hasNewParameterSets {
        try session.accept(format)
      }
      formats.settle()
      preparation = .done
      updateLatency()
    } catch {
      fail(DecoderMessage(error))
    }
  }

  /// What was to go out, or in, does not; with a message that ends the stream, if there is one.
  private mutating func fail(_ message: DecoderMessage?) {
    if let outgoing {
      errands.append(.release(outgoing.number))
      self.outgoing = nil
    } else if let unit = waiting.first {
      end(unit, .release(unit.number))
    }
    if let message { errands.append(.fail(message)) }
  }
}

extension FormatDescription {
  /// Profile, level and size, for the log.
  fileprivate var summary: String {
    "\(profileName ?? "profile \(profileIDC)") level \(levelName ?? "?"), \(croppedSize.width)x\(croppedSize.height)"
  }
}
