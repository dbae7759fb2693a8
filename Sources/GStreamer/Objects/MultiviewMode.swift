// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// The way the views of one scene share a video stream (`GstVideoMultiviewMode`).
package enum MultiviewMode: Int32, Sendable {
  case none = -1
  case mono = 0
  case left, right, sideBySide, sideBySideQuincunx, columnInterleaved, rowInterleaved, topBottom, checkerboard
  case frameByFrame = 32
  case multiviewFrameByFrame, separated

  /// The value of the caps field `multiview-mode`, `nil` for `none`.
  package var name: String? {
    guard let name = unsafe gst_video_multiview_mode_to_caps_string(GstVideoMultiviewMode(rawValue: rawValue)) else {
      return nil
    }
    return unsafe String(cString: name)
  }

  /// Whether frames of this size probably squeeze each view to half width or height (gst/video/video-multiview.h).
  package func isLikelyHalfAspect(width: UInt32, height: UInt32, pixelAspectRatio: Fraction) -> Bool {
    gst_video_multiview_guess_half_aspect(
      GstVideoMultiviewMode(rawValue: rawValue), width, height, guint(max(pixelAspectRatio.numerator, 1)),
      guint(max(pixelAspectRatio.denominator, 1))) != 0
  }
}
