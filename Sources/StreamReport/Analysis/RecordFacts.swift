// SPDX-License-Identifier: MPL-2.0
import H26x

/// What a configuration record and an SPS both say (ISO/IEC 14496-15, 5.3.3.1 and 8.3.3.1).
struct RecordFacts {
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
}

/// The names of a configuration record's fields in findings.
struct RecordNames {
  var profile: StaticString
  /// What stands before and after the number of a flag.
  var flag: (before: StaticString, after: StaticString)
  var level: StaticString
  /// The highest level that a record may say differently.
  var lowestLevel: UInt8
}

extension ReportedCodec {
  /// The SPS of a NAL unit; nil when it is none, or cannot be read.
  static func sequence(_ nalUnit: Span<UInt8>) -> SequenceParameterSet? {
    guard role(of: nalUnit) == .sequenceParameterSet else { return nil }
    do throws(BitstreamError) { return try SequenceParameterSet(nalUnit: nalUnit, trace: nil) } catch { return nil }
  }

  /// The format of an SPS NAL unit; nil when it is none, or cannot be read.
  static func format(_ nalUnit: Span<UInt8>) -> FormatRecord? { sequence(nalUnit).map { format($0) } }

  /// Checks the fields of a container's configuration record against its parameter sets.
  static func check(_ record: borrowing ConfigurationRecord, log: inout FindingLog) {
    let said = facts(record)
    var sets: [RecordFacts] = []
    for nalUnit in record.nalUnits { if let sps = sequence(nalUnit.span) { sets.append(facts(sps)) } }
    // All sets conform to the profile; where they have several, it may be any of them.
    if let first = sets.first, !sets.contains(where: { $0.profile == said.profile }) {
      log.report(
        .containerConfiguration, "\(recordNames.profile) \(said.profile) in the record",
        expected: "\(first.profile) as in the SPS")
    }
    for own in sets { check(said, own, log: &log) }
  }

  private static func check(_ said: RecordFacts, _ own: RecordFacts, log: inout FindingLog) {
    let names = recordNames
    let surplus = said.flags & ~own.flags
    if surplus != 0 {
      log.report(
        .containerConfiguration,
        "\(names.flag.before)\(surplus.leadingZeroBitCount)\(names.flag.after) 1 in the record",
        expected: "0 as in the SPS")
    }
    if said.level < own.level && own.level > names.lowestLevel || !said.isHighTier && own.isHighTier {
      log.report(
        .containerConfiguration, "\(names.level) \(said.level), tier \(said.isHighTier ? 1 : 0) in the record",
        expected: "\(own.level), tier \(own.isHighTier ? 1 : 0) as in the SPS, or more")
    }
    if let said = said.format, let own = own.format, said != own {
      log.report(
        .containerConfiguration,
        "chroma format \(said.chroma.rawValue), \(said.luma) and \(said.chromaDepth) bit in the record",
        expected: "\(own.chroma.rawValue), \(own.luma) and \(own.chromaDepth) bit as in the SPS")
    }
  }
}
