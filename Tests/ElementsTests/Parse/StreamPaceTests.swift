// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

@testable import Elements
@testable import H26x

/// How long a file lasts, by what was read of it.
@Suite struct StreamPaceTests {
  init() { Harness.initialise() }

  private static func pace(of sizes: [UInt64]) -> StreamPace {
    var pace = StreamPace()
    pace.learn(
      sizes.indices.map { index in
        let start = sizes[..<index].reduce(0, +)
        var sample = FileSample(start: start, end: start + sizes[index])
        sample.measure(.seconds(1), pictures: 1)
        return sample
      })
    return pace
  }

  @Test func estimatesThePartsThatWereNotRead() {
    var pace = Self.pace(of: [100, 200, 400])
    #expect(pace.time(at: 700) == nil && pace.position(at: 5) == nil && pace.bitrate == nil)
    let second = ClockTime.second.nanoseconds
    pace.notice(lasting: .seconds(2))
    pace.consume(50, at: 0)
    // Read elsewhere, or again: nothing is learned.
    pace.notice(lasting: .seconds(9))
    pace.consume(50, at: 0)
    pace.notice(lasting: .seconds(9))
    pace.interrupt()
    pace.consume(0, at: 50)
    let expected: [(bytes: UInt64, halves: UInt64)] = [
      (0, 0), (25, 2), (50, 4), (100, 5), (300, 7), (500, 8),
    ]
    for (bytes, halves) in expected {
      #expect(pace.time(at: bytes) == halves * second / 2)
      #expect(pace.position(at: halves * second / 2) == bytes)
    }
    // All of it was looked at.
    #expect(pace.time(at: 700) == 3 * second && pace.bitrate == 1866)
    // A file that grows continues like its average.
    #expect(pace.time(at: 1400) == 9 * second && pace.position(at: 9 * second) == 1400)
    for (size, offset) in [(50, 50), (200, 100), (400, 300)] as [(Int, UInt64)] {
      pace.notice(lasting: .seconds(1))
      pace.consume(size, at: offset)
    }
    #expect(pace.time(at: 700) == 5 * second && pace.bitrate == 1120)
  }

  @Test func extremeSizesAndTimesDoNotOverflow() {
    var pace = Self.pace(of: [1, .max - 1])
    pace.notice(lasting: ClockTime(nanoseconds: .max))
    pace.notice(lasting: .seconds(1))
    pace.consume(1, at: 0)
    #expect(pace.time(at: .max) == .max && pace.position(at: .max) == 1 && pace.bitrate == .max)
    var unknown = Self.pace(of: [])
    unknown.consume(1, at: nil)
    #expect(unknown.time(at: 1) == nil && !unknown.awaitsSamples)
  }

  @Test(arguments: [0, 1, 4095, 8192, 100_001, 4 << 20, 4 << 20 + 1, 9 << 30, .max] as [UInt64])
  func samplesCoverTheFile(_ size: UInt64) {
    let parts = FileSample.parts(of: size)
    #expect(parts.first?.start == (size > 0 ? 0 : nil) && parts.last?.end == (size > 0 ? size : nil))
    #expect(zip(parts, parts.dropFirst()).allSatisfy { $0.end == $1.start })
    for part in parts {
      #expect(part.size > 0 && part.window.lowerBound >= part.start && part.window.upperBound <= part.end)
      #expect(part.window.count > 0 && part.window.count <= ParserLimits.sampleSize + 1)
      #expect(size > 4 << 20 || part.window == part.start..<part.end)
    }
  }

  /// A rate beyond 64 bits is clamped to 32 bits.
  @Test func clampsExtremeBitrates() {
    for nanoseconds in [1, 475, 476, 477, 478] as [UInt64] {
      var rates = BitrateRange()
      for _ in 0..<10 { _ = rates.add(bytes: 1 << 40, duration: ClockTime(nanoseconds: nanoseconds), average: nil) }
      #expect(rates.reported == UInt32.max...UInt32.max)
    }
    var rates = BitrateRange()
    for _ in 0..<10 { _ = rates.add(bytes: 1, duration: .seconds(9), average: nil) }
    #expect(rates.reported == 0...0)
  }
}
