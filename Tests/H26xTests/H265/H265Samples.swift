// SPDX-License-Identifier: MPL-2.0

import H26x

/// Real parameter sets as encoders wrote them, and sets and slices made for a test.
enum H265Samples {
  /// x265, Main, 128 × 128 in blocks of 16, 30 pictures a second.
  static let vps: [UInt8] = [
    0x40, 0x01, 0x0C, 0x01, 0xFF, 0xFF, 0x01, 0x60, 0x00, 0x00, 0x03, 0x00, 0x90, 0x00, 0x00, 0x03, 0x00, 0x00, 0x03,
    0x00, 0x1E, 0x95, 0x94, 0x09,
  ]
  static let sps: [UInt8] = [
    0x42, 0x01, 0x01, 0x01, 0x60, 0x00, 0x00, 0x03, 0x00, 0x90, 0x00, 0x00, 0x03, 0x00, 0x00, 0x03, 0x00, 0x1E, 0xA0,
    0x10, 0x20, 0x20, 0x59, 0x65, 0x65, 0x5B, 0xC2, 0xE0, 0x10, 0x00, 0x00, 0x3E, 0x80, 0x00, 0x07, 0x53, 0x00, 0x80,
  ]
  static let pps: [UInt8] = [0x44, 0x01, 0xC0, 0x71, 0x81, 0xA4, 0x80]

  /// Another encoder's, with temporal sub-layers and predicted reference picture sets: 914 × 686.
  static let layeredVPS: [UInt8] = [
    0x40, 0x01, 0x0C, 0x07, 0xFF, 0xFF, 0x01, 0x60, 0x00, 0x00, 0x03, 0x00, 0x90, 0x00, 0x00, 0x03, 0x00, 0x00, 0x03,
    0x00, 0x3F, 0x00, 0x00, 0x99, 0x4C, 0xE6, 0x24, 0xC5, 0x81, 0x20,
  ]
  static let layeredSPS: [UInt8] = [
    0x42, 0x01, 0x07, 0x01, 0x60, 0x00, 0x00, 0x03, 0x00, 0x90, 0x00, 0x00, 0x03, 0x00, 0x00, 0x03, 0x00, 0x3F, 0x00,
    0x00, 0xA0, 0x07, 0x32, 0x00, 0xAC, 0x72, 0x56, 0x26, 0x65, 0x33, 0x98, 0x93, 0x17, 0x24, 0x8A, 0x41, 0xD2, 0x47,
    0x4F, 0x3E, 0x3F, 0xC4, 0xFC, 0xB3, 0xF9, 0xFB, 0x3C, 0xBF, 0xD7, 0xCC, 0x87, 0x92, 0xFF, 0x9F, 0xB3, 0xCB, 0xFD,
    0x7C, 0x12, 0x3A, 0x79, 0xF1, 0xFE, 0x27, 0xE5, 0x3F, 0xCF, 0xDF, 0xCB, 0x3F, 0x5F, 0x32, 0x1E, 0x4B, 0xFE, 0x7E,
    0xCF, 0x2F, 0xF5, 0xF1, 0xFF, 0xE1, 0x56, 0x81, 0x56, 0x60, 0x20, 0x00, 0x00, 0x7D, 0x00, 0x00, 0x07, 0x53, 0x01,
  ]
  static let layeredPPS: [UInt8] = [0x44, 0x01, 0xC1, 0x14, 0xA1, 0xC2, 0xB4, 0x13, 0x24]

  static let mainProfile = H265.Profile(idc: 1, constraints: [.progressiveSource, .frameOnly])

  /// A set for 256 × 128 samples: 16 coding tree blocks of 32 × 32... with 8 bits of picture order count.
  static func plainSPS() -> H265.SequenceParameterSet {
    var sps = H265.SequenceParameterSet(
      profileTierLevel: .init(profile: mainProfile, levelIDC: 93), codedSize: VideoSize(width: 256, height: 128))
    sps.log2CodingBlockSizeRange = 2
    sps.buffering = [.init(maximumDecodedPictures: 5, maximumReorderPictures: 2)]
    return sps
  }

  static func store(
    _ sps: H265.SequenceParameterSet = plainSPS(),
    _ pps: H265.PictureParameterSet = .init(id: 0, sequenceParameterSetID: 0)
  ) throws -> H265.ParameterSets {
    var sets = H265.ParameterSets()
    try sets.insert(bytes: sps.nalUnit())
    try sets.insert(bytes: pps.nalUnit())
    return sets
  }

  /// A slice segment of a plain stream, cut off behind its picture order count.
  static func slice(
    _ type: H265.NALUnitType, count: UInt32 = 0, address: UInt32 = 0, temporalID: UInt8 = 0, layerID: UInt8 = 0,
    pps: UInt32 = 0
  ) -> [UInt8] {
    var writer = BitWriter()
    H265.NALUnitHeader(type: type, layerID: layerID, temporalID: temporalID).write(to: &writer)
    writer.flag(address == 0)
    if type.isIRAP { writer.flag(false) }
    writer.ue(pps)
    if address != 0 { writer.u(5, address) }
    writer.ue(2)
    if !type.isIDR {
      writer.u(8, count)
      // An empty reference picture set of its own.
      writer.flag(false)
      writer.ue(0)
      writer.ue(0)
    }
    writer.u(32, 0xFFFF_FFFF)
    writer.trailingBits()
    return writer.bytes
  }

  /// A NAL unit of any type with two bytes of payload.
  static func nalUnit(_ type: UInt8, layerID: UInt8 = 0) -> [UInt8] {
    var writer = BitWriter()
    H265.NALUnitHeader(type: .init(rawValue: type), layerID: layerID).write(to: &writer)
    return writer.bytes + [0x50, 0x80]
  }
}

extension H265.SequenceParameterSet {
  init(bytes: [UInt8]) throws(BitstreamError) { try self.init(nalUnit: bytes.span) }
}

extension H265.VideoParameterSet {
  init(bytes: [UInt8]) throws(BitstreamError) { try self.init(nalUnit: bytes.span) }
}

extension H265.PictureParameterSet {
  init(bytes: [UInt8]) throws(BitstreamError) { try self.init(nalUnit: bytes.span) }
}

extension H265.DecoderConfigurationRecord {
  init(bytes: [UInt8]) throws(BitstreamError) { try self.init(bytes.span) }
}

extension H265.ParameterSets {
  @discardableResult
  mutating func insert(bytes: [UInt8]) throws(BitstreamError) -> ParameterSetChange { try insert(bytes.span) }
}

extension H265.SliceSegmentHeader {
  init(bytes: [UInt8], _ sets: H265.ParameterSets) throws(BitstreamError) {
    try self.init(nalUnit: bytes.span, parameterSets: sets, depth: .pictureIdentity)
  }
}
