// SPDX-License-Identifier: MPL-2.0

/// The crop of a coded picture at each edge, in luma samples (H.264 7.4.2.1.1, H.265 7.4.3.2.1).
public struct PictureCrop: Sendable, Hashable {
  /// Columns and rows to crop.
  public var left = 0, right = 0, top = 0, bottom = 0
  /// Creates a crop; without arguments, of nothing.
  public init(left: Int = 0, right: Int = 0, top: Int = 0, bottom: Int = 0) {
    self.left = left
    self.right = right
    self.top = top
    self.bottom = bottom
  }
}
