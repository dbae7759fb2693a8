// SPDX-License-Identifier: MPL-2.0
import H26x

/// The findings in a NAL unit.
struct WalkedNALUnit<Codec: ReportedCodec> {
  /// The contents, as far as they are read.
  enum Content {
    case slice(Codec.Pictures.Slice)
    /// A slice whose header cannot be read.
    case unreadableSlice(BitstreamError)
    /// A parameter set that is new or changed.
    case parameterSet(WalkedParameterSet<Codec>)
    /// SEI messages.
    case messages(endsProperly: Bool)
    /// The picture type of an access unit delimiter; nil if it cannot be read.
    case delimiter(UInt32?)
    /// An RPU of Dolby Vision; nil if it cannot be read.
    case rpu(WalkedRPU?)
    /// Nothing that is read, such as a parameter set that was there before.
    case other
  }

  var record: NALUnitRecord
  var role: NALUnitRole
  var header: NALUnitHeaderDefects
  /// A byte sequence that it must not contain: its start and its third byte.
  var forbiddenSequence: (offset: Int, byte: UInt8)?
  /// Its last byte is zero.
  var endsWithZero: Bool
  /// The contents. The record has the reason if they cannot be read.
  var content = Content.other
}

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

/// The findings in an RPU of Dolby Vision.
struct WalkedRPU: Sendable {
  /// The profile of Dolby Vision; nil if the RPU does not say.
  var profile: UInt8?
  var hasValidCRC: Bool
}

/// Defects of a NAL unit's header that its record does not have.
struct NALUnitHeaderDefects: Sendable {
  /// The header is cut off.
  var isTruncated = false
  /// `forbidden_zero_bit` is 1.
  var hasForbiddenBit = false
  /// `nuh_temporal_id_plus1` is 0 (H.265).
  var lacksTemporalID = false
}
