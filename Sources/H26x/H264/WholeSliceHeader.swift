// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// A slice header to its end (7.3.3), `slice_group_change_cycle` left out: what decoding needs beyond ``SliceHeader`` and ``ReferenceSyntax``, for those
  /// who look into a stream.
  public struct WholeSliceHeader: Sendable {
    /// What tells pictures apart.
    public let header: SliceHeader
    /// What deals with reference pictures; nil for SVC slices, whose header is read no further.
    public let references: ReferenceSyntax?
    /// `cabac_init_idc`, 0 to 2; 0 in intra slices and with CAVLC.
    public let cabacInitIDC: UInt8
    /// `SliceQPY`: `pic_init_qp_minus26` and `slice_qp_delta` together (7.4.3), −62 to 51; nil for SVC slices.
    public let quantizationParameter: Int?
    /// `disable_deblocking_filter_idc`, 0 to 2.
    public let disableDeblockingFilterIDC: UInt8
    /// `slice_alpha_c0_offset_div2`, −6 to 6.
    public let alphaOffsetDiv2: Int8
    /// `slice_beta_offset_div2`, −6 to 6.
    public let betaOffsetDiv2: Int8

    /// Reads the header of a slice NAL unit (types 1, 2, 5, 19, 20, 21).
    ///
    /// - Parameters:
    ///   - nalUnit: the NAL unit, header included.
    ///   - parameterSets: looked up by `pic_parameter_set_id`.
    ///   - trace: where the syntax elements are written down.
    /// - Throws: `.missingParameterSet` when the PPS or its SPS is not there, or any other ``BitstreamError``.
    public init(
      nalUnit: Span<UInt8>, parameterSets: borrowing ParameterSets, trace: SyntaxTrace? = nil
    ) throws(BitstreamError) {
      let unitHeader = try NALUnitHeader(nalUnit)
      var reader = BitReader(nalUnit, from: unitHeader.byteCount, trace: trace)
      var references: ReferenceSyntax?
      header = try SliceHeader(
        &reader, unitHeader, parameterSets: parameterSets, depth: .referenceMarking, references: &references,
        keepsWeights: true)
      self.references = references
      guard references != nil, let pps = parameterSets.pictureParameterSet(header.pictureParameterSetID) else {
        (cabacInitIDC, quantizationParameter, disableDeblockingFilterIDC) = (0, nil, 0)
        (alphaOffsetDiv2, betaOffsetDiv2) = (0, 0)
        return
      }
      let type = header.sliceType
      cabacInitIDC = pps.usesCABAC && !type.isIntra ? try reader.ue8(in: 0...2, "cabac_init_idc") : 0
      // The range of the sum is checked by decoders; that of the difference is what the sum allows.
      quantizationParameter = Int(pps.initialQP) + Int(try reader.se(in: -113...113, "slice_qp_delta"))
      if type == .sp || type == .si {
        if type == .sp { _ = try reader.flag("sp_for_switch_flag") }
        _ = try reader.se(in: -77...77, "slice_qs_delta")
      }
      var (idc, alpha, beta) = (UInt8(0), Int8(0), Int8(0))
      if pps.isDeblockingControlPresent {
        idc = try reader.ue8(in: 0...2, "disable_deblocking_filter_idc")
        if idc != 1 {
          alpha = try reader.se8(in: -6...6, "slice_alpha_c0_offset_div2")
          beta = try reader.se8(in: -6...6, "slice_beta_offset_div2")
        }
      }
      (disableDeblockingFilterIDC, alphaOffsetDiv2, betaOffsetDiv2) = (idc, alpha, beta)
    }
  }
}
