// SPDX-License-Identifier: MPL-2.0

/// What is cut off the edges of the coded picture, in luma samples.
public struct CropMargins: Sendable, Hashable {
  /// From the left edge.
  public var left: UInt32
  /// From the right edge.
  public var right: UInt32
  /// From the upper edge.
  public var top: UInt32
  /// From the lower edge.
  public var bottom: UInt32

  /// Creates margins; all 0 for the whole picture.
  public init(left: UInt32 = 0, right: UInt32 = 0, top: UInt32 = 0, bottom: UInt32 = 0) {
    self.left = left
    self.right = right
    self.top = top
    self.bottom = bottom
  }

  /// The offsets in units of `width` and `height` luma samples; nil where these do not divide them.
  func offsets(unitWidth width: UInt32, unitHeight height: UInt32) -> CropMargins? {
    guard left % width == 0, right % width == 0, top % height == 0, bottom % height == 0 else { return nil }
    return CropMargins(left: left / width, right: right / width, top: top / height, bottom: bottom / height)
  }

  /// Whether something is left of a picture.
  func fit(in size: VideoSize) -> Bool {
    UInt64(left) + UInt64(right) < UInt64(clamping: size.width)
      && UInt64(top) + UInt64(bottom) < UInt64(clamping: size.height)
  }

  /// Whether nothing is cut off.
  var isEmpty: Bool { self == CropMargins() }
}
