// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// Rewrites slices so that they can stand under other parameter sets, for example those of another stream.
  ///
  /// The slice header is written anew (7.3.3), and the slice data is copied. Active reference counts, QP, weights and
  /// deblocking stay the same, even if the parameter sets have other defaults. Without a change, the bytes stay the
  /// same.
  package struct SliceRewriter: Sendable {
    /// The parameter sets of the slices as they are.
    package var source: ParameterSets
    /// The parameter sets of the rewritten slices, with their new ids.
    package var target: ParameterSets
    /// The new ids of the parameter sets of ``source``.
    package var identifiers: ParameterSetIdentifiers

    /// Creates a rewriter.
    package init(
      from source: ParameterSets, to target: ParameterSets,
      identifiers: ParameterSetIdentifiers = ParameterSetIdentifiers()
    ) {
      (self.source, self.target, self.identifiers) = (source, target, identifiers)
    }

    /// Returns a rewritten slice; see ``append(_:to:_:)``.
    package func rewritten(
      _ nalUnit: Span<UInt8>, _ change: (inout SliceHeaderValues) throws(BitstreamError) -> Void = { _ in }
    ) throws(BitstreamError) -> [UInt8] {
      var output: [UInt8] = []
      try append(nalUnit, to: &output, change)
      return output
    }

    /// Appends a rewritten slice NAL unit (types 1 to 5, 19, and 20 and 21 of MVC). Types 3 and 4 stay as they are.
    ///
    /// - Parameters:
    ///   - nalUnit: the NAL unit, header included, without start code or length prefix.
    ///   - output: gets the NAL unit; unchanged after an error.
    ///   - change: changes the values of the header, in which `pic_parameter_set_id` is the new id already.
    /// - Throws: an error of reading the header; `.missingParameterSet`; `.valueOutOfRange` if a value has no code with
    ///   the new parameter sets; `.unsupported` if the slice data would be decoded in another way with them, or if they
    ///   lack a syntax element that is needed; `.badTrailingBits` if the data has no stop bit.
    package func append(
      _ nalUnit: Span<UInt8>, to output: inout [UInt8],
      _ change: (inout SliceHeaderValues) throws(BitstreamError) -> Void = { _ in }
    ) throws(BitstreamError) {
      let start = output.count
      do throws(BitstreamError) {
        try write(nalUnit, to: &output, change)
      } catch {
        output.removeLast(output.count - start)
        throw error
      }
    }

    private func write(
      _ nalUnit: Span<UInt8>, to output: inout [UInt8],
      _ change: (inout SliceHeaderValues) throws(BitstreamError) -> Void
    ) throws(BitstreamError) {
      let header = try NALUnitHeader(nalUnit)
      if header.type == .slicePartitionB || header.type == .slicePartitionC {
        // Neither names a parameter set, and partition A is not rewritten if their syntax depends on it.
        BulkBytes.append(nalUnit, 0..<nalUnit.count, to: &output)
        return
      }
      if case .depth = header.headerExtension {
        throw BitstreamError(.unsupported, "avc_3d_extension_flag", bitOffset: 8)
      }
      let whole = try WholeSliceHeader(nalUnit: nalUnit, parameterSets: source)
      var values = try SliceHeaderValues(whole)
      values.pictureParameterSetID = identifiers[values.pictureParameterSetID]
      try change(&values)
      let isSubset = header.type.hasHeaderExtension
      let old = try SliceParameterSets(whole.header.pictureParameterSetID, in: source, forSubset: isSubset)
      let new = try SliceParameterSets(values.pictureParameterSetID, in: target, forSubset: isSubset)
      if let conflict = old.firstConflict(with: new, values) {
        throw BitstreamError(.unsupported, conflict, bitOffset: 0)
      }
      if header.type == .slicePartitionA,
        old.pps.isRedundantPictureCountPresent != new.pps.isRedundantPictureCountPresent
      {
        throw BitstreamError(.unsupported, "redundant_pic_cnt_present_flag", bitOffset: 0)
      }
      var front = BitWriter(addsEmulationPrevention: false)
      try values.write(to: &front, from: old, under: new)
      var dataOffset = whole.dataBitOffset
      if new.pps.usesCABAC {
        // cabac_alignment_one_bit (7.3.4).
        while !front.isByteAligned { front.flag(true) }
        dataOffset = (dataOffset + 7) & ~7
      }
      BulkBytes.append(nalUnit, 0..<header.byteCount, to: &output)
      if values.isIDR, !header.isIDR {
        guard header.type == .slice, values.sliceType.isIntra else {
          throw BitstreamError(.unsupported, "nal_unit_type", bitOffset: 3)
        }
        output[output.count - 1] = nalUnit[0] & 0xE0 | NALUnitType.idrSlice.rawValue
      }
      try RewrittenPayload(of: nalUnit, headerLength: header.byteCount)
        .append(front, thenFrom: dataOffset, to: &output)
    }
  }
}
