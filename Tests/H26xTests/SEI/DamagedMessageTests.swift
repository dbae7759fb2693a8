// SPDX-License-Identifier: MPL-2.0

import TestSupport
import Testing

@testable import H26x

/// SEI messages and configuration records with an inverted bit or without their last bytes.
@Suite struct DamagedMessageTests {
  private typealias Message = SEIMessages.Message

  /// Messages whose payloads are read alike in both codecs.
  private func readCommon(
    _ message: borrowing Message, _ codec: FormatDescription.Codec
  ) throws(BitstreamError) -> String {
    switch message.type {
    case .userDataUnregistered:
      let user = try UnregisteredUserData(message)
      return "\(user.uuid) \(user.data)"
    case .userDataRegistered:
      let user = try RegisteredUserData(message)
      let provider = "\(user.countryCode) \(user.countryCodeExtension ?? 0) \(user.providerCode ?? 0)"
      return "\(provider) \(user.isHDR10Plus) \(user.data) \(content(of: user))"
    case .masteringDisplayColourVolume: _ = try MasteringDisplayColourVolume(message)
    case .contentLightLevel: _ = try ContentLightLevel(message)
    case .alternativeTransferCharacteristics: _ = try AlternativeTransferCharacteristics(message)
    case .displayOrientation: _ = try DisplayOrientation(message, codec: codec)
    case .stereoVideoInformation: _ = try StereoVideoInformation(message)
    case .framePackingArrangement: _ = try FramePackingArrangement(message, codec: codec)
    default: break
    }
    return ""
  }

  private func content(of user: RegisteredUserData) -> String {
    switch user.content() {
    case .closedCaptions(let captions)?: "captions \(captions)"
    case .captionPacket(let packet)?: "packet \(packet)"
    case .barData(let bars)?:
      "bars \(bars.topEnd ?? 0) \(bars.bottomStart ?? 0) \(bars.leftEnd ?? 0) \(bars.rightStart ?? 0)"
    case .activeFormat(let format)?: "format \(format ?? 99)"
    case nil: "nothing"
    }
  }

  private static let common: [(name: String, type: SEIPayloadType, payload: [UInt8])] = [
    ("user data", .userDataUnregistered, [UInt8](0..<20)),
    ("captions", .userDataRegistered, [0xB5, 0, 0x31, 0x47, 0x41, 0x39, 0x34, 3, 0xC1, 0xFF, 0xFC, 0x94, 0x20, 0xFF]),
    (
      "bars", .userDataRegistered,
      [0xB5, 0, 0x31, 0x47, 0x41, 0x39, 0x34, 6, 0xFF, 0xC0, 0x10, 0xC1, 0x10, 0xC0, 0x20, 0xC2, 0x20]
    ),
    ("active format", .userDataRegistered, [0xB5, 0, 0x31, 0x44, 0x54, 0x47, 0x31, 0x41, 0xFA]),
    ("HDR10+", .userDataRegistered, [0xB5, 0, 0x3C, 0, 1, 4, 1]),
    ("another country", .userDataRegistered, [0xFF, 7, 1, 2, 3]),
    (
      "mastering display", .masteringDisplayColourVolume,
      [33, 52, 134, 186, 29, 76, 11, 184, 132, 208, 62, 128, 61, 19, 64, 66, 0, 152, 150, 128, 0, 0, 0, 50]
    ), ("light levels", .contentLightLevel, [3, 232, 1, 144]),
    ("alternative transfer", .alternativeTransferCharacteristics, [18]),
    ("orientation", .displayOrientation, [0x60, 0x02, 0x50]), ("stereo", .stereoVideoInformation, [0x58]),
    ("frame packing", .framePackingArrangement, [0x81, 0xD0, 0x42, 0x12, 0x34, 0x00, 0x50]),
    ("frame packing, temporal", .framePackingArrangement, [0x82, 0xC2, 0x42, 0x00, 0x50]),
  ]

  @Test func readsDamagedMessagesOfBothCodecs() throws {
    for (codec, header) in [(FormatDescription.Codec.h264, [6]), (.h265, [0x4E, 1])] as [(_, [UInt8])] {
      for (name, type, payload) in Self.common {
        let nalUnit = seiNALUnit([(type, payload), (.contentLightLevel, [1, 2, 3, 4])], header: header)
        try expectInvertedBits(
          "\(codec == .h264 ? "H.264" : "H.265") SEI: \(name)", Array(nalUnit.dropFirst(header.count))
        ) { bytes throws(BitstreamError) in
          let trace = SyntaxTrace()
          let bytes = header + bytes
          var messages = SEIMessages(bytes.span, headerLength: header.count, trace: trace)
          var text = ""
          while let message = try messages.next() { text += try readCommon(message, codec) }
          return Array(text.utf8) + described(trace)
        }
      }
    }
  }

  @Test func readsDamagedMessagesOfH264() throws {
    var sets = H264.ParameterSets()
    var sps = try H264.SequenceParameterSet(bytes: MinimalStream.sps(nalBuffers: 2, vclBuffers: 1))
    sps.vui?.isPictureStructurePresent = true
    try sets.insert(bytes: sps.nalUnit())
    var full = ClockTimestamp()
    full.isFull = true
    full.frames = 200
    (full.hours, full.minutes, full.seconds) = (23, 59, 58)
    (full.timeOffsetLength, full.timeOffset) = (31, -77)
    var part = ClockTimestamp()
    (part.minutes, part.seconds, part.timeOffsetLength) = (8, 7, 31)
    let timing = H264.PictureTiming(
      delays: .init(cpbRemoval: 1_000_000, dpbOutput: 99), structure: .frameTripling,
      clockTimestamps: [full, nil, part])
    // seq_parameter_set_id 0, and delays of 22 bits.
    let period = [0x80] + [UInt8](repeating: 0x5A, count: 24)
    let messages: [(String, SEIPayloadType, [UInt8])] = [
      ("recovery point", .recoveryPoint, [0x10, 0xB4]), ("buffering period", .bufferingPeriod, period),
      ("picture timing", .pictureTiming, timing.payload(sps: sps)),
    ]
    for (name, type, payload) in messages {
      try expectInvertedBits("H.264 SEI: \(name)", Array(seiNALUnit([(type, payload)]))) {
        bytes throws(BitstreamError) in
        let trace = SyntaxTrace()
        var messages = SEIMessages(bytes.span, trace: trace)
        while let message = try messages.next() {
          switch message.type {
          case .recoveryPoint: _ = try H264.RecoveryPoint(message)
          case .bufferingPeriod: _ = try H264.BufferingPeriod(message, parameterSets: sets)
          case .pictureTiming: _ = try H264.PictureTiming(message, sps: sps)
          default: break
          }
        }
        return described(trace)
      }
    }
  }

  @Test(arguments: [false, true]) func readsDamagedMessagesOfH265(_ hasUnits: Bool) throws {
    var common = H265.HRDParameters.Common()
    (common.hasNAL, common.hasVCL) = (true, true)
    (common.removalDelayLength, common.outputDelayLength, common.initialRemovalDelayLength) = (10, 5, 20)
    var layer = H265.HRDParameters.SubLayer(pictureRate: .fixed(elementalDuration: 1))
    var buffer = H265.HRDParameters.CodedPictureBuffer(bitRateValue: 1, sizeValue: 1, isConstantBitRate: false)
    if hasUnits {
      common.subPicture = .init(
        tickDivisorMinus2: 1, removalDelayIncrementLength: 3, isInPictureTiming: true, outputDelayLength: 7,
        sizeScale: 0)
      (buffer.unitSizeValue, buffer.unitBitRateValue) = (1, 1)
    }
    (layer.nal, layer.vcl) = ([buffer], [buffer])
    var vui = H265.VUIParameters()
    vui.isPictureStructurePresent = true
    var rate = H265.VUIParameters.Timing(unitsInTick: 1, timeScale: 25)
    rate.hrdParameters = .init(common: common, subLayers: [layer])
    vui.timing = rate
    var sps = H265Samples.plainSPS()
    sps.vui = vui
    let sets = try H265Samples.store(sps)
    var clock = H265.TimeCode.ClockTimestamp()
    (clock.hours, clock.minutes, clock.seconds, clock.timeOffsetLength, clock.timeOffset) = (3, 4, 5, 9, -7)
    let messages: [(String, SEIPayloadType, [UInt8])] = [
      ("recovery point", .recoveryPoint, H265.RecoveryPoint(pictureOrderCount: -9).payload()),
      ("buffering period", .bufferingPeriod, [0xA0] + [UInt8](repeating: 0x5A, count: 30)),
      (
        "picture timing", .pictureTiming,
        H265.PictureTiming(
          display: .init(structure: .topBottomTop), delays: .init(cpbRemoval: 1000, dpbOutput: 30, dpbOutputUnit: 99)
        ).payload(sps: sps)
      ),
      (
        "active parameter sets", .activeParameterSets,
        H265.ActiveParameterSets(
          videoParameterSetID: 9, isSelfContained: true, hasNoUpdates: false, sequenceParameterSetIDs: [1, 15]
        ).payload()
      ),
      ("time code", .timeCode, H265.TimeCode(clockTimestamps: [clock, nil]).payload()),
      ("MD5", .decodedPictureHash, H265.DecodedPictureHash.md5([[UInt8](0..<16)]).payload()),
      ("CRC", .decodedPictureHash, H265.DecodedPictureHash.crc([1, 2, 3]).payload()),
      ("checksum", .decodedPictureHash, H265.DecodedPictureHash.checksum([1, 2, 3]).payload()),
    ]
    for (name, type, payload) in messages {
      let nalUnit = seiNALUnit([(type, payload)], header: [0x4E, 1])
      try expectInvertedBits("H.265 SEI: \(name)\(hasUnits ? ", decoding units" : "")", Array(nalUnit.dropFirst(2))) {
        bytes throws(BitstreamError) in
        let trace = SyntaxTrace()
        let bytes = [0x4E, 1] + bytes
        var messages = SEIMessages(bytes.span, headerLength: 2, trace: trace)
        var planes = 0
        while let message = try messages.next() {
          switch message.type {
          case .recoveryPoint: _ = try H265.RecoveryPoint(message)
          case .bufferingPeriod: _ = try H265.BufferingPeriod(message, parameterSets: sets)
          case .pictureTiming: _ = try H265.PictureTiming(message, sps: sps)
          case .activeParameterSets: _ = try H265.ActiveParameterSets(message)
          case .timeCode: _ = try H265.TimeCode(message)
          case .decodedPictureHash: planes = try H265.DecodedPictureHash(message).planeCount
          default: break
          }
        }
        return described(trace) + "\(planes)".utf8
      }
    }
  }

  @Test func readsDamagedConfigurationRecords() throws {
    let avcC = try H264.DecoderConfigurationRecord(
      sequenceParameterSets: [Samples.highSPS], pictureParameterSets: [Samples.highPPS, [0x68, 1]],
      extensions: [[0x6D, 0x98]], nalLengthSize: .two)
    try expectInvertedBits("avcC", avcC.bytes()) { bytes throws(BitstreamError) in
      let record = try H264.DecoderConfigurationRecord(bytes: bytes)
      return try record.bytes() + record.withoutParameterSets.bytes() + record.nalUnits.joined()
    }
    let hvcC = try H265.DecoderConfigurationRecord(
      videoParameterSets: [H265Samples.vps], sequenceParameterSets: [H265Samples.sps],
      pictureParameterSets: [H265Samples.pps])
    try expectInvertedBits("hvcC", hvcC.bytes()) { bytes throws(BitstreamError) in
      let record = try H265.DecoderConfigurationRecord(bytes: bytes)
      return try record.bytes() + record.inOrder.bytes()
    }
  }
}
