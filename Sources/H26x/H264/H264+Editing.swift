// SPDX-License-Identifier: MPL-2.0

extension H264: StreamEditing {
  /// Applies edits to an SPS or subset SPS; other parameter sets are unchanged.
  ///
  /// - Throws: the refusal of an edit.
  public static func edited(
    parameterSet nalUnit: Span<UInt8>, _ edits: [StreamEdit], sets: borrowing ParameterSets
  ) throws(StreamEditError) -> EditedParameterSet {
    guard nalUnit.count > 0 else { return .unchanged }
    switch NALUnitType(headerByte: nalUnit[0]) {
    case .sequenceParameterSet: return try SequenceParameterSet.edited(nalUnit, headerLength: 1, .sequence, edits)
    case .subsetSequenceParameterSet:
      let base = try SequenceParameterSet.edited(nalUnit, headerLength: 1, .subset, edits)
      return try SubsetExtensionEdit(edits)?.edited(nalUnit, base) ?? base
    default: return .unchanged
    }
  }

  /// Applies edits to the NAL units of an avcC record. Its profile and level come from the first SPS.
  ///
  /// - Throws: the errors of `edited`; `.lengthNotRepresentable`.
  public static func edited(
    _ record: DecoderConfigurationRecord, with edited: ([UInt8]) throws(StreamEditError) -> [UInt8]?
  ) throws(StreamEditError) -> DecoderConfigurationRecord {
    var record = record
    for index in record.sequenceParameterSets.indices {
      guard let new = try edited(record.sequenceParameterSets[index]) else { continue }
      try StreamEditError.checkRecordLength(new)
      record.sequenceParameterSets[index] = new
    }
    guard let first = record.sequenceParameterSets.first else { return record }
    do throws(BitstreamError) {
      let sps = try SequenceParameterSet.usable(first.span)
      record.profile = sps.profile
      record.levelIDC = sps.levelIDC
    } catch {
      // The record's fields stay as they are, as does the set.
    }
    return record
  }
}

extension H264.SequenceParameterSet: EditableParameterSet {
  init(payload reader: inout BitReader) throws(BitstreamError) { try self.init(&reader) }

  var number: UInt8 { id.rawValue }

  func withVUI(of other: Self) -> Self {
    var set = self
    set.vui = other.vui
    return set
  }

  mutating func apply(_ edit: StreamEdit) throws(StreamEditError) {
    switch edit {
    case .crop(let margins): try crop(margins)
    case .level(let level): try setLevel(level)
    case .constraintSet(let set, let value): try setConstraint(set, value)
    case .reordering(let frames, let buffer): try setReordering(frames, buffer: buffer)
    case .highTier(let isHigh):
      throw StreamEditError(
        .notInCodec, "general_tier_flag", isHigh ? 1 : 0, "H.264 has no tiers", clause: "H.264 A.3")
    case .compatibleProfile, .sourceConstraint:
      throw StreamEditError(
        .notInCodec, "general_profile_compatibility_flag", nil, "H.264 has other constraint flags",
        clause: "H.264 7.4.2.1.1")
    case .convertDolbyVision:
      throw StreamEditError(
        .notInCodec, "dv_profile", 7, "H.264 has Dolby Vision of profile 9 only",
        clause: "Dolby Vision Profiles and Levels, 1")
    case .removeHRD:
      try editVUI { (vui: inout H264.VUI) throws(StreamEditError) in
        (vui.nalHRD, vui.vclHRD, vui.isLowDelayHRD) = (nil, nil, false)
      }
    // Picture timing is demanded by the flag (D.2.3).
    case _ where edit.removesPictureTiming:
      try editVUI { (vui: inout H264.VUI) throws(StreamEditError) in vui.isPictureStructurePresent = false }
    case .frameRate(let rate): try editVUI { (vui: inout H264.VUI) throws(StreamEditError) in try vui.setRate(rate) }
    default:
      let format = SampleFormat(chroma: chromaFormat, lumaBitDepth: lumaBitDepth, chromaBitDepth: chromaBitDepth)
      try editVUI { (vui: inout H264.VUI) throws(StreamEditError) in try vui.applyDisplay(edit, to: format) }
    }
  }

  func check(_ edits: [StreamEdit], of original: Self) throws(StreamEditError) {
    let hasHRD = vui?.nalHRD != nil || vui?.vclHRD != nil
    if hasHRD { try SEIEdits(edits).checkTiming(clause: "H.264 D.2.2, D.2.3") }
    guard let rate = frameRate, rate != original.frameRate else { return }
    guard !hasHRD || original.frameRate == nil else { throw StreamEditError.rateOfHRD(rate, clause: "H.264 C.1") }
    let size = UInt64(clamping: widthInMacroblocks) * UInt64(clamping: heightInMacroblocks)
    guard let limits = levelLimits,
      limits.isExceeded(bySize: size, pictures: UInt64(rate.numerator), inSeconds: UInt64(rate.denominator))
    else { return }
    throw StreamEditError(
      .exceedsLevel, "time_scale", Int64(rate.numerator), "more frames than MaxMBPS of the level allows",
      clause: "H.264 A.3.1")
  }

  /// Changes the VUI. Adds it if needed, and removes it if it is empty afterwards.
  mutating func editVUI(_ change: (inout H264.VUI) throws(StreamEditError) -> Void) throws(StreamEditError) {
    let old = vui ?? H264.VUI()
    var new = old
    try change(&new)
    guard new != old else { return }
    vui = new == H264.VUI() ? nil : new
  }

  private mutating func crop(_ margins: CropMargins) throws(StreamEditError) {
    let unitWidth: UInt32 = chromaArrayType == .yuv420 || chromaArrayType == .yuv422 ? 2 : 1
    let unitHeight: UInt32 = (chromaArrayType == .yuv420 ? 2 : 1) * (isFrameOnly ? 1 : 2)
    let syntax = CropMargins.Syntax(
      element: "frame_crop_offsets", unit: (unitWidth, unitHeight),
      requirement: "must be multiples of the crop units, which chroma format and fields determine",
      clause: "H.264 7.4.2.1.1")
    let offsets = try margins.offsets(syntax, in: codedSize)
    let old = cropping ?? Cropping(left: 0, right: 0, top: 0, bottom: 0)
    let new = Cropping(left: offsets.left, right: offsets.right, top: offsets.top, bottom: offsets.bottom)
    guard new != old else { return }
    cropping = margins.isEmpty ? nil : new
  }
}

extension H264.VUI {
  /// A frame lasts two ticks (E.2.1, `num_units_in_tick`).
  fileprivate mutating func setRate(_ rate: Ratio?) throws(StreamEditError) {
    guard let rate else {
      guard nalHRD == nil, vclHRD == nil else {
        throw StreamEditError(
          .forbiddenCombination, "timing_info_present_flag", 0, "HRD parameters need the clock tick",
          clause: "H.264 C.1")
      }
      timing = nil
      return
    }
    if let timing, Ratio(wide: UInt64(timing.timeScale), UInt64(timing.unitsInTick) * 2) == rate { return }
    // The terms of a ratio are below 2³¹.
    timing = Timing(
      unitsInTick: rate.denominator, timeScale: rate.numerator * 2, isFixedFrameRate: timing?.isFixedFrameRate ?? false)
  }
}
