// SPDX-License-Identifier: MPL-2.0

/// The margins cut off the edges of the coded picture, in luma samples.
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

  /// The requirements of a syntax element that crops a picture.
  struct Syntax {
    let element: StaticString
    /// The luma samples that its offsets count.
    let unit: (width: UInt32, height: UInt32)
    /// That these divide the margins, in the standard's words.
    let requirement: StaticString
    let clause: StaticString
  }

  /// The offsets that a syntax element has for these margins.
  ///
  /// - Throws: `.forbiddenCombination` if its units do not divide them, or if nothing is left of a picture of this
  ///   size.
  func offsets(_ syntax: Syntax, in size: VideoSize) throws(StreamEditError) -> CropMargins {
    guard UInt64(left) + UInt64(right) < UInt64(clamping: size.width),
      UInt64(top) + UInt64(bottom) < UInt64(clamping: size.height)
    else {
      throw StreamEditError(
        .forbiddenCombination, syntax.element, nil, "nothing is left of the picture", clause: syntax.clause)
    }
    let (width, height) = syntax.unit
    guard left % width == 0, right % width == 0, top % height == 0, bottom % height == 0 else {
      throw StreamEditError(
        .forbiddenCombination, syntax.element, nil, syntax.requirement, clause: syntax.clause)
    }
    return CropMargins(left: left / width, right: right / width, top: top / height, bottom: bottom / height)
  }

  /// Whether nothing is cut off.
  var isEmpty: Bool { self == CropMargins() }
}
