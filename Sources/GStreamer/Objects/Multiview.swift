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

/// Details of a multiview arrangement (`GstVideoMultiviewFlags`).
package struct MultiviewFlags: OptionSet, Hashable, Sendable {
  /// `GstVideoMultiviewFlags`.
  package let rawValue: UInt32
  /// Flags of this C value.
  package init(rawValue: UInt32) { self.rawValue = rawValue }
  /// The right view comes first.
  package static let rightViewFirst = Self(rawValue: GST_VIDEO_MULTIVIEW_FLAGS_RIGHT_VIEW_FIRST.rawValue)
  /// The left view is upside down.
  package static let leftFlipped = Self(rawValue: GST_VIDEO_MULTIVIEW_FLAGS_LEFT_FLIPPED.rawValue)
  /// The left view is mirrored.
  package static let leftFlopped = Self(rawValue: GST_VIDEO_MULTIVIEW_FLAGS_LEFT_FLOPPED.rawValue)
  /// The right view is upside down.
  package static let rightFlipped = Self(rawValue: GST_VIDEO_MULTIVIEW_FLAGS_RIGHT_FLIPPED.rawValue)
  /// The right view is mirrored.
  package static let rightFlopped = Self(rawValue: GST_VIDEO_MULTIVIEW_FLAGS_RIGHT_FLOPPED.rawValue)
  /// Each view has half the pixels in one direction.
  package static let halfAspect = Self(rawValue: GST_VIDEO_MULTIVIEW_FLAGS_HALF_ASPECT.rawValue)
}

extension Caps {
  /// Sets the field `multiview-flags` on every structure.
  package mutating func set(_ field: String, _ flags: MultiviewFlags) {
    unsafe raw = cgst_caps_make_writable(raw)
    for index in 0..<(unsafe gst_caps_get_size(raw)) {
      unsafe cgst_structure_set_multiview_flags(gst_caps_get_structure(raw, index), field, flags.rawValue)
    }
  }
}
