// SPDX-License-Identifier: MPL-2.0
import H26x

/// The findings in a container's configuration record.
struct WalkedConfiguration {
  /// The declarations of the record itself.
  var declared: ConfigurationFields
  /// The declarations of each of its readable SPS.
  var sets: [ConfigurationFields] = []
  /// Whether it has an SPS.
  var hasSequence = false
  /// The format of the first SPS; nil if that cannot be read.
  var format: FormatRecord?

  /// Takes an SPS of the record; nil for one that cannot be read, which has a finding as a parameter set.
  mutating func add(_ sps: (fields: ConfigurationFields, format: FormatRecord)?) {
    if let sps {
      sets.append(sps.fields)
      if !hasSequence { format = sps.format }
    }
    hasSequence = true
  }
}

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
