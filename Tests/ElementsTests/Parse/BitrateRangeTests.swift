// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

@testable import Elements
@testable import H26x

/// The bitrates in tags.
@Suite struct BitrateRangeTests {
  init() { Harness.initialise() }

  @Test func reportsBitratesFromTheTenthPictureOnAndWhenTheyChange() {
    var rates = BitrateRange()
    let time = ClockTime(nanoseconds: 40_000_000)
    let nothing = [
      rates.add(bytes: 0, duration: time, average: nil), rates.add(bytes: 9, duration: nil, average: nil),
      rates.add(bytes: 9, duration: .zero, average: nil),
    ]
    #expect(nothing == [false, false, false])
    let first = (0..<10).map { _ in rates.add(bytes: 1000, duration: time, average: nil) }
    #expect(first == [Bool](repeating: false, count: 9) + [true])
    #expect(rates.reported == 200_000...200_000)
    // Within the same ten thousand bits a second, above and below.
    var news = [rates.add(bytes: 1049, duration: time, average: nil)]
    #expect(rates.reported == 200_000...200_000)
    news.append(rates.add(bytes: 1050, duration: time, average: nil))
    #expect(rates.reported == 200_000...210_000)
    news.append(rates.add(bytes: 999, duration: time, average: nil))
    #expect(rates.reported == 199_800...210_000)
    news.append(rates.add(bytes: 1020, duration: time, average: nil))
    #expect(news == [false, true, true, false])
  }

  /// The average is sent with the first tags, and after fifty pictures at a time where it is off by a fiftieth.
  @Test func reportsTheAverageWhenItChanges() {
    var rates = BitrateRange()
    let time = ClockTime(nanoseconds: 40_000_000)
    let averages: [UInt32] = (1...200).map { $0 < 60 ? 500_000 : $0 < 120 ? 509_999 : 511_000 }
    let reports = averages.indices.filter { rates.add(bytes: 1000, duration: time, average: averages[$0]) }
    #expect(reports == [9, 149])
    #expect(rates.reportedAverage == 511_000)
    var unknown = BitrateRange()
    unknown.expect(7)
    #expect(unknown.reportedAverage == 7)
    let count = (0..<100).filter { _ in unknown.add(bytes: 1000, duration: time, average: nil) }.count
    #expect(count == 1 && unknown.reportedAverage == nil)
  }
}
