// SPDX-License-Identifier: MPL-2.0

extension DolbyVision {
  /// Metadata of a picture: a reference processing unit (RPU; `rpu_data()` of ETSI GS CCM 001, 5.3.1).
  ///
  /// It is a NAL unit of type 62 in H.265 and 28 in H.264, behind the slices of its picture. Every RPU that can be read
  /// is written again bit for bit, even with a wrong CRC. Syntax that is not public is kept as ``unreadBits``.
  public struct RPU: Sendable, Hashable {
    /// The header, without the parts of the mapping.
    public var header: Header
    /// The mapping; nil if an earlier picture's is used, or if its syntax is not known.
    public var mapping: Mapping?
    /// Metadata for displays; nil without them, or if their syntax is not known.
    public var displayManagement: DisplayManagement?
    /// The bits from the first structure on whose syntax is not known; nil if all is known.
    public private(set) var unreadBits: UnreadBits?
    /// The bytes in front of the CRC that belong to no structure.
    public private(set) var trailingBytes: [UInt8] = []
    /// The header of the NAL unit.
    private var nalUnitHeader: [UInt8]
    /// How the CRC differs from that of the bytes; 0 if it is right.
    private var crcDifference: UInt32 = 0
    /// Zero bytes behind the last byte of the payload: `cabac_zero_word`s.
    private var insideZeroBytes = 0
    /// Zero bytes behind the NAL unit, which careless muxers leave.
    private var outsideZeroBytes = 0

    /// Creates an RPU of H.265.
    public init(header: Header, mapping: Mapping?, displayManagement: DisplayManagement?) {
      self.header = header
      self.mapping = mapping
      self.displayManagement = displayManagement
      nalUnitHeader = [0x7C, 0x01]
    }

    /// Whether `rpu_data_crc32` is right.
    public var hasValidCRC: Bool { crcDifference == 0 }

    // MARK: Reading

    /// `rpu_nal_prefix`.
    private static var prefix: UInt8 { 25 }

    /// Whether a NAL unit of the right type begins as an RPU does.
    package static func hasPrefix(_ nalUnit: Span<UInt8>, headerLength: Int) -> Bool {
      nalUnit.count > headerLength && nalUnit[headerLength] == prefix
    }

    /// The CRC that an RPU has, and the right one. Its structures are not read.
    ///
    /// - Throws: `.unsupported` if the first byte is not that of an RPU; `.badTrailingBits` if the last byte is not 0x80;
    ///   `.truncated`.
    package static func checksum(
      of nalUnit: Span<UInt8>, codec: FormatDescription.Codec
    ) throws(BitstreamError) -> (sent: UInt32, right: UInt32) {
      let headerLength = codec == .h264 ? 1 : 2
      guard hasPrefix(nalUnit, headerLength: headerLength) else {
        throw BitstreamError(.unsupported, "rpu_nal_prefix", bitOffset: headerLength * 8)
      }
      var end = nalUnit.count
      while end > 0, nalUnit[end - 1] == 0 { end -= 1 }
      let (bytes, count) = try payload(of: nalUnit.extracting(0..<end), headerLength: headerLength)
      return checksum(of: bytes[..<(count - 1)], headerLength: headerLength)
    }

    /// - Parameter bytes: end with the CRC.
    private static func checksum(of bytes: ArraySlice<UInt8>, headerLength: Int) -> (sent: UInt32, right: UInt32) {
      (
        sent: bytes.suffix(4).reduce(0) { $0 << 8 | UInt32($1) },
        right: CRC32.mpeg2(bytes.dropFirst(headerLength + 1).dropLast(4))
      )
    }

    /// Reads an RPU.
    ///
    /// - Parameters:
    ///   - nalUnit: the NAL unit with its header.
    ///   - codec: the stream's.
    ///   - trace: records the syntax elements; nil for no record.
    /// - Throws: `.wrongNALUnitType`; `.unsupported` for an RPU of another type; `.badTrailingBits` if the last byte is
    ///   not 0x80; `.truncated`, `.valueOutOfRange`, `.codeTooLong`. A wrong CRC is no error.
    public init(
      nalUnit: Span<UInt8>, codec: FormatDescription.Codec = .h265, trace: SyntaxTrace? = nil
    ) throws(BitstreamError) {
      let headerLength = codec == .h264 ? 1 : 2
      guard nalUnit.count >= headerLength else { throw BitstreamError(.truncated, "nal_unit_header", bitOffset: 0) }
      let isRPU = codec == .h264 ? nalUnit[0] & 0x1F == 28 : nalUnit[0] >> 1 & 0x3F == 62
      guard isRPU else { throw BitstreamError(.wrongNALUnitType, "nal_unit_type", bitOffset: 0) }
      var end = nalUnit.count
      while end > 0, nalUnit[end - 1] == 0 { end -= 1 }
      outsideZeroBytes = nalUnit.count - end
      let (bytes, count) = try Self.payload(of: nalUnit.extracting(0..<end), headerLength: headerLength)
      insideZeroBytes = bytes.count - count
      nalUnitHeader = Array(bytes.prefix(headerLength))
      // The CRC and the last byte, which is 0x80.
      let content = bytes[..<(count - 5)]
      let checksum = Self.checksum(of: bytes[..<(count - 1)], headerLength: headerLength)
      crcDifference = checksum.sent ^ checksum.right
      var reader = BitReader(
        bytes.span.extracting(0..<content.count), from: headerLength, removesEmulationPrevention: false, trace: trace)
      guard try reader.byte("rpu_nal_prefix") == Self.prefix else {
        throw BitstreamError(.unsupported, "rpu_nal_prefix", bitOffset: headerLength * 8)
      }
      header = try Header(&reader)
      var rest = reader
      do throws(BitstreamError) {
        if header.previousMappingID == nil { mapping = try Mapping(&reader, header) }
        rest = reader
        if header.hasDisplayManagement { displayManagement = try DisplayManagement(&reader, header) }
        try readEnd(&reader)
      } catch {
        guard error.reason == .unsupported else { throw error }
        // Nothing behind an unknown structure can be found.
        unreadBits = try UnreadBits(&rest, "rpu_data")
      }
      trace?.append("rpu_data_crc32", Int64(checksum.sent), at: content.count * 8, count: 32)
    }

    /// Reads the payload behind the structures.
    private mutating func readEnd(_ reader: inout BitReader) throws(BitstreamError) {
      let rest = reader
      guard try reader.u(reader.remainingBits & 7, "rpu_alignment_zero_bit") == 0 else {
        reader = rest
        unreadBits = try UnreadBits(&reader, "rpu_data")
        return
      }
      trailingBytes = try reader.bytes(reader.remainingBits / 8, "rpu_data")
    }

    /// The NAL unit without emulation prevention bytes, and the end of the payload in it, zero bytes left out.
    private static func payload(
      of nalUnit: Span<UInt8>, headerLength: Int
    ) throws(BitstreamError) -> (bytes: [UInt8], count: Int) {
      var bytes: [UInt8] = []
      bytes.reserveCapacity(nalUnit.count)
      var reader = BitReader(nalUnit)
      do throws(BitstreamError) {
        while true { bytes.append(try reader.byte("rpu_data")) }
      } catch {
        // The end.
      }
      var count = bytes.count
      while count > 0, bytes[count - 1] == 0 { count -= 1 }
      // A prefix, a CRC and the last byte.
      guard count >= headerLength + 6 else {
        throw BitstreamError(.truncated, "rpu_data", bitOffset: headerLength * 8)
      }
      guard bytes[count - 1] == 0x80 else {
        throw BitstreamError(.badTrailingBits, "rbsp_trailing_bits", byteOffset: count - 1)
      }
      return (bytes, count)
    }

    // MARK: Writing

    /// The NAL unit, with its header and emulation prevention bytes.
    ///
    /// - Throws: `.valueOutOfRange` if the structures do not fit together, or have more parts than their syntax has
    ///   room for.
    public func nalUnit() throws(BitstreamError) -> [UInt8] {
      var writer = BitWriter(addsEmulationPrevention: false)
      writer.u(8, UInt32(Self.prefix))
      let hasUnreadData = header.hasDisplayManagement && unreadBits != nil
      header.write(to: &writer, hasDisplayManagement: displayManagement != nil || hasUnreadData)
      if let mapping {
        guard header.previousMappingID == nil else {
          throw BitstreamError(.valueOutOfRange, "use_prev_vdr_rpu_flag", bitOffset: writer.bitCount)
        }
        try mapping.write(to: &writer, header)
      } else if header.previousMappingID == nil, unreadBits == nil {
        throw BitstreamError(.valueOutOfRange, "use_prev_vdr_rpu_flag", bitOffset: writer.bitCount)
      }
      try displayManagement?.write(to: &writer, header)
      unreadBits?.write(to: &writer)
      writer.align()
      writer.append(trailingBytes)
      let crc = CRC32.mpeg2(writer.bytes.dropFirst()) ^ crcDifference
      writer.u(32, crc)
      writer.u(8, 0x80)
      writer.append([UInt8](repeating: 0, count: insideZeroBytes))
      var unit = BitWriter()
      unit.append(nalUnitHeader)
      unit.append(writer.bytes)
      // A NAL unit does not end with a zero byte (7.4.1.1).
      let end: [UInt8] = insideZeroBytes > 0 ? [3] : []
      return unit.bytes + end + [UInt8](repeating: 0, count: outsideZeroBytes)
    }
  }
}

// Profiles.
extension DolbyVision.RPU {
  /// The enhancement layer of profile 7.
  public enum EnhancementLayer: Sendable, Hashable {
    /// Minimal (MEL): it changes nothing in the picture.
    case minimal
    /// Full (FEL): it has a residual that is added to the base layer.
    case full
  }

  /// The kind of the enhancement layer; nil if the RPU has no use for one, or has no mapping.
  public var enhancementLayer: EnhancementLayer? {
    mapping?.residual.map { $0.components.allSatisfy { $0.isMinimal } ? .minimal : .full }
  }

  /// The profile of Dolby Vision: 4, 5, 7, 8 or 9; nil if the RPU does not say.
  ///
  /// - Parameter codec: the stream's. H.264 has profile 9 only.
  public func profile(_ codec: FormatDescription.Codec) -> UInt8? { header.profile(of: codec) }

  /// The profile by the header alone, even of a damaged RPU; nil if the RPU does not say.
  static func profile(of nalUnit: Span<UInt8>, _ codec: FormatDescription.Codec) -> UInt8? {
    // Behind the prefix.
    var reader = BitReader(nalUnit, from: codec == .h264 ? 2 : 3)
    do throws(BitstreamError) { return try DolbyVision.Header(&reader).profile(of: codec) } catch { return nil }
  }

  /// Makes profile 8.1 of profile 7: the base layer alone, which is HDR10.
  ///
  /// The header, the residual, the matrices and the CRC change. The curves and all blocks stay.
  ///
  /// - Throws: `.unsupported` if the RPU is of another profile, has a wrong CRC, or has syntax that is not known.
  ///   Nothing is changed then.
  public mutating func convertToProfile8() throws(BitstreamError) {
    guard hasValidCRC else { throw BitstreamError(.unsupported, "rpu_data_crc32", bitOffset: 0) }
    guard unreadBits == nil, profile(.h265) == 7 else {
      throw BitstreamError(.unsupported, "vdr_rpu_profile", bitOffset: 0)
    }
    header.sequence?.layers?.isEnhancementLayerScaled = false
    header.sequence?.layers?.isResidualDisabled = true
    mapping?.residual = nil
    let matrices = DolbyVision.DisplayManagement.Source.hdr10
    displayManagement?.source?.yccToRGB = matrices.yccToRGB
    displayManagement?.source?.yccToRGBOffset = matrices.offset
    displayManagement?.source?.rgbToLMS = matrices.rgbToLMS
    displayManagement?.source?.colourSpace = 0
  }
}

extension DolbyVision.Header {
  /// See ``DolbyVision/RPU/profile(_:)``.
  fileprivate func profile(of codec: FormatDescription.Codec) -> UInt8? {
    guard let sequence else { return nil }
    switch profile {
    case 0: return sequence.isBaseLayerFullRange && codec == .h265 ? 5 : nil
    case 1:
      if codec == .h264 { return 9 }
      guard let layers = sequence.layers else { return 8 }
      if !layers.isEnhancementLayerScaled || layers.isResidualDisabled { return 8 }
      return layers.outputDepthMinus8 == 4 ? 7 : 4
    default: return nil
    }
  }
}
