// SPDX-License-Identifier: MPL-2.0

/// One change of what the headers of a stream announce, for ``StreamEditor``. No edit changes how slices are read or
/// decoded.
///
/// Where a stream does not have the part of the VUI that an edit belongs to, the part is added, with the values for
/// everything else that the Recommendations infer when it is absent (H.264 E.2.1, H.265 E.3.1). An edit that changes
/// nothing leaves a parameter set as it is, bit for bit.
public enum StreamEdit: Sendable, Hashable {
  /// `colour_primaries`, `transfer_characteristics` and the matrix; nil removes them (`colour_description_present_flag`).
  case colour(ColourDescription?)
  /// `colour_primaries` alone.
  case primaries(UInt8)
  /// `transfer_characteristics` alone.
  case transfer(UInt8)
  /// `matrix_coefficients`, in H.265 `matrix_coeffs`, alone.
  case matrix(UInt8)
  /// `video_full_range_flag`.
  case fullRange(Bool)
  /// `video_format`, 0 to 5 (H.264 table E-2, H.265 table E.2).
  case videoFormat(UInt8)
  /// Removes video format, range and colour (`video_signal_type_present_flag`).
  case removeVideoSignal
  /// `chroma_sample_loc_type_top_field` and `_bottom_field`; nil removes them.
  case chromaLocation(ChromaLocation?)
  /// The sample aspect ratio, by its code where it has one (H.264 table E-1, H.265 table E.1); nil removes it.
  case sampleAspectRatio(Ratio?)
  /// `overscan_appropriate_flag`; nil removes it.
  case overscanAppropriate(Bool?)
  /// Frames a second: `num_units_in_tick` and `time_scale` of the VUI, and those of H.265's VPS where it has them. nil
  /// removes them, which is refused where HRD parameters need them.
  case frameRate(Ratio?)
  /// `frame_cropping_flag`, in H.265 `conformance_window_flag`, and the offsets. Refused where the chroma format does not
  /// allow them, and where nothing of the picture would be left.
  case crop(CropMargins)
}
