// SPDX-License-Identifier: MPL-2.0

/// `user_data_registered_itu_t_t35()` (D.1.6): data in a format that a provider has registered nationally.
public struct RegisteredUserData: Sendable, Hashable {
  /// `itu_t_t35_country_code`; 0xB5 is the United States.
  public let countryCode: UInt8
  /// `itu_t_t35_country_code_extension_byte`, present when the country code is 0xFF.
  public let countryCodeExtension: UInt8?
  /// The data, provider code first.
  public let data: [UInt8]

  /// Content as ATSC A/53 part 4 and ETSI TS 101 154 define it.
  public enum Content: Sendable, Hashable {
    /// `cc_data()` (CTA-708, 4.4): triplets of a type byte and two data bytes.
    case closedCaptions([UInt8])
    /// A whole Caption Distribution Packet (SMPTE ST 334-2), with `cc_data()` inside.
    case captionPacket([UInt8])
    /// `bar_data()` of A/53.
    case barData(BarData)
    /// `active_format` of `afd_data()`, 0 to 15; nil if `active_format_flag` is 0.
    case activeFormat(UInt8?)
  }

  /// The ends of the black bars (A/53 part 4, 6.2.3.3); nil if not sent.
  public struct BarData: Sendable, Hashable {
    /// Last line of the bar at the top.
    public var topEnd: UInt16?
    /// First line of the bar at the bottom.
    public var bottomStart: UInt16?
    /// Last sample of the bar at the left.
    public var leftEnd: UInt16?
    /// First sample of the bar at the right.
    public var rightStart: UInt16?

    /// Creates one.
    public init(
      topEnd: UInt16? = nil, bottomStart: UInt16? = nil, leftEnd: UInt16? = nil, rightStart: UInt16? = nil
    ) {
      self.topEnd = topEnd
      self.bottomStart = bottomStart
      self.leftEnd = leftEnd
      self.rightStart = rightStart
    }
  }

  /// Reads a message of type ``SEIPayloadType/userDataRegistered``.
  ///
  /// - Throws: `.truncated`.
  public init(_ message: borrowing SEIMessages.Message) throws(BitstreamError) {
    var reader = message.reader
    countryCode = try reader.byte("itu_t_t35_country_code")
    countryCodeExtension = countryCode == 0xFF ? try reader.byte("itu_t_t35_country_code_extension_byte") : nil
    data = try reader.bytes(message.size - (countryCode == 0xFF ? 2 : 1), "itu_t_t35_payload_byte")
  }

  /// Creates a message.
  ///
  /// - Parameters:
  ///   - countryCode: `itu_t_t35_country_code`.
  ///   - countryCodeExtension: `itu_t_t35_country_code_extension_byte`; only for the country code 0xFF.
  ///   - data: the data, provider code first.
  public init(countryCode: UInt8, countryCodeExtension: UInt8? = nil, data: [UInt8]) {
    (self.countryCode, self.countryCodeExtension, self.data) = (countryCode, countryCodeExtension, data)
  }

  /// The payload: the inverse of ``init(_:)``.
  public var payload: [UInt8] { [countryCode] + (countryCodeExtension.map { [$0] } ?? []) + data }

  /// The provider code: the first two bytes.
  public var providerCode: UInt16? { data.count >= 2 ? UInt16(data[0]) << 8 | UInt16(data[1]) : nil }

  /// Whether it is dynamic metadata of HDR10+ (SMPTE ST 2094-40).
  public var isHDR10Plus: Bool {
    countryCode == 0xB5 && data.starts(with: HDR10PlusMetadata.prefix)
  }

  /// Whether it has captions, even damaged ones.
  package var hasCaptions: Bool { CaptionMessage.isIn(self) }

  /// Whether it is an enhancement of the picture by MPEG-5 part 2 (LCEVC, ISO/IEC 23094-2), which most decoders ignore.
  public var isLCEVC: Bool {
    // The country code's second octet, and V-Nova's provider code.
    countryCode == 0xB4 && data.count > 3 && data[..<3].elementsEqual([0x00, 0x50, 0x00])
  }

  /// Whether it is dynamic metadata of HDR Vivid (T/UWA 005.1).
  package var isHDRVivid: Bool { countryCode == 0x26 && data.starts(with: [0x00, 0x04, 0x00, 0x05]) }

  /// Whether it is dynamic metadata of SL-HDR (ETSI TS 103 433), of any part.
  package var isSLHDR: Bool {
    // ETSI's provider code. Message 0 is of H.265, 1 of H.264, and 2 the compact form.
    countryCode == 0xB5 && data.count > 2 && data.starts(with: [0x00, 0x3A]) && data[2] <= 2
  }

  /// The content; nil if it is unknown or damaged.
  public func content() -> Content? {
    do throws(BitstreamError) {
      return try readContent()
    } catch {
      return nil
    }
  }

  private func readContent() throws(BitstreamError) -> Content? {
    // The United States, and the United Kingdom, under whose code its encoders send the same.
    guard countryCode == 0xB5 || countryCode == 0xB4 else { return nil }
    if let message = try CaptionMessage(self) {
      switch message.content {
      case .packet(let packet, trailingBytes: _): return .captionPacket(try packet.bytes())
      case .data(let captions):
        guard captions.isProcessed, !captions.triplets.isEmpty else { return nil }
        return .closedCaptions(captions.triplets.flatMap { $0.bytes })
      }
    }
    var reader = BitReader(data.span, removesEmulationPrevention: false)
    // itu_t_t35_provider_code of ATSC has a user_identifier after it, DirecTV's none.
    switch try reader.u(16, "itu_t_t35_provider_code") {
    case 0x0031:
      switch try reader.u(32, "user_identifier") {
      case 0x4741_3934: return try readATSC(&reader, hasLength: false)
      case 0x4454_4731: return try readActiveFormat(&reader)
      default: return nil
      }
    case 0x002F: return try readATSC(&reader, hasLength: true)
    default: return nil
    }
  }

  private func readATSC(_ reader: inout BitReader, hasLength: Bool) throws(BitstreamError) -> Content? {
    let type = try reader.byte("user_data_type_code")
    if hasLength { _ = try reader.byte("user_data_code_length") }
    return type == 6 ? .barData(try readBars(&reader)) : nil
  }

  private func readBars(_ reader: inout BitReader) throws(BitstreamError) -> BarData {
    let hasTop = try reader.flag("top_bar_flag")
    let hasBottom = try reader.flag("bottom_bar_flag")
    let hasLeft = try reader.flag("left_bar_flag")
    let hasRight = try reader.flag("right_bar_flag")
    _ = try reader.u(4, "reserved")
    var bars = BarData()
    // Two one bits precede each 14-bit number.
    if hasTop { bars.topEnd = UInt16(truncatingIfNeeded: try reader.u(16, "line_number_end_of_top_bar") & 0x3FFF) }
    if hasBottom {
      bars.bottomStart = UInt16(truncatingIfNeeded: try reader.u(16, "line_number_start_of_bottom_bar") & 0x3FFF)
    }
    if hasLeft { bars.leftEnd = UInt16(truncatingIfNeeded: try reader.u(16, "pixel_number_end_of_left_bar") & 0x3FFF) }
    if hasRight {
      bars.rightStart = UInt16(truncatingIfNeeded: try reader.u(16, "pixel_number_start_of_right_bar") & 0x3FFF)
    }
    return bars
  }

  private func readActiveFormat(_ reader: inout BitReader) throws(BitstreamError) -> Content {
    _ = try reader.flag("zero")
    let isPresent = try reader.flag("active_format_flag")
    _ = try reader.u(6, "reserved")
    guard isPresent else { return .activeFormat(nil) }
    return .activeFormat(try reader.byte("active_format") & 0xF)
  }
}

/// `user_data_unregistered()` (D.1.7): data whose kind a UUID identifies.
public struct UnregisteredUserData: Sendable, Hashable {
  /// `uuid_iso_iec_11578`, 16 bytes.
  public let uuid: [UInt8]
  /// The data; may be empty.
  public let data: [UInt8]

  /// Reads a message of type ``SEIPayloadType/userDataUnregistered``.
  ///
  /// - Throws: `.truncated` when it is shorter than the UUID.
  public init(_ message: borrowing SEIMessages.Message) throws(BitstreamError) {
    var reader = message.reader
    uuid = try reader.bytes(16, "uuid_iso_iec_11578")
    data = try reader.bytes(message.size - 16, "user_data_payload_byte")
  }
}
