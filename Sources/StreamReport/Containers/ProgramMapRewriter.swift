// SPDX-License-Identifier: MPL-2.0
package import H26x

/// Reads the descriptors of a transport stream's program maps while its packets pass, and adds the record of Dolby Vision
/// and the caption services (ISO/IEC 13818-1, 2.4.4).
///
/// The video of each program gets these descriptors:
///
/// - for the record, a registration descriptor (`DOVI`) and a `DOVI_video_stream_descriptor` (Dolby Vision Streams within
///   the MPEG-2 Transport Stream Format, 3)
/// - for the captions, a `caption_service_descriptor` (ATSC A/65, 6.9.2)
///
/// A program map that has them stays as it is. So does a section that is damaged, that has no room, or that does not have
/// its packets for itself.
///
/// The stream type stays. The format has private data (0x06) for a base layer that is not to be shown alone (3.1.2). Then
/// tsdemux finds no video, and libavformat has to guess the codec.
package struct ProgramMapRewriter {
  /// The descriptors that are added for the record; none without one.
  private let record: [UInt8]
  /// The descriptor that is added for the captions; none without one.
  private let captions: [UInt8]
  /// The program association and the program maps, by PID.
  private var tables: [UInt16: Table] = [0: Table()]
  /// The beginning of a packet that goes on in the next bytes.
  private var rest: [UInt8] = []
  /// Whether a program map has the record.
  package private(set) var hasRecord = false
  /// Whether a program map has the caption services.
  package private(set) var hasCaptionServices = false
  /// The content of each stream's `caption_service_descriptor` in the first program map that has the stream, by PID;
  /// empty without one.
  package private(set) var captionServices: [UInt16: [UInt8]] = [:]

  private static var packetSize: Int { 188 }
  /// The longest section, with its header (2.4.4.5 and 2.4.4.9).
  private static var sectionLimit: Int { 1024 }
  /// The longest descriptors of a stream: the first two bits of `ES_info_length` are 0.
  private static var descriptorLimit: Int { 1023 }
  /// `descriptor_tag` of `DOVI_video_stream_descriptor`.
  private static var recordTag: UInt8 { 0xB0 }
  /// `descriptor_tag` of `caption_service_descriptor`.
  private static var captionTag: UInt8 { 0x86 }

  /// Creates one that only reads.
  package init() { (record, captions) = ([], []) }

  /// Creates one that adds descriptors.
  ///
  /// - Parameters:
  ///   - record: nil for none. The record of a track without a base layer is not added, because its descriptor names the
  ///     PID of another track.
  ///   - captions: the content of a `caption_service_descriptor`; nil for none.
  /// - Returns: nil if there is nothing to add.
  package init?(_ record: DolbyVision.Configuration?, captions: [UInt8]? = nil) {
    self.record = record.map { Self.descriptors(of: $0) } ?? []
    self.captions = captions.flatMap { Self.descriptor(Self.captionTag, $0) } ?? []
    guard !self.record.isEmpty || !self.captions.isEmpty else { return nil }
  }

  private static func descriptors(of record: DolbyVision.Configuration) -> [UInt8] {
    var content = record.bytes
    // The reserved bits of MP4's record are not part of the descriptor unless they are used.
    while content.count > 5, content.last == 0 { content.removeLast() }
    guard record.hasBaseLayer, let descriptor = descriptor(recordTag, content) else { return [] }
    // format_identifier is DOVI.
    return [5, 4, 0x44, 0x4F, 0x56, 0x49] + descriptor
  }

  private static func descriptor(_ tag: UInt8, _ content: [UInt8]) -> [UInt8]? {
    UInt8(exactly: content.count).map { [tag, $0] + content }
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

  /// A program map with further descriptors of its first video; nil if it stays as it is.
  private mutating func described(_ section: [UInt8]) -> [UInt8]? {
    guard Self.isIntact(section, table: 2) else { return nil }
    let end = section.count - 4
    var place = 12 + Self.length(section, at: 10)
    var (described, hasVideo): ([UInt8]?, Bool) = (nil, false)
    while place + 5 <= end {
      let length = Self.length(section, at: place + 3)
      let next = place + 5 + length
      guard next <= end else { break }
      let loop = Self.descriptors(section[place + 5..<next])
      let stream = Self.identifier(section[place + 1], section[place + 2])
      if captionServices[stream] == nil {
        captionServices[stream] = loop?.first { $0.tag == Self.captionTag }.map { Array($0.content) } ?? []
      }
      // stream_type of H.264 and H.265.
      if !hasVideo, section[place] == 0x1B || section[place] == 0x24 {
        hasVideo = true
        let room = min(Self.descriptorLimit - length, Self.sectionLimit - section.count)
        let added = loop.map { missing(from: $0.map { $0.tag }, room: room) } ?? []
        if !added.isEmpty { described = Self.adding(added, to: section, stream: place, length: length) }
      }
      place = next
    }
    return described
  }

  /// The descriptors that a video lacks, as far as there is room.
  private mutating func missing(from tags: [UInt8], room: Int) -> [UInt8] {
    var missing: [UInt8] = []
    func takes(_ descriptors: [UInt8], _ tag: UInt8) -> Bool {
      guard !tags.contains(tag) else { return true }
      guard !descriptors.isEmpty, missing.count + descriptors.count <= room else { return false }
      missing += descriptors
      return true
    }
    if takes(record, Self.recordTag) { hasRecord = true }
    if takes(captions, Self.captionTag) { hasCaptionServices = true }
    return missing
  }

  /// - Parameters:
  ///   - place: of the stream in the section.
  ///   - length: of the stream's descriptors.
  private static func adding(_ descriptors: [UInt8], to section: [UInt8], stream place: Int, length: Int) -> [UInt8] {
    let (next, end) = (place + 5 + length, section.count - 4)
    var described = Array(section[..<next]) + descriptors + section[next..<end]
    setLength(length + descriptors.count, &described, at: place + 3)
    setLength(section.count + descriptors.count - 3, &described, at: 1)
    let sum = CRC32.mpeg2(described)
    for shift in [24, 16, 8, 0] as [UInt32] { described.append(UInt8(truncatingIfNeeded: sum >> shift)) }
    return described
  }

  /// Descriptors in a row; nil unless the last one ends with the row.
  private static func descriptors(_ bytes: ArraySlice<UInt8>) -> [(tag: UInt8, content: ArraySlice<UInt8>)]? {
    var (found, place): ([(tag: UInt8, content: ArraySlice<UInt8>)], Int) = ([], bytes.startIndex)
    while place + 2 <= bytes.endIndex {
      let next = place + 2 + Int(bytes[place + 1])
      guard next <= bytes.endIndex else { return nil }
      found.append((bytes[place], bytes[place + 2..<next]))
      place = next
    }
    return place == bytes.endIndex ? found : nil
  }
}
