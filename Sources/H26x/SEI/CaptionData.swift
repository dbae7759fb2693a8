// SPDX-License-Identifier: MPL-2.0

/// One construct of `cc_data()` (CTA-708, 4.4): a type and two bytes of captions.
public struct CaptionTriplet: Sendable, Hashable {
  /// `cc_type`.
  public enum Kind: UInt8, Sendable, CaseIterable {
    /// A pair of bytes of field 1 (CTA-608): CC1, CC2, T1 and T2.
    case field1 = 0
    /// A pair of bytes of field 2 (CTA-608): CC3, CC4, T3, T4 and XDS.
    case field2 = 1
    /// Further bytes of a caption channel packet of DTVCC.
    case packetData = 2
    /// The first bytes of a caption channel packet of DTVCC.
    case packetStart = 3
  }

  /// `marker_bits` (five bits, all 1), `cc_valid` and `cc_type`.
  public var header: UInt8
  /// `cc_data_1`.
  public var first: UInt8
  /// `cc_data_2`.
  public var second: UInt8

  /// Creates one with its marker bits set.
  ///
  /// - Parameters:
  ///   - kind: the type.
  ///   - isValid: `cc_valid`; bytes that are not valid are padding.
  ///   - first: `cc_data_1`.
  ///   - second: `cc_data_2`.
  public init(_ kind: Kind, isValid: Bool = true, _ first: UInt8, _ second: UInt8) {
    header = 0xF8 | (isValid ? 4 : 0) | kind.rawValue
    self.first = first
    self.second = second
  }

  init(_ reader: inout BitReader) throws(BitstreamError) {
    header = try reader.byte("marker_bits, cc_valid, cc_type")
    first = try reader.byte("cc_data_1")
    second = try reader.byte("cc_data_2")
  }

  /// `cc_type`.
  public var kind: Kind { Kind(rawValue: header & 3) ?? .field1 }
  /// `cc_valid`: whether the bytes count.
  public var isValid: Bool { header & 4 != 0 }
  /// The three bytes as they are sent.
  public var bytes: [UInt8] { [header, first, second] }

  /// The most triplets that a message or packet has: `cc_count` has five bits.
  public static var limit: Int { 31 }

  /// Writes `cc_count`.
  ///
  /// - Throws: `.valueOutOfRange` for more than ``limit`` triplets.
  static func writeCount(of triplets: [CaptionTriplet], to writer: inout BitWriter) throws(BitstreamError) {
    guard triplets.count <= limit else {
      throw BitstreamError(.valueOutOfRange, "cc_count", bitOffset: writer.bitCount)
    }
    writer.u(5, UInt32(triplets.count))
  }
}

/// `cc_data()` of user data (ATSC A/53 part 4, 6.2.3.1): captions of one picture.
public struct CaptionData: Sendable, Hashable {
  /// `process_em_data_flag`; reserved in newer versions, and then 1.
  public var hasEmergencyData: Bool
  /// `process_cc_data_flag`: whether decoders are to read the triplets.
  public var isProcessed: Bool
  /// `additional_data_flag`; reserved in newer versions, and then 0.
  public var hasAdditionalData: Bool
  /// `em_data`; reserved in newer versions, and then 0xFF.
  public var emergencyData: UInt8
  /// The triplets, ``CaptionTriplet/limit`` at most.
  public var triplets: [CaptionTriplet]
  /// The bytes behind them: `marker_bits`, which is 0xFF, and `additional_data()`.
  public var trailingBytes: [UInt8]

  /// Creates captions as encoders write them.
  public init(_ triplets: [CaptionTriplet]) {
    (hasEmergencyData, isProcessed, hasAdditionalData, emergencyData) = (true, true, false, 0xFF)
    self.triplets = triplets
    trailingBytes = [0xFF]
  }

  /// Reads the captions up to the end of the reader.
  init(_ reader: inout BitReader) throws(BitstreamError) {
    hasEmergencyData = try reader.flag("process_em_data_flag")
    isProcessed = try reader.flag("process_cc_data_flag")
    hasAdditionalData = try reader.flag("additional_data_flag")
    let count = try reader.u(5, "cc_count")
    emergencyData = try reader.byte("em_data")
    triplets = []
    for _ in 0..<count { triplets.append(try CaptionTriplet(&reader)) }
    trailingBytes = try reader.bytes(reader.remainingBits / 8, "additional_user_data")
  }

  /// - Throws: `.valueOutOfRange` for more than ``CaptionTriplet/limit`` triplets.
  func write(to writer: inout BitWriter) throws(BitstreamError) {
    writer.flag(hasEmergencyData)
    writer.flag(isProcessed)
    writer.flag(hasAdditionalData)
    try CaptionTriplet.writeCount(of: triplets, to: &writer)
    writer.u(8, UInt32(emergencyData))
    for triplet in triplets { writer.append(triplet.bytes) }
    writer.append(trailingBytes)
  }
}

/// Captions in user data that is registered by ITU-T T.35.
///
/// ATSC's and DirecTV's messages have ``CaptionData``. Equipment that takes captions from SDI sends a whole
/// ``CaptionDistributionPacket`` in its place, or in place of everything behind the provider code.
public struct CaptionMessage: Sendable, Hashable {
  /// The captions.
  public enum Content: Sendable, Hashable {
    /// `cc_data()`.
    case data(CaptionData)
    /// A packet, and bytes behind it.
    case packet(CaptionDistributionPacket, trailingBytes: [UInt8])
  }

  /// `itu_t_t35_country_code`: 0xB5 for the United States, 0xB4 for encoders of the United Kingdom.
  public var countryCode: UInt8
  /// The bytes between country code and captions: provider code, identifier and type.
  public var prefix: [UInt8]
  /// The captions.
  public var content: Content

  /// The prefix of ATSC A/53: provider 0x0031, "GA94", type 3.
  public static var standardPrefix: [UInt8] { [0x00, 0x31, 0x47, 0x41, 0x39, 0x34, 0x03] }

  /// Creates a message of ATSC A/53.
  public init(_ data: CaptionData) {
    (countryCode, prefix, content) = (0xB5, Self.standardPrefix, .data(data))
  }

  /// Whether user data has captions, even damaged ones. Only packets without the usual bytes in front are read.
  static func isIn(_ userData: RegisteredUserData) -> Bool {
    guard userData.countryCode == 0xB5 || userData.countryCode == 0xB4 else { return false }
    return prefixLength(of: userData.data) != nil || [2, 6, 7].contains { packet(userData.data, at: $0) != nil }
  }

  /// Reads captions.
  ///
  /// - Parameters:
  ///   - userData: the message.
  ///   - trace: records the syntax elements; nil for no record. Their places count from the provider code on.
  /// - Returns: nil for user data of another kind.
  /// - Throws: `.truncated`.
  public init?(_ userData: RegisteredUserData, trace: SyntaxTrace? = nil) throws(BitstreamError) {
    // The United States, and the United Kingdom, under whose code its encoders send the same.
    guard userData.countryCode == 0xB5 || userData.countryCode == 0xB4 else { return nil }
    countryCode = userData.countryCode
    let data = userData.data
    // In place of the user structure or of cc_data(). Its first byte would mean there that there are no captions.
    for offset in [2, 6, 7] {
      guard let packet = Self.packet(data, at: offset) else { continue }
      if let trace { try Self.record(data, packetAt: offset, trace) }
      prefix = Array(data[..<offset])
      content = .packet(packet, trailingBytes: Array(data[(offset + packet.byteCount)...]))
      return
    }
    guard let length = Self.prefixLength(of: data) else { return nil }
    prefix = Array(data[..<length])
    var reader = BitReader(data.span, removesEmulationPrevention: false, trace: trace)
    try Self.readPrefix(&reader, length)
    content = .data(try CaptionData(&reader))
  }

  /// Reads the bytes in front of the captions.
  private static func readPrefix(_ reader: inout BitReader, _ length: Int) throws(BitstreamError) {
    _ = try reader.u(16, "itu_t_t35_provider_code")
    guard length > 2 else { return }
    if length > 4 { _ = try reader.u(32, "user_identifier") }
    guard length != 6 else { return }
    _ = try reader.byte("user_data_type_code")
    if length == 4 { _ = try reader.byte("user_data_code_length") }
  }

  /// Records the syntax elements of user data with a packet.
  private static func record(_ data: [UInt8], packetAt offset: Int, _ trace: SyntaxTrace) throws(BitstreamError) {
    var reader = BitReader(data.span, removesEmulationPrevention: false, trace: trace)
    try readPrefix(&reader, offset)
    let inner = SyntaxTrace()
    let packet = try CaptionDistributionPacket(data.span.extracting(offset..<data.count), trace: inner)
    for element in inner.elements {
      trace.append(element.name, element.value, at: element.bitOffset + offset * 8, count: element.bitCount)
    }
    var rest = BitReader(
      data.span, from: offset + packet.byteCount, removesEmulationPrevention: false, trace: trace)
    _ = try rest.bytes(rest.remainingBits / 8, "additional_user_data")
  }

  /// The packet at an offset, if its length, footer and checksum are right.
  private static func packet(_ data: [UInt8], at offset: Int) -> CaptionDistributionPacket? {
    guard data.count > offset + 2, data[offset] == 0x96, data[offset + 1] == 0x69 else { return nil }
    do throws(BitstreamError) {
      let packet = try CaptionDistributionPacket(data.span.extracting(offset..<data.count))
      return packet.hasValidChecksum ? packet : nil
    } catch {
      return nil
    }
  }

  /// The bytes in front of `cc_data()`; nil for other user data.
  private static func prefixLength(of data: [UInt8]) -> Int? {
    // Captions are of type 3. ATSC's provider code has a user_identifier after it, DirecTV's type a length.
    if data.starts(with: standardPrefix) { return 7 }
    return data.count > 3 && data.starts(with: [0x00, 0x2F, 0x03]) ? 4 : nil
  }

  /// The message as user data.
  ///
  /// - Throws: `.valueOutOfRange` for more triplets or longer packets than their syntax has room for.
  public func userData() throws(BitstreamError) -> RegisteredUserData {
    var data = prefix
    switch content {
    case .data(let captions):
      var writer = BitWriter(addsEmulationPrevention: false)
      try captions.write(to: &writer)
      data += writer.bytes
    case .packet(let packet, let trailingBytes):
      data += try packet.bytes()
      data += trailingBytes
    }
    return RegisteredUserData(countryCode: countryCode, countryCodeExtension: nil, data: data)
  }

  /// The triplets, as sent. Decoders ignore them if `process_cc_data_flag` is 0.
  public var triplets: [CaptionTriplet] {
    switch content {
    case .data(let captions): captions.triplets
    case .packet(let packet, trailingBytes: _): packet.triplets
    }
  }
}
