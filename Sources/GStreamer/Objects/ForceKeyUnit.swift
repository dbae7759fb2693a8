// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// A request for a keyframe: upstream to the encoder, or downstream ahead of the keyframe (gst/video/video-event.h).
public struct ForceKeyUnit: Hashable, Sendable {
  /// The requested running time; `nil` is as soon as possible.
  public var runningTime: ClockTime?
  /// Whether parameter sets are wanted with it.
  public var allHeaders: Bool
  /// A number of the request, for elements that count them.
  public var count: UInt32
  /// Stream position of a request that travels downstream.
  public var timestamp: ClockTime?
  /// Stream time of a request that travels downstream.
  public var streamTime: ClockTime?

  /// Reads a force-key-unit event of either direction; `nil` for other events.
  public init?(_ event: borrowing Event) {
    guard unsafe gst_video_event_is_force_key_unit(event.raw) != 0 else { return nil }
    var timestamp = GstClockTime.max
    var streamTime = GstClockTime.max
    var runningTime = GstClockTime.max
    var allHeaders: gboolean = 0
    var count: guint = 0
    let parsed =
      if event.kind == .customUpstream {
        unsafe gst_video_event_parse_upstream_force_key_unit(event.raw, &runningTime, &allHeaders, &count)
      } else {
        unsafe gst_video_event_parse_downstream_force_key_unit(
          event.raw, &timestamp, &streamTime, &runningTime, &allHeaders, &count)
      }
    guard parsed != 0 else { return nil }
    self.runningTime = ClockTime(raw: UInt64(runningTime))
    self.allHeaders = allHeaders != 0
    self.count = count
    self.timestamp = ClockTime(raw: UInt64(timestamp))
    self.streamTime = ClockTime(raw: UInt64(streamTime))
  }

  /// The event to send downstream just before the keyframe.
  public func downstreamEvent() -> Event {
    _ = isGStreamerReady
    return unsafe Event(
      owning: gst_video_event_new_downstream_force_key_unit(
        GstClockTime(timestamp.raw), GstClockTime(streamTime.raw), GstClockTime(runningTime.raw),
        allHeaders ? 1 : 0, count))
  }

  /// The event to send upstream.
  public func upstreamEvent() -> Event {
    _ = isGStreamerReady
    return unsafe Event(
      owning: gst_video_event_new_upstream_force_key_unit(
        GstClockTime(runningTime.raw), allHeaders ? 1 : 0, count))
  }
}
