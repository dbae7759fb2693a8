// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The timestamps of a raw stream, which has none: from picture order count and frame rate.
struct PresentationTimeline<Codec: ParserCodec>: Sendable {
  /// Pictures of one SPS at one rate.
  private struct Sequence: Sendable {
    var generator: TimestampGenerator
    let rate: GStreamer.Fraction
    /// Pictures a second, which are more than frames where each is a field.
    let pictureRate: GStreamer.Fraction
    let parameters: Codec.SequenceParameterSet
    /// How often parameter sets had changed when that SPS was looked up.
    var generation: UInt64
  }

  var reader = Codec.PictureReader()
  private var sequence: Sequence?
  /// Where the generator's time 0 is.
  private var origin: ClockTime = .zero
  /// The end of the latest picture so far.
  private var end: ClockTime = .zero

  /// Reads the picture that this slice begins when it goes on in the sequence that is being timed; else `nil`.
  mutating func read(
    _ slice: Codec.SliceHeader, rate: GStreamer.Fraction?, generation: UInt64
  ) -> TimestampGenerator.Picture? {
    guard sequence?.generation == generation, sequence?.rate == rate,
      sequence?.parameters.id == slice.sequenceParameterSetID
    else { return nil }
    return (sequence?.parameters).map { reader.picture(slice, $0) }
  }

  /// Whether pictures of this sequence at this rate can be timed without looking ahead once more.
  mutating func covers(_ sps: Codec.SequenceParameterSet, _ rate: GStreamer.Fraction, generation: UInt64) -> Bool {
    guard let sequence, sequence.rate == rate, sequence.parameters == sps else { return false }
    self.sequence?.generation = generation
    return true
  }

  /// Begins a sequence that follows on what was timed so far.
  mutating func begin(
    _ sps: Codec.SequenceParameterSet, _ rate: GStreamer.Fraction, lookAhead: [TimestampGenerator.Picture],
    generation: UInt64
  ) {
    let delayBefore = sequence.map { Self.time($0.generator.presentationDelay, rate: $0.pictureRate) } ?? .zero
    let pictures = sps.picturesPerFrame
    let next = TimestampGenerator(
      lookAhead: lookAhead, reorderDepth: sps.sentReorderFrames.map { $0 * pictures },
      maximumReorderDepth: sps.maximumReorderFrames * pictures, followsDecodingOrder: sps.followsDecodingOrder)
    let pictureRate = GStreamer.Fraction(
      Int32(clamping: Int64(rate.numerator) * Int64(pictures)), rate.denominator)
    // The first picture is shown when the last one ends, unless its decoding time would fall before that one's.
    origin = end - min(delayBefore, Self.time(next.presentationDelay, rate: pictureRate))
    sequence = Sequence(
      generator: next, rate: rate, pictureRate: pictureRate, parameters: sps, generation: generation)
  }

  /// The times of the next picture; `nil` before `begin`.
  mutating func next(_ picture: TimestampGenerator.Picture) -> (pts: ClockTime, dts: ClockTime)? {
    guard let times = sequence?.generator.next(picture), let rate = sequence?.pictureRate else { return nil }
    let pts = origin + Self.time(times.presentation, rate: rate)
    end = max(end, origin + Self.time(times.presentation + times.duration, rate: rate))
    return (pts, origin + Self.time(times.decoding, rate: rate))
  }

  /// Moves time so that a picture that was timed at one time is shown at another.
  mutating func move(_ time: ClockTime, to other: ClockTime) {
    origin = origin + other - time
    end = end + other - time
  }

  /// Generator ticks as nanoseconds.
  private static func time(_ ticks: Int64, rate: GStreamer.Fraction) -> ClockTime {
    let numerator = UInt64(max(rate.denominator, 1)) * ClockTime.second.nanoseconds
    let denominator = UInt64(max(rate.numerator, 1)) * UInt64(TimestampGenerator.ticksPerFrame)
    let product = UInt64(max(ticks, 0)).multipliedFullWidth(by: numerator)
    guard product.high < denominator else { return ClockTime(nanoseconds: .max) }
    return ClockTime(nanoseconds: denominator.dividingFullWidth(product).quotient)
  }
}
