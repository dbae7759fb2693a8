// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

/// Stage: has the codec decode, one order after the other. A lost codec is replaced: others are opened until one has
/// decoded the replay buffer, or no attempts are left.
struct CodecControl {
  private var setup: StreamSetup
  private let configuration: SessionConfiguration
  private let missingDevices: MissingDevices
  private let packets = PacketPool()
  private var replay: ReplayBuffer
  /// The delays that the codec reported last; nil without a codec.
  private var status: CodecStatus?
  /// Frames held back for reordering when the last access unit had been decoded.
  private var settledDepth = 0
  /// Frames to hold back for reordering because the stream reorders more deeply than it signals.
  private var deepenedTo = 0
  private var orders = RingQueue<CodecOrder>()
  /// Attempts to restart a codec, from the next time on that it is lost.
  var retries: Int
  /// Attempts left to open the first codec.
  private var openingsLeft: Int
  /// The remaining entries of a replay.
  private var replaying: ArraySlice<ReplayBuffer.Entry> = []
  /// The replacement of a lost codec; nil while none is lost.
  private var recovery: CodecRecovery?
  /// Whether a device decodes.
  private var hardware: HardwareUse
  /// The youngest access unit whose decoding has ended in any codec so far.
  private var youngestDecoded: UInt64?
  /// The youngest access unit inside when a drain began.
  private var drainEnd: UInt64 = 0

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
    case lost(AVError, index: UInt64)
    /// Another codec has taken the place of the lost one. It has not decoded access units before `start`.
    case replaced(start: UInt64, index: UInt64, isDraining: Bool)
    /// The wait for the codec was cancelled.
    case cancelled
    /// No codec could be made to continue. The pictures inside the lost codec are output, unless that failed, too.
    /// Another codec begins at `start`, behind the access unit that ends processes; nil if it has to wait for one.
    case gaveUp(CodecRecovery, isDrained: Bool, start: UInt64?)
  }

  init(_ setup: StreamSetup, _ configuration: SessionConfiguration, _ missingDevices: MissingDevices) {
    self.setup = setup
    self.configuration = configuration
    self.missingDevices = missingDevices
    retries = configuration.retries
    openingsLeft = max(0, retries)
    hardware = HardwareUse(configuration.hardware)
    replay = ReplayBuffer(byteLimit: configuration.replayByteLimit, countLimit: configuration.replayCountLimit)
  }

  // MARK: Format and delay

  /// There is a codec.
  var isOpen: Bool { status != nil }
  /// The youngest packet.
  var youngest: Packet? { replay.youngest }
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
  func skip(_ frames: SessionConfiguration.SkipFrames) -> CodecSettings.Skip { setup.codecSkip(frames) }

  /// Whether access units of another format may follow.
  func canContinue(with other: StreamSetup) -> Bool {
    other.codec == setup.codec && other.nalLengthSize == setup.nalLengthSize
  }

  mutating func accept(_ setup: StreamSetup) { self.setup = setup }

  /// The codec reports its delays; nil when there is none any more.
  mutating func report(_ status: CodecStatus?) { self.status = status }

  /// The settings to open a codec with now. Frame threads report a deeper reordering only frames later: they get the
  /// depth known so far, and no frame is lost.
  func settings(skipping frames: SessionConfiguration.SkipFrames) -> CodecSettings {
    var configuration = configuration
    if recovery?.isCautious == true { configuration.threadType = .none }
    var settings = setup.codecSettings(configuration, skip: skip(frames)) { learnsLate in
      max(deepenedTo, learnsLate ? settledDepth : replay.start?.reorderDepth ?? settledDepth)
    }
    settings.usesHardware = recovery?.isOnDevice ?? hardware.isOnDevice
    if settings.usesHardware { settings.surfaceCount = configuration.surfaceCount }
    return settings
  }

  // MARK: Hardware

  /// Whether the configuration allows software to take a device's place.
  var mayFallBack: Bool { configuration.hardware == .preferred }

  /// The first codec could not be opened. Returns whether to try another immediately.
  mutating func openingFailed(_ error: AVError) -> Bool {
    guard error != .cancelled else { return false }
    if hardware.mayFallBack {
      hardware.fallBack(for: error, at: 0, format: [])
      return true
    }
    guard error.meansLostSession, openingsLeft > 0 else { return false }
    openingsLeft -= 1
    return true
  }

  /// The reason that software has taken a device's place; nil if it has not since the last call.
  mutating func takeFallBack() -> HardwareUse.Reason? { hardware.takeReport() }

  /// The device has output a wrong picture: its other pictures are not shown.
  var isDistrusted: Bool { hardware.isDistrusted }

  /// The device has output a wrong picture. Returns whether software should decode it again.
  mutating func distrust() -> Bool {
    guard hardware.mayFallBack, replay.isUsable else { return false }
    hardware.distrust()
    return true
  }

  /// Whether the codec's output for this access unit is incomplete, because it failed in decoding it.
  func hasFailed(in accessUnit: UInt64) -> Bool { recovery?.hasFailed(in: accessUnit) ?? false }

  // MARK: Orders

  /// The codec's next step; nil for nothing.
  mutating func nextOrder() -> CodecOrder? {
    if let order = orders.popFirst() { return order }
    // The last entry is the youngest access unit.
    return replaying.popFirst().map { .decode($0.packet, index: $0.index, isRepeated: !replaying.isEmpty) }
  }

  /// Decodes an access unit. If the codec was lost before, that may be the random access point at which another
  /// begins.
  ///
  /// - Parameters:
  ///   - oldest: the oldest access unit without a result.
  ///   - isDamaged: whether a part of it, or of its references, is known to be missing.
  mutating func decode(_ submission: Submission, oldest: UInt64, isDamaged: Bool) -> Outcome {
    let (index, summary) = (submission.index, submission.summary)
    let start = ReplayBuffer.Start(
      parameterSets: submission.parameterSets, parameterSetsInForce: submission.parameterSetsInForce,
      reorderDepth: reorderDepth, losesLeading: summary.randomAccess == .cra,
      isIRAP: summary.randomAccess == .idr || summary.randomAccess == .cra)
    replay.append(
      submission.packet, index: index, start: submission.isStart ? start : nil,
      isLeading: summary.isLeading || summary.nalUnitType == nil)
    let isReplaced =
      hardware.changesPlace(
        at: index, oldest: oldest, replaying: replay, isDamaged: isDamaged,
        mayBeThere: missingDevices.mayBeThere(at: configuration.hardwareDevice))
      || !isDamaged && deepens(for: summary, oldest: oldest)
    let isDue = replay.takeDue()
    guard isOpen, !isReplaced else {
      if isOpen { orders.append(.setAside) }
      recovery = CodecRecovery(
        at: index, .external, attempts: max(1, retries), isOnDevice: hardware.isOnDevice,
        mayFallBack: hardware.mayFallBack)
      openAnother(failedAt: index)
      return .none
    }
    if isDue && summary.randomAccess != .idr { return beginReplay(at: index) }
    orders.append(.decode(submission.packet, index: index))
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
    guard isOpen else { return .drained }
    drainEnd = index
    orders.append(.drain)
    return .none
  }

  /// The codec forgets everything. Returns whether it decodes the replay buffer before the next picture.
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
  /// - Parameter isEverythingOut: all access units have their results.
  mutating func finish(
    _ order: CodecOrder, _ error: AVError?, _ status: CodecStatus?, isEverythingOut: Bool
  ) -> Outcome {
    report(status)
    var error = error
    if hardware.takeDistrust() { error = error ?? .hardwareFailed }
    switch order {
    case .decode(_, let index, _):
      if let error { return lost(error, at: index) }
      guard replaying.isEmpty else { return .none }
      guard recovery == nil else {
        orders.append(.finishReplay)
        return .none
      }
      settledDepth = reorderDepth
      return .decoded(index: index)
    case .finishReplay:
      guard let recovery else { return .none }
      if let error { return lost(error, at: recovery.index) }
      guard case .salvaging = recovery.replay else { return replaced(by: recovery) }
      giveUp()
      return .none
    case .open:
      guard let recovery else { return .none }
      if let error { return lost(error, at: recovery.index) }
      return beginReplay(at: recovery.index)
    case .drain:
      if let recovery, recovery.hasGivenUp {
        let start = isEverythingOut ? nil : replay.start(behind: recovery)
        return gaveUp(recovery, isDrained: error == nil, start: start)
      }
      if let error { return lost(error, at: drainEnd, isDraining: true) }
      recovery = nil
      return .drained
    case .flush, .setAside, .takeBack, .closeLost, .close: return .none
    }
  }

  private mutating func lost(_ error: AVError, at index: UInt64, isDraining: Bool = false) -> Outcome {
    replaying = []
    if error == .cancelled {
      recovery = nil
      orders.removeAll()
      return .cancelled
    }
    var recovery =
      self.recovery
      ?? CodecRecovery(
        at: index, error, attempts: max(0, retries), isDraining: isDraining, isOnDevice: hardware.isOnDevice,
        mayFallBack: hardware.mayFallBack)
    recovery.fails(error, at: index)
    self.recovery = recovery
    orders.append(.setAside)
    openAnother(failedAt: index)
    return .lost(error, index: recovery.index)
  }

  /// - Parameter index: the access unit that the last codec failed in.
  private mutating func openAnother(failedAt index: UInt64) {
    let wasOnDevice = recovery?.isOnDevice ?? false
    let isReplayed = replay.isUsable && recovery?.chooseReplay(youngestDecoded: youngestDecoded) == true
    if wasOnDevice, hardware.mayFallBack, let recovery, !isReplayed || !recovery.isOnDevice {
      hardware.fallBack(for: recovery.cause, at: recovery.index, format: replay.format(at: index))
    }
    if isReplayed { return orders.append(.open) }
    // If none gets through, the pictures inside the codec that got furthest are all there are.
    orders.append(.takeBack)
    giveUp()
  }

  /// Has the codec output its pictures, and nothing after them.
  private mutating func giveUp() {
    recovery?.giveUp()
    orders.append(.drain)
  }

  /// The codec that got furthest has output all that it could. If an IRAP picture (of H.264, an IDR picture) is among
  /// the access units behind the one that ends processes, another codec begins there.
  private mutating func gaveUp(_ recovery: CodecRecovery, isDrained: Bool, start: UInt64?) -> Outcome {
    self.recovery = nil
    if let start {
      replay.discard(before: start)
      self.recovery = CodecRecovery(
        at: recovery.index, recovery.cause, attempts: max(0, retries), isDraining: recovery.isDraining)
      orders.append(.setAside)
      openAnother(failedAt: recovery.index)
    }
    return .gaveUp(recovery, isDrained: isDrained, start: start)
  }

  /// Has the codec decode the replay buffer. Pictures that have their result are not output twice.
  private mutating func beginReplay(at index: UInt64) -> Outcome {
    do throws(AVError) {
      let entries = try replay.beginning(packets)
      replaying = entries[...]
      if case .salvaging(let end) = recovery?.replay {
        replaying = entries.prefix { $0.index < end }
        orders.append(.closeLost)
        if replaying.isEmpty { giveUp() }
      }
      return .none
    } catch {
      return lost(error, at: index)
    }
  }

  private mutating func replaced(by recovery: CodecRecovery) -> Outcome {
    orders.append(.closeLost)
    // A drain gets its attempts once, however often the codec is lost in it.
    if recovery.isDraining { orders.append(.drain) } else { self.recovery = nil }
    settledDepth = recovery.isDraining ? settledDepth : reorderDepth
    return .replaced(start: replay.firstIndex ?? 0, index: recovery.index, isDraining: recovery.isDraining)
  }
}
