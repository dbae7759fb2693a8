// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

extension ClockTimestamp {
  /// A clock timestamp made of a buffer's time code.
  ///
  /// - Parameter frameLimit: the largest `n_frames`.
  init(_ code: Buffer.TimeCode, isFieldBased: Bool, frameLimit: UInt16) {
    self.init()
    self.isFieldBased = isFieldBased
    // counting_type: which frame numbers are dropped (H.264 table D-3, H.265 table D.11).
    countingType = code.dropsFrames ? code.frameRate == Fraction(30000, 1001) ? 4 : 6 : 0
    isFull = true
    frames = min(UInt16(clamping: code.frames), frameLimit)
    seconds = UInt8(clamping: code.seconds)
    minutes = UInt8(clamping: code.minutes)
    hours = UInt8(clamping: code.hours)
  }
}

extension ParserCodec {
  /// An SEI NAL unit with other payloads for messages of one type; nil when `payload` has none for one of them, or the
  /// NAL unit cannot be read.
  static func rewriteMessages(
    of type: SEIPayloadType, in nalUnit: Span<UInt8>,
    _ payload: (borrowing SEIMessages.Message) throws(BitstreamError) -> [UInt8]?
  ) -> [UInt8]? {
    var rewritten: [(type: SEIPayloadType, payload: [UInt8])] = []
    var messages = SEIMessages(nalUnit, headerLength: nalUnitHeaderLength)
    do throws(BitstreamError) {
      while let message = try messages.next() {
        guard let payload = message.type == type ? try payload(message) : try message.payload() else { return nil }
        rewritten.append((message.type, payload))
      }
    } catch {
      return nil
    }
    return seiNALUnit(rewritten, header: nalUnit.extracting(first: nalUnitHeaderLength).copied())
  }
}

extension ParsedAccessUnit {
  /// Writes the time codes of a buffer's metas into the SEI of the access unit. Returns the new bytes, in which the scan
  /// is then, or nil if there is nothing to rewrite.
  mutating func rewrite(
    _ codes: [Buffer.TimeCode], in bytes: Span<UInt8>, _ packaging: NALPackaging,
    _ sps: Codec.SequenceParameterSet?, _ log: ElementLog
  ) throws(BitstreamError) -> [UInt8]? {
    guard let range = sei.timeCodeRange, let sps else { return nil }
    guard let nalUnit = Codec.rewriteTimeCodes(codes, in: bytes.extracting(range), sps: sps) else {
      log(.warning, "time codes are not rewritten: found \(codes.count), and no picture structure for them")
      return nil
    }
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
    if let offset = scanned.randomAccessOffset, offset > range.lowerBound {
      scanned.randomAccessOffset = offset + shift
    }
    scanned.dropped = scanned.dropped.map { part in
      part.lowerBound >= range.upperBound ? part.lowerBound + shift..<part.upperBound + shift : part
    }
    scanned.end += shift
    scanned.nalUnits = []
    return result
  }
}
