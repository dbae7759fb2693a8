// SPDX-License-Identifier: MPL-2.0

extension H265: StreamEditing {
  /// Applies edits to a VPS, or to an SPS of the base layer; other parameter sets are unchanged.
  ///
  /// - Throws: the refusal of an edit.
  public static func edited(
    parameterSet nalUnit: Span<UInt8>, _ edits: [StreamEdit], sets: borrowing ParameterSets
  ) throws(StreamEditError) -> EditedParameterSet {
    let header: NALUnitHeader
    do throws(BitstreamError) {
      header = try NALUnitHeader(nalUnit)
    } catch {
      return .unreadable(error)
    }
    guard header.layerID == 0 else { return .unchanged }
    switch header.type {
    case .sequenceParameterSet:
      return try SequenceParameterSet.edited(nalUnit, headerLength: NALUnitHeader.byteCount, .sequence, edits)
    case .videoParameterSet:
      let edits = fieldsHaveTicks(nalUnit, sets) ? edits.map { $0.forFields } : edits
      return try VideoParameterSet.edited(nalUnit, headerLength: NALUnitHeader.byteCount, .video, edits)
    default: return .unchanged
    }
  }

  /// Whether the pictures of a VPS are fields, each of which lasts a tick.
  private static func fieldsHaveTicks(_ vps: Span<UInt8>, _ sets: borrowing ParameterSets) -> Bool {
    // vps_video_parameter_set_id is the front of the byte behind the header.
    guard vps.count > NALUnitHeader.byteCount else { return false }
    let id = VideoParameterSetID(vps[NALUnitHeader.byteCount] >> 4)
    for number in UInt8(0)...15 {
      guard let sps = sets.sequenceParameterSet(SequenceParameterSetID(number)) else { continue }
      if sps.videoParameterSetID == id { return sps.isFieldSequence }
    }
    return false
  }

  /// Applies edits to the NAL units of an hvcC record. Its profile, tier and level come from the first SPS.
  ///
  /// - Throws: the errors of `edited`; `.lengthNotRepresentable`.
  public static func edited(
    _ record: DecoderConfigurationRecord, with edited: ([UInt8]) throws(StreamEditError) -> [UInt8]?
  ) throws(StreamEditError) -> DecoderConfigurationRecord {
    var record = record
    for array in record.arrays.indices {
      for index in record.arrays[array].nalUnits.indices {
        guard let new = try edited(record.arrays[array].nalUnits[index]) else { continue }
        try StreamEditError.checkRecordLength(new)
        record.arrays[array].nalUnits[index] = new
      }
      record.arrays[array].nalUnits.removeAll { $0.isEmpty }
    }
    guard let first = record.nalUnits(of: .sequenceParameterSet).first else { return record }
    do throws(BitstreamError) {
      let sps = try SequenceParameterSet.usable(first.span)
      record.profile = sps.profile
      record.levelIDC = sps.profileTierLevel.levelIDC
      if record.averageFrameRate != 0, let rate = sps.frameRate {
        let frames = UInt64(rate.numerator) * 256 / UInt64(rate.denominator)
        record.averageFrameRate = UInt16(clamping: frames)
      }
    } catch {
      // The record's fields stay as they are, as does the set.
    }
    return record
  }
}

extension StreamEdit {
  /// The edit of a VPS whose pictures are fields.
  fileprivate var forFields: StreamEdit {
    guard case .frameRate(let rate?) = self else { return self }
    return .frameRate(Ratio(wide: UInt64(rate.numerator) * 2, UInt64(rate.denominator)) ?? rate)
  }
}

extension H265.VideoParameterSet: EditableParameterSet {
  var number: UInt8 { id.rawValue }

  mutating func apply(_ edit: StreamEdit) throws(StreamEditError) {
    switch edit {
    // The VUI has the tick of a stream whose VPS has none.
    case .frameRate(let rate) where timing != nil:
      try H265.VUIParameters.Timing.set(rate, &timing, hasHRD: !hrdParameters.isEmpty, clause: "H.265 7.4.3.1")
    case .level(let level): try profileTierLevel.setLevel(level)
    case .highTier(let isHigh): try profileTierLevel.setTier(isHigh: isHigh)
    case .compatibleProfile(let idc, let value): try profileTierLevel.setCompatibility(with: idc, value)
    case .sourceConstraint(let constraint, let value): profileTierLevel.setConstraint(constraint, value)
    case .reordering(let pictures, let size): try buffering.setReordering(pictures, buffer: size)
    case .removeHRD: hrdParameters = []
    default: break
    }
  }

  func check(_ edits: [StreamEdit], of original: Self) throws(StreamEditError) {
    guard !hrdParameters.isEmpty else { return }
    try SEIEdits(edits).checkTiming(clause: "H.265 D.3.2, D.3.3")
    guard let rate = timing?.pictureRate, rate != original.timing?.pictureRate else { return }
    throw StreamEditError.rateOfHRD(rate, clause: "H.265 C.1")
  }
}

extension H265.SequenceParameterSet: EditableParameterSet {
  init(payload reader: inout BitReader) throws(BitstreamError) { try self.init(&reader) }

  var number: UInt8 { id.rawValue }

  mutating func apply(_ edit: StreamEdit) throws(StreamEditError) {
    switch edit {
    case .crop(let margins): try crop(margins)
    case .level, .highTier:
      let old = profileTierLevel
      if case .level(let level) = edit { try profileTierLevel.setLevel(level) }
      if case .highTier(let isHigh) = edit { try profileTierLevel.setTier(isHigh: isHigh) }
      if profileTierLevel != old { try checkLevel() }
    case .compatibleProfile(let idc, let value): try profileTierLevel.setCompatibility(with: idc, value)
    case .sourceConstraint(let constraint, let value): profileTierLevel.setConstraint(constraint, value)
    case .reordering(let pictures, let size):
      let old = decodedPictureBufferPictures
      try buffering.setReordering(pictures, buffer: size)
      if decodedPictureBufferPictures > old { try checkBuffer() }
    case .removeHRD:
      try editVUI { (vui: inout H265.VUIParameters) throws(StreamEditError) in vui.timing?.hrdParameters = nil }
    case _ where edit.removesPictureTiming: try stopDemandingPictureTiming()
    case .clockTimestamps:
      throw StreamEditError(
        .notInCodec, "clock_timestamp_flag", nil, "H.265 has time codes in a message of their own",
        clause: "H.265 D.2.27")
    case .constraintSet(let set, _):
      throw StreamEditError(
        .notInCodec, "constraint_set_flag", Int64(set), "H.265 has other constraint flags", clause: "H.265 7.4.4")
    case .frameRate:
      let isFieldSequence = isFieldSequence
      guard case .frameRate(let rate) = isFieldSequence ? edit.forFields : edit else { return }
      try editVUI { (vui: inout H265.VUIParameters) throws(StreamEditError) in
        try H265.VUIParameters.Timing.set(
          rate, &vui.timing, hasHRD: vui.timing?.hrdParameters != nil, clause: "H.265 E.3.1")
      }
    default:
      let format = SampleFormat(chroma: chromaFormat, lumaBitDepth: lumaBitDepth, chromaBitDepth: chromaBitDepth)
      try editVUI { (vui: inout H265.VUIParameters) throws(StreamEditError) in
        try vui.applyDisplay(edit, to: format)
      }
    }
  }

  func check(_ edits: [StreamEdit], of original: Self) throws(StreamEditError) {
    try checkProfile(of: original)
    let hasHRD = vui?.timing?.hrdParameters != nil
    if hasHRD { try SEIEdits(edits).checkTiming(clause: "H.265 D.3.2, D.3.3") }
    guard let rate = frameRate else { return }
    let isOtherRate = rate != original.frameRate
    guard !hasHRD || !isOtherRate else { throw StreamEditError.rateOfHRD(rate, clause: "H.265 C.1") }
    let size = UInt64(clamping: codedSize.width) * UInt64(clamping: codedSize.height)
    guard isOtherRate || profileTierLevel != original.profileTierLevel, let limits = levelLimits,
      limits.isExceeded(bySize: size, pictures: UInt64(rate.numerator), inSeconds: UInt64(rate.denominator))
    else { return }
    throw StreamEditError(
      .exceedsLevel, "vui_time_scale", Int64(rate.numerator),
      "more samples a second than MaxLumaSr of the level allows",
      clause: "H.265 A.4.2")
  }

  /// Changes the VUI. Adds it if needed, and removes it if it is empty afterwards.
  mutating func editVUI(_ change: (inout H265.VUIParameters) throws(StreamEditError) -> Void) throws(StreamEditError) {
    let old = vui ?? H265.VUIParameters()
    var new = old
    try change(&new)
    guard new != old else { return }
    vui = new == H265.VUIParameters() ? nil : new
  }

  /// Clears the flag that demands picture timing of every access unit (D.3.3).
  private mutating func stopDemandingPictureTiming() throws(StreamEditError) {
    guard !isFieldSequence else {
      throw StreamEditError(
        .forbiddenCombination, "payloadType", 1, "field_seq_flag 1 needs picture timing", clause: "H.265 E.3.1")
    }
    guard !profile.constraints.isSuperset(of: [.progressiveSource, .interlacedSource]) else {
      throw StreamEditError(
        .forbiddenCombination, "payloadType", 1,
        "general_progressive_source_flag and general_interlaced_source_flag 1 need picture timing",
        clause: "H.265 7.4.4, E.3.1")
    }
    try editVUI { (vui: inout H265.VUIParameters) throws(StreamEditError) in vui.isPictureStructurePresent = false }
  }

  private mutating func crop(_ margins: CropMargins) throws(StreamEditError) {
    let unitWidth: UInt32 = chromaFormat == .yuv420 || chromaFormat == .yuv422 ? 2 : 1
    let unitHeight: UInt32 = chromaFormat == .yuv420 ? 2 : 1
    let syntax = CropMargins.Syntax(
      element: "conf_win_offset", unit: (unitWidth, unitHeight),
      requirement: "must be multiples of SubWidthC and SubHeightC, which the chroma format determines",
      clause: "H.265 7.4.3.2.1")
    let offsets = try margins.offsets(syntax, in: codedSize)
    let old = conformanceWindow ?? Window(left: 0, right: 0, top: 0, bottom: 0)
    let new = Window(left: offsets.left, right: offsets.right, top: offsets.top, bottom: offsets.bottom)
    guard new != old else { return }
    conformanceWindow = margins.isEmpty ? nil : new
    // A default display window that leaves nothing by itself is no reason to keep a crop.
    guard margins.isEmpty || vui?.defaultDisplayWindow == nil || defaultDisplayRectangle != nil else {
      throw StreamEditError(
        .forbiddenCombination, "conf_win_offset", nil,
        "nothing is left of the picture together with the default display window", clause: "H.265 E.3.1")
    }
  }
}

extension H265.VUIParameters.Timing {
  /// Changes the rate of pictures, each of which lasts a tick.
  fileprivate static func set(
    _ rate: Ratio?, _ timing: inout Self?, hasHRD: Bool, clause: StaticString
  ) throws(StreamEditError) {
    guard let rate else {
      guard !hasHRD else {
        throw StreamEditError(
          .forbiddenCombination, "timing_info_present_flag", 0, "HRD parameters need the clock tick", clause: clause)
      }
      timing = nil
      return
    }
    if let timing, Ratio(timing.timeScale, timing.unitsInTick) == rate { return }
    var new = timing ?? Self(unitsInTick: 0, timeScale: 0)
    (new.unitsInTick, new.timeScale) = (rate.denominator, rate.numerator)
    timing = new
  }
}
