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
}

extension WalkedConfiguration {
  /// Takes an SPS of the record; nil for one that cannot be read, which has a finding as a parameter set.
  mutating func add(_ sps: (fields: ConfigurationFields, format: FormatRecord)?) {
    if let sps {
      sets.append(sps.fields)
      if !hasSequence { format = sps.format }
    }
    hasSequence = true
  }
}
