// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import VideoDecoding

/// The layout of the session's pictures, known before the first one is decoded.
struct PictureLayout: Hashable {
  var pixelFormat: PixelFormat
  /// Coded size in luma samples.
  var codedWidth: Int, codedHeight: Int
  var crop: PictureCrop
  /// The device's arrangement of samples (drm_fourcc.h), if pictures stay in its memory, with 0 for row after row;
  /// `nil` if they do not.
  var modifier: UInt64?
  /// Pictures stay in a device's memory.
  var isOfDevice: Bool { modifier != nil }

  var width: Int { codedWidth - crop.left - crop.right }
  var height: Int { codedHeight - crop.top - crop.bottom }

  /// Alignment of addresses and rows in bytes: what the widest vector instructions require.
  static let alignment = 64

  /// Padding around the cropped picture for libavcodec's writes. Width and height are rounded up to 32 (pairs of
  /// macroblock rows, for interlacing), plus two rows that motion compensation reads.
  var videoAlignment: VideoAlignment {
    var alignment = VideoAlignment()
    alignment.left = UInt32(clamping: crop.left)
    alignment.top = UInt32(clamping: crop.top)
    alignment.right = UInt32(clamping: Self.roundUp(codedWidth, to: 32) - crop.left - width)
    alignment.bottom = UInt32(clamping: Self.roundUp(codedHeight, to: 32) + 2 - crop.top - height)
    alignment.strideMask = UInt32(Self.alignment - 1)
    return alignment
  }

  private static func roundUp(_ value: Int, to unit: Int) -> Int { (value + unit - 1) / unit * unit }
}

extension PictureLayout {
  init(of picture: DecodedPicture) {
    self.init(
      pixelFormat: picture.pixelFormat, codedWidth: picture.codedWidth, codedHeight: picture.codedHeight,
      crop: picture.crop)
  }

  func fits(_ request: PictureRequest) -> Bool {
    request.pixelFormat == pixelFormat && request.codedWidth == codedWidth && request.codedHeight == codedHeight
      && request.crop == crop
  }
}

extension PixelFormat {
  /// The same format as GStreamer names it; `nil` when it has none.
  var videoFormat: VideoFormat? {
    let name: String? =
      switch self {
      case .gray: "GRAY8"
      case .yuv420p: "I420"
      case .yuv420p10: "I420_10LE"
      case .yuv420p12: "I420_12LE"
      case .yuv422p: "Y42B"
      case .yuv422p10: "I422_10LE"
      case .yuv422p12: "I422_12LE"
      case .yuv444p: "Y444"
      case .yuv444p10: "Y444_10LE"
      case .yuv444p12: "Y444_12LE"
      case .gbrp: "GBR"
      case .gbrp10: "GBR_10LE"
      case .gbrp12: "GBR_12LE"
      case .nv12: "NV12"
      case .p010: "P010_10LE"
      default: nil
      }
    return name.flatMap(VideoFormat.init(name:))
  }
}

extension PictureLayout {
  /// The layout for this format; `nil` when libavcodec cannot decode it.
  init?(_ format: FormatDescription, completesMonochrome: Bool) {
    let size = format.codedSize
    let shown = format.cropRectangle
    guard let pixelFormat = PixelFormat(decodedFrom: format, completesMonochrome) else { return nil }
    self.init(
      pixelFormat: pixelFormat, codedWidth: size.width, codedHeight: size.height,
      crop: PictureCrop(
        left: shown.left, right: size.width - shown.left - shown.width, top: shown.top,
        bottom: size.height - shown.top - shown.height))
  }
}

extension PixelFormat {
  /// The session's output format for a stream; `nil` when libavcodec cannot decode it.
  fileprivate init?(decodedFrom format: FormatDescription, _ completesMonochrome: Bool) {
    guard format.lumaBitDepth == format.chromaBitDepth || format.chromaFormat == .monochrome else { return nil }
    // matrix_coefficients 0 is GBR (Table E-5).
    let isGBR = format.chromaFormat == .yuv444 && format.colour?.matrix == 0
    switch (format.chromaFormat, format.lumaBitDepth) {
    // Deeper monochrome is decoded to 4:2:0, with chroma at mid-range.
    case (.monochrome, 8): self = completesMonochrome ? .yuv420p : .gray
    case (.yuv420, 8): self = .yuv420p
    case (.yuv420, 9): self = .yuv420p9
    case (.monochrome, 10), (.yuv420, 10): self = .yuv420p10
    case (.monochrome, 12), (.yuv420, 12): self = .yuv420p12
    case (.yuv420, 14): self = .yuv420p14
    case (.yuv422, 8): self = .yuv422p
    case (.yuv422, 9): self = .yuv422p9
    case (.yuv422, 10): self = .yuv422p10
    case (.yuv422, 12): self = .yuv422p12
    case (.yuv422, 14): self = .yuv422p14
    case (.yuv444, 8): self = isGBR ? .gbrp : .yuv444p
    case (.yuv444, 9): self = isGBR ? .gbrp9 : .yuv444p9
    case (.yuv444, 10): self = isGBR ? .gbrp10 : .yuv444p10
    case (.yuv444, 12): self = isGBR ? .gbrp12 : .yuv444p12
    case (.yuv444, 14): self = isGBR ? .gbrp14 : .yuv444p14
    default: return nil
    }
  }
}
