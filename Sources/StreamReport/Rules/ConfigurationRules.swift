// SPDX-License-Identifier: MPL-2.0
import H26x

/// Checks the fields of a container's configuration record against its parameter sets.
struct ConfigurationRules {
  /// The names of the record's fields in findings.
  private let profile: StaticString
  /// What stands before and after the number of a flag.
  private let flag: (before: StaticString, after: StaticString)
  private let level: StaticString
  /// The highest level that a record may say differently.
  private let lowestLevel: UInt8

  init(_ codec: FormatDescription.Codec) {
    switch codec {
    case .h264:
      (profile, level, flag) = ("AVCProfileIndication", "AVCLevelIndication", ("constraint_set", "_flag"))
      // Level 1b may be 9 or 11.
      lowestLevel = 11
    case .h265:
      (profile, level) = ("general_profile_idc", "general_level_idc")
      flag = ("general_profile_compatibility_flag[", "]")
      lowestLevel = 0
    }
  }

  /// A record that cannot be read.
  static func check(unreadable error: BitstreamError, log: inout FindingLog) {
    log.report(.containerConfiguration, ReportText(error), expected: "a configuration record")
  }

  func check(_ met: WalkedConfiguration, log: inout FindingLog) {
    // All sets conform to the profile; where they have several, it may be any of them.
    if let first = met.sets.first, !met.sets.contains(where: { $0.profile == met.said.profile }) {
      log.report(
        .containerConfiguration, "\(profile) \(met.said.profile) in the record",
        expected: "\(first.profile) as in the SPS")
    }
    for own in met.sets { check(met.said, own, log: &log) }
  }

  private func check(_ said: RecordFacts, _ own: RecordFacts, log: inout FindingLog) {
    let surplus = said.flags & ~own.flags
    if surplus != 0 {
      log.report(
        .containerConfiguration,
        "\(flag.before)\(surplus.leadingZeroBitCount)\(flag.after) 1 in the record",
        expected: "0 as in the SPS")
    }
    if said.level < own.level && own.level > lowestLevel || !said.isHighTier && own.isHighTier {
      log.report(
        .containerConfiguration, "\(level) \(said.level), tier \(said.isHighTier ? 1 : 0) in the record",
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
