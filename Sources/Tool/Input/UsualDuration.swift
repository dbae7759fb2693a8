// SPDX-License-Identifier: MPL-2.0
import H26x

/// The most frequent duration of samples, by Boyer and Moore's majority vote: exact where more than half of them have it.
struct UsualDuration {
  /// In ticks; 0 before the first sample.
  private(set) var ticks: UInt32 = 0
  private var votes = 0

  /// Counts a sample of this duration.
  mutating func add(_ duration: UInt32) {
    if votes == 0 { ticks = duration }
    votes += duration == ticks ? 1 : -1
  }

  /// Pictures a second; `nil` for samples without duration.
  func rate(_ timescale: UInt32) -> Ratio? { ticks > 0 ? Ratio(timescale, ticks) : nil }
}
