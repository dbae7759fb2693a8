// SPDX-License-Identifier: MPL-2.0
import Glibc

/// A time of the monotonic clock at which a wait ends.
package struct Deadline: Sendable {
  /// Nanoseconds; `nil` if nothing ends the wait.
  private let nanoseconds: UInt64?

  /// The wait has no end.
  package static let never = Deadline(nanoseconds: nil)

  private init(nanoseconds: UInt64?) { self.nanoseconds = nanoseconds }

  /// The time a while from now.
  package init(after duration: Duration) {
    let (seconds, attoseconds) = duration.components
    guard seconds >= 0 else {
      nanoseconds = 0
      return
    }
    let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let sum = whole.addingReportingOverflow(UInt64(clamping: attoseconds / 1_000_000_000))
    let end = sum.partialValue.addingReportingOverflow(Self.now)
    nanoseconds = overflow || sum.overflow || end.overflow ? nil : end.partialValue
  }

  /// Whether a wait may last for ever.
  var isNever: Bool { nanoseconds == nil }

  /// The time that is left as poll(2) takes it: milliseconds, rounded up so that the deadline has passed when the wait
  /// is over; -1 for ever.
  package var pollTimeout: Int32 {
    guard let nanoseconds else { return -1 }
    let now = Self.now
    guard nanoseconds > now else { return 0 }
    return Int32(clamping: (nanoseconds - now - 1) / 1_000_000 + 1)
  }

  private static var now: UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(clamping: time.tv_sec) * 1_000_000_000 + UInt64(clamping: time.tv_nsec)
  }
}
