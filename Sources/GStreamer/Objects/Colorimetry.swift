// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// The caps field `colorimetry` for code points of ITU-T H.273.
///
/// - Parameters:
///   - isFullRange: `nil` if the range is unknown.
///   - primaries: `ColourPrimaries`; 2 if unknown.
///   - transfer: `TransferCharacteristics`; 2 if unknown.
///   - matrix: `MatrixCoefficients`; 2 if unknown.
/// - Returns: a name such as "bt709" if there is one, otherwise four numbers; `nil` if nothing is known.
public func colorimetryName(isFullRange: Bool?, primaries: UInt8, transfer: UInt8, matrix: UInt8) -> String? {
  var colorimetry = GstVideoColorimetry(
    isFullRange: isFullRange, primaries: primaries, transfer: transfer, matrix: matrix)
  guard let name = unsafe gst_video_colorimetry_to_string(&colorimetry) else { return nil }
  defer { unsafe g_free(name) }
  return unsafe String(cString: name)
}

extension VideoInfo {
  /// Sets the colorimetry by the code points of ITU-T H.273: `colour_primaries`, `transfer_characteristics`,
  /// `matrix_coefficients`; 2 is unspecified. A range of `nil` is unknown.
  public mutating func setColorimetry(isFullRange: Bool?, primaries: UInt8, transfer: UInt8, matrix: UInt8) {
    unsafe raw.colorimetry = GstVideoColorimetry(
      isFullRange: isFullRange, primaries: primaries, transfer: transfer, matrix: matrix)
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
}

extension GstVideoColorimetry {
  fileprivate init(isFullRange: Bool?, primaries: UInt8, transfer: UInt8, matrix: UInt8) {
    self.init()
    // Set even when nothing else is known: other elements take an unknown range for full range.
    range = GstVideoColorRange(isFullRange: isFullRange)
    self.primaries = gst_video_color_primaries_from_iso(guint(primaries))
    self.transfer = gst_video_transfer_function_from_iso(guint(transfer))
    self.matrix = gst_video_color_matrix_from_iso(guint(matrix))
  }
}
