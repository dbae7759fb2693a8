// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The timestamps of a raw stream, which has none: from picture order count and frame rate.
struct PresentationTimeline: Sendable {
  /// Reads pictures in decoding order for `TimestampGenerator`.
  struct PictureReader: Sendable {
    private var counter = H264.PictureOrderCounter()
    private var openField: H264.SliceHeader?

    /// What the generator needs to know of the picture that this slice begins.
    mutating func picture(_ slice: H264.SliceHeader, _ sps: H264.SequenceParameterSet) -> TimestampGenerator.Picture {
      let count = counter.next(slice, sps: sps)
      let isSecond = isSecondField(slice)
      openField = slice.isField && !isSecond ? slice : nil
      return TimestampGenerator.Picture(
        order: count.picture, startsEpoch: count.startsEpoch, isField: slice.isField, isSecondField: isSecond)
    }

    /// The second field of a frame has the other parity and the same `frame_num` as the first right before it (3.30).
    private func isSecondField(_ slice: H264.SliceHeader) -> Bool {
      guard slice.isField, let first = openField else { return false }
      return first.isBottomField != slice.isBottomField && first.frameNumber == slice.frameNumber && !slice.isIDR
        && (first.isReference || !slice.isReference)
    }
  }

  var reader = PictureReader()
  private var generator: TimestampGenerator?
  private var rate = GStreamer.Fraction(0, 1)
  /// The SPS of the pictures, and how often parameter sets had changed when it was looked up.
  private(set) var sequence: H264.SequenceParameterSet?
  private var generation: UInt64 = 0
  /// Where the generator's time 0 is.
  private var origin: ClockTime = .zero
  /// The end of the latest picture so far.
  private var end: ClockTime = .zero

  /// Whether the SPS of this id is the one in `sequence`, as parameter sets have not changed since it was looked up.
  func knows(sequenceID id: UInt8, generation: UInt64) -> Bool {
    self.generation == generation && sequence?.id == id && generator != nil
  }

  /// Whether pictures of this sequence at this rate can be timed without looking ahead once more.
  mutating func covers(_ sps: H264.SequenceParameterSet, _ rate: GStreamer.Fraction, generation: UInt64) -> Bool {
    guard generator != nil, self.rate == rate, sequence == sps else { return false }
    self.generation = generation
    return true
  }

  /// Whether this is the rate in use.
  func isTimed(at rate: GStreamer.Fraction?) -> Bool { generator != nil && self.rate == rate }

  /// Begins a sequence that follows on what was timed so far.
  mutating func begin(
    _ sps: H264.SequenceParameterSet, _ rate: GStreamer.Fraction, lookAhead: [TimestampGenerator.Picture],
    generation: UInt64
  ) {
    self.generation = generation
    let delayBefore = generator.map { time($0.presentationDelay) } ?? .zero
    let next = TimestampGenerator(
      lookAhead: lookAhead, reorderDepth: sps.sentReorderFrames, maximumReorderDepth: sps.maximumReorderFrames,
      followsDecodingOrder: sps.pictureOrderCountType == .decodingOrder)
    self.rate = rate
    sequence = sps
    // The first picture is shown when the last one ends, unless its decoding time would fall before that one's.
    origin = end - min(delayBefore, time(next.presentationDelay))
    generator = next
  }

  /// The times of the next picture; `nil` before `begin`.
  mutating func next(_ picture: TimestampGenerator.Picture) -> (pts: ClockTime, dts: ClockTime)? {
    guard let times = generator?.next(picture) else { return nil }
    let pts = origin + time(times.presentation)
    end = max(end, origin + time(times.presentation + times.duration))
    return (pts, origin + time(times.decoding))
  }

  /// Moves time so that a picture that was timed at one time is shown at another.
  mutating func move(_ time: ClockTime, to other: ClockTime) {
    origin = origin + other - time
    end = end + other - time
  }

  /// Generator ticks as nanoseconds.
  private func time(_ ticks: Int64) -> ClockTime {
    let numerator = UInt64(max(rate.denominator, 1)) * ClockTime.second.nanoseconds
    let denominator = UInt64(max(rate.numerator, 1)) * UInt64(TimestampGenerator.ticksPerFrame)
    let product = UInt64(max(ticks, 0)).multipliedFullWidth(by: numerator)
    guard product.high < denominator else { return ClockTime(nanoseconds: .max) }
    return ClockTime(nanoseconds: denominator.dividingFullWidth(product).quotient)
  }
}
