// SPDX-License-Identifier: MPL-2.0
import H26x

/// What was met in a container's configuration record.
struct WalkedConfiguration {
  /// What the record itself declares.
  var declared: RecordFacts
  /// What each of its readable SPS declares.
  var sets: [RecordFacts] = []
  /// Whether it has an SPS.
  var hasSequence = false
  /// The format of the first SPS; nil when that cannot be read.
  var format: FormatRecord?
}

extension WalkedConfiguration {
  /// Takes an SPS of the record; nil for one that cannot be read, which has a finding as a parameter set.
  mutating func add(_ sps: (facts: RecordFacts, format: FormatRecord)?) {
    if let sps {
      sets.append(sps.facts)
      if !hasSequence { format = sps.format }
    }
    hasSequence = true
  }
}
