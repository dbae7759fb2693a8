// SPDX-License-Identifier: MPL-2.0

/// A Caption Distribution Packet (CDP; SMPTE ST 334-2): captions of one picture as SDI has them.
///
/// Sections keep their order, reserved bits and unknown sections their values. Packets whose checksum is wrong can be
/// read, too, and are written with the same difference.
public struct CaptionDistributionPacket: Sendable, Hashable {
  /// `time_code_present` and so on, the seventh byte of a packet.
  public struct Flags: OptionSet, Sendable, Hashable {
    /// The byte, with its reserved bit.
    public let rawValue: UInt8
    /// Creates flags from the byte.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// `time_code_present`.
    public static let timeCode = Flags(rawValue: 0x80)
    /// `ccdata_present`.
    public static let captions = Flags(rawValue: 0x40)
    /// `svcinfo_present`.
    public static let services = Flags(rawValue: 0x20)
    /// `svc_info_start`.
    public static let servicesStart = Flags(rawValue: 0x10)
    /// `svc_info_change`.
    public static let servicesChange = Flags(rawValue: 0x08)
    /// `svc_info_complete`.
    public static let servicesComplete = Flags(rawValue: 0x04)
    /// `caption_service_active`.
    public static let serviceActive = Flags(rawValue: 0x02)
    /// The reserved bit, which is 1.
    public static let reserved = Flags(rawValue: 0x01)
  }

  /// A part of the packet.
  public enum Section: Sendable, Hashable {
    /// `time_code_section()`.
    case timeCode(TimeCode)
    /// `ccdata_section()`: `marker_bits` (three bits, all 1) and the triplets.
    case captions(markerBits: UInt8, [CaptionTriplet])
    /// `ccsvcinfo_section()`.
    case services(ServiceInformation)
    /// `future_section()`: an identifier from 0x75 to 0xEF, and its data.
    case future(id: UInt8, [UInt8])
    /// Bytes in front of the footer that are no section.
    case unread([UInt8])
  }

  /// `cdp_frame_rate`, 0 to 15; see ``frameRate``.
  public var frameRateCode: UInt8
  /// The reserved bits behind it, 0 to 15; 15 in the version known.
  public var frameRateReserved: UInt8 = 0xF
  /// The presence of sections, and the state of the service information.
  public var flags: Flags
  /// `cdp_hdr_sequence_cntr`: counts packets.
  public var sequenceCounter: UInt16
  /// The sections in their order.
  public var sections: [Section]
  /// `cdp_ftr_sequence_cntr`, the same number again.
  public var footerSequenceCounter: UInt16
  /// The sum of all bytes of the packet, modulo 256; 0 if `packet_checksum` is right.
  private var checksumDifference: UInt8 = 0

  /// Creates a packet.
  ///
  /// - Parameters:
  ///   - frameRateCode: `cdp_frame_rate`.
  ///   - flags: the presence of sections.
  ///   - sequenceCounter: the number in header and footer.
  ///   - sections: the sections in their order.
  public init(frameRateCode: UInt8, flags: Flags, sequenceCounter: UInt16, sections: [Section]) {
    self.frameRateCode = frameRateCode & 0xF
    self.flags = flags
    self.sequenceCounter = sequenceCounter
    self.sections = sections
    footerSequenceCounter = sequenceCounter
  }

  /// Whether `packet_checksum` is right.
  public var hasValidChecksum: Bool { checksumDifference == 0 }

  /// The frame rate of ``frameRateCode``; nil if it is reserved.
  public var frameRate: Ratio? { Self.frameRate(code: frameRateCode) }

  /// The frame rate of `cdp_frame_rate`; nil if it is reserved.
  package static func frameRate(code: UInt8) -> Ratio? {
    switch code {
    case 1: Ratio(24_000, 1001)
    case 2: Ratio(24, 1)
    case 3: Ratio(25, 1)
    case 4: Ratio(30_000, 1001)
    case 5: Ratio(30, 1)
    case 6: Ratio(50, 1)
    case 7: Ratio(60_000, 1001)
    case 8: Ratio(60, 1)
    default: nil
    }
  }

  /// The triplets of all sections of captions.
  public var triplets: [CaptionTriplet] {
    var found: [CaptionTriplet] = []
    for case .captions(_, let triplets) in sections { found += triplets }
    return found
  }

  /// Header and footer.
  private static var minimumLength: Int { 11 }

  /// `cdp_length`; larger than 255 for a packet that cannot be written.
  public var byteCount: Int { sections.reduce(Self.minimumLength) { $0 + Self.byteCount(of: $1) } }

  private static func byteCount(of section: Section) -> Int {
    switch section {
    case .timeCode: 5
    case .captions(_, let triplets): 2 + 3 * triplets.count
    case .services(let information): 2 + 7 * information.services.count
    case .future(_, let data): 2 + data.count
    case .unread(let bytes): bytes.count
    }
  }

  // MARK: Reading

  /// Reads a packet.
  ///
  /// - Parameters:
  ///   - bytes: the packet; bytes behind `cdp_length` are ignored.
  ///   - trace: records the syntax elements; nil for no record.
  /// - Throws: `.valueOutOfRange` without a packet's identifier, length and footer; `.truncated`.
  public init(_ bytes: Span<UInt8>, trace: SyntaxTrace? = nil) throws(BitstreamError) {
    let length = try Self.length(of: bytes)
    let footer = length - 4
    // The sections end at the footer.
    var reader = BitReader(
      bytes.extracting(0..<footer), removesEmulationPrevention: false, trace: trace)
    _ = try reader.u(16, "cdp_identifier")
    _ = try reader.byte("cdp_length")
    frameRateCode = try reader.u8(4, "cdp_frame_rate")
    frameRateReserved = try reader.u8(4, "reserved")
    flags = Flags(rawValue: try reader.byte("time_code_present, ccdata_present, svcinfo_present, svc_info"))
    sequenceCounter = try reader.u16("cdp_hdr_sequence_cntr")
    sections = []
    while reader.remainingBits > 0 {
      let start = reader
      do throws(BitstreamError) {
        sections.append(try Self.section(&reader))
      } catch {
        reader = start
        sections.append(.unread(try reader.bytes(reader.remainingBits / 8, "section")))
      }
    }
    reader = BitReader(
      bytes.extracting(0..<length), from: footer, removesEmulationPrevention: false, trace: trace)
    _ = try reader.byte("cdp_footer_id")
    footerSequenceCounter = try reader.u16("cdp_ftr_sequence_cntr")
    _ = try reader.byte("packet_checksum")
    for index in 0..<length { checksumDifference &+= bytes[index] }
  }

  /// `cdp_length`, if a packet of this length begins here.
  private static func length(of bytes: Span<UInt8>) throws(BitstreamError) -> Int {
    var reader = BitReader(bytes, removesEmulationPrevention: false)
    guard try reader.u(16, "cdp_identifier") == 0x9669 else {
      throw BitstreamError(.valueOutOfRange, "cdp_identifier", bitOffset: 0)
    }
    let length = Int(try reader.byte("cdp_length"))
    guard length >= minimumLength else { throw BitstreamError(.valueOutOfRange, "cdp_length", bitOffset: 16) }
    guard length <= bytes.count else { throw BitstreamError(.truncated, "cdp_length", bitOffset: 16) }
    guard bytes[length - 4] == 0x74 else {
      throw BitstreamError(.valueOutOfRange, "cdp_footer_id", bitOffset: (length - 4) * 8)
    }
    return length
  }

  /// Reads a section from a reader that ends at the footer.
  private static func section(_ reader: inout BitReader) throws(BitstreamError) -> Section {
    let id = try reader.byte("section_id")
    switch id {
    case 0x71: return .timeCode(TimeCode(rawValue: try reader.u(32, "time_code")))
    case 0x72:
      let markerBits = try reader.u8(3, "marker_bits")
      let count = try reader.u(5, "cc_count")
      var triplets: [CaptionTriplet] = []
      for _ in 0..<count { triplets.append(try CaptionTriplet(&reader)) }
      return .captions(markerBits: markerBits, triplets)
    case 0x73: return .services(try ServiceInformation(&reader))
    case 0x75...0xEF:
      let length = Int(try reader.byte("length"))
      return .future(id: id, try reader.bytes(length, "future_section"))
    default: throw BitstreamError(.unsupported, "section_id", bitOffset: reader.bitOffset - 8)
    }
  }

  // MARK: Writing

  /// The packet.
  ///
  /// - Throws: `.valueOutOfRange` if it is longer than 255 bytes, or has more triplets or services than their counts
  ///   can express.
  public func bytes() throws(BitstreamError) -> [UInt8] {
    let length = byteCount
    guard length <= 255 else { throw BitstreamError(.valueOutOfRange, "cdp_length", bitOffset: 16) }
    var writer = BitWriter(addsEmulationPrevention: false)
    writer.u(16, 0x9669)
    writer.u(8, UInt32(length))
    writer.u(4, UInt32(frameRateCode))
    writer.u(4, UInt32(frameRateReserved))
    writer.u(8, UInt32(flags.rawValue))
    writer.u(16, UInt32(sequenceCounter))
    for section in sections { try Self.write(section, to: &writer) }
    writer.u(8, 0x74)
    writer.u(16, UInt32(footerSequenceCounter))
    let sum = writer.bytes.reduce(0, &+)
    writer.u(8, UInt32(checksumDifference &- sum))
    return writer.bytes
  }

  private static func write(_ section: Section, to writer: inout BitWriter) throws(BitstreamError) {
    switch section {
    case .timeCode(let timeCode):
      writer.u(8, 0x71)
      writer.u(32, timeCode.rawValue)
    case .captions(let markerBits, let triplets):
      writer.u(8, 0x72)
      writer.u(3, UInt32(markerBits))
      try CaptionTriplet.writeCount(of: triplets, to: &writer)
      for triplet in triplets { writer.append(triplet.bytes) }
    case .services(let information):
      writer.u(8, 0x73)
      try information.write(to: &writer)
    case .future(let id, let data):
      writer.u(8, UInt32(id))
      writer.u(8, UInt32(truncatingIfNeeded: data.count))
      writer.append(data)
    case .unread(let bytes): writer.append(bytes)
    }
  }
}

extension CaptionDistributionPacket {
  /// `time_code_section()`: four bytes of binary coded decimals.
  public struct TimeCode: RawRepresentable, Sendable, Hashable {
    /// The four bytes, with their reserved bits.
    public var rawValue: UInt32

    /// Creates a time code from its bytes.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    private func number(_ shift: UInt32, tens: UInt32) -> UInt8 {
      UInt8(truncatingIfNeeded: (rawValue >> (shift + 4) & tens) * 10 + (rawValue >> shift & 0xF))
    }

    /// `tc_10hrs` and `tc_1hrs`.
    public var hours: UInt8 { number(24, tens: 3) }
    /// `tc_10min` and `tc_1min`.
    public var minutes: UInt8 { number(16, tens: 7) }
    /// `tc_10sec` and `tc_1sec`.
    public var seconds: UInt8 { number(8, tens: 7) }
    /// `tc_10fr` and `tc_1fr`.
    public var frames: UInt8 { number(0, tens: 3) }
    /// `tc_field_flag`: whether it is of the second field, or of the second of two pictures.
    public var isSecondField: Bool { rawValue & 0x8000 != 0 }
    /// `drop_frame_flag`.
    public var isDropFrame: Bool { rawValue & 0x80 != 0 }
  }

  /// `ccsvcinfo_section()`: the caption services.
  public struct ServiceInformation: Sendable, Hashable {
    /// A reserved bit, `svc_info_start`, `svc_info_change` and `svc_info_complete`, 0 to 15.
    public var flags: UInt8
    /// The services, 15 at most.
    public var services: [Service]

    /// Creates a list of services.
    public init(flags: UInt8, services: [Service]) {
      self.flags = flags & 0xF
      self.services = services
    }

    init(_ reader: inout BitReader) throws(BitstreamError) {
      flags = try reader.u8(4, "svc_info_start, svc_info_change, svc_info_complete")
      let count = try reader.u(4, "svc_count")
      services = []
      for _ in 0..<count { services.append(try Service(&reader)) }
    }

    func write(to writer: inout BitWriter) throws(BitstreamError) {
      guard services.count <= 15 else {
        throw BitstreamError(.valueOutOfRange, "svc_count", bitOffset: writer.bitCount)
      }
      writer.u(4, UInt32(flags))
      writer.u(4, UInt32(services.count))
      for service in services {
        writer.u(8, UInt32(service.number))
        writer.append(service.languageCode)
        writer.u(8, UInt32(service.type))
        writer.u(16, UInt32(service.properties))
      }
    }
  }

  /// A service of `ccsvcinfo_section()`, with an entry of `caption_service_descriptor()` (ATSC A/65, 6.9.2).
  public struct Service: Sendable, Hashable {
    /// A reserved bit, `csn_size` and `caption_service_number`.
    public var number: UInt8
    /// `language`: three letters of ISO 639-2/B.
    public var languageCode: [UInt8]
    /// `digital_cc`, a reserved bit, and `caption_service_number` or `line21_field`.
    public var type: UInt8
    /// `easy_reader`, `wide_aspect_ratio` and reserved bits.
    public var properties: UInt16

    /// Creates a service from its bytes.
    ///
    /// - Parameters:
    ///   - number: a reserved bit, `csn_size` and `caption_service_number`.
    ///   - languageCode: three bytes; more are left out, and missing ones are 0.
    ///   - type: `digital_cc` and what follows in its byte.
    ///   - properties: `easy_reader`, `wide_aspect_ratio` and reserved bits.
    public init(number: UInt8, languageCode: [UInt8], type: UInt8, properties: UInt16) {
      self.number = number
      self.languageCode = Array((languageCode + [0, 0, 0]).prefix(3))
      self.type = type
      self.properties = properties
    }

    init(_ reader: inout BitReader) throws(BitstreamError) {
      number = try reader.byte("csn_size, caption_service_number")
      languageCode = try reader.bytes(3, "language")
      type = try reader.byte("digital_cc, caption_service_number")
      properties = try reader.u16("easy_reader, wide_aspect_ratio")
    }

    /// The service that is described; nil for a number that no service has.
    public var service: CaptionServices.Service? {
      // With csn_size 0, the number has five bits.
      guard type & 0x80 != 0 else { return type & 1 == 0 ? .field1 : .field2 }
      let number = type & 0x3F
      return number > 0 ? .digital(number) : nil
    }

    /// The three letters of the language in lower case; nil if the bytes are no letters.
    var letters: [UInt8]? {
      let letters = languageCode.map { $0 | 0x20 }
      return letters.count == 3 && letters.allSatisfy { 0x61...0x7A ~= $0 } ? letters : nil
    }

    /// The language, such as "eng"; nil if the bytes are no letters.
    public var language: String? { letters.map { String(decoding: $0, as: UTF8.self) } }
  }
}
