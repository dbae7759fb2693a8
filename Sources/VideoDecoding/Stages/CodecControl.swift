// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

/// Stage: has the codec decode, one order after the other. ``CodecState`` decides how a lost codec is replaced; this
/// stage carries out the decisions.
struct CodecControl {
  private var setup: StreamSetup
  /// The session's only copy, with the values in force. Those that need no other codec may change: `retries`, for
  /// example, is read when a codec is lost.
  var configuration: SessionConfiguration
  private let missingDevices: MissingDevices
  private var state: CodecState
  private var hardware: HardwareUse
  private let packets = PacketPool()
  private var replay: ReplayWindow
  /// The delays that the codec reported last; nil without a codec.
  private var status: CodecStatus?
  /// Frames held back for reordering when the last access unit had been decoded.
  private var settledDepth = 0
  /// Frames to hold back for reordering because the stream reorders more deeply than it signals.
  private var deepenedTo = 0
  private var orders = RingQueue<CodecOrder>()
  /// The access units that the codec gets next: one, or the rest of a replay.
  private var remaining: Range<UInt64> = 0..<0
  /// The first packet of a replay with its parameter sets in front, until the codec gets it.
  private var beginning: Packet?
  /// The youngest access unit whose decoding has ended in any codec so far.
  private var youngestDecoded: UInt64?

  /// The result of an order.
  enum Outcome {
    /// More orders follow.
    case none
    /// An access unit, with everything sent in front of it, has gone to the codec, which may hold it back.
    case decoded(index: UInt64)
    /// Everything is output.
    case drained
    /// The codec is lost, or could not be opened. Another is opened, or the pictures inside the lost codec are
    /// output.
    case lost(DecodeError)
    /// Another codec has taken the place of the lost one, or the first codec is open. It has not decoded access units
    /// before `start`.
    case replaced(start: UInt64, index: UInt64, isDraining: Bool)
    /// The wait for the codec was cancelled.
    case cancelled
    /// No codec could be made to continue. The pictures inside the lost codec are output, unless that failed, too.
    /// Another codec begins at `start`, behind the access unit that ends processes; nil if it has to wait for one.
    case gaveUp(CodecState.Loss, isDrained: Bool, start: UInt64?)
  }

  init(_ setup: StreamSetup, _ configuration: SessionConfiguration, _ missingDevices: MissingDevices) {
    self.setup = setup
    self.configuration = configuration
    self.missingDevices = missingDevices
    state = .replacing(CodecReplacement(firstWithAttempts: max(0, configuration.retries)))
    orders.append(.open)
    hardware = HardwareUse(configuration.hardware)
    replay = ReplayWindow(byteLimit: configuration.replayByteLimit, countLimit: configuration.replayCountLimit)
  }

  // MARK: Format and delay

  /// The stream's format, as given last.
  var format: FormatDescription { setup.format }
  /// There is a codec.
  var isOpen: Bool { state.isOpen }
  /// The session's first codec is being opened.
  var isFirst: Bool { state.replacement?.replay == .first }
  /// The first access unit that a codec may get from here on.
  var firstNeeded: UInt64 { min(replay.firstIndex ?? .max, remaining.isEmpty ? .max : remaining.lowerBound) }
  var threadDelay: Int { status?.threadDelay ?? 0 }
  /// Frames held back for reordering; if the codec was just lost, the frames that it held back.
  private var reorderDepth: Int { status?.reorderDepth ?? settledDepth }

  /// The delay from input to output: the stream's reordering as known so far, and the threads' share.
  var latency: SessionLatency {
    SessionLatency(
      reorderDepth: max(
        reorderDepth, setup.reorderDepth ?? (configuration.expectsReordering ? setup.deepestReordering : 0)),
      threadDelay: threadDelay)
  }

  /// The frames that the codec skips.
  var skip: CodecSettings.Skip { setup.codecSkip(configuration.skipFrames) }

  /// Whether access units of another format may follow.
  func canContinue(with other: StreamSetup) -> Bool {
    other.codec == setup.codec && other.nalLengthSize == setup.nalLengthSize
  }

  mutating func accept(_ setup: StreamSetup) { self.setup = setup }

  /// The codec reports its delays.
  mutating func report(_ status: CodecStatus) { self.status = status }

  /// The settings to open a codec with now. Frame threads report a deeper reordering only frames later: they get the
  /// depth known so far, and no frame is lost.
  var settings: CodecSettings {
    var configuration = configuration
    if state.replacement?.isCautious == true { configuration.threadType = .none }
    var settings = setup.codecSettings(configuration, skip: skip) { learnsLate in
      max(deepenedTo, learnsLate ? settledDepth : replay.start?.reorderDepth ?? settledDepth)
    }
    settings.usesHardware = hardware.isOnDevice
    if settings.usesHardware { settings.surfaceCount = configuration.surfaceCount }
    return settings
  }

  /// The frame thread that decodes a packet, which libavcodec gives to its threads in turn; nil if a device does.
  ///
  /// - Parameter number: counts the packets since the codec was last reset.
  func thread(ofPacket number: Int) -> Int? {
    let settings = settings
    guard !settings.usesHardware else { return nil }
    return settings.useFrameThreads && !settings.lowDelay ? number % settings.effectiveThreadCount : 0
  }

  // MARK: Hardware

  /// The reason that software has taken a device's place; nil if it has not since the last call.
  mutating func takeFallBack() -> HardwareUse.Obstacle? { hardware.takeReport() }

  /// The device has output a wrong picture: its other pictures are not shown.
  var isDistrusted: Bool { hardware.isDistrusted }

  /// The device has output a wrong picture. Returns whether software should decode it again.
  mutating func distrust() -> Bool {
    guard hardware.place == .device, replay.isUsable else { return false }
    hardware.distrust()
    return true
  }

  /// Whether the codec's output for this access unit is incomplete, because it failed in decoding it.
  func hasFailed(in accessUnit: UInt64) -> Bool { state.hasFailed(in: accessUnit) }

  // MARK: Orders

  /// The codec's next step; nil for nothing.
  mutating func nextOrder(_ entries: LedgerEntries) -> CodecOrder? {
    if let order = orders.popFirst() { return order }
    guard let (index, packet) = entries.packet(in: remaining) else { return nil }
    remaining = index + 1..<remaining.upperBound
    // The last one of a replay is the youngest access unit.
    return .decode(beginning.take() ?? packet, index: index, isRepeated: !remaining.isEmpty)
  }

  /// Decodes an access unit. If the codec was lost before, that may be the random access point at which another
  /// begins.
  ///
  /// - Parameters:
  ///   - oldest: the oldest access unit without a result.
  ///   - isDamaged: whether a part of it, or of its references, is known to be missing.
  ///   - entries: the access units of the ledger, this one included.
  mutating func decode(_ entry: LedgerEntry, oldest: UInt64, isDamaged: Bool, _ entries: LedgerEntries) -> Outcome {
    let (index, summary) = (entry.index, entry.summary)
    let start = ReplayWindow.Start(
      parameterSets: entry.parameterSets, parameterSetsInForce: entry.parameterSetsInForce,
      reorderDepth: reorderDepth, losesLeading: summary.randomAccess == .cra,
      isIRAP: summary.randomAccess == .idr || summary.randomAccess == .cra)
    replay.append(
      index, byteCount: entry.packet?.byteCount ?? 0, start: entry.isStart ? start : nil,
      isLeading: summary.isLeading || summary.nalUnitType == nil)
    let isReplaced =
      hardware.changesPlace(
        at: index, oldest: oldest, replaying: replay, isDamaged: isDamaged,
        mayBeThere: missingDevices.mayBeThere(at: configuration.hardwareDevice))
      || !isDamaged && deepens(for: summary, oldest: oldest)
    let isDue = replay.takeDue()
    guard isOpen, !isReplaced else {
      // A change of decoders is no failure, so it needs no retries.
      let action = state.replace(at: index, attempts: max(1, configuration.retries), circumstances)
      perform(action, CodecFailure(.external), at: index)
      return .none
    }
    if isDue && summary.randomAccess != .idr { return beginReplay(at: index, entries) }
    remaining = index..<index + 1
    return .none
  }

  /// Whether another codec, which holds more frames back for reordering, should decode an access unit. If the access
  /// unit's picture contradicts the reorder depth that the stream signals, libavcodec would discard it. Pictures
  /// behind a loss prove nothing.
  ///
  /// A gap in picture order count shows the contradiction early, so that no picture is output before those in the
  /// gap. If delay matters more, the signaled depth holds until a picture contradicts it.
  private mutating func deepens(for summary: DecodingSummary, oldest: UInt64) -> Bool {
    guard summary.order != nil, let sent = setup.reorderDepth, let start = replay.firstIndex else { return false }
    let depth = max(sent, deepenedTo)
    var needed = summary.reorderDepth
    if configuration.expectsReordering, needed > depth || depth == 0 && summary.followsOrderGap {
      needed = max(needed, setup.bufferedFrames, 1)
    }
    guard needed > depth, replay.isWhole, oldest >= start else { return false }
    deepenedTo = min(needed, 15)
    return deepenedTo > depth
  }

  /// Whether more frames are held back for reordering than the stream signals.
  var isDeepened: Bool { deepenedTo > 0 }

  /// Outputs everything inside, up to access unit `index`.
  mutating func drain(upTo index: UInt64) -> Outcome {
    guard state.drain(upTo: index) else { return .drained }
    orders.append(.drain)
    return .none
  }

  /// The codec forgets everything. Returns whether it decodes the replay before the next picture.
  mutating func flush(keepsReferences: Bool) -> Bool {
    orders.append(.flush)
    guard keepsReferences, replay.isUsable else {
      replay.removeAll()
      return false
    }
    replay.codecWasDrained()
    return true
  }

  /// Closes the codec.
  mutating func close() {
    state.close()
    orders.append(.close)
    replay.removeAll()
  }

  /// Decoding of an access unit has ended.
  mutating func hasDecoded(_ index: UInt64) { youngestDecoded = max(youngestDecoded ?? 0, index) }

  /// A correct picture has come out.
  mutating func outputPicture(_ index: UInt64) { replay.outputPicture(index) }

  // MARK: Outcomes of orders

  /// An order was carried out, or failed because the codec is lost.
  ///
  /// - Parameter entries: the access units of the ledger.
  mutating func finish(
    _ order: CodecOrder, _ failure: CodecFailure?, _ status: CodecStatus?, _ entries: LedgerEntries
  ) -> Outcome {
    self.status = status
    var failure = failure
    if hardware.takeDistrust() { failure = failure ?? CodecFailure(.hardwareFailed) }
    switch order {
    case .decode(_, let index, _):
      if let failure { return lost(failure, at: index, entries) }
      guard remaining.isEmpty else { return .none }
      guard state.replacement == nil else {
        orders.append(.finishReplay)
        return .none
      }
      settledDepth = reorderDepth
      return .decoded(index: index)
    case .open:
      guard let index = state.replacement?.index else { return .none }
      if let failure { return lost(failure, at: index, entries) }
      guard isFirst else { return beginReplay(at: index, entries) }
      _ = state.replayed()
      return .replaced(start: index, index: index, isDraining: false)
    case .finishReplay:
      guard let index = state.replacement?.index else { return .none }
      if let failure { return lost(failure, at: index, entries) }
      return replayed()
    case .drain, .drainLost:
      switch state {
      case .lost(let loss): return gaveUp(loss, isDrained: failure == nil, isEverythingOut: entries.isEmpty)
      case .draining(let end, _):
        if let failure { return lost(failure, at: end, entries) }
        state.drained()
        return .drained
      case .closed, .running, .replacing: return .none
      }
    case .flush, .closeLost, .close: return .none
    }
  }

  /// The attempts to replace a codec that is lost now.
  private var attempts: Int { max(0, configuration.retries) }

  /// The facts that decide how a codec is replaced now.
  private var circumstances: CodecState.Circumstances {
    CodecState.Circumstances(place: hardware.place, canReplay: replay.isUsable, youngestDecoded: youngestDecoded)
  }

  /// The codec is lost, or could not be opened. It got access unit `index` last.
  private mutating func lost(_ failure: CodecFailure, at index: UInt64, _ entries: LedgerEntries) -> Outcome {
    (remaining, beginning) = (0..<0, nil)
    let report = isFirst ? DecodeError(opening: failure) : error(for: failure, at: state.lostAt ?? index, entries)
    let action = state.lose(failure.code, report, at: index, attempts: attempts, circumstances)
    perform(action, failure, at: index)
    return switch action {
    case .none: .none
    case .cancel: .cancelled
    case .open, .openInSoftware, .giveUp: .lost(report)
    }
  }

  /// The report of a failure of libavcodec, or with which the codec is lost, at an access unit.
  func error(for failure: CodecFailure, at index: UInt64, _ entries: LedgerEntries) -> DecodeError {
    if failure.code == .serviceUnavailable { return DecodeError(opening: failure) }
    // If software may take over, access units that the device does not decode fail only for lack of a replay.
    let error = failure.code.isOfHardware && hardware.isOptional ? .hardwareFailed : failure.code
    return entries[index].map { DecodeError(decoding: $0, code: error) } ?? DecodeError(losing: error)
  }

  private mutating func perform(_ action: CodecState.LossAction, _ failure: CodecFailure, at index: UInt64) {
    switch action {
    case .none: break
    case .cancel: orders.removeAll()
    case .open, .openInSoftware, .giveUp:
      if action != .open, hardware.place == .device {
        hardware.fallBack(for: failure, at: state.lostAt ?? index, format: replay.format(at: index))
      }
      orders.append(action == .giveUp ? .drainLost : .open)
    }
  }

  /// The codec that got furthest has output all that it could. If an IRAP picture (of H.264, an IDR picture) is among
  /// the access units behind the one that ends processes, another codec begins there.
  private mutating func gaveUp(_ loss: CodecState.Loss, isDrained: Bool, isEverythingOut: Bool) -> Outcome {
    let start = isEverythingOut ? nil : replay.start(behind: loss.culprit)
    if let start {
      replay.discard(before: start)
      perform(state.restart(attempts: attempts, circumstances), CodecFailure(loss.cause), at: loss.index)
    } else {
      state.drained()
    }
    return .gaveUp(loss, isDrained: isDrained, start: start)
  }

  /// Has the codec decode the replay. Pictures that have their result are not output twice.
  private mutating func beginReplay(at index: UInt64, _ entries: LedgerEntries) -> Outcome {
    let end = if case .salvaging(let culprit)? = state.replacement?.replay { culprit } else { UInt64.max }
    let start = replay.firstIndex ?? .max
    remaining = entries.lastSent(before: end).flatMap { start <= $0 ? start..<$0 + 1 : nil } ?? 0..<0
    if let sets = replay.start?.parameterSets, !sets.isEmpty, let (_, first) = entries.packet(in: remaining) {
      do throws(AVError) {
        beginning = try packets.packet(copying: first.bytes, prefix: sets, timestamp: first.timestamp)
      } catch {
        return lost(CodecFailure(error), at: index, entries)
      }
    }
    guard end < .max else { return .none }
    orders.append(.closeLost)
    return remaining.isEmpty ? replayed() : .none
  }

  private mutating func replayed() -> Outcome {
    let start = replay.firstIndex ?? 0
    switch state.replayed() {
    case .none: return .none
    case .drainSalvaged:
      orders.append(.drain)
      return .none
    case .resume(let index):
      orders.append(.closeLost)
      settledDepth = reorderDepth
      return .replaced(start: start, index: index, isDraining: false)
    case .drainAgain(let index):
      orders.append(.closeLost)
      orders.append(.drain)
      return .replaced(start: start, index: index, isDraining: true)
    }
  }
}
