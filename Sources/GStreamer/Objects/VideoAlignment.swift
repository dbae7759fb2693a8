// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// Padding around the picture and alignment of its rows, for pools that support it.
public struct VideoAlignment: Hashable, Sendable {
  /// Rows above the picture.
  public var top: UInt32 = 0
  /// Rows below the picture.
  public var bottom: UInt32 = 0
  /// Pixels left of the picture.
  public var left: UInt32 = 0
  /// Pixels right of the picture.
  public var right: UInt32 = 0
  /// Row alignment of each plane in bytes, a power of two, minus one.
  public var strideMask: UInt32 = 0

  /// No padding and no alignment.
  public init() {}

  var raw: GstVideoAlignment {
    var raw = GstVideoAlignment()
    unsafe gst_video_alignment_reset(&raw)
    raw.padding_top = top
    raw.padding_bottom = bottom
    raw.padding_left = left
    raw.padding_right = right
    raw.stride_align = (strideMask, strideMask, strideMask, strideMask)
    return raw
  }
}
