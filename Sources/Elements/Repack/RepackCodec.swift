// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The requirements of a repackager on a codec, besides its syntax.
protocol RepackCodec: ElementCodecSyntax, StreamEditing {
  /// The properties that only this codec's repackager has.
  static var ownSettings: [Setting<RepackSettings>] { get }

  /// The NAL unit's first header byte that turns a slice after a cut into one of a BLA picture, whose RASL pictures are
  /// discarded; nil for other slices.
  static func brokenLinkHeader(_ headerByte: UInt8) -> UInt8?

  /// Whether a picture of this type begins a coded video sequence, whatever comes before it.
  static func startsSequence(_ type: NALUnitType) -> Bool

  /// Whether an SPS has HRD parameters, which a level is checked against.
  static func hasBitRate(_ sps: SequenceParameterSet) -> Bool

  /// The clause that defines the levels.
  static var clauseOfLevels: StaticString { get }
}

extension H264: RepackCodec {
  static var ownSettings: [Setting<RepackSettings>] { [] }
  static func brokenLinkHeader(_ headerByte: UInt8) -> UInt8? { nil }
  static func startsSequence(_ type: NALUnitType) -> Bool { type.isIDR }
  static func hasBitRate(_ sps: SequenceParameterSet) -> Bool { sps.vui?.nalHRD != nil || sps.vui?.vclHRD != nil }
  static var clauseOfLevels: StaticString { "H.264 Annex A" }
}

extension H265: RepackCodec {
  static var ownSettings: [Setting<RepackSettings>] {
    [
      .boolean(
        "cra-to-bla", \.marksBrokenLinks,
        "Turn the CRA picture after a discontinuity into a BLA picture, so that decoders drop the pictures that refer to earlier ones"
      )
    ]
  }
  /// NoRaslOutputFlag of a CRA picture depends on what comes before it (8.1.3).
  static func startsSequence(_ type: NALUnitType) -> Bool { type.isIDR || type.isBLA }
  static func hasBitRate(_ sps: SequenceParameterSet) -> Bool { sps.vui?.timing?.hrdParameters != nil }
  static var clauseOfLevels: StaticString { "H.265 Annex A" }
  /// CRA becomes BLA_W_LP: the slice header has the same syntax for both (7.3.6.1).
  static func brokenLinkHeader(_ headerByte: UInt8) -> UInt8? {
    guard NALUnitType(headerByte: headerByte) == .cra else { return nil }
    return headerByte & 0x81 | NALUnitType.blaWithLeading.rawValue << 1
  }
}
