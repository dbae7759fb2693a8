// SPDX-License-Identifier: MPL-2.0
import H26x

/// The needs of a report beyond a codec's syntax.
protocol ReportedCodec: VideoCodecSyntax {
  /// Follows the pictures.
  associatedtype Pictures: PictureWalking where Pictures.Codec == Self
  /// A slice header up to the slice data.
  associatedtype WholeSliceHeader: WholeSliceHeaderSyntax where WholeSliceHeader.SliceHeader == SliceHeader
  /// A parameter set of any kind.
  associatedtype ParameterSet

  /// The syntax element of an access unit delimiter.
  static var delimiterElement: StaticString { get }
  /// The short name of a NAL unit type.
  static func shortName(_ type: UInt8) -> StaticString
  /// Reads the header into the record.
  static func readHeader(
    _ nalUnit: Span<UInt8>, _ record: inout NALUnitRecord, wantsFields: Bool
  ) -> NALUnitHeaderDefects
  /// Reads a parameter set, for its syntax elements too. `record` gets its id, or why it cannot be read.
  ///
  /// - Returns: the set; nil if it cannot be read, and for one of another layer.
  static func readParameterSet(
    _ nalUnit: Span<UInt8>, _ record: inout NALUnitRecord, sets: borrowing ParameterSets, trace: SyntaxTrace?
  ) -> (content: ParameterSet, hasProperEnd: Bool)?
  /// The SPS; nil for another parameter set.
  static func sequenceParameterSet(_ set: ParameterSet) -> SequenceParameterSet?
  /// Bytes in which any slice header with these parameter sets ends.
  static func longestSliceHeader(_ sets: borrowing ParameterSets) -> Int
  /// The fields of a configuration record that repeat an SPS.
  static func configurationFields(_ record: borrowing ConfigurationRecord) -> ConfigurationFields
  /// The same fields of an SPS.
  static func configurationFields(_ sps: SequenceParameterSet) -> ConfigurationFields
  /// The format of an SPS.
  static func format(_ sps: SequenceParameterSet) -> FormatRecord
}
