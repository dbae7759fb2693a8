// SPDX-License-Identifier: MPL-2.0
import CGStreamer

extension VideoFormat {
  /// All raw formats.
  public static var all: [VideoFormat] {
    var count: guint = 0
    guard let formats = unsafe gst_video_formats_raw(&count) else { return [] }
    return unsafe UnsafeBufferPointer(start: formats, count: Int(count)).map { VideoFormat(rawValue: $0.rawValue) }
  }

  /// The color model of samples.
  public enum Kind: Sendable {
    /// Luma and chroma.
    case yuv
    /// Red, green and blue.
    case rgb
    /// Luma alone.
    case gray
    /// Anything else.
    case other
  }

  /// The color model of its samples.
  public var kind: Kind {
    let flags = unsafe description?.pointee.flags.rawValue ?? 0
    if flags & GST_VIDEO_FORMAT_FLAG_YUV.rawValue != 0 { return .yuv }
    if flags & GST_VIDEO_FORMAT_FLAG_RGB.rawValue != 0 { return .rgb }
    if flags & GST_VIDEO_FORMAT_FLAG_GRAY.rawValue != 0 { return .gray }
    return .other
  }

  /// Whether samples are indices into a palette.
  public var hasPalette: Bool {
    unsafe (description?.pointee.flags.rawValue ?? 0) & GST_VIDEO_FORMAT_FLAG_PALETTE.rawValue != 0
  }

  /// Whether there is an alpha component.
  public var hasAlpha: Bool {
    unsafe (description?.pointee.flags.rawValue ?? 0) & GST_VIDEO_FORMAT_FLAG_ALPHA.rawValue != 0
  }

  /// Bits of a sample of the first component; 0 for an unknown format.
  public var bitDepth: Int { unsafe Int(description?.pointee.depth.0 ?? 0) }

  /// Bits below a sample of the first component that are always zero, such as 6 in P010; 0 for an unknown format.
  package var paddingBits: Int { unsafe Int(description?.pointee.shift.0 ?? 0) }

  /// Base-2 logarithms of the chroma subsampling factors; 0 for formats other than YUV.
  public var chromaShift: (horizontal: Int, vertical: Int) {
    guard kind == .yuv, let description = unsafe description else { return (0, 0) }
    return unsafe (Int(description.pointee.w_sub.1), Int(description.pointee.h_sub.1))
  }

  private var description: UnsafePointer<GstVideoFormatInfo>? { unsafe gst_video_format_get_info(raw) }
}
