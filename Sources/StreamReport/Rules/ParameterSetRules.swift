// SPDX-License-Identifier: MPL-2.0
import H26x

/// Rules of parameter sets that both codecs share.
enum ParameterSetRules {
  /// Fields of the VUI that are the same in both codecs (E.2.1, E.3.1).
  static func check(aspectRatio: UInt8?, unitsInTick: UInt32?, timeScale: UInt32?, log: inout FindingLog) {
    if let aspectRatio, (17..<255).contains(aspectRatio) {
      log.report(.reservedValue, "aspect_ratio_idc \(aspectRatio)", expected: "0 to 16, or 255")
    }
    if unitsInTick == 0 { log.report(.reservedValue, "num_units_in_tick 0", expected: "more than 0") }
    if timeScale == 0 { log.report(.reservedValue, "time_scale 0", expected: "more than 0") }
  }

  /// A value that the standard limits and that no decoder uses, so any value can be read.
  static func check(
    _ value: some UnsignedInteger, _ element: StaticString, most limit: UInt16 = 16, log: inout FindingLog
  ) {
    if value > limit { log.report(.reservedValue, "\(element) \(value)", expected: "0 to \(limit)") }
  }

  /// A set that cannot be read, or does not end as it should.
  static func check<Codec: CheckedCodec>(_ met: WalkedParameterSet<Codec>, log: inout FindingLog) {
    let name = met.record.name
    if let error = met.record.error {
      return log.report(.unreadableParameterSet, "\(name): \(ReportText(error))", expected: "a parameter set")
    }
    if let content = met.content { Codec.Rules.check(content, log: &log) }
    if !met.hasProperEnd {
      log.report(.trailingBits, "other bits at the end of \(name)", expected: "rbsp_trailing_bits()")
    }
  }
}

/// Checks the fields of a container's configuration record against its parameter sets.
enum ConfigurationRules<Codec: CheckedCodec> {
  /// A record that cannot be read.
  static func check(unreadable error: BitstreamError, log: inout FindingLog) {
    log.report(.containerConfiguration, ReportText(error), expected: "a configuration record")
  }

  static func check(_ met: WalkedConfiguration, log: inout FindingLog) {
    if met.declared.hasStartCodes {
      log.report(.containerConfiguration, "start codes in the record's parameter sets", expected: "only NAL units")
    }
    let profile = Codec.Rules.recordNames.profile
    // All sets conform to the profile; if they have several, it may be any of them.
    if let first = met.sets.first, !met.sets.contains(where: { $0.profile == met.declared.profile }) {
      log.report(
        .containerConfiguration, "\(profile) \(met.declared.profile) in the record",
        expected: "\(first.profile) as in the SPS")
    }
    for own in met.sets { check(met.declared, own, log: &log) }
  }

  private static func check(_ declared: ConfigurationFields, _ own: ConfigurationFields, log: inout FindingLog) {
    let names = Codec.Rules.recordNames
    let surplus = declared.flags & ~own.flags
    if surplus != 0 {
      log.report(
        .containerConfiguration,
        "\(names.flag.before)\(surplus.leadingZeroBitCount)\(names.flag.after) 1 in the record",
        expected: "0 as in the SPS")
    }
    if declared.level < own.level && own.level > Codec.Rules.lowestLevel || !declared.isHighTier && own.isHighTier {
      log.report(
        .containerConfiguration, "\(names.level) \(declared.level), tier \(declared.isHighTier ? 1 : 0) in the record",
        expected: "\(own.level), tier \(own.isHighTier ? 1 : 0) as in the SPS, or more")
    }
    if let declared = declared.format, let own = own.format, declared != own {
      log.report(
        .containerConfiguration,
        "chroma format \(declared.chroma.rawValue), \(declared.luma) and \(declared.chromaDepth) bit in the record",
        expected: "\(own.chroma.rawValue), \(own.luma) and \(own.chromaDepth) bit as in the SPS")
    }
  }
}
