// SPDX-License-Identifier: MPL-2.0

/// The rules of what only one codec has.
protocol CodecRules {
  associatedtype Codec: ReportedCodec

  static func check(_ header: HeaderFacts, _ record: NALUnitRecord, log: inout FindingLog)
  static func check(_ set: Codec.ParameterSet, log: inout FindingLog)
  static func check(_ slice: Codec.Pictures.Slice, in walk: borrowing NALUnitWalk<Codec>, log: inout FindingLog)
}
