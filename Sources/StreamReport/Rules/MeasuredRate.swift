// SPDX-License-Identifier: MPL-2.0

/// Compares the pictures of each second, by the container's decoding times, with the rate of the level. For streams
/// that do not signal a fixed rate.
struct MeasuredRate: Sendable {
  /// Pictures more than allowed that are no finding: muxers move the first decoding times together, and round all.
  private static let slack: UInt64 = 4
  /// The most times that are kept; no level allows as many pictures a second.
  private static let limit = 1024

  /// The decoding times of the last second, ascending.
  private var times: [Int64] = []
  private var hasReported = false

  /// Takes the decoding time of the next picture.
  ///
  /// - Parameters:
  ///   - size: macroblocks or luma samples in a picture.
  ///   - rate: the most of them a second.
  mutating func add(_ time: Int64, timescale: UInt32, size: UInt64, rate: UInt64, log: inout FindingLog) {
    guard !hasReported, timescale > 0, size > 0, log.counts[Rule.levelRate.rawValue] == 0 else { return }
    if let last = times.last, time < last { times.removeAll(keepingCapacity: true) }
    times.append(time)
    // Wraps only in malicious files.
    let start = time &- Int64(timescale)
    while let first = times.first, first <= start || times.count > Self.limit { times.removeFirst() }
    let allowed = rate / size + Self.slack
    guard UInt64(times.count) > allowed else { return }
    hasReported = true
    log.report(
      .levelMeasuredRate, "\(times.count) pictures of \(size) within a second", expected: "\(rate) a second at most")
  }
}
