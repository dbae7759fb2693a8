// SPDX-License-Identifier: MPL-2.0
import CGStreamer

extension GstVideoColorRange {
  /// The range by `video_full_range_flag`; unknown for `nil`.
  init(isFullRange: Bool?) {
    self =
      switch isFullRange {
      case true?: GST_VIDEO_COLOR_RANGE_0_255
      case false?: GST_VIDEO_COLOR_RANGE_16_235
      case nil: GST_VIDEO_COLOR_RANGE_UNKNOWN
      }
  }
}

extension VideoInfo {
  /// Whether samples have their full range of values (`GST_VIDEO_COLOR_RANGE_0_255`).
  package var isFullRange: Bool { unsafe raw.colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255 }
}
