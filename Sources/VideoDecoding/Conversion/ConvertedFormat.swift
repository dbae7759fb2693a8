// SPDX-License-Identifier: MPL-2.0

/// Layout of a converted picture's samples in memory. Raw values are FFmpeg's names, without the byte order: samples of
/// more than 8 bits take two bytes, little-endian, in the high bits.
public enum ConvertedFormat: String, Sendable, CaseIterable {
  /// Y, and interleaved Cb Cr halved in both directions; 8 bits: `kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange`.
  case nv12
  /// As `nv12`, chroma halved horizontally.
  case nv16
  /// As `nv12`, chroma of full size.
  case nv24
  /// As `nv12`, 10 bits: `kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange`.
  case p010
  /// As `nv12`, 12 bits.
  case p012
  /// As `nv12`, 16 bits, of which video of 14 bits uses the upper 14.
  case p016
  /// As `nv16`, 10 bits.
  case p210
  /// As `nv16`, 12 bits.
  case p212
  /// As `nv16`, 16 bits, of which video of 14 bits uses the upper 14.
  case p216
  /// As `nv24`, 10 bits.
  case p410
  /// As `nv24`, 12 bits.
  case p412
  /// As `nv24`, 16 bits, of which video of 14 bits uses the upper 14.
  case p416
  /// One plane of blue, green, red and an alpha of 255, 8 bits each: `kCVPixelFormatType_32BGRA`.
  case bgra
  /// One plane of red, green, blue and an alpha of 255, 8 bits each.
  case rgba

  /// The format of two planes that holds a picture without loss.
  init(semiPlanar format: PixelFormat) {
    let formats: [[ConvertedFormat]] = [
      [.nv12, .p010, .p012, .p016], [.nv16, .p210, .p212, .p216], [.nv24, .p410, .p412, .p416],
    ]
    let depth: Int
    switch format.bitDepth {
    case ...8: depth = 0
    case ...10: depth = 1
    case ...12: depth = 2
    default: depth = 3
    }
    switch format.chromaShift {
    case (1, 1): self = formats[0][depth]
    case (1, 0): self = formats[1][depth]
    // Monochrome has no chroma to keep.
    default: self = formats[format == .gray ? 0 : 2][depth]
    }
  }

  /// Number of planes: 2, or 1 for RGB.
  public var planeCount: Int { isRGB ? 1 : 2 }

  /// Bytes of a sample.
  public var bytesPerSample: Int {
    switch self {
    case .nv12, .nv16, .nv24, .bgra, .rgba: 1
    case .p010, .p012, .p016, .p210, .p212, .p216, .p410, .p412, .p416: 2
    }
  }

  var isRGB: Bool { self == .bgra || self == .rgba }

  /// Base-2 logarithms of the chroma subsampling.
  var chromaShift: (horizontal: Int, vertical: Int) {
    switch self {
    case .nv12, .p010, .p012, .p016: (1, 1)
    case .nv16, .p210, .p212, .p216: (1, 0)
    case .nv24, .p410, .p412, .p416, .bgra, .rgba: (0, 0)
    }
  }
}
