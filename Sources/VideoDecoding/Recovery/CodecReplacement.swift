// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// The replacement of a lost codec, or the opening of a session's first codec: the attempts that failed, and the choice
/// of the next one.
struct CodecReplacement: Equatable {
  /// The access unit that was sent last when the codec was lost.
  let index: UInt64
  /// The codec was lost in a drain: nothing follows that needs its references.
  let isDraining: Bool
  /// The reason that the last codec was lost.
  private var cause: AVError
  /// The report of that; nil as long as nothing has failed.
  private var failure: DecodeError?
  /// The access unit that was sent last when the last codec was lost.
  private var failedAt: UInt64
  /// The purpose of the next replay.
  private(set) var replay = Replay.continuing(isRepeated: false)
  /// The number of attempts for a device, and again for software.
  private let attempts: Int
  private var attemptsLeft: Int
  /// The access unit that was sent last when the codec's process ended in the last replay. In a replay with one
  /// thread, its decoding ended the process.
  private var suspect: UInt64
  /// The suspect of the previous process.
  private var earlierSuspect: UInt64

  enum Replay: Equatable {
    /// None: the codec is the session's first.
    case first
    /// Another codec takes the lost one's place; repeated if a process has ended before.
    case continuing(isRepeated: Bool)
    /// The same with one thread: a process that ends does so in decoding the last access unit that it got. It is
    /// tried again while attempts are left and something else may have ended the process.
    case cautious
    /// Only the access units before the one that ends processes, so that their pictures come out.
    case salvaging(before: UInt64)
  }

  /// - Parameter cause: the reason to replace the codec.
  init(at index: UInt64, _ cause: AVError, attempts: Int, isDraining: Bool) {
    self.index = index
    self.cause = cause
    self.isDraining = isDraining
    self.attempts = attempts
    attemptsLeft = attempts
    suspect = index
    earlierSuspect = index
    failedAt = index
  }

  /// The opening of a session's first codec.
  init(firstWithAttempts attempts: Int) {
    self.init(at: 0, .external, attempts: attempts, isDraining: false)
    replay = .first
  }

  /// The codec decodes with one thread.
  var isCautious: Bool {
    switch replay {
    case .first, .continuing: false
    case .cautious, .salvaging: true
    }
  }

  /// The result if no codec can continue.
  var loss: CodecState.Loss {
    let culprit = if case .salvaging(let end) = replay { end } else { index }
    return CodecState.Loss(
      index: index, culprit: culprit, failedAt: failedAt, cause: cause, failure: failure, isDraining: isDraining)
  }

  /// Takes the first attempt, whatever the cause. Returns whether there is one.
  mutating func begin() -> Bool {
    replay = .continuing(isRepeated: cause.endsProcess)
    return takeAttempt()
  }

  /// The last codec is lost, or could not be opened. Its last order was to decode this access unit.
  mutating func fail(_ cause: AVError, _ failure: DecodeError?, at index: UInt64) {
    (self.cause, self.failure) = (cause, failure)
    failedAt = index
    if cause.endsProcess { (earlierSuspect, suspect) = (suspect, index) }
  }

  /// Chooses the action after a failure.
  mutating func chooseAction(_ circumstances: CodecState.Circumstances) -> CodecState.LossAction {
    if replay == .first { return chooseFirst(circumstances.place) }
    guard circumstances.place == .software else { return chooseOnDevice(circumstances.place) }
    guard cause.endsProcess else { return takeAttempt() ? .open : .giveUp }
    switch replay {
    case .first: break
    case .continuing(isRepeated: false): replay = .continuing(isRepeated: true)
    case .continuing where attemptsLeft > 0: replay = .cautious
    case .cautious where attemptsLeft > 0 && isSuspectCleared(circumstances.youngestDecoded): break
    case .continuing, .cautious:
      guard attempts > 0 else { return .giveUp }
      replay = .salvaging(before: suspect)
      return .open
    case .salvaging(let end):
      // The last replay had all threads or batches: only this one shows which access unit it was.
      guard suspect < end else { return .giveUp }
      replay = .salvaging(before: suspect)
      return .open
    }
    return takeAttempt() ? .open : .giveUp
  }

  /// Whether the access unit is unlikely to have ended the last process: another process got past it, or the previous
  /// process ended in another access unit.
  private func isSuspectCleared(_ youngestDecoded: UInt64?) -> Bool {
    suspect != earlierSuspect || youngestDecoded.map { suspect <= $0 } ?? false
  }

  /// As `chooseAction`, for the session's first codec. The session cannot be created if the format is at fault, or if
  /// its creation is cancelled.
  private mutating func chooseFirst(_ place: HardwareUse.Place) -> CodecState.LossAction {
    guard cause != .cancelled else { return .giveUp }
    if place == .device { return .openInSoftware }
    return cause.meansLostSession && takeAttempt() ? .open : .giveUp
  }

  /// As `chooseAction`, while a device decodes. If the device refuses an access unit, errs or hangs in it, software
  /// decodes it immediately. A process that its driver has ended is worth other attempts.
  private mutating func chooseOnDevice(_ place: HardwareUse.Place) -> CodecState.LossAction {
    let isFinal = cause.isOfHardware || cause == .timedOut || cause == .serviceUnavailable
    if !isFinal || place == .requiredDevice && cause == .hardwareFailed, takeAttempt() { return .open }
    guard place == .device else { return .giveUp }
    attemptsLeft = attempts
    return .openInSoftware
  }

  private mutating func takeAttempt() -> Bool {
    guard attemptsLeft > 0 else { return false }
    attemptsLeft -= 1
    return true
  }
}
