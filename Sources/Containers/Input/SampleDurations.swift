// SPDX-License-Identifier: MPL-2.0
package import H26x

/// The durations of samples, and the frame rate that they show.
package struct SampleDurations {
  package init() {}

  /// The most frequent duration by Boyer and Moore's majority vote, in ticks; exact if more than half of the samples
  /// have it.
  private var usual: UInt32 = 0
  private var votes = 0
  private var (shortest, longest) = (UInt32.max, UInt32.min)
  private var (count, total) = (UInt64(0), UInt64(0))

  /// The shortest duration in ticks that rounding makes another by few percent.
  private static let fineTicks = 4

  /// Counts a sample of this duration. The last one of a file is often made up, and should not be counted.
  package mutating func add(_ duration: UInt32) {
    if votes == 0 { usual = duration }
    votes += duration == usual ? 1 : -1
    (shortest, longest) = (min(shortest, duration), max(longest, duration))
    count += 1
    total &+= UInt64(duration)
  }

  package var isEmpty: Bool { count == 0 }

  /// Whether they differ by more than rounding.
  package var areVariable: Bool { longest > shortest && longest - shortest > max(2, shortest / 20) }

  /// Pictures a second; `nil` for samples without duration.
  ///
  /// Durations that are rounded to ticks show the rate by their sum: 33, 33 and 34 ms are 30 pictures a second.
  package func rate(_ timescale: UInt32) -> Ratio? {
    guard usual > 0 else { return nil }
    guard longest > shortest, !areVariable, shortest >= Self.fineTicks else { return Ratio(timescale, usual) }
    let rate = Double(count) * Double(timescale) / Double(total)
    return .frameRate(near: rate, within: rate * Double(longest - shortest) / Double(total))
  }
}

extension Ratio {
  /// The usual frame rate nearest to a measured rate: whole pictures a second, or a thousand in 1001 seconds, or half
  /// as many. If none is within the tolerance, it is the measured rate to the thousandth.
  package static func frameRate(near rate: Double, within tolerance: Double) -> Ratio? {
    guard rate > 0, rate < 1e6 else { return nil }
    let usual = [Ratio(UInt32((2 * rate).rounded()), 2), Ratio(UInt32((2 * rate * 1.001).rounded()) * 500, 1001)]
    func distance(_ ratio: Ratio) -> Double { abs(Double(ratio.numerator) / Double(ratio.denominator) - rate) }
    let nearest = usual.compactMap(\.self).min { distance($0) < distance($1) }
    if let nearest, distance(nearest) <= tolerance { return nearest }
    return Ratio(UInt32((rate * 1000).rounded()), 1000)
  }
}
