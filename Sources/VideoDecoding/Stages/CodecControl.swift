// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

/// Stage: has the codec decode, one order after the other. A lost one is replaced: others are opened until one has decoded
/// the replay buffer, or no attempts are left.
struct CodecControl {
  private var setup: StreamSetup
  private let configuration: SessionConfiguration
  private let packets = PacketPool()
  private var replay: ReplayBuffer
  /// How far output is behind input, as the codec reported it last; nil without a codec.
  private var status: CodecStatus?
  /// Frames held back for reordering when the last access unit had been decoded.
  private var settledDepth = 0
  private var orders = RingQueue<CodecOrder>()
  /// What is left of a replay.
  private var replaying: ArraySlice<ReplayBuffer.Entry> = []
  /// How a lost codec is replaced; nil while none is lost.
  private var recovery: CodecRecovery?
  /// Whether a device decodes.
  private var hardware: HardwareUse
  /// The youngest access unit inside when a drain began.
  private var drainEnd: UInt64 = 0

  /// What an order has led to.
  enum Outcome {
    /// More orders follow.
    case none
    /// An access unit, and what was sent with it, has gone to the codec, which may hold it back.
    case decoded(index: UInt64)
    /// Everything is output.
    case drained
    /// The codec is lost, or could not be opened: another one is opened, or what is inside the lost one is output.
    case lost(AVError, index: UInt64)
    /// Another codec has taken the place of the lost one. Of access units before `start` it knows nothing.
    case replaced(start: UInt64, index: UInt64, isDraining: Bool)
    /// The wait for the codec was cancelled.
    case cancelled
    /// No codec could be made to continue. What was inside the lost one is output, unless that failed, too. Another one
    /// begins at `start`, behind the access unit that ends processes; nil where it has to wait for one.
    case gaveUp(CodecRecovery, isDrained: Bool, start: UInt64?)
  }

  init(_ setup: StreamSetup, _ configuration: SessionConfiguration) {
    self.setup = setup
    self.configuration = configuration
    hardware = HardwareUse(configuration.hardware)
    replay = ReplayBuffer(byteLimit: configuration.replayByteLimit, countLimit: configuration.replayCountLimit)
  }

  // MARK: Format and delay

  /// There is a codec.
  var isOpen: Bool { status != nil }
  /// The youngest packet.
  var youngest: Packet? { replay.youngest }
  var threadDelay: Int { status?.threadDelay ?? 0 }
  /// Frames held back for reordering; where the codec was just lost, by it.
  private var reorderDepth: Int { status?.reorderDepth ?? settledDepth }

  /// How far output is behind input: the stream's reordering as known by now, and the threads' share.
  var latency: SessionLatency {
    SessionLatency(
      reorderDepth: max(
        reorderDepth, setup.reorderDepth ?? (configuration.expectsReordering ? setup.deepestReordering : 0)),
      threadDelay: threadDelay)
  }

  /// What the codec is to skip.
  func skip(_ frames: SessionConfiguration.SkipFrames) -> CodecSettings.Skip { setup.codecSkip(frames) }

  /// Whether access units of another format may follow.
  func canContinue(with other: StreamSetup) -> Bool {
    other.codec == setup.codec && other.nalLengthSize == setup.nalLengthSize
  }

  mutating func accept(_ setup: StreamSetup) { self.setup = setup }

  /// The codec reports its delays; nil when there is none any more.
  mutating func report(_ status: CodecStatus?) { self.status = status }

  /// How a codec is opened now. Frame threads report a deeper reordering only frames later: they get all that is known,
  /// and no frame is lost.
  func settings(skipping frames: SessionConfiguration.SkipFrames) -> CodecSettings {
    var configuration = configuration
    if recovery?.isCautious == true { configuration.threadType = .none }
    var settings = setup.codecSettings(configuration, skip: skip(frames)) { learnsLate in
      learnsLate ? settledDepth : replay.start?.reorderDepth ?? settledDepth
    }
    settings.usesHardware = recovery?.isOnDevice ?? hardware.isOnDevice
    if settings.usesHardware { settings.surfaceCount = configuration.surfaceCount }
    return settings
  }

  // MARK: Hardware

  /// Whether the configuration allows a device.
  var mayUseDevice: Bool { configuration.hardware != .off }
  /// Whether the configuration allows software to take a device's place.
  var mayFallBack: Bool { configuration.hardware == .preferred }

  /// The first codec could not be opened. Returns whether another is worth an attempt at once.
  mutating func openingFailed(_ error: AVError) -> Bool {
    guard hardware.mayFallBack, error != .cancelled else { return false }
    hardware.fallBack(for: error, at: 0, format: [])
    return true
  }

  /// Why software has taken a device's place; nil where it has not since the last call.
  mutating func takeFallBack() -> HardwareUse.Reason? { hardware.takeReport() }

  /// The device has output a wrong picture: what else it outputs is not shown.
  var isDistrusted: Bool { hardware.isDistrusted }

  /// The device has output a wrong picture. Returns whether software is to decode it again.
  mutating func distrust() -> Bool {
    guard hardware.mayFallBack, replay.isUsable else { return false }
    hardware.distrust()
    return true
  }

  /// Whether what the codec outputs of this access unit is incomplete, because it failed in decoding it.
  func hasFailed(in accessUnit: UInt64) -> Bool { recovery?.hasFailed(in: accessUnit) ?? false }

  // MARK: Orders

  /// What the codec is to do next; nil for nothing.
  mutating func nextOrder() -> CodecOrder? {
    if let order = orders.popFirst() { return order }
    // The last entry is the youngest access unit.
    return replaying.popFirst().map { .decode($0.packet, index: $0.index, isRepeated: !replaying.isEmpty) }
  }

  /// Decodes an access unit; where the codec was lost before, that may be the random access point at which another
  /// begins.
  ///
  /// - Parameters:
  ///   - oldest: the oldest access unit without a result.
  ///   - isDamaged: a part of it, or of what it refers to, is known to be missing.
  mutating func decode(_ submission: Submission, retries: Int, oldest: UInt64, isDamaged: Bool) -> Outcome {
    let (index, summary) = (submission.index, submission.summary)
    let start = ReplayBuffer.Start(
      parameterSets: submission.parameterSets, parameterSetsInForce: submission.parameterSetsInForce,
      reorderDepth: reorderDepth, losesLeading: summary.randomAccess == .cra,
      isIRAP: summary.randomAccess == .idr || summary.randomAccess == .cra)
    replay.append(
      submission.packet, index: index, start: submission.isStart ? start : nil,
      isLeading: summary.isLeading || summary.nalUnitType == nil)
    let changesPlace = hardware.changesPlace(
      at: index, oldest: oldest, replaying: replay, isDamaged: isDamaged,
      mayBeThere: HardwareRequest(place: configuration.hardwareDevice).hasCandidates)
    let isDue = replay.takeDue()
    guard isOpen, !changesPlace else {
      if isOpen { orders.append(.setAside) }
      recovery = CodecRecovery(
        at: index, .external, attempts: max(1, retries), isOnDevice: hardware.isOnDevice,
        mayFallBack: hardware.mayFallBack)
      openAnother(failedAt: index)
      return .none
    }
    if isDue && summary.randomAccess != .idr { return beginReplay(at: index, retries: retries) }
    orders.append(.decode(submission.packet, index: index))
    return .none
  }

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

  /// A correct picture has come out.
  mutating func outputPicture(_ index: UInt64) { replay.outputPicture(index) }

  // MARK: How orders ended

  /// An order was carried out, or failed because the codec is lost.
  ///
  /// - Parameter isEverythingOut: all access units have their results.
  mutating func finish(
    _ order: CodecOrder, _ error: AVError?, _ status: CodecStatus?, retries: Int, isEverythingOut: Bool
  ) -> Outcome {
    report(status)
    var error = error
    if hardware.takeDistrust() { error = error ?? .hardwareFailed }
    switch order {
    case .decode(_, let index, _):
      if let error { return lost(error, at: index, retries: retries) }
      guard replaying.isEmpty else { return .none }
      guard recovery == nil else {
        orders.append(.finishReplay)
        return .none
      }
      settledDepth = reorderDepth
      return .decoded(index: index)
    case .finishReplay:
      guard let recovery else { return .none }
      if let error { return lost(error, at: recovery.index, retries: retries) }
      guard case .salvaging = recovery.replay else { return replaced(by: recovery) }
      giveUp()
      return .none
    case .open:
      guard let recovery else { return .none }
      if let error { return lost(error, at: recovery.index, retries: retries) }
      return beginReplay(at: recovery.index, retries: retries)
    case .drain:
      if let recovery, recovery.hasGivenUp {
        let start = isEverythingOut ? nil : replay.start(behind: recovery)
        return gaveUp(recovery, isDrained: error == nil, start: start, retries: retries)
      }
      if let error { return lost(error, at: drainEnd, retries: retries, isDraining: true) }
      recovery = nil
      return .drained
    case .flush, .setAside, .takeBack, .closeLost, .close: return .none
    }
  }

  private mutating func lost(_ error: AVError, at index: UInt64, retries: Int, isDraining: Bool = false) -> Outcome {
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
    let isReplayed = replay.isUsable && recovery?.chooseReplay() == true
    if wasOnDevice, hardware.mayFallBack, let recovery, !isReplayed || !recovery.isOnDevice {
      hardware.fallBack(for: recovery.cause, at: recovery.index, format: replay.format(at: index))
    }
    if isReplayed { return orders.append(.open) }
    // If none gets through, the pictures inside the one that came furthest are all there are.
    orders.append(.takeBack)
    giveUp()
  }

  /// Has the codec output what is inside, and nothing after it.
  private mutating func giveUp() {
    recovery?.giveUp()
    orders.append(.drain)
  }

  /// What the codec that came furthest could give is output. Where an IRAP picture (of H.264, an IDR picture) is among
  /// the access units that came behind the one which ends processes, another codec begins there.
  private mutating func gaveUp(
    _ recovery: CodecRecovery, isDrained: Bool, start: UInt64?, retries: Int
  ) -> Outcome {
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
  private mutating func beginReplay(at index: UInt64, retries: Int) -> Outcome {
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
      return lost(error, at: index, retries: retries)
    }
  }

  private mutating func replaced(by recovery: CodecRecovery) -> Outcome {
    orders.append(.closeLost)
    // A drain has its attempts once, however often the codec is lost in it.
    if recovery.isDraining { orders.append(.drain) } else { self.recovery = nil }
    settledDepth = recovery.isDraining ? settledDepth : reorderDepth
    return .replaced(start: replay.firstIndex ?? 0, index: recovery.index, isDraining: recovery.isDraining)
  }
}
