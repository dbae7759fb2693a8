// SPDX-License-Identifier: MPL-2.0

/// Compares how far apart a container shows frames with how long the stream says that a frame lasts.
///
/// Presentation times are looked at, since not every container has decoding times. Frames that are shown at an even
/// distance are compared; a stream of changing frame rate has none that would be wrong.
struct ContainerFrameRate: Sendable {
  /// Frames that are compared at a time.
  private static let count = 33
  /// Fewer say nothing.
  private static let least = 9
  /// What Matroska and FLV round times to, and what is lost in it.
  private static let rounding = 0.001_01
  /// A clock that ticks faster counts time, not frames.
  private static let shortestPeriod = 1.0 / 300

  private var times: [Double] = []
  /// By the stream, in seconds.
  private var period: Double?
  private var hasReported = false

  /// Takes the next frame in decoding order.
  ///
  /// - Parameters:
  ///   - time: when it is shown, in seconds.
  ///   - period: how long a frame lasts by the stream, in seconds; nil when it does not say.
  mutating func add(_ time: Double, period: Double?, log: inout FindingLog) {
    let period = period.flatMap { $0 < Self.shortestPeriod ? nil : $0 }
    if period != self.period { (times, hasReported, self.period) = ([], false, period) }
    if times.count >= Self.count { finish(log: &log) }
    guard !hasReported, period != nil else { return }
    times.append(time)
  }

  /// Compares what there is.
  mutating func finish(log: inout FindingLog) {
    defer { times.removeAll(keepingCapacity: true) }
    guard let period, !hasReported, times.count >= Self.least else { return }
    times.sort()
    var distances: [Double] = []
    for index in 1..<times.count { distances.append(times[index] - times[index - 1]) }
    distances.sort()
    let usual = distances[distances.count / 2]
    let tolerance = max(Self.rounding, usual / 100)
    // A frame that is missing here and there, and those still to come, leave three quarters alike.
    let alike = distances.filter { abs($0 - usual) <= tolerance }
    guard usual > 0, alike.count * 4 >= distances.count * 3, abs(usual - period) > tolerance else { return }
    hasReported = true
    // What is rounded is right in the mean.
    let mean = alike.reduce(0, +) / Double(alike.count)
    log.report(
      .containerFrameRate, "\(Self.rate(mean)) frames a second by the container's times",
      expected: "\(Self.rate(period)) as the stream says")
  }

  /// Frames a second, to the hundredth.
  private static func rate(_ period: Double) -> ReportText {
    // Not `rounded()`: it calls libm, which the inspector has not.
    let hundredths = Int64(min(100 / period, 1e9) + 0.5)
    let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
    if rest == 0 { return "\(whole)" }
    return rest % 10 == 0 ? "\(whole).\(rest / 10)" : "\(whole).\(rest / 10)\(rest % 10)"
  }
}
