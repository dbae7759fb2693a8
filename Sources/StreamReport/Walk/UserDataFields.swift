// SPDX-License-Identifier: MPL-2.0
import H26x

/// The syntax elements in registered user data and in blocks of Dolby Vision, in place of their bytes.
enum UserDataFields {
  /// Makes fields of the syntax elements of a NAL unit. The bytes of captions, HDR10+ and Dolby Vision's blocks are
  /// replaced by the elements that they hold. Damaged and unknown contents keep their bytes.
  static func fields(_ elements: [SyntaxTrace.Element]) -> [SyntaxField] {
    var fields: [SyntaxField] = []
    fields.reserveCapacity(elements.count)
    var index = 0
    while index < elements.count {
      let field = SyntaxField(elements[index])
      fields.append(field)
      index += 1
      let isUserData = field.isNamed("itu_t_t35_country_code")
      guard isUserData || field.isNamed("ext_block_level"), index < elements.count else { continue }
      let start = elements[index].bitOffset
      let (data, end) = Self.bytes(
        isUserData ? "itu_t_t35_payload_byte" : "ext_dm_data_block_payload", elements, from: index)
      let code = UInt8(truncatingIfNeeded: field.value)
      let known =
        isUserData
        ? Self.elements(in: RegisteredUserData(countryCode: code, data: data))
        : Self.elements(in: DolbyVision.MetadataBlock(level: code, payload: data))
      guard let known else { continue }
      for element in known {
        fields.append(SyntaxField(element.name, element.value, at: start + element.bitOffset, count: element.bitCount))
      }
      index = end
    }
    return fields
  }

  /// The bytes of a run of elements with a name, and the run's end.
  private static func bytes(
    _ name: StaticString, _ elements: [SyntaxTrace.Element], from start: Int
  ) -> (bytes: [UInt8], end: Int) {
    var bytes: [UInt8] = []
    var end = start
    while end < elements.count, SyntaxField(elements[end]).isNamed(name) {
      bytes.append(UInt8(truncatingIfNeeded: elements[end].value))
      end += 1
    }
    return (bytes, end)
  }

  /// The elements of a block; nil for unknown and damaged ones.
  private static func elements(in block: DolbyVision.MetadataBlock) -> [SyntaxField]? {
    let trace = SyntaxTrace()
    return block.content(trace: trace) == nil ? nil : trace.elements.map { SyntaxField($0) }
  }

  /// The elements of user data; nil for unknown and damaged ones.
  private static func elements(in userData: RegisteredUserData) -> [SyntaxField]? {
    let trace = SyntaxTrace()
    do throws(BitstreamError) {
      if userData.isHDR10Plus {
        _ = try HDR10PlusMetadata(userData, trace: trace)
      } else {
        guard try CaptionMessage(userData, trace: trace) != nil else { return nil }
      }
    } catch {
      return nil
    }
    var packet = CaptionPacketElements()
    return trace.elements.flatMap { packet.fields(of: SyntaxField($0)) }
  }
}

/// Finds the headers of DTVCC's caption channel packets and of their service blocks (CTA-708, 5 and 6) in a message.
/// The rest of a packet that began in an earlier message keeps its bytes.
private struct CaptionPacketElements {
  /// Bytes of the packet and of its service block that follow.
  private var left = (packet: 0, block: 0)
  private var isExtended = false
  /// Of the current triplet.
  private var header: Int64 = 0

  /// Replaces a byte that is a header.
  mutating func fields(of field: SyntaxField) -> [SyntaxField] {
    if field.isNamed("marker_bits, cc_valid, cc_type") { header = field.value }
    let isFirst = field.isNamed("cc_data_1")
    // Valid, and of a packet. Bit 0 marks its start.
    guard isFirst || field.isNamed("cc_data_2"), header & 6 == 6,
      let elements = elements(of: UInt8(truncatingIfNeeded: field.value), startsPacket: isFirst && header & 1 == 1)
    else {
      // Padding ends a packet (CTA-708, 4.4.1).
      if header & 6 == 2 { left.packet = 0 }
      return [field]
    }
    let mask = Int64(1) << Int64(8 - elements.length) - 1
    return [
      SyntaxField(
        elements.first, field.value >> Int64(8 - elements.length), at: field.bitOffset, count: elements.length),
      SyntaxField(
        elements.second, field.value & mask, at: field.bitOffset + elements.length, count: 8 - elements.length),
    ]
  }

  /// The names of the two elements of a header, and the length of the first in bits; nil for another byte.
  private mutating func elements(
    of byte: UInt8, startsPacket: Bool
  ) -> (first: StaticString, length: Int, second: StaticString)? {
    if startsPacket {
      (left, isExtended) = ((CaptionPacket.size(header: byte) - 1, 0), false)
      return ("sequence_number", 2, "packet_size_code")
    }
    guard left.packet > 0 else { return nil }
    left.packet -= 1
    if isExtended {
      isExtended = false
      return ("null_fill", 2, "extended_service_number")
    }
    guard left.block == 0 else {
      left.block -= 1
      return nil
    }
    left.block = Int(byte & 31)
    isExtended = byte >> 5 == 7 && left.block > 0
    // A null block ends the packet.
    if byte >> 5 == 0 { left.packet = 0 }
    return ("service_number", 3, "block_size")
  }
}
