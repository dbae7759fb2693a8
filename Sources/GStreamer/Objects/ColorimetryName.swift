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
  var colorimetry = GstVideoColorimetry()
  colorimetry.primaries = gst_video_color_primaries_from_iso(guint(primaries))
  colorimetry.transfer = gst_video_transfer_function_from_iso(guint(transfer))
  colorimetry.matrix = gst_video_color_matrix_from_iso(guint(matrix))
  // Set even when nothing else is known: other elements take an unknown range for full range.
  colorimetry.range = GstVideoColorRange(isFullRange: isFullRange)
  guard let name = unsafe gst_video_colorimetry_to_string(&colorimetry) else { return nil }
  defer { unsafe g_free(name) }
  return unsafe String(cString: name)
}
