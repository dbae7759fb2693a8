// SPDX-License-Identifier: MPL-2.0

extension H264.SequenceParameterSet {
  /// Changes level and constraint flags; values inferred from them are kept.
  mutating func setLevel(_ level: StreamLevel) throws(StreamEditError) {
    // level_idc 9 is level 1b, not 0.9.
    guard H264.levels.contains(level) else {
      throw StreamEditError(
        .valueOutOfRange, "level_idc", Int64(level.tenths), "there is no such level", clause: "H.264 table A-1")
    }
    let isByConstraint = profile.marks1bByConstraint
    var flags = profile.constraintFlags
    // Behind level 1b, constraint_set3_flag has no meaning in these profiles.
    if isByConstraint, self.level.is1b { flags &= ~0x10 }
    if isByConstraint, level.is1b { flags |= 0x10 }
    let idc: UInt8 = level.is1b && !isByConstraint ? 9 : level.tenths
    guard idc != levelIDC || flags != profile.constraintFlags else { return }
    let old = self
    levelIDC = idc
    profile = H264.Profile(idc: profile.idc, constraintFlags: flags)
    try checkLevel()
    try keepInferredBuffer(of: old)
  }

  mutating func setConstraint(_ set: Int, _ value: Bool) throws(StreamEditError) {
    guard 0...5 ~= set else {
      throw StreamEditError(
        .valueOutOfRange, "constraint_set_flag", Int64(set), "there are constraint_set0_flag to constraint_set5_flag",
        clause: "H.264 7.4.2.1.1")
    }
    let bit = 0x80 >> UInt8(set)
    let flags = value ? profile.constraintFlags | UInt8(bit) : profile.constraintFlags & ~UInt8(bit)
    guard flags != profile.constraintFlags else { return }
    let old = self
    profile = H264.Profile(idc: profile.idc, constraintFlags: flags)
    if set == 3, level != old.level {
      throw StreamEditError(
        .forbiddenCombination, "constraint_set3_flag", value ? 1 : 0, "it is level 1b here: change the level",
        clause: "H.264 A.3.1")
    }
    if value, profile.reservesConstraint(set, levelIDC: levelIDC) {
      throw StreamEditError(
        .forbiddenCombination, "constraint_set_flag", Int64(set), "is reserved in this profile at this level",
        clause: "H.264 7.4.2.1.1")
    }
    if set == 4, value, !isFrameOnly, profile.demandsFramesBySet4 {
      throw StreamEditError(
        .forbiddenCombination, "constraint_set4_flag", 1, "needs frame_mbs_only_flag 1", clause: "H.264 7.4.2.1.1")
    }
    try keepInferredBuffer(of: old)
  }

  mutating func setReordering(_ frames: UInt8, buffer: UInt8?) throws(StreamEditError) {
    let inferred = UInt8(clamping: decodedPictureBufferFrames)
    var restriction = vui?.bitstreamRestriction ?? .inferred(reorder: inferred, buffer: inferred)
    restriction.maximumReorderFrames = frames
    // The buffer need not hold more than the references and the pictures that wait. When as many wait as the depth,
    // the first of them is next in output order.
    let needed = min(maximumReferenceFrames + min(frames, UInt8(FormatDescription.deepestReordering)), inferred)
    restriction.maximumDecodedFrameBuffering = buffer ?? max(needed, frames, maximumReferenceFrames)
    guard frames <= restriction.maximumDecodedFrameBuffering else {
      throw StreamEditError(
        .forbiddenCombination, "max_num_reorder_frames", Int64(frames), "is above max_dec_frame_buffering",
        clause: "H.264 E.2.1")
    }
    guard restriction.maximumDecodedFrameBuffering >= maximumReferenceFrames else {
      throw StreamEditError(
        .forbiddenCombination, "max_dec_frame_buffering", Int64(restriction.maximumDecodedFrameBuffering),
        "is below max_num_ref_frames", clause: "H.264 E.2.1")
    }
    guard vui?.bitstreamRestriction != restriction else { return }
    if Int(restriction.maximumDecodedFrameBuffering) > decodedPictureBufferFrames { try checkBuffer(restriction) }
    try editVUI { (vui: inout H264.VUI) throws(StreamEditError) in vui.bitstreamRestriction = restriction }
  }

  /// Writes the values that were inferred from profile and level, if they would be inferred otherwise now (E.2.1).
  private mutating func keepInferredBuffer(of old: Self) throws(StreamEditError) {
    guard vui?.bitstreamRestriction == nil else { return }
    let buffer = old.decodedPictureBufferFrames
    let isIntraOnly = (old.profile.isIntraOnly, profile.isIntraOnly)
    guard buffer != decodedPictureBufferFrames || isIntraOnly.0 != isIntraOnly.1 else { return }
    // If output order is decoding order, no picture waits: the references suffice.
    let isOrdered = pictureOrderCountType == .decodingOrder
    let needed = isOrdered ? min(buffer, maximumDecodedPictureBufferFrames) : buffer
    let restriction = H264.VUI.BitstreamRestriction.inferred(
      reorder: isOrdered || old.profile.isIntraOnly ? 0 : UInt8(clamping: needed), buffer: UInt8(clamping: needed))
    // Pictures that are reordered less than inferred need a smaller buffer.
    try checkBuffer(
      restriction,
      "is inferred, and above MaxDpbFrames of the level; with latency=auto, in elements latency=measured, it may fit")
    try editVUI { (vui: inout H264.VUI) throws(StreamEditError) in vui.bitstreamRestriction = restriction }
  }

  private func checkBuffer(
    _ restriction: H264.VUI.BitstreamRestriction, _ requirement: StaticString = "is above MaxDpbFrames of the level"
  ) throws(StreamEditError) {
    guard Int(restriction.maximumDecodedFrameBuffering) <= maximumDecodedPictureBufferFrames else {
      throw StreamEditError(
        .exceedsLevel, "max_dec_frame_buffering", Int64(restriction.maximumDecodedFrameBuffering), requirement,
        clause: "H.264 A.3.1")
    }
  }

  /// Whether the set keeps the limits of its level (A.3).
  private func checkLevel() throws(StreamEditError) {
    guard let limits = levelLimits else { return }
    func refusal(_ element: StaticString, _ value: Int64, _ requirement: StaticString, _ clause: StaticString)
      -> StreamEditError
    {
      StreamEditError(.exceedsLevel, element, value, requirement, clause: clause)
    }
    let (width, height) = (UInt64(clamping: widthInMacroblocks), UInt64(clamping: heightInMacroblocks))
    let size = width * height
    guard size <= limits.pictureSize else {
      throw refusal("PicSizeInMbs", Int64(clamping: size), "is above MaxFS of the level", "H.264 table A-1")
    }
    guard max(width, height) * max(width, height) <= 8 * limits.pictureSize else {
      throw refusal(
        "PicWidthInMbs", Int64(clamping: max(width, height)), "is above the root of 8 MaxFS of the level",
        "H.264 A.3.1")
    }
    if let rate = frameRate, vui?.timing?.isFixedFrameRate == true,
      limits.isExceeded(bySize: size, pictures: UInt64(rate.numerator), inSeconds: UInt64(rate.denominator))
    {
      throw refusal("time_scale", Int64(rate.numerator), "more frames than MaxMBPS of the level allows", "H.264 A.3.1")
    }
    guard Int(maximumReferenceFrames) <= maximumDecodedPictureBufferFrames else {
      throw refusal(
        "max_num_ref_frames", Int64(maximumReferenceFrames), "is above MaxDpbFrames of the level", "H.264 A.3.1")
    }
    if let restriction = vui?.bitstreamRestriction { try checkBuffer(restriction) }
    if profile.idc != 66 {
      guard isFrameOnly || 21...41 ~= levelIDC else {
        throw refusal("frame_mbs_only_flag", 0, "must be 1 except at levels 2.1 to 4.1", "H.264 table A-4")
      }
      // The flag has no meaning without B slices.
      guard usesDirect8x8Inference || levelIDC < 30 || profile.forbidsBSlices else {
        throw refusal("direct_8x8_inference_flag", 0, "must be 1 at level 3 and above", "H.264 table A-4")
      }
    }
    for (hrd, bitRate, buffer) in [
      (vui?.nalHRD, limits.nalBitRate, limits.nalCodedBuffer), (vui?.vclHRD, limits.bitRate, limits.codedBuffer),
    ] {
      guard let hrd else { continue }
      guard hrd.buffers.contains(where: { hrd.bitRate(of: $0) <= bitRate && hrd.size(of: $0) <= buffer }) else {
        throw refusal(
          "bit_rate_value_minus1", Int64(hrd.buffers.first?.bitRateValue ?? 1) - 1,
          "BitRate or CpbSize is above the level's limit", "H.264 A.3.1")
      }
    }
  }
}

extension H264 {
  /// Levels 1 to 6.2, and 1b.
  public static var levels: [StreamLevel] {
    let whole: [UInt8] = [11, 12, 13, 20, 21, 22, 30, 31, 32, 40, 41, 42, 50, 51, 52, 60, 61, 62]
    return [StreamLevel(tenths: 10), .level1b] + whole.map { StreamLevel(tenths: $0) }
  }

  /// By MaxFS, MaxMBPS, MaxDpbMbs, and MaxBR of the NAL HRD.
  public static func keeps(_ sps: SequenceParameterSet, _ demand: LevelDemand) -> Bool {
    guard sps.decodedPictureBufferFrames <= sps.maximumDecodedPictureBufferFrames else { return false }
    let size = UInt64(clamping: sps.widthInMacroblocks) * UInt64(clamping: sps.heightInMacroblocks)
    return sps.levelLimits?.keep(size: size, sentRate: sps.frameRate, demand) ?? false
  }
}

extension H264.VUI.BitstreamRestriction {
  /// Returns the values that are inferred in its absence (E.2.1), with a reorder depth and a buffer.
  static func inferred(reorder: UInt8, buffer: UInt8) -> Self {
    Self(
      motionVectorsOverPictureBoundaries: true, maximumBytesPerPictureDenominator: 2,
      maximumBitsPerMacroblockDenominator: 1, log2MaximumMotionVectorLengthHorizontal: 15,
      log2MaximumMotionVectorLengthVertical: 15, maximumReorderFrames: reorder, maximumDecodedFrameBuffering: buffer)
  }
}
