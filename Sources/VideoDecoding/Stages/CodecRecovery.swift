// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// How a lost codec is replaced.
struct CodecRecovery {
  /// The access unit that was sent last when the codec was lost.
  let index: UInt64
  /// Why the last codec was lost.
  private(set) var cause: AVError
  /// The codec was lost in a drain: nothing follows that needs its references.
  let isDraining: Bool
  /// No attempts are left, or there is nothing to replay.
  private(set) var hasGivenUp = false
  private var attemptsLeft: Int

  init(at index: UInt64, _ cause: AVError, attempts: Int, isDraining: Bool = false) {
    self.index = index
    self.cause = cause
    self.isDraining = isDraining
    attemptsLeft = attempts
  }

  /// The codec that was opened in place of the lost one is lost, too, or could not be opened.
  mutating func fails(_ cause: AVError) { self.cause = cause }

  /// Whether another codec may be opened.
  mutating func takeAttempt() -> Bool {
    guard attemptsLeft > 0 else { return false }
    attemptsLeft -= 1
    return true
  }

  /// The codec that came furthest is drained, and then the session waits for a random access point.
  mutating func giveUp() { hasGivenUp = true }
}
