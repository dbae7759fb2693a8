// SPDX-License-Identifier: MPL-2.0

/// The part of the coded picture to show, in luma samples from the top left of the coded picture.
public struct CropRectangle: Sendable, Hashable {
  /// The first column, in samples.
  public var left: Int
  /// The first row, in samples.
  public var top: Int
  /// In samples.
  public var width: Int
  /// In samples.
  public var height: Int

  /// Creates a rectangle.
  public init(left: Int, top: Int, width: Int, height: Int) {
    self.left = left
    self.top = top
    self.width = width
    self.height = height
  }
}
