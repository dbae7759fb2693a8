// SPDX-License-Identifier: MPL-2.0
import H26x

/// What was met in a NAL unit.
struct WalkedNALUnit<Codec: ReportedCodec> {
  /// What it holds, as far as that is read.
  enum Content {
    case slice(Codec.Pictures.Slice)
    /// A slice whose header cannot be read.
    case unreadableSlice(BitstreamError)
    /// A parameter set that is new or changed.
    case parameterSet(WalkedParameterSet<Codec>)
    /// SEI messages.
    case messages(endsProperly: Bool)
    /// The picture type of an access unit delimiter; nil when it cannot be read.
    case delimiter(UInt32?)
    /// Nothing that is read, such as a parameter set that was there before.
    case other
  }

  var record: NALUnitRecord
  var role: NALUnitRole
  var header: HeaderFacts
  /// A byte sequence that it must not contain: where it begins, and its third byte.
  var forbiddenSequence: (offset: Int, byte: UInt8)?
  /// Its last byte is zero.
  var endsWithZero: Bool
  /// What it holds. Why that cannot be read is in the record.
  var content = Content.other
}
