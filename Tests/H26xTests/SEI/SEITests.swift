// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

@Suite struct SEITests {
  /// Calls `body` with each message of a NAL unit made of the given ones.
  private func read(
    _ messages: [(type: SEIPayloadType, payload: [UInt8])],
    _ body: (borrowing SEIMessages.Message) throws(BitstreamError) -> Void
  ) throws {
    let unit = seiNALUnit(messages)
    var reader = SEIMessages(unit.span)
    var index = 0
    while let message = try reader.next() {
      same(message.type, messages[index].type)
      same(try message.payload(), messages[index].payload)
      try body(message)
      index += 1
    }
    #expect(index == messages.count)
  }

  @Test func readsEveryMessage() throws {
    let long = [UInt8](repeating: 0, count: 700)
    try read([(SEIPayloadType(rawValue: 300), [0, 0, 1]), (.userDataUnregistered, long), (.recoveryPoint, [])]) { _ in }
  }

  @Test func sizesBeyondTheEndAreErrors() {
    for bytes: [UInt8] in [
      [6, 5, 200, 1, 2, 0x80], [6, 5, 0xFF, 0xFF, 0xFF, 0xFF], [6, 0xFF, 0xFF], [6, 5], [6, 5, 16, 0, 0, 3, 0, 0x80],
    ] {
      let error = failure { () throws(BitstreamError) in
        var messages = SEIMessages(bytes.span)
        while let message = try messages.next() { _ = message.size }
      }
      #expect(error?.reason == .truncated)
    }
    // A NAL unit without messages is legal.
    for bytes: [UInt8] in [[], [6], [6, 0x80]] {
      var messages = SEIMessages(bytes.span)
      var count = 0
      while let message = try? messages.next() { count += message.size + 1 }
      #expect(count == 0)
    }
  }

  @Test func readsUnregisteredUserData() throws {
    let uuid = (0..<16).map { UInt8($0) }
    for data: [UInt8] in [[], [0, 0, 0, 1], Array("x264".utf8)] {
      try read([(.userDataUnregistered, uuid + data)]) { message throws(BitstreamError) in
        let user = try UnregisteredUserData(message)
        same(user.uuid, uuid)
        same(user.data, data)
      }
    }
    try read([(.userDataUnregistered, [1, 2])]) { message throws(BitstreamError) in
      same((try? UnregisteredUserData(message)) == nil, true)
    }
  }

  /// The smallest Caption Distribution Packet: header and footer.
  private static let captionPacket: [UInt8] = [0x96, 0x69, 0x0B, 0x3F, 0x43, 0, 1, 0x74, 0, 1, 0xFE]

  @Test func readsCaptionsBarsAndActiveFormat() throws {
    let header: [UInt8] = [0xB5, 0x00, 0x31]
    let triplets: [UInt8] = [0xFC, 0x94, 0x20, 0xFD, 0x80, 0x80]
    let cases: [([UInt8], RegisteredUserData.Content?)] = [
      (header + Array("GA94".utf8) + [3, 0xC2, 0xFF] + triplets + [0xFF], .closedCaptions(triplets)),
      // Two captions are announced, one is present.
      (header + Array("GA94".utf8) + [3, 0xC2, 0xFF] + triplets.prefix(3), nil),
      (
        header + Array("GA94".utf8) + [6, 0xCF, 0xC0, 0x10, 0xC1, 0x10],
        .barData(.init(topEnd: 16, bottomStart: 272))
      ),
      (header + Array("DTG1".utf8) + [0x41, 0xFA], .activeFormat(10)),
      (header + Array("DTG1".utf8) + [0x01], .activeFormat(nil)),
      ([0xB5, 0x00, 0x2F, 3, 8, 0xC2, 0xFF] + triplets, .closedCaptions(triplets)),
      ([0xB5, 0x00, 0x3C, 0, 1, 4], nil), ([0x26, 0, 4], nil),
      // The same with the country code of the United Kingdom, and of a country without such captions.
      ([0xB4, 0x00, 0x31] + Array("DTG1".utf8) + [0x41, 0xFA], .activeFormat(10)),
      ([0x26, 0x00, 0x31] + Array("DTG1".utf8) + [0x41, 0xFA], nil), ([0x26] + Self.captionPacket, nil),
      (header + Self.captionPacket, .captionPacket(Self.captionPacket)),
      (header + Array("GA94".utf8) + Self.captionPacket + [0xFF], .captionPacket(Self.captionPacket)),
      (header + Array("GA94".utf8) + [3] + Self.captionPacket, .captionPacket(Self.captionPacket)),
      // Truncated, a wrong checksum, no footer, and a length too small for header and footer.
      (header + Self.captionPacket.dropLast(), nil), (header + Self.captionPacket.dropLast() + [0x17], nil),
      (header + [0x96, 0x69, 0x0B, 0, 0, 0, 0, 0x75, 0, 0, 0x81], nil), (header + [0x96, 0x69, 0x01], nil),
    ]
    for (payload, expected) in cases {
      try read([(.userDataRegistered, payload)]) { message throws(BitstreamError) in
        let user = try RegisteredUserData(message)
        same(user.countryCode, payload[0])
        same(user.content(), expected)
      }
    }
  }

  @Test func readsHDRMetadata() throws {
    let mastering: [UInt8] = [
      0x21, 0x34, 0x9B, 0xAA, 0x19, 0x96, 0x08, 0xFC, 0x8A, 0x48, 0x39, 0x08, 0x3D, 0x13, 0x40, 0x42, 0, 0x98, 0x96,
      0x80, 0, 0, 0, 50,
    ]
    let messages: [(type: SEIPayloadType, payload: [UInt8])] = [
      (.masteringDisplayColourVolume, mastering), (.contentLightLevel, [0x03, 0xE8, 0x01, 0x90]),
      (.alternativeTransferCharacteristics, [18]),
    ]
    try read(messages) { message throws(BitstreamError) in
      switch message.type {
      case .masteringDisplayColourVolume:
        let volume = try MasteringDisplayColourVolume(message)
        same(volume.primaries.map(\.x), [8500, 6550, 35400])
        same(volume.whitePoint.y, 16450)
        same(volume.maximumLuminance, 10_000_000)
        same(volume.minimumLuminance, 50)
      case .contentLightLevel:
        let level = try ContentLightLevel(message)
        same(level.maximum, 1000)
        same(level.maximumPictureAverage, 400)
      default:
        same(try AlternativeTransferCharacteristics(message).preferredTransfer, 18)
      }
    }
    try read([(.masteringDisplayColourVolume, Array(mastering.dropLast()))]) { message throws(BitstreamError) in
      same((try? MasteringDisplayColourVolume(message)) == nil, true)
    }
  }

  @Test func readsArrangementsOfViews() throws {
    let messages: [(payload: [UInt8], arrangement: StereoVideoInformation.Arrangement, isLeft: Bool, isRight: Bool)] = [
      ([0b1110_1000], .fields(isTopLeft: true), true, false), ([0b1001_1000], .fields(isTopLeft: false), false, true),
      ([0b0110_0100], .frames(isLeft: true, nextIsSecondView: true), false, false),
      ([0b0001_1100], .frames(isLeft: false, nextIsSecondView: false), true, true),
    ]
    for expected in messages {
      try read([(.stereoVideoInformation, expected.payload)]) { message throws(BitstreamError) in
        let stereo = try StereoVideoInformation(message)
        same(stereo.arrangement, expected.arrangement)
        same(stereo.isLeftSelfContained, expected.isLeft)
        same(stereo.isRightSelfContained, expected.isRight)
      }
    }
    try read([(.stereoVideoInformation, [])]) { message throws(BitstreamError) in
      same((try? StereoVideoInformation(message)) == nil, true)
    }
  }

  @Test func readsFramePackingAndOrientation() throws {
    var packing = BitWriter(addsEmulationPrevention: false)
    packing.ue(7)
    packing.flag(false)
    packing.u(7, 3)
    packing.flag(false)
    packing.u(6, 1)
    packing.u(6, 0b000100)
    packing.u(16, 0)
    packing.u(8, 0)
    packing.ue(1)
    packing.flag(false)
    packing.align()
    try read([(.framePackingArrangement, packing.bytes)]) { message throws(BitstreamError) in
      let arrangement = try FramePackingArrangement(message)
      same(arrangement.id, 7)
      same(arrangement.type, 3)
      same(arrangement.contentInterpretation, 1)
      same(arrangement.isFrame0, true)
      same(arrangement.repetitionPeriod, 1)
    }
    try read([(.displayOrientation, [0x20, 0x20, 0x01, 0x80])]) { message throws(BitstreamError) in
      let orientation = try DisplayOrientation(message)
      same(orientation?.isFlippedVertically, true)
      same(orientation?.isFlippedHorizontally, false)
      same(orientation?.anticlockwiseRotation, 0x0100)
    }
  }

  @Test func recoveryPointsComeBack() throws {
    let bytes: [UInt8] = [6, 6, 1, 0xC4, 0x80]
    var messages = SEIMessages(bytes.span)
    let message = try messages.next()
    guard let message else {
      Issue.record("no message")
      return
    }
    let point = try H264.RecoveryPoint(message)
    same(point.frameCount, 0)
    same(point.isExactMatch, true)
    same(point.isBrokenLink, false)
    same(point.payload(), [0xC4])
  }

  @Test func timeCodesComeBack() throws {
    var sps = try Samples.sps()
    sps.vui?.isPictureStructurePresent = true
    for structure in H264.PictureTiming.Structure.allCases {
      var full = H264.PictureTiming.ClockTimestamp()
      full.isFull = true
      full.hours = 23
      full.minutes = 59
      full.seconds = 58
      full.frames = 24
      full.countingType = 4
      full.timeOffset = -5
      var short = H264.PictureTiming.ClockTimestamp()
      short.seconds = 7
      short.minutes = 8
      short.timeOffset = 1 << 22
      let timing = H264.PictureTiming(
        structure: structure, clockTimestamps: Array([full, nil, short].prefix(structure.clockTimestampCount)))
      let payload = timing.payload(sps: sps)
      let wanted = sps
      try read([(.pictureTiming, payload)]) { message throws(BitstreamError) in
        same(try H264.PictureTiming(message, sps: wanted), timing)
      }
      for end in payload.indices.dropLast() {
        try read([(.pictureTiming, Array(payload[..<end]))]) { message throws(BitstreamError) in
          same((try? H264.PictureTiming(message, sps: wanted)) == timing, false)
        }
      }
    }
  }

  /// Delays of the NAL HRD, then of the VCL HRD: two for each buffer, with the number of bits of the HRD (D.1.2).
  @Test func readsBufferingPeriods() throws {
    var sets = H264.ParameterSets()
    try sets.insert(bytes: MinimalStream.sps(nalBuffers: 2, vclBuffers: 1))
    var writer = BitWriter(addsEmulationPrevention: false)
    writer.ue(0)
    for value: UInt32 in [90_000, 1, UInt32.max, 0, 45_000, 2] { writer.u(32, value) }
    writer.trailingBits()
    let stored = sets
    try read([(.bufferingPeriod, writer.bytes)]) { message throws(BitstreamError) in
      let period = try H264.BufferingPeriod(message, parameterSets: stored)
      same(period.sequenceParameterSetID, 0)
      same(period.nal.map(\.removalDelay), [90_000, .max])
      same(period.nal.map(\.removalDelayOffset), [1, 0])
      same(period.vcl.map(\.removalDelay), [45_000])
      same(period.vcl.map(\.removalDelayOffset), [2])
      let sps = stored.sequenceParameterSet(0)
      same(sps.map { period.payload(sps: $0) }, writer.bytes)
    }
    try read([(.bufferingPeriod, writer.bytes)]) { message throws(BitstreamError) in
      let error = failure { () throws(BitstreamError) in
        _ = try H264.BufferingPeriod(message, parameterSets: H264.ParameterSets())
      }
      same(error?.reason, .missingParameterSet)
    }
  }

  /// Emulation prevention bytes are no part of the data: zeros are the same after writing and reading.
  @Test func registeredUserDataWithZerosComesBack() throws {
    let data: [UInt8] = [0x00, 0x3C, 0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 0, 0xFF]
    let unit = seiNALUnit([(.userDataRegistered, [0xB5] + data)])
    #expect(unit.count > data.count + 6)
    try read([(.userDataRegistered, [0xB5] + data)]) { message throws(BitstreamError) in
      let user = try RegisteredUserData(message)
      same(user.data, data)
      same(user.providerCode, 0x003C)
    }
  }

  /// Empty messages: each is read once. Reading the rest for each of them would
  /// take minutes.
  @Test func readsEmptyMessagesOnce() {
    var nalUnit: [UInt8] = [0x06]
    for _ in 0..<300_000 { nalUnit += [0, 0, 3] }
    nalUnit.append(0x80)
    var messages = SEIMessages(nalUnit.span)
    var count = 0
    do throws(BitstreamError) {
      while try messages.next() != nil { count += 1 }
    } catch {
      Issue.record("\(error)")
    }
    #expect(count == 300_000)
  }

  @Test func randomMessagesNeverTrap() throws {
    var generator = SeededGenerator(state: 12)
    var sets = H264.ParameterSets()
    try sets.insert(bytes: Samples.highSPS)
    let sps = try Samples.sps()
    for _ in 0..<20000 {
      let types: [UInt32] = [0, 1, 4, 5, 6, 21, 45, 47, 137, 144, 147]
      let payload = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      let type = SEIPayloadType(rawValue: types.randomElement(using: &generator) ?? 0)
      try read([(type, payload)]) { message throws(BitstreamError) in
        _ = try? H264.BufferingPeriod(message, parameterSets: sets)
        _ = try? H264.PictureTiming(message, sps: sps)
        _ = try? H264.RecoveryPoint(message)
        _ = (try? RegisteredUserData(message))?.content()
        _ = try? UnregisteredUserData(message)
        _ = try? StereoVideoInformation(message)
        _ = try? FramePackingArrangement(message)
        _ = try? DisplayOrientation(message)
        _ = try? MasteringDisplayColourVolume(message)
      }
    }
  }
}
