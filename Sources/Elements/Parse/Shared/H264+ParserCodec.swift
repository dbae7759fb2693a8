// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

extension H264: ParserCodec {
  static var displayMessages: [SEIPayloadType] { [.pictureTiming] }
  static var delimitsNALUnits: Bool { true }
  static var repeatsSetsAfterDamage: Bool { true }
  static var timesByteStreams: Bool { true }
  static var typesTellRandomAccess: Bool { false }

  static func record(_ record: ConfigurationRecord, with _: [[UInt8]]) -> ConfigurationRecord { record }

  static func takeDisplay(
    _ message: borrowing SEIMessages.Message, sps: SequenceParameterSet, into display: inout PictureDisplay
  ) throws(BitstreamError) -> Bool {
    let timing = try PictureTiming(message, sps: sps)
    guard let structure = timing.structure else { return false }
    display.fieldPeriods = structure.fieldPeriods
    display.isBottomField = structure == .bottomField
    display.interlaceFlags =
      switch structure {
      case .topField, .topBottom: [.interlaced, .topFieldFirst]
      case .bottomField, .bottomTop: .interlaced
      case .topBottomTop: [.interlaced, .topFieldFirst, .repeatFirstField]
      case .bottomTopBottom: [.interlaced, .repeatFirstField]
      case .frame, .frameDoubling, .frameTripling: []
      }
    display.timeCodes = timing.clockTimestamps.enumerated().compactMap { index, timestamp in
      timestamp.map { PictureDisplay.TimeCode($0, fieldCount: fieldCount(structure, index)) }
    }
    return true
  }

  /// The field that a clock timestamp is for (table D-1).
  private static func fieldCount(_ structure: PictureTiming.Structure, _ index: Int) -> UInt32 {
    switch structure {
    case .topField: 1
    case .bottomField: 2
    case .topBottom, .topBottomTop: index % 2 == 0 ? 1 : 2
    case .bottomTop, .bottomTopBottom: index % 2 == 0 ? 2 : 1
    case .frame, .frameDoubling, .frameTripling: 0
    }
  }

  static func rewriteTimeCodes(
    _ codes: [Buffer.TimeCode], in nalUnit: Span<UInt8>, sps: SequenceParameterSet
  ) -> [UInt8]? {
    rewriteMessages(of: .pictureTiming, in: nalUnit) { (message) throws(BitstreamError) in
      var timing = try PictureTiming(message, sps: sps)
      guard let structure = timing.structure, codes.count <= structure.clockTimestampCount else { return nil }
      timing.clockTimestamps = (0..<structure.clockTimestampCount).map { index in
        index < codes.count ? clockTimestamp(codes[index], structure) : nil
      }
      return timing.payload(sps: sps)
    }
  }

  private static func clockTimestamp(_ code: Buffer.TimeCode, _ structure: PictureTiming.Structure) -> ClockTimestamp {
    var timestamp = ClockTimestamp(code, isFieldBased: true, frameLimit: 255)
    switch structure {
    case .frame, .frameDoubling, .frameTripling: timestamp.scanType = 0
    case .topBottom, .bottomTop, .topBottomTop, .bottomTopBottom: timestamp.scanType = 1
    case .topField, .bottomField: timestamp.scanType = 2
    }
    return timestamp
  }

  static func describe(_ slice: SliceHeader) -> String {
    var text = "frame_num \(slice.frameNumber), \(slice.sliceType), first macroblock \(slice.firstMacroblock)"
    if slice.isField { text += slice.isBottomField ? ", bottom field" : ", top field" }
    return text
  }

  static let conformingProfiles: [(name: String, others: [String])] = [
    Profile(idc: 66, constraintFlags: 0x40), Profile(idc: 77, constraintFlags: 0),
    Profile(idc: 100, constraintFlags: 0),
    Profile(idc: 100, constraintFlags: 0x08), Profile(idc: 100, constraintFlags: 0x0C),
    Profile(idc: 110, constraintFlags: 0), Profile(idc: 110, constraintFlags: 0x10),
    Profile(idc: 122, constraintFlags: 0), Profile(idc: 122, constraintFlags: 0x10),
    Profile(idc: 244, constraintFlags: 0x10),
  ].compactMap { profile in profile.name.map { ($0, profile.compatibleProfiles) } }
}
