// SPDX-License-Identifier: MPL-2.0

/// `stereo_video_info()` (D.1.23): the two views are the fields of a frame, or alternate frames.
public struct StereoVideoInformation: Sendable, Hashable {
  /// How the views alternate.
  public enum Arrangement: Sendable, Hashable {
    /// Each frame has both, a field each; `top_field_is_left_view_flag`.
    case fields(isTopLeft: Bool)
    /// Each frame is one view; `current_frame_is_left_view_flag` and `next_frame_is_second_view_flag`.
    case frames(isLeft: Bool, nextIsSecondView: Bool)
  }

  /// `field_views_flag` and the flags that depend on it.
  public var arrangement: Arrangement
  /// `left_view_self_contained_flag`: the left view can be decoded without the right one.
  public var isLeftSelfContained: Bool
  /// `right_view_self_contained_flag`.
  public var isRightSelfContained: Bool

  /// Reads a message of type ``SEIPayloadType/stereoVideoInformation``.
  ///
  /// - Throws: `.truncated`.
  public init(_ message: borrowing SEIMessages.Message) throws(BitstreamError) {
    var reader = message.reader
    if try reader.flag("field_views_flag") {
      arrangement = .fields(isTopLeft: try reader.flag("top_field_is_left_view_flag"))
    } else {
      let isLeft = try reader.flag("current_frame_is_left_view_flag")
      arrangement = .frames(isLeft: isLeft, nextIsSecondView: try reader.flag("next_frame_is_second_view_flag"))
    }
    isLeftSelfContained = try reader.flag("left_view_self_contained_flag")
    isRightSelfContained = try reader.flag("right_view_self_contained_flag")
  }
}
