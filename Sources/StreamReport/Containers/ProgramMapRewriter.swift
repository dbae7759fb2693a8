// SPDX-License-Identifier: MPL-2.0
package import H26x

/// Adds the record of Dolby Vision to the program maps of a transport stream while its packets pass (ISO/IEC 13818-1,
/// 2.4.4).
///
/// The video of each program gets a registration descriptor (`DOVI`) and a `DOVI_video_stream_descriptor` (Dolby Vision
/// Streams within the MPEG-2 Transport Stream Format, 3). A program map that has the latter stays as it is. So does a
/// section that is damaged, that has no room, or that does not have its packets for itself.
///
/// The stream type stays. The format has private data (0x06) for a base layer that is not to be shown alone (3.1.2). Then
/// tsdemux finds no video, and libavformat has to guess the codec.
package struct ProgramMapRewriter {
  private let descriptors: [UInt8]
  /// The program association and the program maps, by PID.
  private var tables: [UInt16: Table] = [0: Table()]
  /// The beginning of a packet that goes on in the next bytes.
  private var rest: [UInt8] = []
  /// Whether a program map has the record.
  package private(set) var hasRecord = false

  private static var packetSize: Int { 188 }
  /// The longest section, with its header (2.4.4.5 and 2.4.4.9).
  private static var sectionLimit: Int { 1024 }
  /// The longest descriptors of a stream: the first two bits of `ES_info_length` are 0.
  private static var descriptorLimit: Int { 1023 }
  /// `descriptor_tag` of `DOVI_video_stream_descriptor`.
  private static var recordTag: UInt8 { 0xB0 }

  /// - Returns: nil for the record of a track without base layer. Its descriptor names the PID of the base layer, which
  ///   is in another track.
  package init?(_ record: DolbyVision.Configuration) {
    var content = record.bytes
    // The reserved bits of MP4's record are not part of the descriptor unless they are used.
    while content.count > 5, content.last == 0 { content.removeLast() }
    guard record.hasBaseLayer, content.count <= Int(UInt8.max) else { return nil }
    // format_identifier is DOVI.
    descriptors = [5, 4, 0x44, 0x4F, 0x56, 0x49, Self.recordTag, UInt8(content.count)] + content
  }

  // MARK: Packets

  /// Takes the next bytes of the stream, whose packets have 188 bytes.
  ///
  /// - Returns: the bytes to write. A section is written when it is complete, a packet when its last byte came.
  package mutating func rewrite(_ bytes: Span<UInt8>) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count + Self.packetSize)
    var place = 0
    while place < bytes.count {
      let isWhole = rest.isEmpty && bytes.count - place >= Self.packetSize
      let end = place + min(Self.packetSize - rest.count, bytes.count - place)
      if isWhole, tables[Self.identifier(bytes[place + 1], bytes[place + 2])] == nil {
        for index in place..<end { output.append(bytes[index]) }
      } else {
        for index in place..<end { rest.append(bytes[index]) }
        if rest.count == Self.packetSize {
          take(rest, &output)
          rest = []
        }
      }
      place = end
    }
    return output
  }

  /// Ends the stream.
  ///
  /// - Returns: the rest of the bytes to write.
  package mutating func finish() -> [UInt8] {
    var output: [UInt8] = []
    for identifier in tables.keys.sorted() { tables[identifier]?.release(to: &output) }
    output += rest
    rest = []
    return output
  }

  /// The PID of a packet by the bytes behind its sync byte.
  private static func identifier(_ first: UInt8, _ second: UInt8) -> UInt16 {
    UInt16(first & 0x1F) << 8 | UInt16(second)
  }

  /// The payload of a packet; nil for a packet that has none, is damaged or scrambled (2.4.3.2).
  private static func payload(of packet: [UInt8]) -> Range<Int>? {
    guard packet[0] == 0x47, packet[1] & 0x80 == 0, packet[3] & 0xD0 == 0x10 else { return nil }
    let start = 4 + (packet[3] & 0x20 != 0 ? 1 + Int(packet[4]) : 0)
    return start < packet.count ? start..<packet.count : nil
  }

  private mutating func take(_ packet: [UInt8], _ output: inout [UInt8]) {
    let identifier = Self.identifier(packet[1], packet[2])
    guard var table = tables[identifier] else {
      output += packet
      return
    }
    let (payload, startsSection) = (Self.payload(of: packet), packet[1] & 0x40 != 0)
    if payload == nil || startsSection || table.isFull { table.release(to: &output) }
    if let payload, startsSection ? packet[payload.lowerBound] == 0 : !table.packets.isEmpty {
      table.packets.append(packet)
      // pointer_field is in front of the first part.
      table.section += packet[payload].dropFirst(startsSection ? 1 : 0)
      if let section = table.completeSection {
        if identifier == 0 { read(programAssociation: section) }
        if identifier != 0, table.isAlone(section), let described = described(section) {
          table.release(as: described, to: &output)
        } else {
          table.release(to: &output)
        }
      }
    } else {
      table.pass(packet, to: &output)
    }
    tables[identifier] = table
  }

  /// The packets of a PID with sections.
  private struct Table {
    /// The packets of a section that is not complete.
    var packets: [[UInt8]] = []
    /// Its bytes, and those behind it.
    var section: [UInt8] = []
    /// Packets that were added up to now, modulo 16: `continuity_counter` counts them.
    private var addedCount: UInt8 = 0

    /// Whether more packets are held than sections take.
    var isFull: Bool { packets.count >= 16 }

    /// The section; nil if there is more of it to come.
    var completeSection: [UInt8]? {
      guard section.count >= 3 else { return nil }
      let count = 3 + ProgramMapRewriter.length(section, at: 1)
      return count <= section.count ? Array(section[..<count]) : nil
    }

    /// Whether nothing but stuffing is behind a section (2.4.4.1).
    func isAlone(_ section: [UInt8]) -> Bool { self.section[section.count...].allSatisfy { $0 == 0xFF } }

    /// Outputs a packet.
    func pass(_ packet: [UInt8], to output: inout [UInt8]) {
      let place = output.count + 3
      output += packet
      output[place] = packet[3] & 0xF0 | (packet[3] &+ addedCount) & 0x0F
    }

    /// Outputs the packets of the section as they are.
    mutating func release(to output: inout [UInt8]) {
      for packet in packets { pass(packet, to: &output) }
      (packets, section) = ([], [])
    }

    /// Outputs the packets with another section, and further packets for what they have no room for.
    mutating func release(as section: [UInt8], to output: inout [UInt8]) {
      let content = [0] + section
      var place = 0
      for var packet in packets {
        for index in ProgramMapRewriter.payload(of: packet) ?? 0..<0 {
          packet[index] = place < content.count ? content[place] : 0xFF
          place += 1
        }
        pass(packet, to: &output)
      }
      while let last = packets.last, place < content.count {
        addedCount = (addedCount + 1) & 0x0F
        // A payload without adaptation field, in which no section begins.
        var packet = [last[0], last[1] & 0xBF, last[2], 0x10 | last[3] & 0x0F]
        packet += content[place..<min(place + ProgramMapRewriter.packetSize - 4, content.count)]
        place += ProgramMapRewriter.packetSize - 4
        packet += [UInt8](repeating: 0xFF, count: ProgramMapRewriter.packetSize - packet.count)
        pass(packet, to: &output)
      }
      (packets, self.section) = ([], [])
    }
  }

  // MARK: Sections

  /// A length of 12 bits.
  private static func length(_ section: [UInt8], at place: Int) -> Int {
    Int(section[place] & 0x0F) << 8 | Int(section[place + 1])
  }

  private static func setLength(_ length: Int, _ section: inout [UInt8], at place: Int) {
    section[place] = section[place] & 0xF0 | UInt8(truncatingIfNeeded: length >> 8) & 0x0F
    section[place + 1] = UInt8(truncatingIfNeeded: length)
  }

  /// Whether a section is of a table and undamaged. Its CRC makes the whole 0.
  private static func isIntact(_ section: [UInt8], table: UInt8) -> Bool {
    section.count >= 12 && section.count <= sectionLimit && section[0] == table && section[1] & 0x80 != 0
      && CRC32.mpeg2(section) == 0
  }

  private mutating func read(programAssociation section: [UInt8]) {
    guard Self.isIntact(section, table: 0) else { return }
    for entry in stride(from: 8, to: section.count - 7, by: 4) {
      let identifier = Self.identifier(section[entry + 2], section[entry + 3])
      // Program 0 is the network information table.
      let isProgram = section[entry] != 0 || section[entry + 1] != 0
      if isProgram, identifier != 0, tables[identifier] == nil { tables[identifier] = Table() }
    }
  }

  /// A program map with the record; nil if it stays as it is.
  private mutating func described(_ section: [UInt8]) -> [UInt8]? {
    guard Self.isIntact(section, table: 2) else { return nil }
    let end = section.count - 4
    var place = 12 + Self.length(section, at: 10)
    while place + 5 <= end {
      let length = Self.length(section, at: place + 3)
      let next = place + 5 + length
      guard next <= end else { return nil }
      // stream_type of H.264 and H.265.
      guard section[place] == 0x1B || section[place] == 0x24 else {
        place = next
        continue
      }
      guard let tags = Self.tags(of: section[place + 5..<next]) else { return nil }
      if tags.contains(Self.recordTag) {
        hasRecord = true
        return nil
      }
      guard length + descriptors.count <= Self.descriptorLimit,
        section.count + descriptors.count <= Self.sectionLimit
      else { return nil }
      var described = Array(section[..<next]) + descriptors + section[next..<end]
      Self.setLength(length + descriptors.count, &described, at: place + 3)
      Self.setLength(section.count + descriptors.count - 3, &described, at: 1)
      let sum = CRC32.mpeg2(described)
      for shift in [24, 16, 8, 0] as [UInt32] { described.append(UInt8(truncatingIfNeeded: sum >> shift)) }
      hasRecord = true
      return described
    }
    return nil
  }

  /// The tags of descriptors; nil unless the last one ends with the loop.
  private static func tags(of descriptors: ArraySlice<UInt8>) -> [UInt8]? {
    var (tags, place): ([UInt8], Int) = ([], descriptors.startIndex)
    while place + 2 <= descriptors.endIndex {
      tags.append(descriptors[place])
      place += 2 + Int(descriptors[place + 1])
    }
    return place == descriptors.endIndex ? tags : nil
  }
}
