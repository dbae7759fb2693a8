// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// The replacement of a lost codec.
struct CodecRecovery {
  /// The access unit that was sent last when the codec was lost.
  let index: UInt64
  /// The reason that the last codec was lost.
  private(set) var cause: AVError
  /// The codec was lost in a drain: nothing follows that needs its references.
  let isDraining: Bool
  /// No attempts are left, or there is nothing to replay.
  private(set) var hasGivenUp = false
  /// The purpose of the next replay.
  private(set) var replay = Replay.continuing
  /// The access unit that was sent last when the codec's process ended in the last replay. In a replay with one
  /// thread, its decoding ended the process.
  private var suspect: UInt64
  /// The suspect of the previous process.
  private var earlierSuspect: UInt64?
  /// The access unit that was sent last when the last codec was lost.
  private var failedAt: UInt64
  /// The next codec decodes on the device.
  private(set) var isOnDevice: Bool
  /// Software takes the device's place if that fails.
  private let mayFallBack: Bool
  /// The number of attempts left when software takes the device's place.
  private let attempts: Int

  enum Replay {
    /// Another codec takes the lost one's place.
    case continuing
    /// The same with one thread: a process that ends does so in decoding the last access unit that it got. It is
    /// tried again while attempts are left and something else may have ended the process.
    case cautious
    /// Only the access units before the one that ends processes, so that their pictures come out.
    case salvaging(before: UInt64)
  }

  /// The codec decodes with one thread.
  var isCautious: Bool { if case .continuing = replay { false } else { true } }

  /// The access unit that fails if the codec is lost for good.
  var culprit: UInt64 { if case .salvaging(let end) = replay { end } else { index } }
  private var attemptsLeft: Int
  private let mayRetry: Bool
  /// No codec was opened in place of the lost one yet.
  private var isFirst = true

  init(
    at index: UInt64, _ cause: AVError, attempts: Int, isDraining: Bool = false, isOnDevice: Bool = false,
    mayFallBack: Bool = false
  ) {
    self.isOnDevice = isOnDevice
    self.mayFallBack = mayFallBack
    self.attempts = attempts
    self.index = index
    self.cause = cause
    self.isDraining = isDraining
    attemptsLeft = attempts
    suspect = index
    failedAt = index
    mayRetry = attempts > 0
  }

  /// The codec that was opened in place of the lost one is lost, too, or could not be opened. Its last order was to
  /// decode this access unit.
  mutating func fails(_ cause: AVError, at index: UInt64) {
    self.cause = cause
    failedAt = index
    if cause.endsProcess { (earlierSuspect, suspect) = (suspect, index) }
  }

  /// Whether a codec failed in decoding this access unit. If that codec outputs its picture anyway, the picture is
  /// incomplete.
  func hasFailed(in accessUnit: UInt64) -> Bool {
    hasGivenUp && !isDraining && (accessUnit == index || accessUnit == failedAt)
  }

  /// Chooses the next replay. Returns whether there is one.
  ///
  /// - Parameter youngestDecoded: the youngest access unit whose decoding has ended in any codec so far.
  mutating func chooseReplay(youngestDecoded: UInt64?) -> Bool {
    guard !isOnDevice else { return chooseOnDevice() }
    guard cause.endsProcess else { return takeAttempt() }
    switch replay {
    case .continuing where isFirst: isFirst = false
    case .continuing where attemptsLeft > 0: replay = .cautious
    case .cautious where attemptsLeft > 0 && isSuspectCleared(youngestDecoded): break
    case .continuing, .cautious:
      guard mayRetry else { return false }
      replay = .salvaging(before: suspect)
      return true
    case .salvaging(let end):
      // The last replay had all threads or batches: only this one shows which access unit it was.
      guard suspect < end else { return false }
      replay = .salvaging(before: suspect)
      return true
    }
    return takeAttempt()
  }

  /// Whether the access unit is unlikely to have ended the last process: another process got past it, or the previous
  /// process ended in another access unit.
  private func isSuspectCleared(_ youngestDecoded: UInt64?) -> Bool {
    suspect != earlierSuspect || youngestDecoded.map { suspect <= $0 } ?? false
  }

  /// As `chooseReplay`, while a device decodes. If the device refuses an access unit, errs or hangs in it, software
  /// decodes it immediately. A process that its driver has ended is worth other attempts.
  private mutating func chooseOnDevice() -> Bool {
    let isFinal = cause.isOfHardware || cause == .timedOut || cause == .serviceUnavailable
    if mayFallBack ? !isFinal : cause == .hardwareFailed || !isFinal, takeAttempt() { return true }
    guard mayFallBack else { return false }
    isOnDevice = false
    attemptsLeft = attempts
    return true
  }

  private mutating func takeAttempt() -> Bool {
    guard attemptsLeft > 0 else { return false }
    attemptsLeft -= 1
    return true
  }

  /// The codec that came furthest is drained, and then the session waits for a random access point.
  mutating func giveUp() { hasGivenUp = true }
}
