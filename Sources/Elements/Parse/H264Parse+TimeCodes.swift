// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

extension H264Parse {
  /// The unit in hand with the time codes of the buffer's metas in its picture timing SEI; `nil` when there is nothing
  /// to rewrite. The unit's places are moved along.
  func bytesWithTimeCodes(_ codes: [Buffer.TimeCode], _ bytes: Span<UInt8>) -> [UInt8]? {
    guard let range = unit.information.pictureTimingRange, let timing = unit.information.pictureTiming,
      let sps = activeSequenceParameterSet
    else { return nil }
    guard let structure = timing.structure, codes.count <= structure.clockTimestampCount else {
      Self.log(.warning, self, "time codes are not rewritten: found \(codes.count), and no picture structure for them")
      return nil
    }
    var updated = timing
    updated.clockTimestamps = (0..<structure.clockTimestampCount).map { index in
      index < codes.count ? clockTimestamp(codes[index], structure) : nil
    }
    guard let nalUnit = rewritten(bytes.extracting(range), updated.payload(sps: sps)) else { return nil }
    unit.information.pictureTiming = updated
    return replaced(range, by: nalUnit, in: bytes)
  }

  private func clockTimestamp(
    _ code: Buffer.TimeCode, _ structure: H264.PictureTiming.Structure
  ) -> H264.PictureTiming.ClockTimestamp {
    var timestamp = H264.PictureTiming.ClockTimestamp()
    switch structure {
    case .frame, .frameDoubling, .frameTripling: timestamp.scanType = 0
    case .topBottom, .bottomTop, .topBottomTop, .bottomTopBottom: timestamp.scanType = 1
    case .topField, .bottomField: timestamp.scanType = 2
    }
    timestamp.isFieldBased = true
    if code.dropsFrames { timestamp.countingType = code.frameRate == GStreamer.Fraction(30000, 1001) ? 4 : 6 }
    timestamp.isFull = true
    timestamp.frames = UInt8(clamping: code.frames)
    timestamp.seconds = UInt8(clamping: code.seconds)
    timestamp.minutes = UInt8(clamping: code.minutes)
    timestamp.hours = UInt8(clamping: code.hours)
    return timestamp
  }

  /// The SEI NAL unit with another picture timing; its other messages stay.
  private func rewritten(_ nalUnit: Span<UInt8>, _ pictureTiming: [UInt8]) -> [UInt8]? {
    var kept: [(type: SEIPayloadType, payload: [UInt8])] = []
    var messages = SEIMessages(nalUnit)
    do throws(BitstreamError) {
      while let message = try messages.next() {
        let payload = message.type == .pictureTiming ? pictureTiming : try message.payload()
        kept.append((message.type, payload))
      }
    } catch {
      return nil
    }
    return seiNALUnit(kept)
  }

  private func replaced(_ range: Range<Int>, by nalUnit: [UInt8], in bytes: Span<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count + nalUnit.count)
    var head = range.lowerBound
    if inputFormat?.isLengthPrefixed == true { head -= lengthSize.byteCount }
    for index in 0..<max(head, 0) { result.append(bytes[index]) }
    if inputFormat?.isLengthPrefixed == true {
      for index in 0..<lengthSize.byteCount {
        result.append(UInt8(truncatingIfNeeded: nalUnit.count >> (8 * (lengthSize.byteCount - 1 - index))))
      }
    }
    result += nalUnit
    for index in range.upperBound..<bytes.count { result.append(bytes[index]) }
    let shift = nalUnit.count - range.count
    if let idr = unit.coded.idrOffset, idr > range.lowerBound { unit.coded.idrOffset = idr + shift }
    unit.coded.dropped = unit.coded.dropped.map { part in
      part.lowerBound >= range.upperBound ? part.lowerBound + shift..<part.upperBound + shift : part
    }
    unit.coded.end += shift
    return result
  }
}
