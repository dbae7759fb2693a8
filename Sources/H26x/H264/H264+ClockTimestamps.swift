// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// Picture timing with other clock timestamps (D.1.3).
  ///
  /// - Throws: `.forbiddenCombination` if the SPS has no `pic_struct_present_flag`, and for more timestamps than the
  ///   picture's structure has; `.valueOutOfRange`.
  public static func replacing(
    clockTimestamps timestamps: [ClockTimestamp?], in message: borrowing SEIMessages.Message,
    sps: SequenceParameterSet?
  ) throws(StreamEditError) -> EditedSEIMessage {
    guard let sps, let vui = sps.vui, vui.isPictureStructurePresent else {
      throw StreamEditError(
        .forbiddenCombination, "clock_timestamp_flag", nil, "needs pic_struct_present_flag 1", clause: "H.264 D.1.3")
    }
    var timing: PictureTiming
    do throws(BitstreamError) { timing = try PictureTiming(message, sps: sps) } catch {
      throw StreamEditError(
        .forbiddenCombination, "clock_timestamp_flag", nil, "the picture timing there cannot be read",
        clause: "H.264 D.1.3")
    }
    let room = timing.structure?.clockTimestampCount ?? 0
    guard timestamps.count <= room else {
      throw StreamEditError(
        .forbiddenCombination, "clock_timestamp_flag", Int64(timestamps.count),
        "pic_struct has room for fewer clock timestamps", clause: "H.264 table D-1")
    }
    let missing = [ClockTimestamp?](repeating: nil, count: room - timestamps.count)
    guard timing.clockTimestamps != timestamps + missing else { return .unchanged }
    let offsetLength = (vui.nalHRD ?? vui.vclHRD)?.timeOffsetLength ?? 24
    for timestamp in timestamps { try timestamp?.check(offsetLength: offsetLength) }
    timing.clockTimestamps = timestamps + missing
    return .replaced(timing.payload(sps: sps))
  }
}

extension ClockTimestamp {
  /// - Parameter offsetLength: `time_offset_length`, in bits.
  fileprivate func check(offsetLength: UInt8) throws(StreamEditError) {
    func check(_ value: some BinaryInteger, _ element: StaticString, _ limit: Int64) throws(StreamEditError) {
      guard value <= limit else {
        throw StreamEditError(
          .valueOutOfRange, element, Int64(value), "is above the largest value", clause: "H.264 D.2.3")
      }
    }
    try check(scanType, "ct_type", 2)
    try check(countingType, "counting_type", 6)
    try check(frames, "n_frames", 255)
    try check(seconds ?? 0, "seconds_value", 59)
    try check(minutes ?? 0, "minutes_value", 59)
    try check(hours ?? 0, "hours_value", 23)
    let isOrdered = hours == nil || minutes != nil
    let isWhole = seconds != nil && minutes != nil && hours != nil
    guard isOrdered, minutes == nil || seconds != nil, isWhole || !isFull else {
      throw StreamEditError(
        .forbiddenCombination, "full_timestamp_flag", isFull ? 1 : 0,
        "hours need minutes, minutes need seconds, and 1 needs all of them", clause: "H.264 D.1.3")
    }
    // Two's complement of so many bits.
    let half = offsetLength == 0 ? 0 : Int64(1) << (min(Int64(offsetLength), 32) - 1)
    guard Int64(timeOffset) < max(half, 1), Int64(timeOffset) >= -half else {
      throw StreamEditError(
        .valueOutOfRange, "time_offset", Int64(timeOffset), "needs more bits than time_offset_length",
        clause: "H.264 D.2.3")
    }
  }
}
