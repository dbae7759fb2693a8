// SPDX-License-Identifier: MPL-2.0
import Glibc

/// The pause before the next attempt. Each failure in a row doubles it, from ten seconds to ten minutes.
struct RetryBackOff: Hashable, Sendable {
  private var failureCount = 0
  /// When it may be tried again.
  private(set) var end = Duration.zero

  /// The time of the monotonic clock; not `ContinuousClock`, which would bring the runtime for concurrency into the
  /// plugin.
  static var now: Duration {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  /// It has failed.
  ///
  /// - Parameter isFirstFree: the first failure costs no pause.
  mutating func extend(isFirstFree: Bool = false, now: Duration) {
    failureCount += 1
    let doublings = isFirstFree ? failureCount - 1 : failureCount
    end = now + (doublings > 0 ? .seconds(min(5 << min(doublings, 10), 600)) : .zero)
  }

  /// The failures so far are in no row with the next one.
  mutating func forgetFailures() { failureCount = 0 }
}
