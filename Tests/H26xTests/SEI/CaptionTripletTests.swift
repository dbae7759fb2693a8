// SPDX-License-Identifier: MPL-2.0
import H26x
import Testing

/// Captions in the layouts that applications use.
@Suite struct CaptionTripletTests {
  @Test func readsEveryLayout() {
    let data: [UInt8] = [0xFC, 0x94, 0x20, 0x7D, 0x80, 0x80, 0xFF, 0x02, 0x21]
    #expect(CaptionTriplet.list(data: data)?.flatMap(\.bytes) == data)
    let pairs = CaptionTriplet.list(pairs: [0x94, 0x20, 0x94, 0x2F])
    #expect(pairs == [CaptionTriplet(.field1, 0x94, 0x20), CaptionTriplet(.field1, 0x94, 0x2F)])
    let lines = CaptionTriplet.list(lines: [0x8C, 0x94, 0x20, 0x0C, 0x80, 0x81])
    #expect(lines == [CaptionTriplet(.field1, 0x94, 0x20), CaptionTriplet(.field2, 0x80, 0x81)])
    let none: [UInt8] = []
    #expect(CaptionTriplet.list(data: none) == [] && CaptionTriplet.list(pairs: none) == [])
    #expect(CaptionTriplet.list(lines: none) == [])
  }

  @Test func refusesPartsOfGroupsAndTooMany() {
    for count in 0...300 {
      let bytes = [UInt8](repeating: 0x80, count: count)
      let (isTriplets, isPairs) = (count % 3 == 0 && count <= 93, count % 2 == 0 && count <= 62)
      #expect(CaptionTriplet.list(data: bytes)?.count == (isTriplets ? count / 3 : nil))
      #expect(CaptionTriplet.list(lines: bytes)?.count == (isTriplets ? count / 3 : nil))
      #expect(CaptionTriplet.list(pairs: bytes)?.count == (isPairs ? count / 2 : nil))
    }
  }

  /// A packet gives its triplets, none without a section of captions. A damaged one gives nothing.
  @Test func readsPackets() throws {
    let triplets = [CaptionTriplet(.field1, 0x94, 0x20), CaptionTriplet(.packetStart, 0x02, 0x21)]
    func packet(_ sections: CaptionDistributionPacket.Section...) throws -> [UInt8] {
      try CaptionDistributionPacket(frameRateCode: 4, flags: [.captions], sequenceCounter: 1, sections: sections)
        .bytes()
    }
    let bytes = try packet(.captions(markerBits: 7, triplets))
    #expect(CaptionTriplet.list(packet: bytes) == triplets)
    #expect(CaptionTriplet.list(packet: try packet()) == [])
    for count in bytes.indices { #expect(CaptionTriplet.list(packet: Array(bytes[..<count])) == nil) }
    for index in bytes.indices {
      var damaged = bytes
      damaged[index] ^= 1
      #expect(CaptionTriplet.list(packet: damaged) == nil)
    }
    let many = [CaptionTriplet](repeating: triplets[0], count: 20)
    let long = try packet(.captions(markerBits: 7, many), .captions(markerBits: 7, many))
    #expect(CaptionTriplet.list(packet: long) == nil)
  }

  @Test func findsCaptionsInSEI() throws {
    let message = try CaptionMessage(CaptionData([CaptionTriplet(.field1, 0x94, 0x20)])).userData().payload
    let other: (SEIPayloadType, [UInt8]) = (.userDataUnregistered, [UInt8](1...20))
    let foreign: (SEIPayloadType, [UInt8]) = (.userDataRegistered, [0xB5, 0x00, 0x3C, 0, 1, 4, 1])
    for (messages, hasCaptions) in [
      ([other, (.userDataRegistered, message)], true), ([foreign, (.userDataRegistered, message), other], true),
      ([other, foreign], false), ([], false),
      // Cut in the triplets.
      ([(.userDataRegistered, Array(message.prefix(11)))], true),
    ] as [([(SEIPayloadType, [UInt8])], Bool)] {
      let nalUnit = seiNALUnit(messages.map { (type: $0.0, payload: $0.1) }, header: [0x4E, 1])
      #expect(SEIMessages.holdCaptions(nalUnit.span, headerLength: 2) == hasCaptions)
      let isInHeader = SEIMessages.holdCaptions(nalUnit.span.extracting(0..<2), headerLength: 2)
      #expect(!isInHeader)
    }
  }
}
