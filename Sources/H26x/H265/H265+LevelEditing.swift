// SPDX-License-Identifier: MPL-2.0

extension H265.ProfileTierLevel {
  /// Changes the level of all sub-layers; those of lower ones cannot be above it.
  mutating func setLevel(_ level: StreamLevel) throws(StreamEditError) {
    let idc = Int(level.tenths) * 3
    guard !level.is1b, let number = UInt8(exactly: idc), H265.Level(idc: number).name != nil else {
      throw StreamEditError(
        .valueOutOfRange, "general_level_idc", Int64(idc), "there is no such level", clause: "H.265 table A.8")
    }
    levelIDC = number
    for index in subLayers.indices { subLayers[index].levelIDC = subLayers[index].levelIDC.map { min($0, number) } }
    try checkTier()
  }

  /// Changes the tier of all sub-layers; lower ones cannot be of the High tier if all are of the Main tier.
  mutating func setTier(isHigh: Bool) throws(StreamEditError) {
    profile.isHighTier = isHigh
    if !isHigh { for index in subLayers.indices { subLayers[index].profile?.isHighTier = false } }
    try checkTier()
  }

  private func checkTier() throws(StreamEditError) {
    guard !profile.isHighTier || levelIDC >= 120 else {
      throw StreamEditError(
        .forbiddenCombination, "general_tier_flag", 1, "there is no High tier below level 4", clause: "H.265 table A.8")
    }
  }
}

extension H265 {
  /// Levels 1 to 6.2.
  public static var levels: [StreamLevel] {
    [10, 20, 21, 30, 31, 40, 41, 50, 51, 52, 60, 61, 62].map { StreamLevel(tenths: $0) }
  }

  /// By MaxLumaPs, MaxLumaSr, MaxDpbSize, and MaxBR of the NAL HRD.
  public static func keeps(_ sps: SequenceParameterSet, _ demand: LevelDemand) -> Bool {
    do throws(StreamEditError) { try sps.checkBuffer() } catch { return false }
    let size = UInt64(clamping: sps.codedSize.width) * UInt64(clamping: sps.codedSize.height)
    return sps.levelLimits?.keep(size: size, sentRate: sps.frameRate, demand) ?? false
  }
}

extension H265.SequenceParameterSet {
  /// Whether the set keeps the limits of its level and tier (A.4).
  func checkLevel() throws(StreamEditError) {
    func refusal(_ element: StaticString, _ value: Int64, _ requirement: StaticString, _ clause: StaticString)
      -> StreamEditError
    {
      StreamEditError(.exceedsLevel, element, value, requirement, clause: clause)
    }
    let (width, height) = (UInt64(clamping: codedSize.width), UInt64(clamping: codedSize.height))
    let (size, limit) = (width * height, UInt64(clamping: level.maximumLumaPictureSize))
    guard size <= limit else {
      throw refusal("PicSizeInSamplesY", Int64(clamping: size), "is above MaxLumaPs of the level", "H.265 table A.8")
    }
    guard max(width, height) * max(width, height) <= 8 * limit else {
      throw refusal(
        "pic_width_in_luma_samples", Int64(clamping: max(width, height)),
        "is above the root of 8 MaxLumaPs of the level", "H.265 A.4.1")
    }
    try checkBuffer()
    guard let hrd = vui?.timing?.hrdParameters, let layer = hrd.subLayers.last, let limits = levelLimits else { return }
    for (buffers, bitRate, codedBuffer) in [
      (layer.nal, limits.nalBitRate, limits.nalCodedBuffer), (layer.vcl, limits.bitRate, limits.codedBuffer),
    ] where !buffers.isEmpty {
      guard buffers.contains(where: { hrd.bitRate(of: $0) <= bitRate && hrd.size(of: $0) <= codedBuffer }) else {
        throw refusal(
          "bit_rate_value_minus1", Int64(buffers[0].bitRateValue) - 1, "BitRate or CpbSize is above the level's limit",
          "H.265 A.4.2")
      }
    }
    if let rate = frameRate, layer.pictureRate.isFixed {
      let pictures = UInt64(rate.numerator) * (isFieldSequence ? 2 : 1)
      guard !limits.isExceeded(bySize: size, pictures: pictures, inSeconds: UInt64(rate.denominator)) else {
        throw refusal(
          "vui_time_scale", Int64(rate.numerator), "more pictures than MaxLumaSr of the level allows", "H.265 A.4.2")
      }
    }
  }

  /// Whether the decoded picture buffer is as large as the level allows, at most.
  func checkBuffer() throws(StreamEditError) {
    let size = Int(clamping: UInt64(clamping: codedSize.width) * UInt64(clamping: codedSize.height))
    let pictures = level.maximumDecodedPictures(
      lumaPictureSize: size, isScreenContent: profile.idc == 9 || profile.idc == 11)
    guard decodedPictureBufferPictures <= pictures else {
      throw StreamEditError(
        .exceedsLevel, "sps_max_dec_pic_buffering_minus1", Int64(decodedPictureBufferPictures) - 1,
        "is above MaxDpbSize − 1 of the level", clause: "H.265 A.4.2")
    }
  }
}

extension [H265.SequenceParameterSet.SubLayerBuffering] {
  /// Changes reorder depth and buffer of the highest sub-layer, and keeps lower ones from having more.
  mutating func setReordering(_ pictures: UInt8, buffer: UInt8?) throws(StreamEditError) {
    guard let last = indices.last else { return }
    let size = buffer ?? Swift.max(self[last].maximumDecodedPictures, UInt8(clamping: Int(pictures) + 1))
    guard 1...16 ~= size else {
      throw StreamEditError(
        .valueOutOfRange, "sps_max_dec_pic_buffering_minus1", Int64(size) - 1, "0 to MaxDpbSize − 1",
        clause: "H.265 7.4.3.2.1")
    }
    guard pictures < size else {
      throw StreamEditError(
        .forbiddenCombination, "sps_max_num_reorder_pics", Int64(pictures), "is above sps_max_dec_pic_buffering_minus1",
        clause: "H.265 7.4.3.2.1")
    }
    for index in indices {
      let old = self[index]
      let reorder = index == last ? pictures : Swift.min(old.maximumReorderPictures, pictures)
      self[index].maximumReorderPictures = reorder
      self[index].maximumDecodedPictures = index == last ? size : Swift.min(old.maximumDecodedPictures, size)
      // SpsMaxLatencyPictures, which the increase is added to the reorder depth for, stays.
      if old.maximumLatencyIncreasePlus1 > 0 {
        let latency = Int64(old.maximumLatencyIncreasePlus1) + Int64(old.maximumReorderPictures) - Int64(reorder)
        self[index].maximumLatencyIncreasePlus1 = UInt32(clamping: Swift.max(1, latency))
      }
    }
  }
}

extension H265.HRDParameters.PictureRate {
  fileprivate var isFixed: Bool { if case .fixed = self { true } else { false } }
}
