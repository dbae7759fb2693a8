// SPDX-License-Identifier: MPL-2.0
package import GStreamer
import H26x
import StreamReport

/// The ticks of a container's picture times, as far as they can be observed.
package struct PictureTicks {
  /// Times of the first pictures since one of them, in nanoseconds.
  private var times: [Int64] = []
  /// Nanoseconds by which rounding may change a time.
  private var precision: Int64 = 0
  /// Whether the container's durations are all alike but for rounding.
  private var isConstant = false
  /// Ticks a second of which all times are multiples; `nil` if only rounded times are known.
  private var common: Fraction?
  /// Whether fields may have times of their own.
  private let hasFields: Bool

  /// The most samples that are inspected: in MP4, whose tables have them, and in other containers, which must be
  /// read.
  private static let (tableLimit, readLimit) = (100_000, 512)
  private static let second = 1_000_000_000

  /// Reads the beginning of a file; nothing of a pipe.
  package init(_ input: InputFile) {
    hasFields = input.kind == .container(.mpegTS)
    guard input.size != nil, case .container(let format) = input.kind else { return }
    switch format {
    case .mp4: readTable(input)
    case .matroska, .flv, .mpegTS: readTimes(input)
    case .avi, .mpegPS: break
    }
  }

  /// The rate of ticks for pictures of a frame rate. It is the frame rate, unless they are on other ticks; `nil` if
  /// only nanoseconds have all times.
  package func rate(_ frameRate: Fraction, isProgressive: Bool) -> Fraction? {
    guard frameRate.numerator > 0, frameRate.denominator > 0, !isConstant, isProgressive || !hasFields else {
      return frameRate
    }
    let tick = Double(Self.second) * Double(frameRate.denominator) / Double(frameRate.numerator)
    // At most as much as rounding or the clock of a camera explains.
    let tolerance = max(Double(precision), tick / 20)
    let isRegular = times.allSatisfy { time in
      let ticks = Double(time) / tick
      return abs(ticks - ticks.rounded()) * tick <= tolerance
    }
    return isRegular ? frameRate : common
  }

  // MARK: Reading

  private mutating func readTable(_ input: InputFile) {
    guard let source = try? InputBytes(input) else { return }
    let place = try? MP4VideoReader.track(input, source)
    guard var samples = try? MP4.VideoSamples(source, track: place) else { return }
    let scale = samples.track.timescale
    guard scale > 0 else { return }
    let tick = Double(Self.second) / Double(scale)
    var (shortest, longest, divisor) = (UInt32.max, UInt32.min, UInt64(0))
    var first: Int64?
    var latest: UInt32?
    for _ in 0..<Self.tableLimit {
      guard let sample = try? samples.next() else { break }
      // The last duration is often made up.
      if let latest { (shortest, longest) = (min(shortest, latest), max(longest, latest)) }
      latest = sample.duration
      let time = sample.decodingTime &+ sample.compositionOffset
      let distance = time.subtractingReportingOverflow(first ?? time).partialValue
      first = first ?? time
      divisor = Self.divisor(divisor, distance.magnitude)
      times.append(Int64(exactly: (Double(distance) * tick).rounded()) ?? 0)
    }
    precision = Int64((2 * tick).rounded(.up))
    isConstant = longest < shortest || longest - shortest <= max(2, shortest / 20)
    guard let divisor = UInt32(exactly: divisor), divisor > 0 else { return }
    common = Ratio(scale, divisor).map { Fraction($0) }
  }

  private static func divisor(_ left: UInt64, _ right: UInt64) -> UInt64 {
    var (left, right) = (left, right)
    while right > 0 { (left, right) = (right, left % right) }
    return left
  }

  private mutating func readTimes(_ input: InputFile) {
    guard let file = try? ContainerFile(input, ReadingStatus()), let reader = try? ContainerVideoReader(file) else {
      return
    }
    var first: Int64?
    for _ in 0..<Self.readLimit {
      guard let sample = try? reader.next() else { break }
      guard let time = sample.composition else { continue }
      first = first ?? time
      // After a restart, the clock may be on other ticks.
      let distance = time &- (first ?? time)
      if (0...Int64(3600 * Self.second)).contains(distance) { times.append(distance) }
    }
    precision = reader.track.timescale.map { 2 * Int64(Self.second) / Int64($0) } ?? 0
  }
}
