// SPDX-License-Identifier: MPL-2.0
import H26x
import StreamReport
import Testing

@Suite("Syntax elements in user data") struct UserDataFieldsTests {
  private static func fields(_ nalUnit: [UInt8]) throws -> [SyntaxField] {
    var options = ReportOptions()
    options.includesFields = true
    var stream = H265TestStream()
    stream.nalUnits.insert(nalUnit, at: 3)
    for item in try report(stream.bytes, options) {
      guard case .accessUnit(let unit) = item, let message = unit.nalUnits.first(where: { !$0.messages.isEmpty }) else {
        continue
      }
      return message.fields
    }
    return []
  }

  private static func message(_ userData: RegisteredUserData) -> [UInt8] {
    seiNALUnit([(type: .userDataRegistered, payload: userData.payload)], header: [0x4E, 0x01])
  }

  private static func messages() throws -> [RegisteredUserData] {
    let captions = CaptionData([CaptionTriplet(.field1, 0x94, 0x2C), CaptionTriplet(.packetStart, 0, 0)])
    let packet = CaptionDistributionPacket(
      frameRateCode: 4, flags: [.captions, .reserved], sequenceCounter: 0,
      sections: [.captions(markerBits: 7, captions.triplets)])
    var inPacket = CaptionMessage(captions)
    inPacket.content = .packet(packet, trailingBytes: [0xFF])
    return [try CaptionMessage(captions).userData(), try inPacket.userData(), try HDR10PlusMetadata().userData()]
  }

  @Test("The elements of captions and HDR10+ take the place of their bytes, each bit once")
  func elementsTakeThePlaceOfTheBytes() throws {
    for userData in try Self.messages() {
      let fields = try Self.fields(Self.message(userData))
      let start = try #require(fields.firstIndex { "\($0.name)" == "itu_t_t35_country_code" })
      #expect(fields.count > start + 4)
      // Header, type and size take four bytes.
      var end = 32
      for field in fields[start...] {
        #expect(field.bitOffset == end, "\(field.name)")
        end += field.bitCount
      }
      #expect(end == 32 + userData.payload.count * 8)
      #expect(!fields.contains { "\($0.name)" == "itu_t_t35_payload_byte" } || userData.isHDR10Plus)
    }
  }

  @Test("Damaged user data keep their bytes") func damagedUserDataKeepTheirBytes() throws {
    for userData in try Self.messages().map({ RegisteredUserData(countryCode: 0xB5, data: Array($0.data.prefix(9))) }) {
      let names = try Self.fields(Self.message(userData)).map { "\($0.name)" }
      #expect(names.suffix(9) == [String](repeating: "itu_t_t35_payload_byte", count: 9)[...], "\(names)")
    }
  }
}
