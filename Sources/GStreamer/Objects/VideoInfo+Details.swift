// SPDX-License-Identifier: MPL-2.0
import CGStreamer

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

  /// Sets the colorimetry by the code points of ITU-T H.273: `colour_primaries`, `transfer_characteristics`,
  /// `matrix_coefficients`; 2 is unspecified. A range of `nil` is unknown.
  public mutating func setColorimetry(isFullRange: Bool?, primaries: UInt8, transfer: UInt8, matrix: UInt8) {
    unsafe raw.colorimetry.range = GstVideoColorRange(isFullRange: isFullRange)
    unsafe raw.colorimetry.primaries = gst_video_color_primaries_from_iso(guint(primaries))
    unsafe raw.colorimetry.transfer = gst_video_transfer_function_from_iso(guint(transfer))
    unsafe raw.colorimetry.matrix = gst_video_color_matrix_from_iso(guint(matrix))
  }

  /// Sets the unknown parts of the colorimetry from the text of a caps field `colorimetry`.
  package mutating func completeColorimetry(from text: String) {
    var other = GstVideoColorimetry()
    guard unsafe gst_video_colorimetry_from_string(&other, text) != 0 else { return }
    let own = unsafe raw.colorimetry
    if own.range == GST_VIDEO_COLOR_RANGE_UNKNOWN { unsafe raw.colorimetry.range = other.range }
    if own.primaries == GST_VIDEO_COLOR_PRIMARIES_UNKNOWN { unsafe raw.colorimetry.primaries = other.primaries }
    if own.transfer == GST_VIDEO_TRANSFER_UNKNOWN { unsafe raw.colorimetry.transfer = other.transfer }
    if own.matrix == GST_VIDEO_COLOR_MATRIX_UNKNOWN { unsafe raw.colorimetry.matrix = other.matrix }
  }

  /// Sets unknown range and matrix, if the colorimetry has more than the usual range, to GStreamer's defaults for
  /// this size. Other elements ignore a colorimetry without a matrix, and assume the usual range.
  package mutating func completeColorimetryBySize() {
    let own = unsafe raw.colorimetry
    let isKnown =
      own.range == GST_VIDEO_COLOR_RANGE_0_255 || own.primaries != GST_VIDEO_COLOR_PRIMARIES_UNKNOWN
      || own.transfer != GST_VIDEO_TRANSFER_UNKNOWN || own.matrix != GST_VIDEO_COLOR_MATRIX_UNKNOWN
    guard isKnown, let usual = VideoInfo(format: format, width: width, height: height) else { return }
    if own.range == GST_VIDEO_COLOR_RANGE_UNKNOWN { unsafe raw.colorimetry.range = usual.raw.colorimetry.range }
    if own.matrix == GST_VIDEO_COLOR_MATRIX_UNKNOWN { unsafe raw.colorimetry.matrix = usual.raw.colorimetry.matrix }
  }

  /// Sets the range and matrix that every RGB format of GStreamer has.
  package mutating func setColorimetryToRGB() {
    unsafe raw.colorimetry.range = GST_VIDEO_COLOR_RANGE_0_255
    unsafe raw.colorimetry.matrix = GST_VIDEO_COLOR_MATRIX_RGB
  }

  /// Sets the chroma site by `chroma_sample_loc_type`, 0 to 3 (H.264 figure E-1); unknown for `nil` and others.
  public mutating func setChromaSampleLocation(_ location: UInt8?) {
    unsafe raw.chroma_site =
      switch location {
      case 0: GST_VIDEO_CHROMA_SITE_H_COSITED
      case 1: GST_VIDEO_CHROMA_SITE_NONE
      case 2: GST_VIDEO_CHROMA_SITE_COSITED
      case 3: GST_VIDEO_CHROMA_SITE_V_COSITED
      default: GST_VIDEO_CHROMA_SITE_UNKNOWN
      }
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
