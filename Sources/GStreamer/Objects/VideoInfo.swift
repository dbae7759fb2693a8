// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// The description of raw video (`GstVideoInfo`).
@safe public struct VideoInfo: @unchecked Sendable {
  /// The C object.
  @unsafe public internal(set) var raw: GstVideoInfo

  /// Wraps the C structure.
  @unsafe public init(_ raw: GstVideoInfo) { unsafe self.raw = raw }

  /// The description of fixed `video/x-raw` caps; `nil` for other caps.
  public init?(_ caps: borrowing Caps) {
    unsafe raw = GstVideoInfo()
    guard unsafe gst_video_info_from_caps(&raw, caps.raw) != 0 else { return nil }
  }

  /// A description of this format and size; `nil` when the size is out of range or the format unknown.
  public init?(format: VideoFormat, width: Int, height: Int) {
    unsafe raw = GstVideoInfo()
    guard format.raw != GST_VIDEO_FORMAT_UNKNOWN, let width = guint(exactly: width),
      let height = guint(exactly: height), unsafe gst_video_info_set_format(&raw, format.raw, width, height) != 0
    else { return nil }
  }

  /// The format of samples.
  public var format: VideoFormat {
    unsafe VideoFormat(rawValue: raw.finfo?.pointee.format.rawValue ?? GST_VIDEO_FORMAT_UNKNOWN.rawValue)
  }
  /// Pixels in a row.
  public var width: Int { unsafe Int(raw.width) }
  /// Rows of a frame; with alternating fields a buffer has half of them.
  public var height: Int { unsafe Int(raw.height) }
  /// Bytes of a frame.
  public var size: Int { unsafe Int(clamping: raw.size) }
  /// The number of planes.
  public var planeCount: Int { unsafe Int(raw.finfo?.pointee.n_planes ?? 0) }
  /// Frames a second; 0/1 is variable or unknown.
  public var frameRate: Fraction { unsafe Fraction(raw.fps_n, raw.fps_d) }

  /// Bytes from one row to the next; 0 after the last plane.
  public func stride(ofPlane plane: Int) -> Int {
    switch plane {
    case 0: unsafe Int(raw.stride.0)
    case 1: unsafe Int(raw.stride.1)
    case 2: unsafe Int(raw.stride.2)
    case 3: unsafe Int(raw.stride.3)
    default: 0
    }
  }

  /// The byte offset of a plane; 0 after the last plane.
  public func offset(ofPlane plane: Int) -> Int {
    switch plane {
    case 0: unsafe Int(raw.offset.0)
    case 1: unsafe Int(raw.offset.1)
    case 2: unsafe Int(raw.offset.2)
    case 3: unsafe Int(raw.offset.3)
    default: 0
    }
  }

  /// The rows of a plane and the bytes of a row without padding; zeros for a plane that the format does not have.
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
    // The first component of a plane gives its size.
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

  /// Adds padding around the picture, and increases strides and offsets to the alignment.
  public mutating func align(_ alignment: VideoAlignment) {
    var raw = alignment.raw
    unsafe gst_video_info_align(&self.raw, &raw)
  }

  /// The caps of this description; empty caps when it is invalid.
  public func caps() -> Caps {
    var copy = unsafe raw
    guard let caps = unsafe gst_video_info_to_caps(&copy) else { return .empty() }
    return unsafe Caps(owning: caps)
  }

  /// Whether the descriptions are equal (`gst_video_info_is_equal`).
  public func isEqual(to other: VideoInfo) -> Bool {
    var (a, b) = unsafe (raw, other.raw)
    return unsafe gst_video_info_is_equal(&a, &b) != 0
  }
}

extension VideoInfo {
  /// The arrangement of fields in frames (`GstVideoInterlaceMode`).
  public enum InterlaceMode: UInt32, Sendable {
    /// Frames that are not made of fields.
    case progressive
    /// Two fields in each frame, row by row.
    case interleaved
    /// Progressive or interleaved by each buffer's flags.
    case mixed
    /// Two fields stored apart in a buffer, found by the ids of its metas.
    case fields
    /// Each buffer has one field.
    case alternate
  }

  /// The arrangement of fields in frames.
  public var interlaceMode: InterlaceMode {
    get { InterlaceMode(rawValue: unsafe raw.interlace_mode.rawValue) ?? .progressive }
    set { unsafe raw.interlace_mode = GstVideoInterlaceMode(rawValue: newValue.rawValue) }
  }

  /// Returns, for a description of a single field, the video with one field in each buffer (`alternate`). It has
  /// twice the height, the sample aspect ratio of frames, and the caps feature `format:Interlaced`. `nil` if the size
  /// is out of range.
  package func alternatingFields() -> VideoInfo? {
    var frames = unsafe VideoInfo(GstVideoInfo())
    guard let width = UInt32(exactly: width), let height = UInt32(exactly: height * 2),
      unsafe gst_video_info_set_interlaced_format(
        &frames.raw, format.raw, GST_VIDEO_INTERLACE_MODE_ALTERNATE, width, height) != 0
    else { return nil }
    frames.copyDescription(from: self)
    frames.interlaceMode = .alternate
    let ratio = pixelAspectRatio
    let (numerator, overflows) = ratio.numerator.multipliedReportingOverflow(by: 2)
    if ratio.denominator % 2 == 0 {
      frames.pixelAspectRatio = Fraction(ratio.numerator, ratio.denominator / 2)
    } else if !overflows {
      frames.pixelAspectRatio = Fraction(numerator, ratio.denominator)
    }
    return frames
  }

  /// Sets which field of interleaved frames comes first; `nil` is unknown.
  package mutating func setFieldOrder(isTopFirst: Bool?) {
    unsafe raw.ABI.abi.field_order =
      switch isTopFirst {
      case true?: GST_VIDEO_FIELD_ORDER_TOP_FIELD_FIRST
      case false?: GST_VIDEO_FIELD_ORDER_BOTTOM_FIELD_FIRST
      case nil: GST_VIDEO_FIELD_ORDER_UNKNOWN
      }
  }

  /// The width of a pixel in proportion to its height.
  public var pixelAspectRatio: Fraction {
    get { unsafe Fraction(raw.par_n, raw.par_d) }
    set { unsafe (raw.par_n, raw.par_d) = (newValue.numerator, newValue.denominator) }
  }

  /// Sets the frame rate in frames a second; 0/1 is variable or unknown.
  public mutating func setFrameRate(_ rate: Fraction) {
    unsafe (raw.fps_n, raw.fps_d) = (rate.numerator, rate.denominator)
  }

  /// Removes the multiview mode and flags.
  public mutating func clearViews() {
    unsafe raw.ABI.abi.multiview_mode = GST_VIDEO_MULTIVIEW_MODE_NONE
    unsafe raw.ABI.abi.multiview_flags = GST_VIDEO_MULTIVIEW_FLAGS_NONE
  }

  /// Copies all but format and size from another description: interlacing, aspect ratio, frame rate, colorimetry,
  /// views.
  public mutating func copyDescription(from other: VideoInfo) {
    unsafe raw.interlace_mode = other.raw.interlace_mode
    unsafe raw.flags = other.raw.flags
    unsafe raw.views = other.raw.views
    unsafe raw.chroma_site = other.raw.chroma_site
    unsafe raw.colorimetry = other.raw.colorimetry
    unsafe (raw.par_n, raw.par_d) = (other.raw.par_n, other.raw.par_d)
    unsafe (raw.fps_n, raw.fps_d) = (other.raw.fps_n, other.raw.fps_d)
    unsafe raw.ABI.abi = other.raw.ABI.abi
  }

  /// As `copyDescription`, for the output of a conversion to this format. RGB gets range and matrix of RGB. If only
  /// the input is RGB, this format keeps its own colorimetry. If the subsampling differs, it keeps its own chroma
  /// site.
  package mutating func describeAsConverted(from other: VideoInfo) {
    let (own, site) = unsafe (raw.colorimetry, raw.chroma_site)
    copyDescription(from: other)
    if format.kind == .rgb {
      setColorimetryToRGB()
    } else if other.format.kind == .rgb {
      unsafe raw.colorimetry = own
    }
    if format.chromaShift != other.format.chromaShift { unsafe raw.chroma_site = site }
  }
}
