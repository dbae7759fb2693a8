// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// A raw video format (`GstVideoFormat`).
@safe public struct VideoFormat: RawRepresentable, Hashable, Sendable {
  /// The `GstVideoFormat`.
  public let rawValue: UInt32
  /// The format of this `GstVideoFormat`.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The format of a name in caps, such as `I420`; `nil` when there is none.
  public init?(name: String) {
    let format = unsafe cgst_video_format_from_string(name)
    guard format != GST_VIDEO_FORMAT_UNKNOWN else { return nil }
    rawValue = format.rawValue
  }

  /// Planar 4:2:0 of 8 bits: luma, Cb, Cr.
  public static var i420: Self { Self(GST_VIDEO_FORMAT_I420) }
  /// 4:2:0 of 8 bits: luma, then interleaved Cb and Cr.
  public static var nv12: Self { Self(GST_VIDEO_FORMAT_NV12) }
  /// As NV12, with 10 bits in the high bits of 16, little-endian.
  public static var p010: Self { Self(GST_VIDEO_FORMAT_P010_10LE) }
  /// Luma of 8 bits.
  public static var gray8: Self { Self(GST_VIDEO_FORMAT_GRAY8) }
  /// Red, green and blue, 8 bits each.
  public static var rgb: Self { Self(GST_VIDEO_FORMAT_RGB) }
  /// Red, green, blue and alpha, 8 bits each.
  public static var rgba: Self { Self(GST_VIDEO_FORMAT_RGBA) }
  /// Blue, green, red and alpha, 8 bits each.
  public static var bgra: Self { Self(GST_VIDEO_FORMAT_BGRA) }

  private init(_ format: GstVideoFormat) { rawValue = format.rawValue }

  /// The C value; GStreamer reads its tables at others than its own without a check.
  var raw: GstVideoFormat { unsafe knownName == nil ? GST_VIDEO_FORMAT_UNKNOWN : GstVideoFormat(rawValue: rawValue) }

  /// The name in caps; `UNKNOWN` for a value that GStreamer does not have.
  public var name: String { unsafe knownName.map { unsafe String(cString: $0) } ?? "UNKNOWN" }

  /// The last of GStreamer's table. From 1.24 on, asking for the name of one beyond is a programming error.
  private static let last: UInt32 = {
    var count: guint = 0
    guard let formats = unsafe gst_video_formats_raw(&count) else { return 0 }
    return unsafe UnsafeBufferPointer(start: formats, count: Int(count)).lazy.map(\.rawValue).max() ?? 0
  }()

  private var knownName: UnsafePointer<CChar>? {
    guard rawValue != GST_VIDEO_FORMAT_UNKNOWN.rawValue, rawValue <= Self.last else { return nil }
    return unsafe gst_video_format_to_string(GstVideoFormat(rawValue: rawValue))
  }
}
