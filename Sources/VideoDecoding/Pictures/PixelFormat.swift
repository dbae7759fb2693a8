// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// Layout of a decoded picture's samples in memory.
///
/// The raw value is libavutil's short name. Samples of more than 8 bits take two bytes, little-endian, in the low
/// bits, but for `p010`. Full-range video has the same format as limited-range: see `DecodedPicture.colour`.
public enum PixelFormat: String, Sendable, CaseIterable {
  /// Luma only, 8 bits. Monochrome of more bits comes as 4:2:0 with chroma at mid-range, which everything supports; so
  /// does all monochrome of H.264.
  case gray
  /// Three planes Y, Cb, Cr; chroma halved in both directions (I420).
  case yuv420p
  /// As `yuv420p`, 9 bits.
  case yuv420p9 = "yuv420p9le"
  /// As `yuv420p`, 10 bits.
  case yuv420p10 = "yuv420p10le"
  /// As `yuv420p`, 12 bits.
  case yuv420p12 = "yuv420p12le"
  /// As `yuv420p`, 14 bits.
  case yuv420p14 = "yuv420p14le"
  /// Three planes Y, Cb, Cr; chroma halved horizontally (Y42B).
  case yuv422p
  /// As `yuv422p`, 9 bits.
  case yuv422p9 = "yuv422p9le"
  /// As `yuv422p`, 10 bits.
  case yuv422p10 = "yuv422p10le"
  /// As `yuv422p`, 12 bits.
  case yuv422p12 = "yuv422p12le"
  /// As `yuv422p`, 14 bits.
  case yuv422p14 = "yuv422p14le"
  /// Three planes Y, Cb, Cr of one size.
  case yuv444p
  /// As `yuv444p`, 9 bits.
  case yuv444p9 = "yuv444p9le"
  /// As `yuv444p`, 10 bits.
  case yuv444p10 = "yuv444p10le"
  /// As `yuv444p`, 12 bits.
  case yuv444p12 = "yuv444p12le"
  /// As `yuv444p`, 14 bits.
  case yuv444p14 = "yuv444p14le"
  /// Three planes G, B, R of one size.
  case gbrp
  /// As `gbrp`, 9 bits.
  case gbrp9 = "gbrp9le"
  /// As `gbrp`, 10 bits.
  case gbrp10 = "gbrp10le"
  /// As `gbrp`, 12 bits.
  case gbrp12 = "gbrp12le"
  /// As `gbrp`, 14 bits.
  case gbrp14 = "gbrp14le"
  /// Two planes, Y and interleaved Cb Cr, chroma halved in both directions; 8 bits.
  case nv12
  /// As `nv12`, 10 bits, in the high bits of 16.
  case p010 = "p010le"

  /// The two-plane format that the semi-planar layout uses instead; nil if the format stays.
  package var semiPlanar: PixelFormat? {
    switch self {
    case .yuv420p: .nv12
    case .yuv420p10: .p010
    default: nil
    }
  }

  /// The format of three planes for one with interleaved chroma; the same for others.
  package var planar: PixelFormat {
    switch self {
    case .nv12: .yuv420p
    case .p010: .yuv420p10
    default: self
    }
  }

  /// Cb and Cr are in one plane.
  package var isSemiPlanar: Bool { planar != self }

  /// libavcodec's format; its deprecated full-range twins (`yuvj420p` …) are the same here.
  init?(_ format: FrameFormat) {
    guard let known = Self.known[format.rawValue] else { return nil }
    self = known
  }

  private static let known: [Int32: PixelFormat] = {
    var known: [Int32: PixelFormat] = [:]
    for format in allCases {
      if let frameFormat = FrameFormat(name: format.rawValue) { known[frameFormat.rawValue] = format }
    }
    for (name, format) in [("yuvj420p", yuv420p), ("yuvj422p", yuv422p), ("yuvj444p", yuv444p)] {
      if let frameFormat = FrameFormat(name: name) { known[frameFormat.rawValue] = format }
    }
    return known
  }()

  /// Significant bits of a sample, 8 to 14.
  public var bitDepth: Int {
    switch self {
    case .gray, .yuv420p, .yuv422p, .yuv444p, .gbrp, .nv12: 8
    case .yuv420p9, .yuv422p9, .yuv444p9, .gbrp9: 9
    case .yuv420p10, .yuv422p10, .yuv444p10, .gbrp10, .p010: 10
    case .yuv420p12, .yuv422p12, .yuv444p12, .gbrp12: 12
    case .yuv420p14, .yuv422p14, .yuv444p14, .gbrp14: 14
    }
  }

  /// Bytes a sample takes, 1 or 2.
  public var bytesPerSample: Int { bitDepth > 8 ? 2 : 1 }

  /// Number of planes, 1 to 3.
  public var planeCount: Int {
    switch self {
    case .gray: 1
    case .nv12, .p010: 2
    default: 3
    }
  }

  /// Base-2 logarithms of the chroma subsampling.
  public var chromaShift: (horizontal: Int, vertical: Int) {
    switch self {
    case .yuv420p, .yuv420p9, .yuv420p10, .yuv420p12, .yuv420p14, .nv12, .p010: (1, 1)
    case .yuv422p, .yuv422p9, .yuv422p10, .yuv422p12, .yuv422p14: (1, 0)
    default: (0, 0)
    }
  }

  /// The number of bytes in a row of `plane`, in a picture `width` luma samples wide. Widths are 0 to 2³¹ − 1; others
  /// count as the nearest of these. The result is 0 if there is no such plane.
  public func rowByteCount(plane: Int, width: Int) -> Int {
    guard 0..<planeCount ~= plane else { return 0 }
    let width = Self.side(width)
    guard plane > 0 else { return width * bytesPerSample }
    let shift = chromaShift.horizontal
    let samples = (width + (1 << shift) - 1) >> shift
    return samples * bytesPerSample * (isSemiPlanar ? 2 : 1)
  }

  /// The number of rows of `plane`, in a picture `height` luma samples high. Heights are 0 to 2³¹ − 1; others count
  /// as the nearest of these. The result is 0 if there is no such plane.
  public func rowCount(plane: Int, height: Int) -> Int {
    guard 0..<planeCount ~= plane else { return 0 }
    let height = Self.side(height)
    guard plane > 0 else { return height }
    let shift = chromaShift.vertical
    return (height + (1 << shift) - 1) >> shift
  }

  private static func side(_ samples: Int) -> Int { Int(UInt32(clamping: min(samples, Int(Int32.max)))) }
}
