// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// Rewrites slice segments under other ids of their parameter sets, or as pictures of another type.
  ///
  /// `slice_segment_data()` begins with a whole byte behind one that is not zero (7.3.2.9), so its bytes stay the same,
  /// emulation prevention bytes included. The entry points, which count these bytes, stay right.
  package struct SliceSegmentRewriter: Sendable {
    /// The parameter sets of the slices as they are.
    package var source: ParameterSets
    /// The new ids of the parameter sets.
    package var identifiers: ParameterSetIdentifiers

    /// Changes to the pictures of slice segments.
    package struct Change: Sendable, Hashable {
      /// The new `nal_unit_type`; nil to keep it. It must be of the same kind: IDR, other IRAP, or no IRAP picture. A
      /// CRA picture may become a BLA picture.
      package var type: NALUnitType?
      /// The new `no_output_of_prior_pics_flag` of IRAP pictures; nil to keep it.
      package var discardsPriorPictures: Bool?

      /// Creates a change.
      package init(type: NALUnitType? = nil, discardsPriorPictures: Bool? = nil) {
        (self.type, self.discardsPriorPictures) = (type, discardsPriorPictures)
      }
    }

    /// Creates a rewriter.
    package init(from source: ParameterSets, identifiers: ParameterSetIdentifiers = ParameterSetIdentifiers()) {
      (self.source, self.identifiers) = (source, identifiers)
    }

    /// Returns a rewritten slice segment; see ``append(_:to:_:)``.
    package func rewritten(_ nalUnit: Span<UInt8>, _ change: Change = Change()) throws(BitstreamError) -> [UInt8] {
      var output: [UInt8] = []
      try append(nalUnit, to: &output, change)
      return output
    }

    /// Appends a rewritten slice segment NAL unit (types 0 to 9 and 16 to 21) of the base layer.
    ///
    /// - Parameters:
    ///   - nalUnit: the NAL unit, header included, without start code or length prefix.
    ///   - output: gets the NAL unit; unchanged after an error.
    ///   - change: changes to the picture.
    /// - Throws: an error of reading the header; `.missingParameterSet`; `.valueOutOfRange` for an id that H.265 does
    ///   not have; `.unsupported` for another layer, or for a type with other syntax.
    package func append(
      _ nalUnit: Span<UInt8>, to output: inout [UInt8], _ change: Change = Change()
    ) throws(BitstreamError) {
      let slice = try CodedSliceHeader(nalUnit: nalUnit, parameterSets: source)
      var header = try NALUnitHeader(nalUnit)
      if let type = change.type {
        guard type.isSlice, type.isIDR == header.type.isIDR, type.isIRAP == header.type.isIRAP else {
          throw BitstreamError(.unsupported, "nal_unit_type", bitOffset: 1)
        }
        header.type = type
      }
      var reader = BitReader(nalUnit, from: NALUnitHeader.byteCount)
      var front = BitWriter(addsEmulationPrevention: false)
      front.flag(try reader.flag("first_slice_segment_in_pic_flag"))
      if header.type.isIRAP {
        let discards = try reader.flag("no_output_of_prior_pics_flag")
        front.flag(change.discardsPriorPictures ?? discards)
      }
      let start = reader.bitOffset
      let id = identifiers[PictureParameterSetID(try reader.ue8(in: 0...63, "slice_pic_parameter_set_id"))]
      guard id.rawValue <= 63 else {
        throw BitstreamError(.valueOutOfRange, "slice_pic_parameter_set_id", bitOffset: start)
      }
      front.ue(UInt32(id.rawValue))
      // byte_alignment() is a one and zeros.
      let dataOffset = slice.end.dataBitOffset
      let last = RawPlace(bitOffset: dataOffset - 8, in: nalUnit, from: NALUnitHeader.byteCount).byte
      try reader.copy(to: dataOffset - 1 - nalUnit[last].trailingZeroBitCount, &front)
      front.trailingBits()
      var headerWriter = BitWriter(addsEmulationPrevention: false)
      header.write(to: &headerWriter)
      let length = output.count
      output += headerWriter.bytes
      do throws(BitstreamError) {
        try RewrittenPayload(of: nalUnit, headerLength: NALUnitHeader.byteCount)
          .append(front, thenFrom: dataOffset, to: &output)
      } catch {
        output.removeLast(output.count - length)
        throw error
      }
    }
  }
}

extension BitReader {
  /// Copies the bits up to a place.
  mutating func copy(to end: Int, _ writer: inout BitWriter) throws(BitstreamError) {
    while bitOffset < end {
      let count = min(32, end - bitOffset)
      writer.u(count, try u(count, "rbsp"))
    }
  }
}
