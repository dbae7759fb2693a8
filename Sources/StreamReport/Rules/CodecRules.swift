// SPDX-License-Identifier: MPL-2.0

/// The rules about syntax that only one codec has.
protocol CodecRules {
  associatedtype Codec: ReportedCodec

  /// The name of a slice's header, with its article.
  static var sliceHeader: StaticString { get }
  /// Whether two fields are one frame with one time; else each is a picture with its own.
  static var joinsFields: Bool { get }
  /// The names of the fields of a configuration record.
  static var recordNames: RecordNames { get }
  /// Up to this level a record may have another `level_idc` than its SPS.
  static var lowestLevel: UInt8 { get }

  /// Whether the picture after a delimiter may be of this type: ASCII `I`, `P` or `B`, with SI as I, and SP as P.
  /// Reserved values allow all.
  static func allows(_ letter: UInt8, after delimiter: AnnouncedType) -> Bool
  static func check(_ header: NALUnitHeaderDefects, _ record: NALUnitRecord, log: inout FindingLog)
  static func check(_ set: Codec.ParameterSet, log: inout FindingLog)
  static func check(_ slice: Codec.Pictures.Slice, in walk: borrowing NALUnitWalk<Codec>, log: inout FindingLog)
}

/// The names of a configuration record's fields in findings.
struct RecordNames {
  var profile: StaticString
  var level: StaticString
  /// The text before and after the number of a flag.
  var flag: (before: StaticString, after: StaticString)
}

/// A codec whose streams can be checked.
protocol CheckedCodec: CountedCodec {
  /// The rules about syntax that only this codec has.
  associatedtype Rules: CodecRules where Rules.Codec == Self
}

/// The picture type in an access unit delimiter: `primary_pic_type` (H.264, Table 7-5) or `pic_type` (H.265, Table
/// 7-2).
struct AnnouncedType: RawRepresentable, Sendable {
  var rawValue: UInt32

  /// Any slices; in H.265 it is reserved.
  static var any: Self { Self(rawValue: 7) }
}
