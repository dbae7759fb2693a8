// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// Puts the time codes of a buffer's metas into its picture timing SEI.
enum TimeCodeRewriter {
  typealias Codec = ParserCore.Codec

  /// The access unit with these time codes; nil when there is nothing to rewrite. Its places are moved along.
  static func rewrite(
    _ accessUnit: inout ParsedAccessUnit, _ codes: [Buffer.TimeCode], in bytes: Span<UInt8>, _ packaging: NALPackaging,
    _ sps: Codec.SequenceParameterSet?, _ log: ElementLog
  ) throws(BitstreamError) -> [UInt8]? {
    guard let range = accessUnit.sei.pictureTimingRange, let timing = accessUnit.sei.pictureTiming, let sps else {
      return nil
    }
    guard let structure = timing.structure, codes.count <= structure.clockTimestampCount else {
      log(.warning, "time codes are not rewritten: found \(codes.count), and no picture structure for them")
      return nil
    }
    var updated = timing
    updated.clockTimestamps = (0..<structure.clockTimestampCount).map { index in
      index < codes.count ? clockTimestamp(codes[index], structure) : nil
    }
    guard let nalUnit = rewritten(bytes.extracting(range), updated.payload(sps: sps)) else { return nil }
    accessUnit.sei.pictureTiming = updated
    return try replace(range, by: nalUnit, in: bytes, packaging, of: &accessUnit.scanned)
  }

  private static func clockTimestamp(
    _ code: Buffer.TimeCode, _ structure: Codec.PictureTiming.Structure
  ) -> Codec.PictureTiming.ClockTimestamp {
    var timestamp = Codec.PictureTiming.ClockTimestamp()
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

  /// The SEI NAL unit with another picture timing; its other messages stay. Nil when they cannot be read.
  private static func rewritten(_ nalUnit: Span<UInt8>, _ pictureTiming: [UInt8]) -> [UInt8]? {
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

  private static func replace(
    _ range: Range<Int>, by nalUnit: [UInt8], in bytes: Span<UInt8>, _ packaging: NALPackaging,
    of scanned: inout Codec.ScannedAccessUnit
  ) throws(BitstreamError) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count + nalUnit.count)
    switch packaging {
    case .annexB:
      for index in 0..<range.lowerBound { result.append(bytes[index]) }
      result += nalUnit
    case .lengthPrefixed:
      for index in 0..<max(range.lowerBound - packaging.prefixLength, 0) { result.append(bytes[index]) }
      result += try packaging.packaged(nalUnit)
    }
    for index in range.upperBound..<bytes.count { result.append(bytes[index]) }
    let shift = nalUnit.count - range.count
    if let idr = scanned.idrOffset, idr > range.lowerBound { scanned.idrOffset = idr + shift }
    scanned.dropped = scanned.dropped.map { part in
      part.lowerBound >= range.upperBound ? part.lowerBound + shift..<part.upperBound + shift : part
    }
    scanned.end += shift
    return result
  }
}
