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
