// SPDX-License-Identifier: MPL-2.0
import CGStreamer

extension Event {
  /// How late a buffer came, or how early, as downstream reports upstream.
  public struct QualityOfService: Sendable {
    /// The time that processing took, relative to what there was: above 1 is too slow.
    public var proportion: Double
    /// Nanoseconds by which the buffer was late; below 0 it was early.
    public var lateness: Int64
    /// The running time of the buffer.
    public var runningTime: ClockTime?
  }

  /// The contents of a quality-of-service event; `nil` for other events.
  public var qualityOfService: QualityOfService? {
    guard kind == .qualityOfService else { return nil }
    var type = GST_QOS_TYPE_UNDERFLOW
    var (proportion, lateness, time) = (0.0, GstClockTimeDiff(0), GstClockTime(0))
    unsafe gst_event_parse_qos(raw, &type, &proportion, &lateness, &time)
    return QualityOfService(
      proportion: proportion, lateness: Int64(lateness), runningTime: ClockTime(raw: UInt64(time)))
  }
}
