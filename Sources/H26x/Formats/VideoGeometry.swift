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

/// The part of the coded picture that is to be shown, in luma samples from the top left of the coded picture.
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

/// Chroma sampling: `chroma_format_idc` (Table 6-1).
public enum ChromaFormat: UInt8, Sendable, CaseIterable {
  /// Luma only.
  case monochrome = 0
  /// 4:2:0: chroma halved in both directions.
  case yuv420 = 1
  /// 4:2:2: chroma halved horizontally.
  case yuv422 = 2
  /// 4:4:4: chroma not subsampled.
  case yuv444 = 3

  /// The value of the caps field `chroma-format`.
  public var name: String {
    switch self {
    case .monochrome: "4:0:0"
    case .yuv420: "4:2:0"
    case .yuv422: "4:2:2"
    case .yuv444: "4:4:4"
    }
  }
}

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
