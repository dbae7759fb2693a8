// SPDX-License-Identifier: MPL-2.0
import Containers
import H26x

/// The frame rate of captions: by the stream's headers, and by the times of its frames.
struct CaptionClock: Sendable {
  private var h264 = H264.ParameterSets()
  private var h265 = H265.ParameterSets()
  /// Whether headers were read.
  private var isKnown = false
  /// Frames a second by the headers; `nil` if they do not have it.
  private(set) var announced: Ratio?
  /// When frames are shown, in nanoseconds, or ``none``.
  private var times: [Int64] = []
  private static let none = Int64.min

  /// How far a frame's time may be from the constant rate, in frames. A missing frame is further.
  private static let tolerance = 0.75
  /// Frames at the beginning and at the end of a stream between which some may be missing, as in a recording that was cut.
  private static let margin = 16

  // MARK: Reading

  /// Takes the NAL units of a configuration record.
  mutating func insert<Codec: StreamEditing>(_ nalUnits: [[UInt8]], _ codec: Codec.Type) {
    for nalUnit in nalUnits { insert(nalUnit.span, codec) }
    describe(codec)
  }

  /// Reads the headers of an access unit, until the first are there.
  mutating func read<Codec: StreamEditing>(
    _ accessUnit: Span<UInt8>, _ packaging: NALPackaging, _ codec: Codec.Type
  ) {
    guard !isKnown else { return }
    for range in packaging.nalUnits(of: accessUnit) { insert(accessUnit.extracting(range), codec) }
    describe(codec)
  }

  private mutating func insert<Codec: StreamEditing>(_ nalUnit: Span<UInt8>, _: Codec.Type) {
    guard !nalUnit.isEmpty, Codec.NALUnitType(headerByte: nalUnit[0]).isParameterSet else { return }
    switch Codec.codec {
    case .h264: _ = try? h264.insert(nalUnit)
    case .h265: _ = try? h265.insert(nalUnit)
    }
  }

  private mutating func describe<Codec: StreamEditing>(_: Codec.Type) {
    let description =
      Codec.codec == .h264
      ? try? H264.formatDescription(h264, sequenceParameterSetID: nil, nalLengthSize: nil)
      : try? H265.formatDescription(h265, sequenceParameterSetID: nil, nalLengthSize: nil)
    guard let description else { return }
    (isKnown, announced) = (true, description.frameRate)
  }

  /// Takes the time of the next frame in the order of presentation; `nil` if it has none.
  mutating func add(_ time: Int64?) { times.append(time ?? Self.none) }

  // MARK: Results

  /// When a frame is shown, in nanoseconds; `nil` if neither the file nor the headers have it.
  func time(ofFrame frame: Int) -> Int64? {
    if times.indices.contains(frame), times[frame] != Self.none { return times[frame] }
    guard let announced else { return nil }
    return Int64((Double(frame) * 1e9 * Double(announced.denominator) / Double(announced.numerator)).rounded())
  }

  /// The constant rate of the frames.
  ///
  /// - Parameters:
  ///   - source: the name of the file, for messages.
  ///   - edited: the rate that the headers get; `nil` if they keep theirs.
  /// - Throws: a `Failure` if it is not constant, or if captions have no such rate.
  func rate(_ source: String, edited: Ratio? = nil) throws(Failure) -> CaptionRate {
    let expected = "expected 23.976, 24, 25, 29.97, 30, 50, 59.94 or 60 frames a second"
    let margin = times.count > 4 * Self.margin ? Self.margin : 0
    let judged = margin..<times.count - margin
    guard let first = judged.first(where: { times[$0] != Self.none }),
      let last = judged.last(where: { times[$0] != Self.none }), first < last
    else {
      guard let announced = edited ?? announced else {
        throw Failure("\(source): no frame rate, which captions depend on; h26x edit --frame-rate sets it")
      }
      guard let rate = CaptionRate(announced) else {
        throw Failure("\(source): \(text(announced)) frames a second have no captions: \(expected)")
      }
      return rate
    }
    var best: (rate: CaptionRate, error: Double)?
    for code: UInt8 in 1...8 {
      guard let rate = CaptionRate(code: code) else { continue }
      let error = error(of: rate, first...last)
      guard error <= Self.tolerance else { continue }
      // The times of a short stream may fit several, if the container rounds them.
      if rate.ratio == announced { return rate }
      if best.map({ error < $0.error }) ?? true { best = (rate, error) }
    }
    guard let best else {
      let average = Double(last - first) * 1e9 / max(Double(times[last] &- times[first]), 1)
      throw Failure(
        "\(source): frames at a variable or unknown rate, \(Text.fixed(average, 2)) a second: captions that are counted "
          + "by frames need a constant one; \(expected)")
    }
    return best.rate
  }

  private func text(_ rate: Ratio) -> String { Text.fixed(Double(rate.numerator) / Double(rate.denominator), 3) }

  /// The largest distance of a frame from a rate, in frames, since the first of these frames.
  private func error(of rate: CaptionRate, _ frames: ClosedRange<Int>) -> Double {
    let period = 1e9 * Double(rate.ratio.denominator) / Double(rate.ratio.numerator)
    var largest = 0.0
    let first = frames.lowerBound
    for frame in frames where times[frame] != Self.none {
      let distance = Double(times[frame] &- times[first]) / period - Double(frame - first)
      largest = max(largest, abs(distance))
    }
    return largest
  }
}
