// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// The end of a slice segment header (7.3.6.1), which dependent slice segments have too: entry points and extension.
  package struct SliceSegmentEnd: Sendable, Hashable {
    /// `num_entry_point_offsets`.
    package let entryPointCount: UInt32
    /// `offset_len_minus1` + 1, 1 to 32; 0 without entry points.
    package let entryPointLength: UInt8
    /// The place of the first `entry_point_offset_minus1`, in bits from the start of the NAL unit.
    package let entryPointBitOffset: Int
    /// `slice_segment_header_extension_length` in bytes, 0 to 256.
    package let headerExtensionLength: Int
    /// The start of `slice_segment_data()`, in bits from the start of the NAL unit, without emulation prevention
    /// bytes.
    package let dataBitOffset: Int
    /// The index of its first byte in the NAL unit, emulation prevention bytes included.
    package let dataByteOffset: Int

    init(
      _ reader: inout BitReader, pps: PictureParameterSet, sps: SequenceParameterSet
    ) throws(BitstreamError) {
      (entryPointCount, entryPointLength, entryPointBitOffset) = try Self.entryPoints(&reader, pps: pps, sps: sps)
      if pps.isSliceHeaderExtensionPresent {
        headerExtensionLength = Int(try reader.ue(in: 0...256, "slice_segment_header_extension_length"))
        for _ in 0..<headerExtensionLength { _ = try reader.byte("slice_segment_header_extension_data_byte") }
      } else {
        headerExtensionLength = 0
      }
      let end = reader.bitOffset
      guard try reader.flag("alignment_bit_equal_to_one") else {
        throw BitstreamError(.badTrailingBits, "alignment_bit_equal_to_one", bitOffset: end)
      }
      dataBitOffset = (reader.bitOffset + 7) & ~7
      dataByteOffset = reader.nextByteIndex
    }

    private static func entryPoints(
      _ reader: inout BitReader, pps: PictureParameterSet, sps: SequenceParameterSet
    ) throws(BitstreamError) -> (UInt32, UInt8, Int) {
      guard pps.tiles != nil || pps.usesWavefronts else { return (0, 0, reader.bitOffset) }
      // Fewer than coding tree blocks, by any of the bounds of 7.4.7.1.
      let limit = UInt32(clamping: max(1, sps.codingTreeBlockCount) - 1)
      let count = try reader.ue(in: 0...limit, "num_entry_point_offsets")
      guard count > 0 else { return (0, 0, reader.bitOffset) }
      let length = try reader.ue(in: 0...31, "offset_len_minus1") + 1
      let start = reader.bitOffset
      for _ in 0..<count { _ = try reader.u(Int(length), "entry_point_offset_minus1") }
      return (count, UInt8(length), start)
    }

    /// A reader of the entry points, for ``entryPoint(_:)``. It reads them again instead of keeping them.
    @_lifetime(copy nalUnit)
    package func entryPointReader(_ nalUnit: Span<UInt8>) throws(BitstreamError) -> BitReader {
      var reader = BitReader(nalUnit, from: NALUnitHeader.byteCount)
      try reader.skip(entryPointBitOffset - 8 * NALUnitHeader.byteCount, "entry_point_offset_minus1")
      return reader
    }

    /// `entry_point_offset_minus1` + 1: the bytes of the next substream, emulation prevention bytes included.
    package func entryPoint(_ reader: inout BitReader) throws(BitstreamError) -> Int {
      Int(clamping: UInt64(try reader.u(Int(entryPointLength), "entry_point_offset_minus1")) + 1)
    }
  }

  /// A slice segment header that has been read to its end, for those who read slice data.
  package struct CodedSliceHeader: Sendable {
    /// The part that distinguishes pictures.
    package let header: SliceSegmentHeader
    /// The coding parameters; nil for a dependent slice segment, which has those of the slice.
    package let coding: SliceCoding?
    /// The end of the header.
    package let end: SliceSegmentEnd

    /// Reads the header of a slice segment NAL unit (types 0 to 9 and 16 to 21) of the base layer.
    package init(
      nalUnit: Span<UInt8>, parameterSets: borrowing ParameterSets
    ) throws(BitstreamError) {
      var reader = BitReader(nalUnit, from: NALUnitHeader.byteCount)
      header = try SliceSegmentHeader(&reader, nalUnit: nalUnit, parameterSets: parameterSets)
      if header.isDependent {
        guard let pps = parameterSets.pictureParameterSet(header.pictureParameterSetID),
          let sps = parameterSets.sequenceParameterSet(header.sequenceParameterSetID)
        else {
          throw BitstreamError(.missingParameterSet, "slice_pic_parameter_set_id", bitOffset: reader.bitOffset)
        }
        coding = nil
        end = try SliceSegmentEnd(&reader, pps: pps, sps: sps)
        return
      }
      let references = try ReferenceSyntax(&reader, header, parameterSets: parameterSets)
      let coding = try SliceCoding(&reader, header, references, parameterSets: parameterSets)
      self.coding = coding
      end = coding.end
    }
  }
}
