// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// A raw video format (`GstVideoFormat`).
@safe public struct VideoFormat: RawRepresentable, Hashable, Sendable {
  /// The value as the stream or the C library has it.
  public let rawValue: UInt32
  /// A format out of the C one.
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
  /// The C object.
  @unsafe public internal(set) var raw: GstVideoInfo

  /// Wraps the C structure.
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

  /// How samples are stored.
  public var format: VideoFormat {
    unsafe VideoFormat(rawValue: raw.finfo?.pointee.format.rawValue ?? GST_VIDEO_FORMAT_UNKNOWN.rawValue)
  }
  /// Columns.
  public var width: Int { unsafe Int(raw.width) }
  /// Rows of a frame, of which a buffer has half where fields alternate.
  public var height: Int { unsafe Int(raw.height) }
  /// Bytes a frame.
  public var size: Int { unsafe Int(clamping: raw.size) }
  /// The number of planes.
  public var planeCount: Int { unsafe Int(raw.finfo?.pointee.n_planes ?? 0) }
  /// Pictures a second; 0/1 is unknown or variable.
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

  /// The rows of a plane, and the bytes of a row that are picture; nothing for a plane that the format does not have.
  func planeSize(_ plane: Int) -> (rows: Int, bytes: Int) {
    guard let format = unsafe raw.finfo, 0..<planeCount ~= plane else { return (0, 0) }
    func value<Value>(_ four: (Value, Value, Value, Value), _ component: Int) -> Value {
      switch component {
      case 0: four.0
      case 1: four.1
      case 2: four.2
      default: four.3
      }
    }
    // A plane's size is that of the first component in it.
    let count = unsafe min(Int(format.pointee.n_components), 4)
    var component = 0
    while component < count, unsafe value(format.pointee.plane, component) != guint(plane) { component += 1 }
    guard component < count else { return (0, 0) }
    // Rounded up, as GStreamer does for chroma of odd sizes.
    func subsampled(_ length: Int, _ shift: UInt32) -> Int { -((-length) >> Int(shift)) }
    let height = interlaceMode == .alternate ? subsampled(height, 1) : height
    let columns = unsafe subsampled(width, value(format.pointee.w_sub, component))
    return unsafe (
      subsampled(height, value(format.pointee.h_sub, component)),
      columns * Int(max(value(format.pointee.pixel_stride, component), 1))
    )
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
