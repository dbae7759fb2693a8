// SPDX-License-Identifier: MPL-2.0

/// `video_signal_type_present_flag` of a VUI, and its fields.
public struct VideoSignal: Sendable, Hashable {
  /// `video_format`, 0 to 7 (H.264 table E-2, H.265 table E.2).
  public var format: UInt8
  /// `video_full_range_flag`.
  public var isFullRange: Bool
  /// Primaries, transfer and matrix; nil if absent.
  public var colour: ColourDescription?

  /// Creates one.
  public init(format: UInt8 = 5, isFullRange: Bool, colour: ColourDescription?) {
    self.format = format
    self.isFullRange = isFullRange
    self.colour = colour
  }
}
