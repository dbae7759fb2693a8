// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import VideoDecoding

/// A buffer's way through a decoder: frames become access units, whose format is read before they are decoded; output
/// and session are made ready for it; the session decodes, and its results end the frames.
///
/// It never calls out. The element asks for the next action until there is none, performs each between two accesses,
/// and reports how it went; whatever happens in between, a flush or new caps included, only changes which action is
/// next.
///
/// frame collection → queue → format → output → session → output
struct DecoderCore<Codec: DecoderCodec> {
  private let log: Log

  // MARK: Stages

  private var collection = FrameCollection<Codec>()
  private var queue = AccessUnitQueue()
  private var keyUnits = KeyUnitFields<Codec>()
  private var formats = FormatFollower<Codec>()
  private(set) var session: DecoderSession
  private(set) var output = DecoderOutput<Codec>()
  private var health = DecoderHealth<Codec>()
  private var latency = ReportedLatency()

  // MARK: Between the stages

  private var input: DecoderInput<Codec>?
  private var settings = DecoderSettings()
  /// Failures in a row that are allowed; below 0 without limit.
  private var maximumErrors: Int32 = -1
  /// The next picture to go out.
  private var outgoing: OutgoingPicture?
  /// Actions that come before anything else.
  private var errands: [DecoderAction<Codec>] = []
  private var draining: Draining?

  private enum Draining {
    /// Complete access units go out; the one whose NAL units are still coming stays.
    case completeAccessUnits
    case everything
  }

  private struct OutgoingPicture {
    let number: FrameNumber
    let picture: DecodedPicture
    /// Its caps are negotiated, or cannot be.
    var isAgreed: Bool
  }

  /// - Parameter makeSession: makes sessions; tests make some that fail.
  init(
    log: Log,
    makeSession: @escaping DecoderSession.Maker = { (format, configuration, allocator) throws(DecodeError) in
      try DecompressionSession(format: format, configuration: configuration, allocator: allocator)
    }
  ) {
    self.log = log
    session = DecoderSession(makeSession)
  }

  // MARK: Start codes where lengths should be

  private var repackager = Repackager(codec: Codec.codec)
  /// They were found, and reported.
  private var hasRepaired = false

  // MARK: Caps

  /// Each frame holds NAL units instead of an access unit; `nil` before caps.
  var isNALAligned: Bool? { input?.caps.isNALAligned }

  /// Drains what came under earlier caps, if the next ones package NAL units differently.
  mutating func finish(before next: CompressedCaps<Codec>) {
    if let input, !input.caps.isPackaged(like: next) { drain() }
  }

  /// Takes new sink caps.
  mutating func begin(_ next: DecoderInput<Codec>) {
    let isOtherPackaging = input.map { !$0.caps.isPackaged(like: next.caps) } ?? true
    if isOtherPackaging { session.close() }
    formats.begin(next.caps, isOtherPackaging: isOtherPackaging)
    input = next
  }

  // MARK: Frames

  /// Pictures are decoded into downstream's buffers where that is possible.
  var rendersDirectly: Bool { settings.directRendering }

  /// Takes the settings of the next buffer.
  mutating func use(_ settings: DecoderSettings, maximumErrors: Int32) {
    self.settings = settings
    self.maximumErrors = maximumErrors
  }

  /// Takes a frame that is an access unit.
  mutating func receive(_ number: FrameNumber) { queue.append(number) }

  /// Takes a frame of NAL units.
  mutating func receive(_ number: FrameNumber, nalUnits: borrowing Buffer) throws(FlowError) {
    guard let input else { return }
    try collection.put(number, nalUnits, packaging: input.caps.packaging)
  }

  /// Queues the next complete access unit, if there is one; its frames become one.
  private mutating func takeCollected() -> Bool {
    guard let input, input.caps.isNALAligned else { return false }
    do throws(FlowError) {
      guard let numbers = try collection.next(&formats) else { return false }
      join(numbers)
      return true
    } catch {
      errands += collection.removeAll().map { .release($0) }
      errands.append(.fail(DecoderMessage(.unreadableInput)))
      return true
    }
  }

  private mutating func join(_ numbers: [FrameNumber]) {
    guard let first = numbers.first else { return }
    if numbers.count > 1 { errands.append(.join(Array(numbers.dropFirst()), to: first)) }
    queue.append(first)
  }

  /// Decodes the first access unit, whose bytes these are, or finds out what has to be done before.
  mutating func decode(_ bytes: Span<UInt8>, as request: FrameRequest) {
    guard let size = input?.caps.nalLengthSize, let repaired = repackager.repaired(bytes, lengthSize: size) else {
      return decode(sound: bytes, as: request)
    }
    if !hasRepaired { errands.append(.warn(.misplacedStartCodes)) }
    hasRepaired = true
    decode(sound: repaired.span, as: request)
  }

  private mutating func decode(sound bytes: Span<UInt8>, as request: FrameRequest) {
    guard let accessUnit = queue.first else { return }
    guard !request.keyUnitsOnly || accessUnit.description != nil || isOfKeyUnit(bytes, request) else {
      health.accessUnitSkipped()
      return end(.release(accessUnit.number))
    }
    let description = accessUnit.description ?? formats.read(bytes)
    if accessUnit.description == nil {
      guard formats.format != nil else { return refuse(accessUnit.number, hasSlice: description.hasSlice) }
      queue.read(description)
      // Pictures before a splice belong to the caps before it.
      if description.formatChanged { session.finishSequence(before: bytes, description) }
      // An undecodable format under an open session is taken for a damaged SPS: the session flags its pictures.
      let isReady = session.isOpen && formats.isSettled && !(session.isToBeReplaced && description.isIDR)
      if !isReady && (!session.isOpen || isDecodable) {
        return queue.prepare(.planning)
      }
    }
    session.apply(settings, for: request)
    do throws(DecodeError) {
      try session.decode(bytes, description, number: accessUnit.number, as: request)
      // The session's result will end the frame.
      end(nil)
      // A second field: the drain behind the first one has waited for it.
      if request.keyUnitsOnly && !request.isSyncPoint { session.drain() }
      if session.isAwaitingRandomAccessPoint { requestSyncPoint(for: accessUnit.number) }
    } catch {
      // Empty buffers and the like: nothing to decode.
      note(.debug, "access unit \(accessUnit.number) not taken: \(error.message)")
      _ = health.accessUnitRefused()
      end(.drop(accessUnit.number))
    }
  }

  /// Whether an access unit is shown in key-unit trick mode, alone or as the second field of the one before.
  private mutating func isOfKeyUnit(_ bytes: Span<UInt8>, _ request: FrameRequest) -> Bool {
    let hasFirstField = keyUnits.awaitsSecondField
    let isPart = keyUnits.take(
      bytes, isSyncPoint: request.isSyncPoint, packaging: input?.caps.packaging ?? .annexB,
      parameterSets: formats.parameterSets)
    // The first field has stayed alone, and no drain will come for it.
    if hasFirstField && !isPart { session.drain() }
    return isPart
  }

  /// An access unit has come before the parameter sets.
  private mutating func refuse(_ number: FrameNumber, hasSlice: Bool) {
    guard hasSlice else {
      // Only parameter sets or the like: no picture is missed.
      health.accessUnitSkipped()
      return end(.release(number))
    }
    if health.accessUnitRefused() { note(.warning, "no parameter sets yet: dropping pictures") }
    end(.drop(number))
  }

  /// Whether the format of the last access unit can be decoded.
  private var isDecodable: Bool {
    formats.format.map { PictureLayout($0, completesMonochrome: Codec.completesMonochrome) != nil } ?? false
  }

  /// The bytes of the first access unit cannot be read.
  mutating func discard(_ number: FrameNumber) {
    if queue.first?.number == number { end(.release(number)) }
  }

  /// The first access unit is done with.
  private mutating func end(_ action: DecoderAction<Codec>?) {
    queue.removeFirst()
    if let action { errands.append(action) }
  }

  // MARK: Output and session are made ready

  /// What is next for the first access unit.
  private mutating func prepare(_ number: FrameNumber, _ needsReconfigure: Bool) -> DecoderAction<Codec>? {
    switch queue.preparation {
    case .done: return .decode(number)
    case .planning: return .askDownstream
    case .negotiating(let plan):
      if output.isAgreed(plan) && !needsReconfigure { agreed() } else { output.propose(plan) }
    case .opening(let plan): open(by: plan)
    }
    return nil
  }

  /// Plans the output for the picture that is to go out, or else for the first access unit.
  ///
  /// - Parameters:
  ///   - allowed: what both pads allow; `nil` when nothing is linked.
  ///   - needsReconfigure: downstream has asked to negotiate again.
  mutating func plan(allowed: borrowing Caps?, needsReconfigure: Bool) {
    do throws(ElementError) {
      if let outgoing {
        let plan = try plan(for: outgoing.picture, allowed: allowed)
        if let plan, !output.isAgreed(plan) || needsReconfigure { output.propose(plan) } else { agreed() }
      } else if let accessUnit = queue.first, case .planning = queue.preparation {
        try plan(for: accessUnit, allowed: allowed)
      }
    } catch {
      fail(DecoderMessage(error))
    }
  }

  private mutating func plan(
    for accessUnit: AccessUnitQueue.AccessUnit, allowed: borrowing Caps?
  ) throws(ElementError) {
    guard let format = formats.format, let description = accessUnit.description, let input else {
      return end(.release(accessUnit.number))
    }
    output.expect(format, scan: description.scan, isNew: formats.isNewFormat)
    let layout = description.isIDR || !session.canContinue(with: format) ? nil : session.layout
    let (plan, isOfSession) = try output.plan(format, of: input, stream: formats, keeping: layout, allowed: allowed)
    session.replaceSoon(!isOfSession)
    // Pictures of another size or sample format must be output before this one's caps are sent. If only, say, the frame
    // rate in the caps changed, draining within a group of pictures would only cost time.
    if let agreed = output.agreed, !agreed.isAgreed(plan), description.isIDR || agreed.layout != plan.layout {
      session.drain()
    }
    queue.prepare(.negotiating(plan))
  }

  private mutating func plan(
    for picture: DecodedPicture, allowed: borrowing Caps?
  ) throws(ElementError) -> OutputPlan? {
    guard let format = formats.settledFormat, let input else { return nil }
    let (plan, isOfSession) = try output.plan(picture, format, of: input, stream: formats, allowed: allowed)
    // The session's layout stays until it can be replaced.
    if !isOfSession { session.replaceSoon(true) }
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
      if let line { note(.info, line) }
      agreed()
    } catch {
      fail(DecoderMessage(error))
    }
  }

  /// Downstream has not accepted the plan: what was to go out cannot.
  mutating func negotiationFailed() {
    output.negotiationFailed()
    fail(nil)
  }

  private mutating func agreed() {
    if outgoing != nil {
      outgoing?.isAgreed = true
    } else if case .negotiating(let plan) = queue.preparation {
      queue.prepare(.opening(plan))
      if !keepsSession(plan) { session.drain() }
    }
  }

  private func keepsSession(_ plan: OutputPlan) -> Bool {
    guard let format = formats.format else { return false }
    return session.canContinue(with: format) && session.layout == plan.sessionLayout
  }

  private mutating func open(by plan: OutputPlan) {
    guard let format = formats.format, let isLive = input?.isLive else { return fail(nil) }
    do throws(DecodeError) {
      if !keepsSession(plan) {
        try session.open(
          format, layout: plan.sessionLayout, settings: settings, isLive: isLive, allocator: output.allocator)
        let threads = settings.threadType
        note(.info, "session for \(format.summary), threads \(threads), live \(isLive)")
      } else if formats.hasNewParameterSets {
        try session.accept(format)
      }
      formats.settle()
      queue.prepare(.done)
      updateLatency()
    } catch {
      fail(DecoderMessage(error))
    }
  }

  /// Releases the frame that was to go out, or in; with a message that ends the stream, if there is one.
  private mutating func fail(_ message: DecoderMessage<Codec>?) {
    if let outgoing {
      errands.append(.release(outgoing.number))
      self.outgoing = nil
    } else if let accessUnit = queue.first {
      end(.release(accessUnit.number))
    }
    if let message { errands.append(.fail(message)) }
  }

  // MARK: Results end their frames

  private mutating func take(_ result: SessionResult, _ needsReconfigure: Bool) {
    let number = FrameNumber(truncatingIfNeeded: result.tag)
    switch result {
    case .frame(let picture):
      if picture.isCorrupt { requestSyncPoint(for: number) } else { health.pictureDecoded() }
      outgoing = OutgoingPicture(
        number: number, picture: picture, isAgreed: output.follow(picture) && !needsReconfigure)
    case .dropped(_, let reason):
      note(.debug, "frame \(number) dropped: \(reason)")
      switch reason {
      case .secondField, .noPicture, .doNotOutput, .flushed, .notShown:
        // No picture is missed.
        errands.append(.release(number))
      case .beforeRandomAccessPoint, .noReference, .sessionLost, .corrupt:
        requestSyncPoint(for: number)
        errands.append(.drop(number))
      case .skipped:
        errands.append(.dropAhead(number))
      }
    case .failed(_, let error):
      errands.append(.reportFailure(number, error))
    }
  }

  private mutating func requestSyncPoint(for number: FrameNumber) {
    if health.mayRequestSyncPoint() { errands.append(.requestSyncPoint(number)) }
  }

  /// A frame with this PTS could not be decoded.
  mutating func failed(_ error: DecodeError, number: FrameNumber, pts: ClockTime?) {
    requestSyncPoint(for: number)
    errands.append(.dropAhead(number))
    let fault = PictureFault<Codec>(error: error, frameNumber: number, pts: pts)
    switch health.judge(fault, limit: maximumErrors) {
    case .ignore: break
    case .log: note(.warning, fault.description)
    // The session's notice reports a lost codec.
    case .warn: if !session.isLost { errands.append(.warn(DecoderMessage(fault))) }
    // Earlier pictures still wait inside: they are shown before the stream ends.
    case .giveUp: session.drain()
    }
  }

  private mutating func send(_ outgoing: OutgoingPicture) -> DecoderAction<Codec> {
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
      frames: frames + (isNALAligned == true && collection.waitsForNext ? 1 : 0), rate: output.agreed?.info.frameRate)
  }

  // MARK: Flow

  /// Everything inside is to go out; more may come.
  ///
  /// - Parameter keepingBegun: except an access unit whose NAL units are still coming.
  mutating func drain(keepingBegun: Bool = false) { draining = keepingBegun ? .completeAccessUnits : .everything }

  /// The stream has ended, and everything is out.
  mutating func end() {
    if session.isLost, let message = health.lossAtTheEnd {
      errands.append(.fail(message))
    } else if !session.isOpen, let error = health.missingParameterSets {
      errands.append(.fail(DecoderMessage(error)))
    }
  }

  /// A seek: nothing that is still inside is output any more.
  mutating func flush() {
    collection.flush()
    keyUnits = KeyUnitFields()
    _ = queue.removeAll()
    errands.removeAll(keepingCapacity: true)
    outgoing = nil
    draining = nil
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

  /// The next action; `nil` when the next frame, or a drain, has to come first.
  ///
  /// - Parameter needsReconfigure: downstream has asked to negotiate again.
  mutating func nextAction(needsReconfigure: Bool) -> DecoderAction<Codec>? {
    while true {
      if let errand = nextErrand() { return errand }
      if let outgoing { return send(outgoing) }
      if let result = session.nextResult() {
        take(result, needsReconfigure)
      } else if let verdict = health.takeVerdict() {
        errands += queue.removeAll().map { .release($0) }
        return .fail(verdict)
      } else if let accessUnit = queue.first {
        if let action = prepare(accessUnit.number, needsReconfigure) { return action }
      } else if takeCollected() {
        continue
      } else if let draining {
        if draining == .everything, let rest = collection.takeRest() {
          join(rest)
        } else {
          // The base class drains behind each sync point in key-unit trick mode, between two fields too.
          if draining == .everything || !keyUnits.awaitsSecondField { session.drain() }
          self.draining = nil
        }
      } else {
        return nil
      }
    }
  }

  private mutating func nextErrand() -> DecoderAction<Codec>? {
    if !errands.isEmpty { return errands.removeFirst() }
    if output.proposal != nil { return .negotiate }
    if let notice = session.nextNotice() { return .warn(message(for: notice)) }
    return latency.takeDue().map { .setLatency($0) }
  }

  private mutating func message(for notice: SessionNotice) -> DecoderMessage<Codec> {
    switch notice {
    case .codecLost(let error): health.codecLost(error)
    case .beganWithoutRandomAccessPoint: DecoderMessage.noRandomAccessPoint
    }
  }

  private mutating func note(_ level: Log.Level, _ text: @autoclosure () -> String) {
    if log.isEnabled(level) { errands.append(.log(level, text())) }
  }
}

extension FormatDescription {
  /// Profile, level and size, for the log.
  fileprivate var summary: String {
    "\(profileName ?? "profile \(profileIDC)") level \(levelName ?? "?"), \(croppedSize.width)x\(croppedSize.height)"
  }
}
