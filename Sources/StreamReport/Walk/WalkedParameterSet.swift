// SPDX-License-Identifier: MPL-2.0
import H26x

/// A parameter set that is new, or has other content than the set before of its type and id. An immutable class:
/// other NAL units, which are far more, need no room for it.
final class WalkedParameterSet<Codec: ReportedCodec> {
  /// nil if it cannot be read, and for a set of another layer.
  let content: Codec.ParameterSet?
  /// Whether it ends with its trailing bits.
  let hasProperEnd: Bool
  /// Whether it replaces one of the same type and id.
  let isReplacement: Bool
  /// With fields and all bytes.
  let record: NALUnitRecord

  init(_ set: (content: Codec.ParameterSet, hasProperEnd: Bool)?, isReplacement: Bool, _ record: NALUnitRecord) {
    (content, hasProperEnd) = (set?.content, set?.hasProperEnd ?? true)
    (self.isReplacement, self.record) = (isReplacement, record)
  }

  /// The format by an SPS; nil for another parameter set.
  var format: FormatRecord? { content.flatMap { Codec.sequenceParameterSet($0) }.map { Codec.format($0) } }
}
