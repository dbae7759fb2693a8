// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// Stage: how long gradual recoveries of a raw file last, which is how much earlier than its target an accurate seek has
/// to begin.
struct GradualRecovery<Codec: ParserCodec>: Sendable {
  /// The last one that was begun, and when.
  private var current: (progress: RecoveryProgress<Codec>, start: ClockTime)?
  /// The longest so far.
  private(set) var longest = ClockTime.zero
  /// The base class does not know of it.
  private var isNew = false

  /// One was begun and is not complete.
  var isUnderWay: Bool { current != nil }

  /// The next picture need not follow on the last one.
  mutating func forgetPosition() { current = nil }

  /// Takes the next picture in decoding order, with its times.
  mutating func notice(_ accessUnit: ParsedAccessUnit<Codec>, _ parameterSets: borrowing Codec.ParameterSets) {
    guard let slice = accessUnit.scanned.slice,
      let sps = parameterSets.sequenceParameterSet(slice.sequenceParameterSetID), let pts = accessUnit.attributes.pts
    else { return }
    current?.progress.take(slice, sps: sps)
    if let current, current.progress.isComplete {
      learn(pts - current.start)
      self.current = nil
    }
    if current == nil, let point = accessUnit.recoveryPoint, point.distance > 0 {
      current = (RecoveryProgress(point, at: slice), pts)
    }
  }

  /// Learns how long recoveries last that were read elsewhere.
  mutating func learn(from other: GradualRecovery<Codec>) { learn(other.longest) }

  private mutating func learn(_ duration: ClockTime) {
    guard duration > longest else { return }
    longest = duration
    isNew = true
  }

  /// The longest one in frames of a stream, if it is new.
  mutating func takeLongest(_ rate: GStreamer.Fraction?) -> LeadIn? {
    guard isNew, let rate, rate.numerator > 0, rate.denominator > 0 else { return nil }
    isNew = false
    let frame = ClockTime.seconds(1, times: UInt32(rate.denominator), over: UInt32(rate.numerator)).nanoseconds
    return LeadIn(rate: rate, frames: UInt32(clamping: longest.nanoseconds / max(frame, 1) + 1))
  }
}

/// How much earlier than its target an accurate seek begins.
struct LeadIn {
  let rate: GStreamer.Fraction
  let frames: UInt32
}
