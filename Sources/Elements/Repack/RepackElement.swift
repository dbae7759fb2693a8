// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The behavior of all codecs' repackagers: each access to the core is one call, and the action that it returns is
/// performed when that call is over.
protocol RepackElement: BaseTransform {
  associatedtype Codec: RepackCodec

  static var log: Log { get }

  /// The properties, of which the core gets a snapshot once a buffer.
  var settings: Locked<RepackSettings> { get }
  /// The contents of the `stats` property.
  var statistics: Locked<RepackStatistics> { get }
  /// The answer to latency queries, on any thread.
  var latency: Locked<RepackLatency> { get }
  /// Used on the streaming thread only.
  var core: RepackCore<Codec> { get set }

  /// Hands an event to the base class.
  func forward(_ event: consuming Event) -> Bool
  /// Hands a buffer to the base class, which negotiates when it must.
  func submit(_ input: consuming Buffer, isDiscontinuous: Bool) throws(FlowError)
}

extension RepackElement {
  /// Resets the state of the stream.
  func beginAnew() {
    core = RepackCore<Codec>(settings.snapshot)
    statistics.withLock { $0 = RepackStatistics() }
    latency.withLock { $0 = RepackLatency() }
    setPassthrough(false)
  }

  // MARK: Caps

  func possibleCaps(_ caps: borrowing Caps, on side: Pad.Direction, filter: borrowing Caps?) -> Caps {
    RepackNegotiation<Codec>.possibleCaps(
      caps, on: side, otherTemplate: side == .sink ? sourcePad.templateCaps : sinkPad.templateCaps,
      edited: settings.snapshot.edit.capsFields, filter: filter)
  }

  /// Chooses the output's caps among those possible.
  func chosenCaps(_ input: borrowing Caps, from possible: consuming Caps) -> Caps {
    let format: RepackFormat<Codec>
    do throws(ElementError) {
      format = try RepackFormat<Codec>(CompressedCaps(input))
    } catch {
      return possible.fixated()
    }
    let choice = RepackNegotiation<Codec>.choice(for: format, from: possible)
    guard var chosen = possible.structure(at: choice.index) else { return .empty() }
    chosen.set("stream-format", .string(choice.streamFormat.rawValue))
    chosen.set("alignment", .string(choice.alignment.rawValue))
    if choice.streamFormat.isLengthPrefixed {
      let bytes = core.codecData(for: choice.streamFormat)
      if let buffer = Buffer(copying: bytes.span), !bytes.isEmpty { chosen.set("codec_data", buffer) }
    }
    core.setEditedFields(of: &chosen, upstream: input.first)
    return chosen.fixated()
  }

  /// Takes the output's negotiated caps.
  func adopt(output caps: borrowing Caps) -> Bool {
    do throws(ElementError) {
      core.adopt(output: try RepackFormat<Codec>(CompressedCaps(caps)))
    } catch {
      Self.log(.warning, self, "no output: \(error.debug)")
      return false
    }
    setPassthrough(core.isIdentity && !core.isBypassDue)
    publish()
    return true
  }

  /// Takes new caps of the input: passes them on, or holds them until the parameter sets have come.
  private func takeCaps(_ event: consuming Event) -> Bool {
    guard let caps = event.caps else { return forward(event) }
    // The access unit before was output: this pushes nothing.
    try? adoptSettings()
    let read = CompressedCaps<Codec>(caps)
    do throws(ElementError) {
      let format = try RepackFormat(read)
      let predicted = predictedOutput(for: caps, format)
      let isHeld = try core.adopt(read, format, predicted: predicted)
      publish()
      if isHeld {
        // Buffers must not bypass the element now.
        setPassthrough(false)
        core.hold(caps: event)
        return true
      }
    } catch {
      // Upstream's pad sends them again with the next buffer: the error is posted once.
      if core.refuse(read) { post(error) }
      return false
    }
    guard forward(event) else {
      explainRefusal()
      return false
    }
    forwardHeldEvents()
    return true
  }

  /// The output's format, as far as it is known before caps are set.
  private func predictedOutput(for caps: borrowing Caps, _ format: RepackFormat<Codec>) -> StreamFormat<Codec>? {
    let possible = possibleCaps(caps, on: .sink, filter: nil).intersection(sourcePad.templateCaps)
    let filter: Caps? = possible.share()
    guard let peer = sourcePad.peerCaps(filter: filter) else {
      return RepackNegotiation<Codec>.choice(for: format, from: possible).streamFormat
    }
    let allowed = peer.intersection(possible)
    return allowed.isEmpty ? nil : RepackNegotiation<Codec>.choice(for: format, from: allowed).streamFormat
  }

  /// Posts why no caps could be negotiated.
  private func explainRefusal() {
    guard !sourcePad.isFlushing, !sinkPad.isFlushing else { return }
    let found = sinkPad.currentCaps
    let wanted = sourcePad.peerCaps()
    var debug = "input: "
    if let found { debug += found.description } else { debug += "no caps" }
    debug += "; downstream takes: "
    if let wanted { debug += wanted.description } else { debug += "anything" }
    post(
      ElementError(
        .core(.negotiation), "Downstream accepts no packaging to which this stream can be converted.",
        debug: debug))
  }

  // MARK: Events

  func handle(_ event: consuming Event) -> Bool {
    switch event.kind {
    case .caps:
      finishAccessUnit()
      return takeCaps(event)
    case .segment, .segmentDone, .gap:
      finishAccessUnit()
      return forwardInOrder(event)
    case .streamStart:
      finishAccessUnit()
      core.beginStream()
      return forward(event)
    case .endOfStream:
      finishAccessUnit()
      endStream()
      return forward(event)
    case .flushStop:
      core.flush()
      return forward(event)
    default:
      guard event.isSerialized else { return forward(event) }
      guard core.holdsAccessUnits else { return forwardInOrder(event) }
      core.holdBehindAccessUnits(event)
      pushReady()
      return true
    }
  }

  /// Passes a serialized event on, after held caps.
  private func forwardInOrder(_ event: consuming Event) -> Bool {
    guard core.holdsCaps else { return forward(event) }
    core.hold(event)
    return true
  }

  private func forwardHeldEvents() {
    while let event = core.takeHeldEvent() { _ = forward(event) }
  }

  private func endStream() {
    let failure = core.endStream()
    forwardHeldEvents()
    if let failure { post(failure) }
  }

  /// Outputs the access unit that was begun, and those that are held: nothing follows in them.
  private func finishAccessUnit() {
    if core.finish() { pushReady() }
  }

  /// Outputs what is ready.
  private func pushReady() {
    do throws(FlowError) {
      while let buffer = try advance() { try sourcePad.push(buffer) }
    } catch {
      // The error was posted, or downstream has stopped, which the next push returns.
      Self.log(.debug, self, "an access unit was not output: \(error.rawValue)")
    }
  }

  // MARK: Data

  func take(_ input: consuming Buffer, isDiscontinuous: Bool) throws(FlowError) {
    try adoptSettings()
    let size = input.size
    guard !core.holdsCaps else {
      core.count(input: size, isPassedOn: false)
      // The base class has no caps yet, and would refuse the buffer.
      try put(input)
      return
    }
    do throws(FlowError) {
      try submit(input, isDiscontinuous: isDiscontinuous)
    } catch {
      if error == .notNegotiated, !core.hasRefusedCaps { explainRefusal() }
      throw error
    }
    core.count(input: size, isPassedOn: isPassthrough)
    if isPassthrough { publish() }
  }

  /// Takes the settings that hold from now on.
  private func adoptSettings() throws(FlowError) {
    let change = core.adopt(settings.snapshot)
    if change != .nothing || core.isBypassDue { try chooseBypass() }
    if change == .lengthSize { reconfigureSource() }
  }

  /// Starts or stops bypassing the element. Collected buffers are sent first, unchanged.
  private func chooseBypass() throws(FlowError) {
    let isIdentity = core.isIdentity
    if isIdentity {
      var pieces = core.takeCollected()
      for index in pieces.indices { try sourcePad.push(pieces[index].takeBuffer()) }
    }
    setPassthrough(isIdentity)
  }

  func output(of input: consuming Buffer) throws(FlowError) -> Buffer? {
    if core.passes(input) {
      publish()
      return input
    }
    try put(input)
    return try advance()
  }

  private func put(_ input: consuming Buffer) throws(FlowError) {
    do throws(RepackFailure) {
      try core.put(input)
    } catch {
      throw fail(error)
    }
  }

  /// The next buffer to output; nil when the input is used up.
  func advance() throws(FlowError) -> Buffer? {
    while true {
      switch try nextAction() {
      case .output(let buffer): return buffer
      case .awaitInput: return nil
      case .forward(let event): _ = forwardInOrder(event)
      case .releaseCaps: try releaseCaps()
      case .announce(let codecData): try announce(codecData)
      }
    }
  }

  private func nextAction() throws(FlowError) -> RepackAction {
    do throws(RepackFailure) {
      var report: RepackReport?
      let action = try core.advance(&report)
      if let report { publish(report) }
      return action
    } catch {
      throw fail(error)
    }
  }

  /// Sends the held caps, and the events held after them.
  private func releaseCaps() throws(FlowError) {
    guard let caps = core.takeHeldCaps() else { return }
    let again = caps.share()
    guard forward(caps) else {
      // No segment before the caps: try again with the next access unit.
      core.hold(caps: again)
      core.removeAccessUnit()
      explainRefusal()
      throw sourcePad.isFlushing ? .flushing : .notNegotiated
    }
    forwardHeldEvents()
  }

  /// Sends caps with new `codec_data`, unless it is empty, and with what edits have changed.
  private func announce(_ codecData: [UInt8]) throws(FlowError) {
    guard let current = sourcePad.currentCaps, let upstream = sinkPad.currentCaps else { return }
    var caps = current.copy()
    if !codecData.isEmpty {
      guard let buffer = Buffer(copying: codecData.span) else { return }
      caps.set("codec_data", buffer)
    }
    core.setEditedFields(of: &caps, upstream: upstream.first)
    guard !caps.isStrictlyEqual(to: current) else { return }
    Self.log(.info, self, "parameter sets changed: \(codecData.count) bytes of codec_data")
    do throws(FlowError) {
      try updateSourceCaps(caps)
    } catch {
      core.announceAgain()
      throw sourcePad.isFlushing ? .flushing : error
    }
  }

  // MARK: Reports

  /// Publishes what the core reports to other threads and the bus.
  private func publish() { publish(core.takeReport()) }

  private func publish(_ report: RepackReport) {
    statistics.withLock { $0 = report.statistics }
    for warning in report.warnings { postWarning(warning) }
    if report.isEditPending {
      Self.log(.info, self, "edits wait for the next coded video sequence")
      postMessage(Structure("edit-pending"))
    }
    guard let latency = report.latency else { return }
    self.latency.withLock { $0 = latency }
    postLatencyChanged()
  }

  private func fail(_ failure: RepackFailure) -> FlowError {
    publish()
    if let message = failure.message {
      post(message)
    } else if failure.flow == .error {
      post(.unusableMemory)
    }
    return failure.flow
  }

  /// Answers with upstream's latency, plus the time of the access units that the element must wait for.
  func answerLatency(_ query: borrowing Query) -> Bool {
    guard sinkPad.queryPeer(query), let upstream = query.latency else { return false }
    guard let own = latency.snapshot.time else { return true }
    query.setLatency(
      isLive: upstream.isLive, minimum: upstream.minimum + own, maximum: upstream.maximum.map { $0 + own })
    return true
  }
}
