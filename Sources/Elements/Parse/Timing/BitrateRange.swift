// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// The lowest and highest bitrate of single access units, for tags, as GstBaseParse finds them when it gets each one,
/// and the average.
struct BitrateRange: Sendable {
  /// The range that the tags have, in bit/s; `nil` before there were enough access units.
  private(set) var reported: ClosedRange<UInt32>?
  /// The average that the tags have, in bit/s; `nil` if unknown.
  private(set) var reportedAverage: UInt32?
  private var range: ClosedRange<UInt32>?
  private var count = 0

  /// Access units before tags are sent, and the change in bit/s that sends them again: as in GstBaseParse.
  private static let (minimumCount, step): (Int, UInt32) = (10, 10_000)
  /// Access units after which the average is looked at again, and the change that sends tags, in parts of it.
  private static let (averageCount, averageParts): (Int, UInt32) = (50, 50)

  /// Sets the average before there are tags.
  mutating func expect(_ average: UInt32?) { reportedAverage = average }

  /// Counts an access unit. Returns whether there are new tags.
  mutating func add(bytes: Int, duration: ClockTime?, average: @autoclosure () -> UInt32?) -> Bool {
    guard let duration, duration.nanoseconds > 0, bytes > 0 else { return false }
    let bitrate = UInt32(
      clamping: (UInt64(bytes) * 8).scaled(by: ClockTime.second.nanoseconds, over: duration.nanoseconds))
    let wider = range.map { min($0.lowerBound, bitrate)...max($0.upperBound, bitrate) } ?? bitrate...bitrate
    range = wider
    count += 1
    guard count >= Self.minimumCount else { return false }
    if let reported, reported.lowerBound / Self.step == wider.lowerBound / Self.step,
      reported.upperBound / Self.step == wider.upperBound / Self.step,
      !count.isMultiple(of: Self.averageCount) || isReported(average())
    {
      return false
    }
    reported = wider
    reportedAverage = average()
    return true
  }

  /// Whether the tags have about this average.
  private func isReported(_ average: UInt32?) -> Bool {
    guard let average else { return true }
    guard let reported = reportedAverage else { return false }
    return max(average, reported) - min(average, reported) < max(average / Self.averageParts, 1)
  }
}
