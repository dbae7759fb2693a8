// SPDX-License-Identifier: MPL-2.0
import CGStreamer

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
