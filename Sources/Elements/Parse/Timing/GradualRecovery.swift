// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// Stage: the duration of a raw file's gradual recoveries. An accurate seek must begin this much earlier than its
/// target.
struct GradualRecovery<Codec: ParserCodec>: Sendable {
  /// The last recovery that started, and its start.
  private var current: (progress: RecoveryProgress<Codec>, start: ClockTime)?
  /// The longest that was measured so far.
  private(set) var longest = ClockTime.zero
  /// The longest that was announced so far, in pictures: one that is not complete yet may be longer than all measured.
  private(set) var announced = 0
  /// The base class does not account for them.
  private var isNew = false

  /// A recovery has started and is not complete.
  var isUnderWay: Bool { current != nil }

  /// The next picture need not follow on the last one.
  mutating func forgetPosition() { current = nil }

  /// Takes the next picture in decoding order, with its times.
  mutating func notice(_ accessUnit: ParsedAccessUnit<Codec>, _ parameterSets: borrowing Codec.ParameterSets) {
    guard let slice = accessUnit.scanned.slice,
      let sps = parameterSets.sequenceParameterSet(slice.sequenceParameterSetID), let pts = accessUnit.attributes.pts
    else { return }
    if accessUnit.scanned.contents.contains(.randomAccess) { current = nil }
    current?.progress.take(slice, sps: sps)
    if let current, current.progress.isComplete {
      learn(pts - current.start)
      self.current = nil
    }
    if current == nil, let point = accessUnit.recoveryPoint, point.distance > 0 {
      learn(announced: point.distance)
      current = (RecoveryProgress(point, at: slice), pts)
    }
  }

  /// Takes over the durations of recoveries that were read elsewhere.
  mutating func learn(from other: GradualRecovery<Codec>) {
    learn(other.longest)
    learn(announced: other.announced)
  }

  private mutating func learn(announced distance: Int) {
    guard distance > announced else { return }
    announced = distance
    isNew = true
  }

  private mutating func learn(_ duration: ClockTime) {
    guard duration > longest else { return }
    longest = duration
    isNew = true
  }

  /// The longest one in frames of a stream, if it is new.
  mutating func takeLongest(_ rate: Fraction?) -> LeadIn? {
    guard isNew, let rate, rate.numerator > 0, rate.denominator > 0 else { return nil }
    isNew = false
    let frame = ClockTime.seconds(1, times: UInt32(rate.denominator), over: UInt32(rate.numerator)).nanoseconds
    let measured = longest.nanoseconds / max(frame, 1) + 1
    return LeadIn(rate: rate, frames: max(UInt32(clamping: measured), UInt32(clamping: announced)))
  }
}
