// SPDX-License-Identifier: MPL-2.0

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
