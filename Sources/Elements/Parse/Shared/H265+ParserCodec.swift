// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

extension H265: ParserCodec {
  static var displayMessages: [SEIPayloadType] { [.pictureTiming, .timeCode] }
  static var delimitsNALUnits: Bool { false }
  static var repeatsSetsAfterDamage: Bool { false }
  static var timesByteStreams: Bool { false }
  static var typesTellRandomAccess: Bool { true }

  static func record(_ record: ConfigurationRecord, with sei: [[UInt8]]) -> ConfigurationRecord {
    var record = record
    for type in [NALUnitType.prefixSEI, .suffixSEI] {
      let nalUnits = sei.filter { $0.first.map { NALUnitType(headerByte: $0) } == type }
      guard !nalUnits.isEmpty else { continue }
      record.arrays.append(.init(type: type, isComplete: false, nalUnits: nalUnits))
    }
    return record
  }

  /// Time codes have a message of their own, which may come before the message with the fields that they are for.
  static func takeDisplay(
    _ message: borrowing SEIMessages.Message, sps: SequenceParameterSet, into display: inout PictureDisplay
  ) throws(BitstreamError) -> Bool {
    guard message.type == .pictureTiming else {
      display.timeCodes = try TimeCode(message).clockTimestamps.compactMap { timestamp in
        timestamp.map { PictureDisplay.TimeCode($0, fieldCount: 0) }
      }
      display.orderTimeCodes(isTopFirst: display.isTopFirst)
      return true
    }
    guard let structure = try PictureTiming(message, sps: sps).display?.structure else { return false }
    display.fieldPeriods = structure.fieldPeriods
    display.isTopFirst = structure.isTopFirst
    display.isBottomField = structure.isField && structure.isTopFirst == false
    var flags: Buffer.Flags = []
    if let isTopFirst = structure.isTopFirst {
      flags = isTopFirst ? [.interlaced, .topFieldFirst] : .interlaced
      // Each field is a picture of its own, and is output as one.
      if structure.isField { flags.insert(.oneField) }
      if structure.fieldPeriods == 3 { flags.insert(.repeatFirstField) }
    }
    display.interlaceFlags = flags
    display.orderTimeCodes(isTopFirst: structure.isTopFirst)
    return false
  }

  static func rewriteTimeCodes(
    _ codes: [Buffer.TimeCode], in nalUnit: Span<UInt8>, sps: SequenceParameterSet
  ) -> [UInt8]? {
    rewriteMessages(of: .timeCode, in: nalUnit) { _ throws(BitstreamError) in
      guard codes.count <= 3 else { return nil }
      return TimeCode(
        clockTimestamps: codes.map { ClockTimestamp($0, isFieldBased: sps.isFieldSequence, frameLimit: 511) }
      ).payload()
    }
  }

  static func describe(_ slice: SliceSegmentHeader) -> String {
    guard let type = slice.sliceType else { return "dependent slice segment, address \(slice.segmentAddress)" }
    return "\(type) slice, address \(slice.segmentAddress), temporal sub-layer \(slice.temporalID)"
  }

  static let conformingProfiles: [(name: String, others: [String])] = [
    "main", "main-10", "main-still-picture", "monochrome", "main-444", "main-444-10", "high-throughput-444",
    "high-throughput-444-10", "high-throughput-444-14", "main-intra", "main-10-intra", "main-12-intra",
    "main-422-10-intra", "main-422-12-intra", "main-444-intra", "main-444-10-intra", "main-444-12-intra",
  ].map { ($0, Profile(idc: 0).compatibleProfiles(of: $0, chromaFormat: .yuv420)) }
}
