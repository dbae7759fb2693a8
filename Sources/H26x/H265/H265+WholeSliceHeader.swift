// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// A whole slice segment header (7.3.6.1), up to `slice_segment_data()`: for those who inspect a stream.
  public struct WholeSliceHeader: Sendable {
    /// The part that distinguishes pictures.
    public let header: SliceSegmentHeader
    /// The part about reference pictures; nil for a dependent slice segment.
    public let references: ReferenceSyntax?
    /// The coding parameters; nil for a dependent slice segment.
    public let coding: SliceCoding?

    /// `SliceQpY`, −48 to 51; nil if it is not known.
    public var quantizationParameter: Int? { coding?.quantizationParameter }

    /// Reads the header of a slice segment NAL unit (types 0 to 9 and 16 to 21) of the base layer.
    ///
    /// - Parameters:
    ///   - nalUnit: the NAL unit, header included.
    ///   - parameterSets: looked up by `slice_pic_parameter_set_id`.
    ///   - trace: records the syntax elements; nil for no record.
    /// - Throws: `.missingParameterSet` when the PPS or its SPS is not there, or any other ``BitstreamError``.
    public init(
      nalUnit: Span<UInt8>, parameterSets: borrowing ParameterSets, trace: SyntaxTrace? = nil
    ) throws(BitstreamError) {
      var reader = BitReader(nalUnit, from: NALUnitHeader.byteCount, trace: trace)
      header = try SliceSegmentHeader(&reader, nalUnit: nalUnit, parameterSets: parameterSets)
      guard !header.isDependent else {
        (references, coding) = (nil, nil)
        return
      }
      let references = try ReferenceSyntax(&reader, header, parameterSets: parameterSets)
      coding = try SliceCoding(&reader, header, references, parameterSets: parameterSets)
      self.references = references
    }
  }
}
