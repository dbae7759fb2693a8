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
struct DecoderCore<Codec: DecoderCodec> {
  let log: Log
  var settings = DecoderSettings()
  /// Failures in a row that are allowed; below 0 without limit.
  var maximumErrors: Int32 = -1

  var input: CompressedCaps<Codec>?
  var isLive = false
  var collection = FrameCollection<Codec>()
  var formats = FormatFollower<Codec>()
  var session: DecoderSession
  var output = DecoderOutput<Codec>()
  var health = DecoderHealth<Codec>()
  var latency = ReportedLatency()

  /// Access units whose turn has not come.
  var waiting: [WaitingAccessUnit] = []
  /// How far output and session are ready for the first of them.
  var preparation = Preparation.done
  /// The picture whose turn it is to go out.
  var outgoing: OutgoingPicture?
  /// What is to be done before anything else.
  var errands: [DecoderAction<Codec>] = []
  var isDraining = false

  struct WaitingAccessUnit {
    let number: FrameNumber
    /// What its first slice says, once that was read.
    var summary: Codec.Tracker.Summary?
  }

  struct OutgoingPicture {
    let number: FrameNumber
    let picture: DecodedPicture
    /// Its caps are agreed on, or cannot be.
    var isAgreed: Bool
  }

  enum Preparation {
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
    guard var accessUnit = waiting.first else { return }
    guard request.isSyncPoint || !request.keyUnitsOnly else {
      health.accessUnitSkipped()
      return end(accessUnit, .release(accessUnit.number))
    }
    if accessUnit.summary == nil {
      let summary = formats.read(bytes)
      guard formats.format != nil else {
        guard summary.hasSlice else {
          // Parameter sets alone, and the like: no picture is missed.
          health.accessUnitSkipped()
          return end(accessUnit, .release(accessUnit.number))
        }
        if health.accessUnitRefused() { note(.warning, "no parameter sets yet: dropping pictures") }
        return end(accessUnit, .drop(accessUnit.number))
      }
      accessUnit.summary = summary
      waiting[0] = accessUnit
      // The pictures before a splice belong to the caps before it.
      if summary.formatChanged { session.finishSequence(before: bytes) }
      if !formats.isSettled || !session.isOpen || (session.isToBeReplaced && summary.isIDR) {
        preparation = .planning
        return
      }
    }
    session.skip(skipFrames(request))
    do throws(DecodeError) {
      try session.decode(bytes, number: accessUnit.number, as: request)
      // The base class keeps the frame until its result ends it.
      end(accessUnit, nil)
      if session.isAwaitingRandomAccessPoint { requestSyncPoint(for: accessUnit.number) }
    } catch {
      // Empty buffers and the like: nothing to decode.
      note(.debug, "access unit \(accessUnit.number) not taken: \(error.message)")
      _ = health.accessUnitRefused()
      end(accessUnit, .drop(accessUnit.number))
    }
  }

  /// The bytes of the access unit whose turn it is cannot be had.
  mutating func discard(_ number: FrameNumber) {
    guard let accessUnit = waiting.first, accessUnit.number == number else { return }
    end(accessUnit, .release(number))
  }

  /// Pictures to leave out: those that the user does not want, or that would be too late.
  private func skipFrames(_ request: FrameRequest) -> SessionConfiguration.SkipFrames {
    let wanted = settings.skipFrame.sessionValue
    return wanted == .none && (request.isLate || request.forwardPredictedOnly) ? .nonReference : wanted
  }

  mutating func end(_ accessUnit: WaitingAccessUnit, _ action: DecoderAction<Codec>?) {
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
  mutating func nextAction(needsReconfigure: Bool) -> DecoderAction<Codec>? {
    while true {
      if let errand = nextErrand() { return errand }
      if let outgoing { return nextAction(for: outgoing) }
      if let result = session.nextResult() {
        take(result, needsReconfigure)
      } else if let verdict = health.takeVerdict() {
        for accessUnit in waiting { errands.append(.release(accessUnit.number)) }
        waiting.removeAll()
        preparation = .done
        return .fail(verdict)
      } else if let accessUnit = waiting.first {
        if let action = nextAction(for: accessUnit, needsReconfigure) { return action }
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

  mutating func note(_ level: Log.Level, _ text: @autoclosure () -> String) {
    if log.isEnabled(level) { errands.append(.log(level, text())) }
  }
}
