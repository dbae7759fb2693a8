// SPDX-License-Identifier: MPL-2.0
import H26x

/// The fields of a configuration record that repeat those of an SPS (ISO/IEC 14496-15, 5.3.3.1 and 8.3.3.1).
struct ConfigurationFields {
  /// Chroma format and bit depths.
  struct Format: Equatable {
    var chroma: ChromaFormat
    var luma: UInt8
    var chromaDepth: UInt8
  }

  /// `profile_idc`, in H.265 `general_profile_idc`.
  var profile: UInt8
  /// Constraint flags or profile compatibility flags; number 0 is the highest bit.
  var flags: UInt32
  /// `level_idc`, in H.265 `general_level_idc`.
  var level: UInt8
  /// `general_tier_flag`.
  var isHighTier = false
  /// nil for an avcC without these fields.
  var format: Format?
  /// Start codes were found in a configuration record.
  var hasStartCodes = false
}
