// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport

/// Small H.265 streams for tests of parser and repackager. NAL units are without start codes.
enum H265Stream {
  /// x265's: Main, 128 × 128, 30 pictures a second.
  static let vps: [UInt8] = [
    0x40, 0x01, 0x0C, 0x01, 0xFF, 0xFF, 0x01, 0x60, 0x00, 0x00, 0x03, 0x00, 0x90, 0x00, 0x00, 0x03, 0x00, 0x00, 0x03,
    0x00, 0x1E, 0x95, 0x94, 0x09,
  ]

  /// 256 × 128 samples in 8 coding tree blocks of 64, POC LSBs of 8 bits, 25 pictures a second.
  static func sps(_ change: (inout H265.SequenceParameterSet) -> Void = { _ in }) -> [UInt8] {
    let profile = H265.Profile(idc: 1, constraints: [.progressiveSource, .frameOnly])
    var sps = H265.SequenceParameterSet(
      profileTierLevel: .init(profile: profile, levelIDC: 63), codedSize: VideoSize(width: 256, height: 128))
    sps.log2MaximumPictureOrderCount = 8
    sps.log2CodingBlockSizeRange = 3
    sps.buffering = [.init(maximumDecodedPictures: 5, maximumReorderPictures: 2)]
    var vui = H265.VUIParameters()
    vui.timing = .init(unitsInTick: 1, timeScale: 25)
    sps.vui = vui
    change(&sps)
    return sps.nalUnit()
  }

  static func pps(id: PictureParameterSetID = 0, sps: SequenceParameterSetID = 0) -> [UInt8] {
    H265.PictureParameterSet(id: id, sequenceParameterSetID: sps).nalUnit()
  }

  static let headers = [vps, sps(), pps()]

  /// A slice segment: intra in pictures of IRAP types, else B.
  static func slice(
    _ type: H265.NALUnitType, count: UInt32 = 0, address: UInt32 = 0, temporalID: UInt8 = 0, layerID: UInt8 = 0,
    isIntra: Bool? = nil, pps: UInt32 = 0, size: Int = 20
  ) -> [UInt8] {
    var writer = BitWriter()
    writer.u(1, 0)
    writer.u(6, UInt32(type.rawValue))
    writer.u(6, UInt32(layerID))
    writer.u(3, UInt32(temporalID) + 1)
    writer.flag(address == 0)
    if 16...23 ~= type.rawValue { writer.flag(false) }
    writer.ue(pps)
    if address != 0 { writer.u(3, address) }
    writer.ue(isIntra ?? type.isIRAP ? 2 : 0)
    if !type.isIDR {
      writer.u(8, count & 255)
      // An empty reference picture set of its own.
      writer.flag(false)
      writer.ue(0)
      writer.ue(0)
    }
    for index in 0..<size { writer.u(8, UInt32(0x40 + index % 64)) }
    writer.trailingBits()
    return writer.bytes
  }

  static let idr = slice(.idrWithoutLeading)
  static let delimiter: [UInt8] = [0x46, 0x01, 0x50]
  static let endOfSequence: [UInt8] = [0x48, 0x01]
  static let filler: [UInt8] = [0x4C, 0x01, 0xFF, 0xFF, 0x80]

  static func sei(_ type: UInt32, _ payload: [UInt8], isSuffix: Bool = false) -> [UInt8] {
    seiNALUnit([(SEIPayloadType(rawValue: type), payload)], header: [isSuffix ? 0x50 : 0x4E, 1])
  }

  static let contentLight = sei(144, [0x03, 0xE8, 0x01, 0x90])
  static let masteringDisplay = sei(
    137,
    [
      0x33, 0xC2, 0x86, 0xC4, 0x1D, 0x4C, 0x0B, 0xB8, 0x84, 0xD0, 0x3E, 0x80, 0x3D, 0x13, 0x40, 0x42, 0x00, 0x98, 0x96,
      0x80, 0x00, 0x00, 0x00, 0x01,
    ])

  /// The first bytes of HDR10+ metadata.
  static let dynamicMetadata = sei(4, [0xB5, 0x00, 0x3C, 0x00, 0x01, 0x04, 0x01, 0x40])

  /// NAL units with start codes of four bytes.
  static func byteStream(_ nalUnits: [UInt8]...) -> [UInt8] { byteStream(nalUnits) }
  static func byteStream(_ nalUnits: [[UInt8]]) -> [UInt8] { nalUnits.flatMap { [0, 0, 0, 1] + $0 } }

  /// NAL units with length prefixes.
  static func packet(_ nalUnits: [UInt8]..., lengthSize: Int = 4) -> [UInt8] {
    RepackStream.lengthPrefixed(nalUnits, lengthSize)
  }

  /// An hvcC record (ISO/IEC 14496-15, 8.3.3.1) of Main profile. Except for the first bytes it is written without the
  /// code under test.
  static func hvcC(_ arrays: [[[UInt8]]] = headers.map { [$0] }, size: Int = 4, isComplete: Bool = true) -> [UInt8] {
    var record: [UInt8] = [1, 0x01, 0x40, 0, 0, 0, 0x90, 0, 0, 0, 0, 0, 63]
    record += [0xF0, 0, 0xFC, 0xFD, 0xF8, 0xF8, 0, 0, 0x0C | UInt8(size - 1), UInt8(arrays.count)]
    for array in arrays {
      record += [(isComplete ? 0x80 : 0) | array[0][0] >> 1, 0, UInt8(array.count)]
      record += RepackStream.lengthPrefixed(array, 2)
    }
    return record
  }

  static func caps(_ format: String, _ alignment: String = "au", codecData: [UInt8]? = nil, more: String = "") -> String
  {
    RepackStream.caps(format, alignment, codecData: codecData, more: more).replacing("x-h264", with: "x-h265")
  }
}

extension Harness {
  /// A `swifth265parse` with these properties, for input and output of these caps.
  static func parseH265(_ properties: String = "", from input: String? = nil, to output: String? = nil) throws
    -> Harness
  {
    initialise()
    _ = registered
    let harness = try Harness("swifth265parse \(properties)")
    if let output { harness.setOutputCaps("video/x-h265, parsed=true, \(output)") }
    if let input { harness.setInputCaps(input) }
    return harness
  }
}
