// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// A whole slice header (7.3.3): the elements that decoding needs beyond ``SliceHeader`` and ``ReferenceSyntax``, for
  /// those who inspect a stream or read its slice data.
  public struct WholeSliceHeader: Sendable {
    /// The part that distinguishes pictures.
    public let header: SliceHeader
    /// The part about reference pictures; nil for SVC slices, whose header is read no further.
    public let references: ReferenceSyntax?
    /// `cabac_init_idc`, 0 to 2; 0 in intra slices and with CAVLC.
    public let cabacInitIDC: UInt8
    /// `SliceQPY`: 26 + `pic_init_qp_minus26` + `slice_qp_delta` (7.4.3), legally −36 to 51, which is not checked; nil
    /// for SVC slices.
    public let quantizationParameter: Int?
    /// `disable_deblocking_filter_idc`, 0 to 2.
    public let disableDeblockingFilterIDC: UInt8
    /// `slice_alpha_c0_offset_div2`, −6 to 6.
    public let alphaOffsetDiv2: Int8
    /// `slice_beta_offset_div2`, −6 to 6.
    public let betaOffsetDiv2: Int8
    /// `sp_for_switch_flag`; false outside SP slices.
    public let isForSwitching: Bool
    /// `QSY`: 26 + `pic_init_qs_minus26` + `slice_qs_delta` (7.4.3), legally 0 to 51, which is not checked; nil outside SP
    /// and SI slices.
    public let switchingQuantizationParameter: Int?
    /// `slice_group_change_cycle`; 0 when absent.
    public let sliceGroupChangeCycle: UInt32
    /// The bit behind the header, from the start of the NAL unit, without emulation prevention bytes: where
    /// `slice_data()` begins, or the `slice_id` of a data partition. 0 for SVC slices.
    public let dataBitOffset: Int
    /// Whether every `cabac_alignment_one_bit` behind the header is 1 (7.3.4); true without CABAC.
    public let endsWithOnes: Bool

    /// Reads the header of a slice NAL unit (types 1, 2, 5, 19, 20, 21).
    ///
    /// - Parameters:
    ///   - nalUnit: the NAL unit, header included.
    ///   - parameterSets: looked up by `pic_parameter_set_id`.
    ///   - trace: records the syntax elements; nil for no record.
    /// - Throws: `.missingParameterSet` when the PPS or its SPS is not there, or any other ``BitstreamError``.
    public init(
      nalUnit: Span<UInt8>, parameterSets: borrowing ParameterSets, trace: SyntaxTrace? = nil
    ) throws(BitstreamError) {
      try self.init(nalUnit: nalUnit, parameterSets: parameterSets, trace: trace, keepsWeights: true)
    }

    /// Reads the header of a slice NAL unit, and keeps the weights of weighted prediction or only reads them.
    package init(
      nalUnit: Span<UInt8>, parameterSets: borrowing ParameterSets, trace: SyntaxTrace?, keepsWeights: Bool
    ) throws(BitstreamError) {
      let unitHeader = try NALUnitHeader(nalUnit)
      var reader = BitReader(nalUnit, from: unitHeader.byteCount, trace: trace)
      var references: ReferenceSyntax?
      header = try SliceHeader(
        &reader, unitHeader, parameterSets: parameterSets, depth: .referenceMarking, references: &references,
        keepsWeights: keepsWeights)
      self.references = references
      guard references != nil, let pps = parameterSets.pictureParameterSet(header.pictureParameterSetID) else {
        (cabacInitIDC, quantizationParameter, disableDeblockingFilterIDC) = (0, nil, 0)
        (alphaOffsetDiv2, betaOffsetDiv2, endsWithOnes) = (0, 0, true)
        (isForSwitching, switchingQuantizationParameter, sliceGroupChangeCycle, dataBitOffset) = (false, nil, 0, 0)
        return
      }
      let type = header.sliceType
      cabacInitIDC = pps.usesCABAC && !type.isIntra ? try reader.ue8(in: 0...2, "cabac_init_idc") : 0
      // Decoders check the range of the sum.
      quantizationParameter = Int(pps.initialQP) + Int(try reader.se(in: -113...113, "slice_qp_delta"))
      var (isForSwitching, switchingQP) = (false, Int?.none)
      if type == .sp || type == .si {
        if type == .sp { isForSwitching = try reader.flag("sp_for_switch_flag") }
        switchingQP = Int(pps.initialQS) &+ Int(try reader.se(in: -77...77, "slice_qs_delta"))
      }
      (self.isForSwitching, switchingQuantizationParameter) = (isForSwitching, switchingQP)
      var (idc, alpha, beta) = (UInt8(0), Int8(0), Int8(0))
      if pps.isDeblockingControlPresent {
        idc = try reader.ue8(in: 0...2, "disable_deblocking_filter_idc")
        if idc != 1 {
          alpha = try reader.se8(in: -6...6, "slice_alpha_c0_offset_div2")
          beta = try reader.se8(in: -6...6, "slice_beta_offset_div2")
        }
      }
      (disableDeblockingFilterIDC, alphaOffsetDiv2, betaOffsetDiv2) = (idc, alpha, beta)
      var cycle = UInt32(0)
      if let groups = pps.sliceGroups, let sps = parameterSets.sequenceParameterSet(header.sequenceParameterSetID) {
        let length = groups.changeCycleLength(mapUnits: sps.widthInMacroblocks * sps.heightInMapUnits)
        if length > 0 { cycle = try reader.u(length, "slice_group_change_cycle") }
      }
      sliceGroupChangeCycle = cycle
      dataBitOffset = reader.bitOffset
      endsWithOnes = !pps.usesCABAC || reader.endsByteWithOnes
    }
  }
}
