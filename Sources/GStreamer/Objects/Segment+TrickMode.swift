// SPDX-License-Identifier: MPL-2.0
import CGStreamer

extension Segment {
  /// Whether to decode keyframes only (`GST_SEGMENT_FLAG_TRICKMODE_KEY_UNITS`).
  public var keyUnitsOnly: Bool { unsafe raw.flags.rawValue & GST_SEGMENT_FLAG_TRICKMODE_KEY_UNITS.rawValue != 0 }

  /// Whether to decode forward-predicted frames only (`GST_SEGMENT_FLAG_TRICKMODE_FORWARD_PREDICTED`).
  public var forwardPredictedOnly: Bool {
    unsafe raw.flags.rawValue & GST_SEGMENT_FLAG_TRICKMODE_FORWARD_PREDICTED.rawValue != 0
  }

  /// Whether pictures may be skipped (`GST_SEGMENT_FLAG_TRICKMODE`), as in playback at another speed.
  package var allowsSkipping: Bool { unsafe raw.flags.rawValue & GST_SEGMENT_FLAG_TRICKMODE.rawValue != 0 }
}
