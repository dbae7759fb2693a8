// SPDX-License-Identifier: MPL-2.0

/// Compares the frame rate of a container's timestamps with the stream's.
///
/// It uses presentation times, because not every container has decoding times. Only frames at even distances are
/// compared: a variable frame rate is never a finding.
struct ContainerFrameRate: Sendable {
  /// Frames that are compared at a time.
  private static let count = 33
  /// The fewest frames that are compared, at the end.
  private static let least = 9
  /// The tolerance in seconds: Matroska and FLV round times to milliseconds.
  private static let rounding = 0.001_01
  /// The shortest frame duration in seconds: a higher rate in the VUI is a clock's, not the frames'.
  private static let shortestPeriod = 1.0 / 300

  private var times: [Double] = []
  /// The duration of a frame by the stream, in seconds.
  private var period: Double?
  private var hasReported = false

  /// Takes the next frame in decoding order.
  ///
  /// - Parameters:
  ///   - time: its presentation time in seconds.
  ///   - period: the duration of a frame by the stream in seconds; nil if it has none.
  mutating func add(_ time: Double, period: Double?, log: inout FindingLog) {
    let period = period.flatMap { $0 < Self.shortestPeriod ? nil : $0 }
    if period != self.period { (times, hasReported, self.period) = ([], false, period) }
    if times.count >= Self.count { finish(log: &log) }
    guard !hasReported, period != nil else { return }
    times.append(time)
  }

  /// Compares the frames since the last comparison.
  mutating func finish(log: inout FindingLog) {
    defer { times.removeAll(keepingCapacity: true) }
    guard let period, !hasReported, times.count >= Self.least else { return }
    times.sort()
    var distances: [Double] = []
    for index in 1..<times.count { distances.append(times[index] - times[index - 1]) }
    distances.sort()
    let usual = distances[distances.count / 2]
    let tolerance = max(Self.rounding, usual / 100)
    // Some frames may be missing, and those that follow in decoding order may belong between: three quarters suffice.
    let alike = distances.filter { abs($0 - usual) <= tolerance }
    guard usual > 0, alike.count * 4 >= distances.count * 3, abs(usual - period) > tolerance else { return }
    hasReported = true
    // The mean is exact although each time is rounded.
    let mean = alike.reduce(0, +) / Double(alike.count)
    log.report(
      .containerFrameRate, "\(Self.rate(mean)) frames a second by the container's times",
      expected: "\(Self.rate(period)) as signalled in the stream")
  }

  /// Frames a second, to the hundredth.
  private static func rate(_ period: Double) -> ReportText {
    // Not `rounded()`, which calls libm: the inspector has none.
    let hundredths = Int64(min(100 / period, 1e9) + 0.5)
    let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
    if rest == 0 { return "\(whole)" }
    return rest % 10 == 0 ? "\(whole).\(rest / 10)" : "\(whole).\(rest / 10)\(rest % 10)"
  }
}

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
