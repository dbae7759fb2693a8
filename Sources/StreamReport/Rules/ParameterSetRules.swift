// SPDX-License-Identifier: MPL-2.0

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
