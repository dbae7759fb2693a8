// SPDX-License-Identifier: MPL-2.0

/// A codec whose streams can be checked.
protocol CheckedCodec: ReportedCodec {
  /// The rules about syntax that only this codec has.
  associatedtype Rules: CodecRules where Rules.Codec == Self
}
