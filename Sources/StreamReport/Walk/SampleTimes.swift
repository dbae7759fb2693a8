// SPDX-License-Identifier: MPL-2.0

/// The times of a container's samples, in decoding order.
struct SampleTimes: Sendable {
  /// Ticks a second; 0 without any.
  var timescale: UInt32 = 0
  /// The sample before.
  private(set) var last: AccessUnitRecord.Sample?

  /// Takes the next sample; nil for an access unit of which the container has none.
  mutating func take(_ sample: AccessUnitRecord.Sample?) { last = sample ?? last }

  /// Seconds between the sample before and this one, in decoding order; nil if the container does not have it.
  func interval(before sample: AccessUnitRecord.Sample?) -> Double? {
    guard let sample, timescale > 0 else { return nil }
    if let time = sample.dts, let last = last?.dts, time > last {
      return (Double(time) - Double(last)) / Double(timescale)
    }
    guard let duration = last?.duration, duration > 0 else { return nil }
    return Double(duration) / Double(timescale)
  }
}
