// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// A raw video format (`GstVideoFormat`).
@safe public struct VideoFormat: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The format of this name, as in caps: `I420`, `NV12` … `nil` when there is none.
  public init?(name: String) {
    let format = unsafe cgst_video_format_from_string(name)
    guard format != GST_VIDEO_FORMAT_UNKNOWN else { return nil }
    rawValue = format.rawValue
  }

  var raw: GstVideoFormat { GstVideoFormat(rawValue: rawValue) }

  /// The name as in caps.
  public var name: String { unsafe String(cString: gst_video_format_to_string(raw)) }
}

/// Geometry and colour of raw video (`GstVideoInfo`).
@safe public struct VideoInfo: @unchecked Sendable {
  @unsafe public internal(set) var raw: GstVideoInfo

  @unsafe public init(_ raw: GstVideoInfo) { unsafe self.raw = raw }

  /// What fixed `video/x-raw` caps say. `nil` when they are something else.
  public init?(_ caps: borrowing Caps) {
    unsafe raw = GstVideoInfo()
    guard unsafe gst_video_info_from_caps(&raw, caps.raw) != 0 else { return nil }
  }

  /// Video of this format and size. `nil` when the size is out of range.
  public init?(format: VideoFormat, width: UInt32, height: UInt32) {
    unsafe raw = GstVideoInfo()
    guard unsafe gst_video_info_set_format(&raw, format.raw, width, height) != 0 else { return nil }
  }

  public var format: VideoFormat {
    unsafe VideoFormat(rawValue: raw.finfo?.pointee.format.rawValue ?? GST_VIDEO_FORMAT_UNKNOWN.rawValue)
  }
  public var width: Int { unsafe Int(raw.width) }
  public var height: Int { unsafe Int(raw.height) }
  /// Bytes a frame.
  public var size: Int { unsafe Int(clamping: raw.size) }
  public var planeCount: Int { unsafe Int(raw.finfo?.pointee.n_planes ?? 0) }
  public var frameRate: Fraction { unsafe Fraction(raw.fps_n, raw.fps_d) }

  /// Bytes from one row to the next, by plane; 0 past the last plane.
  public func stride(ofPlane plane: Int) -> Int {
    switch plane {
    case 0: unsafe Int(raw.stride.0)
    case 1: unsafe Int(raw.stride.1)
    case 2: unsafe Int(raw.stride.2)
    case 3: unsafe Int(raw.stride.3)
    default: 0
    }
  }

  /// Where a plane begins; 0 past the last plane.
  public func offset(ofPlane plane: Int) -> Int {
    switch plane {
    case 0: unsafe Int(raw.offset.0)
    case 1: unsafe Int(raw.offset.1)
    case 2: unsafe Int(raw.offset.2)
    case 3: unsafe Int(raw.offset.3)
    default: 0
    }
  }

  /// Puts padding around the picture and raises strides and offsets to the alignment.
  public mutating func align(_ alignment: VideoAlignment) {
    var raw = alignment.raw
    unsafe gst_video_info_align(&self.raw, &raw)
  }

  /// The caps that say the same.
  public func caps() -> Caps {
    var copy = unsafe raw
    guard let caps = unsafe gst_video_info_to_caps(&copy) else { return .empty() }
    return unsafe Caps(owning: caps)
  }

  /// Whether geometry, format, colour and rate are the same.
  public func isEqual(to other: VideoInfo) -> Bool {
    var (a, b) = unsafe (raw, other.raw)
    return unsafe gst_video_info_is_equal(&a, &b) != 0
  }
}
