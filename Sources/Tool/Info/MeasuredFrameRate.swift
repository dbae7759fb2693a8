// SPDX-License-Identifier: MPL-2.0
import Containers
import GStreamer
import H26x

/// The presentation times of a container's first pictures. They show the frame rate if the stated rate is wrong, such
/// as the rate of a clock.
struct MeasuredFrameRate {
  /// The times, in nanoseconds.
  private var times: [Int64] = []

  /// The fewest and the most times that are compared.
  private static let (fewest, most) = (9, 300)
  /// Matroska and FLV round times to milliseconds.
  private static let rounding = 1_010_000.0
  private static let second = 1e9

  mutating func add(_ time: Int64) { if times.count < Self.most { times.append(time) } }

  /// The rate of the pictures if it differs from the stated rate; `nil` if they agree, or if too few times are known.
  func rate(contradicting said: Fraction) -> (rate: Ratio, isVariable: Bool)? {
    guard times.count >= Self.fewest, said.numerator > 0, said.denominator > 0 else { return nil }
    // Pictures that were decoded last may lack others in front of them.
    let sorted = times.sorted().dropLast(4)
    guard let first = sorted.first, let last = sorted.last, last > first else { return nil }
    let length = Double(last &- first)
    let mean = length / Double(sorted.count - 1)
    let expected = Self.second * Double(said.denominator) / Double(said.numerator)
    // Some pictures may be missing.
    guard abs(mean - expected) > max(Self.rounding / Double(sorted.count - 1), expected / 10) else { return nil }
    let isVariable = zip(sorted, sorted.dropFirst()).contains { before, after in
      abs(Double(after &- before) - mean) > max(Self.rounding, mean / 20)
    }
    let tolerance = isVariable ? 0 : Self.second / mean * Self.rounding / length
    return Ratio.frameRate(near: Self.second / mean, within: tolerance).map { ($0, isVariable) }
  }
}
