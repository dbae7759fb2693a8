// SPDX-License-Identifier: MPL-2.0
import H26x
import Testing

@testable import Containers

/// The frame rate that the durations of samples show.
@Suite struct SampleDurationsTests {
  static let rates: [(numerator: UInt32, denominator: UInt32)] = [
    (24, 1), (25, 1), (30, 1), (50, 1), (60, 1), (120, 1), (25, 2), (15, 1), (24_000, 1001), (30_000, 1001),
    (60_000, 1001), (120_000, 1001), (15_000, 1001),
  ]

  private static func durations(_ times: [UInt64]) -> SampleDurations {
    var durations = SampleDurations()
    for (before, after) in zip(times, times.dropFirst()) { durations.add(UInt32(after - before)) }
    return durations
  }

  /// Whatever they are rounded to, down or to the nearest tick.
  @Test(arguments: rates, [1000, 12_800, 90_000, 600] as [UInt32])
  func findsTheRateOfRoundedDurations(rate: (numerator: UInt32, denominator: UInt32), timescale: UInt32) {
    let period = Double(rate.denominator) / Double(rate.numerator) * Double(timescale)
    for half: Double in [0, 0.5] {
      var times: [UInt64] = []
      for picture in 0..<400 { times.append(UInt64(Double(picture) * period + half + 1e-6)) }
      let durations = Self.durations(times)
      #expect(!durations.areVariable && durations.rate(timescale) == Ratio(rate.numerator, rate.denominator))
    }
  }

  /// A rate that is not usual stays what it is, and so do ticks of a picture or two.
  @Test func keepsUnusualRates() {
    let even = Self.durations(Array(stride(from: 0, to: 1650, by: 33)))
    #expect(even.rate(1000) == Ratio(1000, 33))
    #expect(Self.durations([0, 1, 2, 3, 5, 6, 7]).rate(24) == Ratio(24, 1))
    #expect(SampleDurations().rate(1000) == nil && Self.durations([0, 0, 0]).rate(1000) == nil)
    // 27.3 a second.
    var times: [UInt64] = []
    for picture in 0..<2000 { times.append(UInt64(Double(picture) * 1000 / 27.3)) }
    #expect(Self.durations(times).rate(1000) == Ratio(27_300, 1000))
  }
}
