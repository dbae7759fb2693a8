// SPDX-License-Identifier: MPL-2.0

/// Width and height of a picture in luma samples.
public struct VideoSize: Sendable, Hashable {
  /// In samples.
  public var width: Int
  /// In samples.
  public var height: Int

  /// Creates a size.
  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }
}
