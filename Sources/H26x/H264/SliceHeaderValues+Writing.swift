// SPDX-License-Identifier: MPL-2.0

extension H264.SliceHeaderValues {
  /// Writes `slice_header()` (7.3.3): the inverse of reading it.
  ///
  /// - Parameters:
  ///   - writer: gets the bits.
  ///   - old: the parameter sets that the values were read with.
  ///   - new: the parameter sets to write them with.
  /// - Throws: `.valueOutOfRange` if a value has no code with the parameter sets, `.unsupported` if they have no syntax
  ///   element for a value that is needed. The error names the element.
  func write(
    to writer: inout BitWriter, from old: borrowing H264.SliceParameterSets,
    under new: borrowing H264.SliceParameterSets
  ) throws(BitstreamError) {
    let parameters = new.parameters
    guard firstMacroblock < parameters.frameSizeInMacroblocks else { throw .beyond("first_mb_in_slice") }
    writer.ue(firstMacroblock)
    writer.ue(UInt32(sliceType.rawValue) + (isTypeOfWholePicture ? 5 : 0))
    writer.ue(UInt32(pictureParameterSetID.rawValue))
    if parameters.hasSeparateColourPlanes { writer.u(2, UInt32(colourPlaneID)) }
    try writer.u(Int(parameters.log2MaximumFrameNumber), checking: frameNumber, "frame_num")
    if parameters.isFrameOnly {
      guard !isField else { throw .lacking("field_pic_flag") }
    } else {
      writer.flag(isField)
      if isField { writer.flag(isBottomField) }
    }
    if isIDR { writer.ue(UInt32(idrPictureID)) }
    try writePictureOrder(to: &writer, parameters)
    if parameters.isRedundantPictureCountPresent {
      guard redundantPictureCount <= 127 else { throw .beyond("redundant_pic_cnt") }
      writer.ue(UInt32(redundantPictureCount))
    } else if redundantPictureCount > 0 {
      throw .lacking("redundant_pic_cnt")
    }
    try writeReferences(to: &writer, old.parameters, parameters)
    if new.pps.usesCABAC, !sliceType.isIntra { writer.ue(UInt32(cabacInitIDC)) }
    let delta = Int32(clamping: quantizationParameter - Int(new.pps.initialQP))
    guard -113...113 ~= delta else { throw .beyond("slice_qp_delta") }
    writer.se(delta)
    if let switchingQuantizationParameter {
      if sliceType == .sp { writer.flag(isForSwitching) }
      let delta = Int32(clamping: switchingQuantizationParameter &- Int(new.pps.initialQS))
      guard -77...77 ~= delta else { throw .beyond("slice_qs_delta") }
      writer.se(delta)
    }
    try writeDeblocking(to: &writer, new.pps)
    if let groups = new.pps.sliceGroups {
      let length = groups.changeCycleLength(mapUnits: new.sps.widthInMacroblocks * new.sps.heightInMapUnits)
      try writer.u(length, checking: sliceGroupChangeCycle, "slice_group_change_cycle")
    }
  }

  private func writePictureOrder(
    to writer: inout BitWriter, _ parameters: H264.SliceParameters
  ) throws(BitstreamError) {
    let hasBottom = parameters.isBottomFieldPictureOrderPresent && !isField
    switch (pictureOrder, parameters.pictureOrderCountType) {
    case (.leastSignificantBits(let lsb, let deltaBottom), 0):
      try writer.u(Int(parameters.log2MaximumPictureOrderCount), checking: lsb, "pic_order_cnt_lsb")
      if hasBottom {
        writer.se(deltaBottom)
      } else if deltaBottom != 0 {
        throw .lacking("delta_pic_order_cnt_bottom")
      }
    case (.differences(let first, let second), 1):
      let hasFirst = !parameters.isDeltaPictureOrderAlwaysZero
      if hasFirst {
        writer.se(first)
      } else if first != 0 {
        throw .lacking("delta_pic_order_cnt[0]")
      }
      if hasFirst, hasBottom {
        writer.se(second)
      } else if second != 0 {
        throw .lacking("delta_pic_order_cnt[1]")
      }
    case (.decodingOrder, 2): break
    default: throw .lacking("pic_order_cnt_type")
    }
  }

  private func writeDeblocking(
    to writer: inout BitWriter, _ pps: borrowing H264.PictureParameterSet
  ) throws(BitstreamError) {
    guard pps.isDeblockingControlPresent else {
      guard deblocking == Deblocking() else { throw .lacking("deblocking_filter_control_present_flag") }
      return
    }
    guard deblocking.disableIDC <= 2 else { throw .beyond("disable_deblocking_filter_idc") }
    writer.ue(UInt32(deblocking.disableIDC))
    guard deblocking.disableIDC != 1 else { return }
    for (offset, name) in [
      (deblocking.alphaOffsetDiv2, "slice_alpha_c0_offset_div2" as StaticString),
      (deblocking.betaOffsetDiv2, "slice_beta_offset_div2"),
    ] {
      guard -6...6 ~= offset else { throw .beyond(name) }
      writer.se(Int32(offset))
    }
  }

  // MARK: Reference pictures

  private func writeReferences(
    to writer: inout BitWriter, _ old: H264.SliceParameters, _ new: H264.SliceParameters
  ) throws(BitstreamError) {
    let syntax = references.syntax
    let isB = sliceType == .b
    if isB { writer.flag(syntax.usesSpatialDirectPrediction) }
    if !sliceType.isIntra {
      let areDefault =
        syntax.referenceCountList0 == new.defaultReferenceCountList0
        && (!isB || syntax.referenceCountList1 == new.defaultReferenceCountList1)
      let overrides = syntax.overridesReferenceCounts || !areDefault
      writer.flag(overrides)
      if overrides {
        for (count, name) in [
          (syntax.referenceCountList0, "num_ref_idx_l0_active_minus1" as StaticString),
          (syntax.referenceCountList1, "num_ref_idx_l1_active_minus1"),
        ].prefix(isB ? 2 : 1) {
          guard 1...(isField ? 32 : 16) ~= count else { throw .beyond(name) }
          writer.ue(UInt32(count) - 1)
        }
      }
      let (before, after) = (maximumPictureNumber(old), maximumPictureNumber(new))
      for list in [syntax.modificationsList0, syntax.modificationsList1].prefix(isB ? 2 : 1) {
        try H264.ReferenceSyntax.ListModification.write(list, to: &writer, before, after)
      }
    }
    try writeWeights(to: &writer, old, new)
    switch (references.marking, syntax.marking) {
    case (let marking?, .some): try marking.write(to: &writer, isIDR: isIDR)
    case (nil, nil): break
    default: throw .beyond("dec_ref_pic_marking")
    }
  }

  /// MaxPicNum (7.4.3).
  private func maximumPictureNumber(_ parameters: H264.SliceParameters) -> Int64 {
    Int64(isField ? 2 : 1) << Int64(parameters.log2MaximumFrameNumber)
  }

  /// Writes `pred_weight_table()`. A table without weights means the same as none.
  private func writeWeights(
    to writer: inout BitWriter, _ old: H264.SliceParameters, _ new: H264.SliceParameters
  ) throws(BitstreamError) {
    guard !sliceType.isIntra else { return }
    let isB = sliceType == .b
    guard !isB || (old.weightedBipredictionIDC == 2) == (new.weightedBipredictionIDC == 2) else {
      throw .lacking("weighted_bipred_idc")
    }
    let weights = references.syntax.predictionWeights
    guard isB ? new.weightedBipredictionIDC == 1 : new.usesWeightedPrediction else {
      guard weights?.isNeutral ?? true else { throw .lacking(isB ? "weighted_bipred_idc" : "weighted_pred_flag") }
      return
    }
    writer.ue(UInt32(weights?.lumaLog2Denominator ?? 0))
    if !new.isMonochrome { writer.ue(UInt32(weights?.chromaLog2Denominator ?? 0)) }
    if let weights {
      for entry in weights.list0 + weights.list1 { entry.write(to: &writer, isMonochrome: new.isMonochrome) }
    } else {
      let count = Int(references.syntax.referenceCountList0) + Int(references.syntax.referenceCountList1)
      for _ in 0..<count { writer.u(new.isMonochrome ? 1 : 2, 0) }
    }
  }
}

extension H264.ReferenceSyntax.ListModification {
  /// Writes `ref_pic_list_modification()` of a list (7.3.3.1).
  ///
  /// Differences of picture numbers are modulo MaxPicNum (8.2.4.3.1), which depends on the SPS.
  ///
  /// - Parameters:
  ///   - old: MaxPicNum of the SPS that the steps were read with.
  ///   - new: MaxPicNum of the SPS to write them with.
  fileprivate static func write(
    _ steps: [Self], to writer: inout BitWriter, _ old: Int64, _ new: Int64
  ) throws(BitstreamError) {
    writer.flag(!steps.isEmpty)
    guard !steps.isEmpty else { return }
    // How far the picture of the step before is behind the current one.
    var distance = Int64(0)
    for step in steps {
      var value = step.value
      if step.operation <= 1 {
        let sign: Int64 = step.operation == 0 ? 1 : -1
        let next = remainder(distance + sign * (Int64(value) + 1), old)
        if old != new {
          guard next < new else { throw .beyond("abs_diff_pic_num_minus1") }
          let difference = remainder(sign * (next - distance), new)
          value = UInt32(truncatingIfNeeded: difference == 0 ? new - 1 : difference - 1)
        }
        distance = next
      }
      writer.ue(UInt32(step.operation))
      writer.ue(value)
    }
    writer.ue(3)
  }

  /// The remainder of a floored division.
  private static func remainder(_ value: Int64, _ divisor: Int64) -> Int64 {
    let remainder = value % divisor
    return remainder < 0 ? remainder + divisor : remainder
  }
}

extension H264.ReferenceSyntax.PredictionWeights {
  /// Whether no picture has weights: prediction is as without the table.
  fileprivate var isNeutral: Bool {
    (list0 + list1).allSatisfy { $0.luma == nil && $0.cb == nil && $0.cr == nil }
  }
}

extension H264.ReferenceSyntax.PredictionWeights.Entry {
  fileprivate func write(to writer: inout BitWriter, isMonochrome: Bool) {
    writer.flag(luma != nil)
    luma?.write(to: &writer)
    guard !isMonochrome else { return }
    writer.flag(cb != nil)
    cb?.write(to: &writer)
    cr?.write(to: &writer)
  }
}

extension H264.ReferenceSyntax.PredictionWeights.Weight {
  fileprivate func write(to writer: inout BitWriter) {
    writer.se(Int32(weight))
    writer.se(Int32(offset))
  }
}

extension H264.ReferenceSyntax.ReferenceMarking {
  /// Writes `dec_ref_pic_marking()` (7.3.3.3).
  fileprivate func write(to writer: inout BitWriter, isIDR: Bool) throws(BitstreamError) {
    switch self {
    case .idr(let noOutputOfPriorPictures, let isLongTerm) where isIDR:
      writer.flag(noOutputOfPriorPictures)
      writer.flag(isLongTerm)
    case .slidingWindow where !isIDR:
      writer.flag(false)
    case .adaptive(let operations) where !isIDR:
      writer.flag(true)
      for operation in operations {
        writer.ue(UInt32(operation.code))
        if operation.code != 5 { writer.ue(operation.first) }
        if operation.code == 3 { writer.ue(operation.second) }
      }
      writer.ue(0)
    default: throw .beyond("dec_ref_pic_marking")
    }
  }
}

extension BitWriter {
  /// Writes `u(count)`.
  ///
  /// - Throws: `.valueOutOfRange` if the value has more bits.
  fileprivate mutating func u(
    _ count: Int, checking value: UInt32, _ element: StaticString
  ) throws(BitstreamError) {
    guard UInt64(value) >> UInt64(count) == 0 else { throw .beyond(element) }
    u(count, value)
  }
}

extension BitstreamError {
  /// The error of a value that has no code.
  fileprivate static func beyond(_ element: StaticString) -> BitstreamError {
    BitstreamError(.valueOutOfRange, element, bitOffset: 0)
  }

  /// The error of a value for which the parameter sets have no syntax element.
  fileprivate static func lacking(_ element: StaticString) -> BitstreamError {
    BitstreamError(.unsupported, element, bitOffset: 0)
  }
}
