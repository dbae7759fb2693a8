// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

@Suite struct CaptionTests {
  /// User data of a telephone's recording: "MUSIC" in pop-on captions of CC1.
  private static let sample = RegisteredUserData(
    countryCode: 0xB5,
    data: [
      0x00, 0x31, 0x47, 0x41, 0x39, 0x34, 0x03, 0x4C, 0x00, 0xFC, 0x94, 0x20, 0xFC, 0x94, 0x20, 0xFC, 0x94, 0x2C, 0xFC,
      0x94, 0x2F, 0xFC, 0x94, 0x20, 0xFC, 0x94, 0x76, 0xFC, 0x97, 0xA1, 0xFC, 0x91, 0x37, 0xFC, 0xCD, 0xD5, 0xFC, 0xD3,
      0x49, 0xFC, 0x43, 0x80, 0xFC, 0x91, 0x37, 0xFF,
    ])

  @Test func readsCaptionsOfARecording() throws {
    let message = try #require(try CaptionMessage(Self.sample))
    guard case .data(let captions) = message.content else {
      Issue.record("no cc_data")
      return
    }
    #expect(!captions.hasEmergencyData && captions.isProcessed && !captions.hasAdditionalData)
    #expect(captions.emergencyData == 0 && captions.triplets.count == 12 && captions.trailingBytes == [0xFF])
    #expect(captions.triplets[8] == CaptionTriplet(.field1, 0xCD, 0xD5))
    #expect(try message.userData() == Self.sample && Self.sample.payload == [0xB5] + Self.sample.data)
    var services = CaptionServices()
    services.add(message)
    #expect(services.services == [.caption(1)])
  }

  /// A cut message is an error, except for bytes behind the triplets.
  @Test func truncatedMessagesAreErrors() throws {
    let data = Self.sample.data
    for count in data.indices {
      let cut = RegisteredUserData(countryCode: 0xB5, data: Array(data[..<count]))
      let error = failure { () throws(BitstreamError) in
        let message = try CaptionMessage(cut)
        same(message == nil, count < 7)
        if let message { same(try message.userData(), cut) }
      }
      #expect(error?.reason == (7..<data.count - 1 ~= count ? .truncated : nil))
    }
  }

  @Test func randomMessagesComeBack() throws {
    var generator = SeededGenerator(state: 53)
    for round in 0..<2000 {
      var data: [UInt8] = round % 3 == 0 ? [0x00, 0x2F, 0x03, 0xC2] : CaptionMessage.standardPrefix
      let count = Int.random(in: 0...31, using: &generator)
      data.append(UInt8.random(in: 0...7, using: &generator) << 5 | UInt8(count))
      // Not the first byte of a packet.
      data.append(UInt8.random(in: 0...0x68, using: &generator))
      data += Self.random(3 * count + Int.random(in: 0...5, using: &generator), &generator)
      let userData = RegisteredUserData(countryCode: round % 2 == 0 ? 0xB5 : 0xB4, data: data)
      let message = try #require(try CaptionMessage(userData))
      #expect(message.triplets.count == count)
      #expect(try message.userData() == userData)
    }
  }

  @Test func otherUserDataAreNoCaptions() throws {
    for (country, data) in [
      (UInt8(0x26), CaptionMessage.standardPrefix + [0xC0, 0xFF]), (0xB5, [0x00, 0x3C, 0, 1, 4, 1]), (0xB5, []),
      (0xB5, [0x00, 0x31] + Array("GA94".utf8) + [6, 0xCF]), (0xB5, [0x00, 0x2F, 6, 0]),
    ] {
      #expect(try CaptionMessage(RegisteredUserData(countryCode: country, data: data)) == nil)
    }
  }

  @Test func refusesMoreTripletsThanTheCountCanExpress() {
    let triplets = [CaptionTriplet](repeating: CaptionTriplet(.field1, 0x80, 0x80), count: 32)
    for message in [CaptionMessage(CaptionData(triplets)), Self.packet(.captions(markerBits: 7, triplets))] {
      let error = failure { () throws(BitstreamError) in _ = try message.userData() }
      #expect(error?.reason == .valueOutOfRange && error?.element.description == "cc_count")
    }
    let long = Self.packet(.future(id: 0x80, [UInt8](repeating: 0, count: 243)))
    let error = failure { () throws(BitstreamError) in _ = try long.userData() }
    #expect(error?.reason == .valueOutOfRange && error?.element.description == "cdp_length")
  }

  private static func packet(_ sections: CaptionDistributionPacket.Section...) -> CaptionMessage {
    var message = CaptionMessage(CaptionData([]))
    let packet = CaptionDistributionPacket(frameRateCode: 4, flags: [.captions], sequenceCounter: 1, sections: sections)
    message.content = .packet(packet, trailingBytes: [])
    return message
  }

  private static func random(_ count: Int, _ generator: inout SeededGenerator) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }

  // MARK: Packets

  /// A packet with every section: 12:34:56;21 of the second field, a pair of field 1, English captions.
  private static let packet: [UInt8] = [
    0x96, 0x69, 43, 0x4F, 0xFF, 0x12, 0x34, 0x71, 0xD2, 0xB4, 0xD6, 0xA1, 0x72, 0xE2, 0xFC, 0x94, 0x20, 0xFD, 0x80,
    0x80, 0x73, 0xD2, 0x80, 0x65, 0x6E, 0x67, 0x7E, 0x3F, 0xFF, 0xC1, 0x66, 0x72, 0x65, 0xC2, 0xFF, 0xFF, 0x75, 0x01,
    0xAB, 0x74, 0x12, 0x34, 0x00,
  ]

  private static func summed(_ packet: [UInt8]) -> [UInt8] {
    packet.dropLast() + [0 &- packet.dropLast().reduce(0, &+)]
  }

  @Test func readsEverySectionOfAPacket() throws {
    let bytes = Self.summed(Self.packet)
    let packet = try CaptionDistributionPacket(bytes.span)
    #expect(packet.hasValidChecksum && packet.byteCount == bytes.count && packet.frameRate == Ratio(30_000, 1001))
    #expect(packet.sequenceCounter == 0x1234 && packet.footerSequenceCounter == 0x1234 && packet.flags.rawValue == 0xFF)
    #expect(packet.triplets == [CaptionTriplet(.field1, 0x94, 0x20), CaptionTriplet(.field2, 0x80, 0x80)])
    guard packet.sections.count == 4, case .timeCode(let time) = packet.sections[0],
      case .services(let information) = packet.sections[2], case .future(0x75, [0xAB]) = packet.sections[3]
    else {
      Issue.record("\(packet.sections)")
      return
    }
    #expect((time.hours, time.minutes, time.seconds, time.frames) == (12, 34, 56, 21))
    #expect(time.isSecondField && time.isDropFrame)
    #expect(information.services.map(\.language) == ["eng", "fre"])
    #expect(information.services.map(\.service) == [.field1, .digital(2)])
    #expect(try packet.bytes() == bytes)
    // As in SDI: in place of cc_data() and of the user structure.
    for prefix in [CaptionMessage.standardPrefix, [0x00, 0x31]] {
      let userData = RegisteredUserData(countryCode: 0xB5, data: prefix + bytes + [0xFF])
      let message = try #require(try CaptionMessage(userData))
      #expect(message.prefix == prefix && message.content == .packet(packet, trailingBytes: [0xFF]))
      #expect(try message.userData() == userData && message.triplets == packet.triplets)
    }
  }

  @Test func truncatedPacketsAreErrors() {
    let bytes = Self.summed(Self.packet)
    for count in bytes.indices {
      let error = failure { () throws(BitstreamError) in
        _ = try CaptionDistributionPacket(bytes.span.extracting(0..<count))
      }
      #expect(error?.reason == .truncated)
    }
    for (index, value, element) in [
      (0, UInt8(0x95), "cdp_identifier"), (2, 10, "cdp_length"), (39, 0x73, "cdp_footer_id"),
    ] {
      var bytes = bytes
      bytes[index] = value
      let error = failure { () throws(BitstreamError) in _ = try CaptionDistributionPacket(bytes.span) }
      #expect(error?.reason == .valueOutOfRange && error?.element.description == element)
    }
  }

  @Test func randomPacketsComeBack() throws {
    var generator = SeededGenerator(state: 51)
    for round in 0..<2000 {
      var body = Self.random(4, &generator)
      for _ in 0..<Int.random(in: 0...3, using: &generator) {
        switch Int.random(in: 0...3, using: &generator) {
        case 0: body += [0x71] + Self.random(4, &generator)
        case 1:
          let count = Int.random(in: 0...12, using: &generator)
          body += [0x72, UInt8.random(in: 0...7, using: &generator) << 5 | UInt8(count)]
          body += Self.random(3 * count, &generator)
        case 2:
          let count = Int.random(in: 0...4, using: &generator)
          body += [0x73, UInt8.random(in: 0...15, using: &generator) << 4 | UInt8(count)]
          body += Self.random(7 * count, &generator)
        default:
          let count = Int.random(in: 0...12, using: &generator)
          body += [UInt8.random(in: 0x75...0xEF, using: &generator), UInt8(count)] + Self.random(count, &generator)
        }
      }
      let isKnown = round % 4 != 0
      if !isKnown { body += [0xF0] + Self.random(Int.random(in: 0...9, using: &generator), &generator) }
      var bytes = [0x96, 0x69, UInt8(body.count + 7)] + body + [0x74] + Self.random(2, &generator) + [0]
      bytes = Self.summed(bytes)
      if round % 5 == 0 { bytes[bytes.count - 1] &+= UInt8.random(in: 1...255, using: &generator) }
      let packet = try CaptionDistributionPacket(bytes.span)
      #expect(packet.hasValidChecksum == (round % 5 != 0))
      #expect(try packet.bytes() == bytes)
      let hasUnread = packet.sections.contains { if case .unread = $0 { true } else { false } }
      #expect(hasUnread == !isKnown)
    }
  }

  /// A packet with a damaged section keeps its bytes from there on.
  @Test func damagedPacketsComeBack() throws {
    let packet = Self.summed(Self.packet)
    for index in 3..<packet.count - 4 {
      for bit in 0..<8 {
        var bytes = packet
        bytes[index] ^= 1 << UInt8(bit)
        let read = try CaptionDistributionPacket(bytes.span)
        #expect(!read.hasValidChecksum)
        #expect(try read.bytes() == bytes)
      }
    }
  }

  // MARK: Services

  private static func pairs(_ kind: CaptionTriplet.Kind, _ bytes: [UInt8]) -> [CaptionTriplet] {
    stride(from: 0, to: bytes.count, by: 2).map { CaptionTriplet(kind, bytes[$0], bytes[$0 + 1]) }
  }

  @Test(arguments: [
    // Resume caption loading and characters; padding before any control code.
    (CaptionTriplet.Kind.field1, [0x80, 0x80, 0x41, 0x41, 0x94, 0x20, 0xC1, 0x80] as [UInt8], ["CC1"]),
    // Roll-up captions in the second channel.
    (.field1, [0x1C, 0x25, 0x41, 0x41], ["CC2"]), (.field2, [0x15, 0x20, 0x41, 0x41], ["CC3"]),
    // Encoders send field 1's codes in field 2, too.
    (.field2, [0x14, 0x20, 0x41, 0x41], ["CC3"]), (.field2, [0x1D, 0x29, 0x41, 0x41], ["CC4"]),
    // Text, then captions of the same channel.
    (.field1, [0x14, 0x2A, 0x41, 0x41], ["T1"]), (.field1, [0x1C, 0x2B, 0x41, 0x41, 0x1C, 0x20], ["CC2", "T2"]),
    // A preamble address code without a mode.
    (.field1, [0x11, 0x60, 0x41, 0x41], ["CC1"]),
    // Erasing a memory shows nothing.
    (.field1, [0x14, 0x2C, 0x14, 0x2E], []),
    // XDS, whose characters are no captions; in field 1 these codes mean nothing.
    (.field2, [0x01, 0x03, 0x41, 0x41, 0x8F, 0x1D], ["XDS"]),
    (.field2, [0x01, 0x03, 0x41, 0x41, 0x15, 0x26, 0x41, 0x41], ["CC3", "XDS"]),
    (.field1, [0x01, 0x03, 0x41, 0x41], []),
  ])
  func findsServicesOfLine21(kind: CaptionTriplet.Kind, bytes: [UInt8], names: [String]) {
    var services = CaptionServices()
    services.add(Self.pairs(kind, bytes))
    #expect(services.services.map(\.name) == names)
    var padding = CaptionServices()
    padding.add(Self.pairs(kind, bytes).map { CaptionTriplet($0.kind, isValid: false, $0.first, $0.second) })
    #expect(padding.services.isEmpty)
  }

  /// The triplets of packets, their pairs spread over pictures.
  private static func triplets(_ packets: [CaptionPacket]) throws(BitstreamError) -> [CaptionTriplet] {
    var triplets: [CaptionTriplet] = []
    for packet in packets {
      let bytes = try packet.bytes()
      for index in stride(from: 0, to: bytes.count, by: 2) {
        triplets.append(CaptionTriplet(index == 0 ? .packetStart : .packetData, bytes[index], bytes[index + 1]))
      }
    }
    return triplets
  }

  @Test func findsServicesOfDigitalCaptions() throws {
    let packets = [
      CaptionPacket(
        sequenceNumber: 0,
        serviceBlocks: [
          .init(number: 1, data: [0x98, 0, 0]), .init(number: 9, data: [UInt8](repeating: 65, count: 31)),
        ]),
      CaptionPacket(sequenceNumber: 1, serviceBlocks: [.init(number: 6, data: [0x41])]),
      CaptionPacket(sequenceNumber: 2, serviceBlocks: [.init(number: 2, data: [])]),
    ]
    var services = CaptionServices()
    for triplet in try Self.triplets(packets) { services.add([triplet]) }
    #expect(services.services == [.digital(1), .digital(6), .digital(9)])
    #expect(services.services.map(\.name) == ["service 1", "service 6", "service 9"])
    // A packet that the next one or padding cuts short, and data without a start.
    var cut = CaptionServices()
    let triplets = try Self.triplets([packets[1]])
    cut.add(
      [triplets[0]] + triplets.prefix(1) + [CaptionTriplet(.packetData, isValid: false, 0, 0)] + triplets.dropFirst())
    #expect(cut.services.isEmpty)
  }

  @Test func languagesComeFromServiceInformation() throws {
    var services = CaptionServices()
    let message = try #require(
      try CaptionMessage(RegisteredUserData(countryCode: 0xB5, data: [0, 0x31] + Self.summed(Self.packet))))
    services.add(message)
    #expect(services.services == [.caption(1)])
    #expect(services.language(of: .caption(1)) == "eng" && services.language(of: .text(2)) == "eng")
    #expect(services.language(of: .digital(2)) == "fre" && services.language(of: .caption(3)) == nil)
    #expect(services.language(of: .digital(1)) == nil)
  }

  @Test func randomCaptionPacketsComeBack() throws {
    var generator = SeededGenerator(state: 52)
    for _ in 0..<3000 {
      let code = Int.random(in: 0...63, using: &generator)
      var bytes = [UInt8.random(in: 0...3, using: &generator) << 6 | UInt8(code)]
      while bytes.count < (code == 0 ? 128 : 2 * code) {
        let size = Int.random(in: 0...31, using: &generator)
        bytes += [UInt8.random(in: 0...7, using: &generator) << 5 | UInt8(size)] + Self.random(size, &generator)
      }
      bytes = Array(bytes.prefix(code == 0 ? 128 : 2 * code))
      let packet = try CaptionPacket((bytes + [0x55]).span)
      #expect(try packet.bytes() == bytes)
      for count in bytes.indices {
        let error = failure { () throws(BitstreamError) in _ = try CaptionPacket(bytes.span.extracting(0..<count)) }
        #expect(error?.reason == .truncated)
      }
    }
  }

  /// The vectors with captions: their messages, found by identifier, come back.
  @Test(.enabled(if: Vectors.isAvailable)) func captionsOfVectorsComeBack() throws {
    let file = try Vectors.bytes("h265/androidx_fragmented_captions_h265.mp4")
    var services = CaptionServices()
    var count = 0
    var rest = file[...]
    while let place = rest.firstRange(of: [0xB5] + CaptionMessage.standardPrefix) {
      // The payload size is in front of the country code.
      let size = Int(file[place.lowerBound - 1])
      let data = Array(file[place.lowerBound + 1..<place.lowerBound + size])
      rest = rest[place.upperBound...]
      let userData = RegisteredUserData(countryCode: 0xB5, data: data)
      let message = try #require(try CaptionMessage(userData))
      #expect(try message.userData() == userData)
      services.add(message)
      count += 1
    }
    #expect(count == 2 && services.services == [.caption(1)])
  }
}
