// SPDX-License-Identifier: MPL-2.0

/// Code points of ITU-T H.273, common to H.264 and H.265.
public struct ColourDescription: Sendable, Hashable {
  /// `colour_primaries`; 2 is unspecified.
  public var primaries: UInt8
  /// `transfer_characteristics`; 2 is unspecified.
  public var transfer: UInt8
  /// `matrix_coefficients`; 2 is unspecified.
  public var matrix: UInt8

  /// Creates a description.
  public init(primaries: UInt8, transfer: UInt8, matrix: UInt8) {
    self.primaries = primaries
    self.transfer = transfer
    self.matrix = matrix
  }
}

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

/// `chroma_sample_loc_type_top_field` and `_bottom_field` of a VUI, 0 to 5 (H.264 figure E-1, H.265 figure E.1).
public struct ChromaLocation: Sendable, Hashable {
  /// The location for top fields and frames.
  public var topField: UInt8
  /// The location for bottom fields.
  public var bottomField: UInt8

  /// Creates one.
  public init(topField: UInt8, bottomField: UInt8) {
    self.topField = topField
    self.bottomField = bottomField
  }
}
