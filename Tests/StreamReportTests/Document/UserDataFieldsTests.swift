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
      guard case .accessUnit(let unit) = item,
        let found = unit.nalUnits.first(where: { !$0.messages.isEmpty || $0.type == 62 })
      else { continue }
      return found.fields
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
    return [
      try CaptionMessage(captions).userData(), try inPacket.userData(), try digital().userData(),
      try HDR10PlusMetadata().userData(),
    ]
  }

  /// The end of a packet of DTVCC, a whole one, and the beginning of another, which padding cuts off.
  private static func digital() throws -> CaptionMessage {
    let blocks = [
      CaptionPacket.ServiceBlock(number: 1, data: [0x41, 0x42, 0x43]), CaptionPacket.ServiceBlock(number: 9, data: [7]),
    ]
    let packet = CaptionPacket(sequenceNumber: 2, serviceBlocks: blocks)
    var bytes = try packet.bytes()
    #expect(bytes.count == 8)
    var triplets = [CaptionTriplet(.packetData, 0x21, 0x22)]
    for part in 0..<2 {
      if part == 1 { bytes = try CaptionPacket(sequenceNumber: 3, serviceBlocks: blocks).bytes() }
      for start in stride(from: 0, to: part == 0 ? 8 : 4, by: 2) {
        triplets.append(CaptionTriplet(start == 0 ? .packetStart : .packetData, bytes[start], bytes[start + 1]))
      }
    }
    triplets += [CaptionTriplet(.packetData, isValid: false, 0, 0), CaptionTriplet(.packetData, 0x21, 0x22)]
    return CaptionMessage(CaptionData(triplets))
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

  @Test("The headers of DTVCC's packets take the place of bytes of cc_data")
  func headersTakeThePlaceOfCaptionBytes() throws {
    let fields = try Self.fields(Self.message(try Self.digital().userData()))
    let headers = fields.filter { $0.bitCount < 8 && $0.bitOffset > 14 * 8 }.map { "\($0.name) \($0.value)" }
    let whole = [
      "packet_size_code 4", "service_number 1", "block_size 3", "service_number 7", "block_size 1", "null_fill 0",
      "extended_service_number 9",
    ]
    #expect(headers == ["sequence_number 2"] + whole + ["sequence_number 3"] + whole.prefix(3), "\(headers)")
  }

  @Test("The elements of Dolby Vision's blocks take the place of their bytes, each bit once")
  func elementsTakeThePlaceOfBlocks() throws {
    var header = DolbyVision.Header(profile: 1, sequence: .init())
    header.previousMappingID = 0
    var management = DolbyVision.DisplayManagement(source: .init(minimumPQ: 62, maximumPQ: 3696))
    management.blocks = [
      .init(.level1(minimum: 62, maximum: 3000, average: 1500)),
      .init(
        .level6(maximumLuminance: 1000, minimumLuminance: 50, maximumContentLight: 900, maximumAverageLight: 400)),
      .init(level: 77, payload: [1, 2]), .init(level: 1, payload: [5]),
    ]
    let rpu = try DolbyVision.RPU(header: header, mapping: nil, displayManagement: management).nalUnit()
    let fields = try Self.fields(rpu)
    var end = 0
    for field in fields {
      #expect(field.bitOffset == end, "\(field.name)")
      end += field.bitCount
    }
    let start = try #require(fields.firstIndex { "\($0.name)" == "num_ext_blocks" })
    let blocks = fields[start...].filter { "\($0.name)" != "dm_alignment_zero_bit" }.map { "\($0.name) \($0.value)" }
    let expected = [
      "num_ext_blocks 4", "ext_block_length 5", "ext_block_level 1", "min_PQ 62", "max_PQ 3000", "avg_PQ 1500",
      "ext_dm_alignment_zero_bit 0", "ext_block_length 8", "ext_block_level 6", "max_display_mastering_luminance 1000",
      "min_display_mastering_luminance 50", "max_content_light_level 900", "max_frame_average_light_level 400",
      "ext_block_length 2", "ext_block_level 77", "ext_dm_data_block_payload 1", "ext_dm_data_block_payload 2",
      "ext_block_length 1", "ext_block_level 1", "ext_dm_data_block_payload 5",
    ]
    #expect(Array(blocks.prefix(expected.count)) == expected, "\(blocks)")
  }

  @Test("Damaged user data keep their bytes") func damagedUserDataKeepTheirBytes() throws {
    for userData in try Self.messages().map({ RegisteredUserData(countryCode: 0xB5, data: Array($0.data.prefix(9))) }) {
      let names = try Self.fields(Self.message(userData)).map { "\($0.name)" }
      #expect(names.suffix(9) == [String](repeating: "itu_t_t35_payload_byte", count: 9)[...], "\(names)")
    }
  }
}
