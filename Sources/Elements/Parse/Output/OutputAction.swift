// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// A step of the element to send an access unit.
enum OutputAction: ~Copyable {
  /// Report to the base class how far the stream has been output.
  case advance(ClockTime)
  /// Send tags.
  case tags
  /// Send the segment, shifted.
  case segment(SegmentShift.Announcement)
  /// A keyframe is next, with this PTS in upstream's and in the outgoing segment: answer a pending request that is due,
  /// and report with `answeredKeyUnit`.
  case keyUnit(pts: ClockTime?, outgoing: ClockTime?)
  /// Push a buffer.
  case push(Buffer)
  /// Push a buffer; nothing follows it.
  case pushLast(Buffer)
  /// The base class pushes the rest, which is in the frame.
  case leave

  /// Whether it sends the segment.
  var sendsSegment: Bool {
    switch self {
    case .segment: true
    default: false
    }
  }
}
