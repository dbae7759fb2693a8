// SPDX-License-Identifier: MPL-2.0
import H26x
import StreamReport

/// Transport streams of packets with sections, and what `ProgramMapRewriter` makes of them.
public enum RewrittenProgramMap {
  // MARK: Streams

  /// A section with its length and its CRC (ISO/IEC 13818-1, 2.4.4).
  ///
  /// - Parameter number: of the transport stream, or of the program.
  package static func section(table: UInt8, number: UInt16 = 1, version: UInt8 = 0, _ content: [UInt8]) -> [UInt8] {
    let length = min(content.count + 9, 0xFFF)
    var section = [table, 0xB0 | UInt8(length >> 8), UInt8(length & 0xFF), UInt8(number >> 8), UInt8(number & 0xFF)]
    section += [0xC1 | (version & 0x1F) << 1, 0, 0] + content
    let sum = CRC32.mpeg2(section)
    return section + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: sum >> $0) }
  }

  /// The section that lists programs: their numbers and the PIDs of their maps.
  package static func association(_ programs: [(number: UInt16, identifier: UInt16)]) -> [UInt8] {
    section(table: 0, programs.flatMap { bytes($0.number) + bytes(0xE000 | $0.identifier) })
  }

  /// A program map.
  ///
  /// - Parameter streams: types and descriptors.
  package static func map(
    number: UInt16 = 1, version: UInt8 = 0, information: [UInt8] = [], _ streams: [(type: UInt8, descriptors: [UInt8])]
  ) -> [UInt8] {
    var content = bytes(0xE100) + bytes(0xF000 | UInt16(information.count)) + information
    for (index, stream) in streams.enumerated() {
      content += [stream.type] + bytes(0xE100 + UInt16(index)) + bytes(0xF000 | UInt16(stream.descriptors.count))
      content += stream.descriptors
    }
    return section(table: 2, number: number, version: version, content)
  }

  private static func bytes(_ number: UInt16) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xFF)] }

  /// The packets of a section.
  ///
  /// - Parameters:
  ///   - counter: `continuity_counter` of the first.
  ///   - adaptation: bytes of the adaptation field of each, 0 to 183.
  package static func packets(
    _ section: [UInt8], identifier: UInt16, counter: UInt8 = 0, adaptation: Int = 0
  ) -> [[UInt8]] {
    var (rest, packets): (ArraySlice<UInt8>, [[UInt8]]) = ([0] + section[...], [])
    while !rest.isEmpty {
      let start: UInt8 = packets.isEmpty ? 0x40 : 0
      let count = (counter + UInt8(packets.count & 15)) & 15
      let control: UInt8 = adaptation > 0 ? 0x30 : 0x10
      var packet = [0x47, start | UInt8(identifier >> 8), UInt8(identifier & 0xFF), control | count]
      if adaptation > 0 {
        packet += [UInt8(adaptation - 1)] + (adaptation > 1 ? [0] : [])
        packet += [UInt8](repeating: 0xFF, count: max(adaptation - 2, 0))
      }
      let part = rest.prefix(188 - packet.count)
      rest = rest.dropFirst(part.count)
      packet += part
      packets.append(packet + [UInt8](repeating: 0xFF, count: 188 - packet.count))
    }
    return packets
  }

  // MARK: Properties

  /// The stream with a record of profile 8.1, or with caption services, given in pieces.
  ///
  /// - Parameter captions: the content of their descriptor; nil for none.
  package static func rewritten(
    _ stream: [UInt8], hasRecord: Bool = true, captions: [UInt8]? = nil, piece: Int = .max
  ) -> [UInt8] {
    let record = DolbyVision.Configuration(profile: 8, level: 6, compatibilityID: 1)
    guard var rewriter = ProgramMapRewriter(hasRecord ? record : nil, captions: captions) else { return [] }
    var (output, place): ([UInt8], Int) = ([], 0)
    while place < stream.count {
      let end = place + min(max(piece, 1), stream.count - place)
      output += rewriter.rewrite(stream.span.extracting(place..<end))
      place = end
    }
    return output + rewriter.finish()
  }

  /// Returns the property that the rewriting of any bytes does not have; nil if it has all.
  ///
  /// - Parameter bytes: the first decides whether the others are the stream, or what sections contain.
  public static func defect(_ bytes: Span<UInt8>) -> String? {
    guard bytes.count > 1 else { return nil }
    let content = (1..<bytes.count).map { bytes[$0] }
    let stream = bytes[0] & 1 == 0 ? content : made(content)
    let captions = bytes[0] & 2 == 0 ? nil : Array(content.prefix(13))
    let whole = rewritten(stream, captions: captions)
    guard rewritten(stream, captions: captions, piece: Int(bytes[0] >> 1) + 100) == whole else {
      return "pieces give another stream"
    }
    let added = whole.count - stream.count
    guard added >= 0, added % 188 == 0, added <= stream.count else { return "\(added) bytes more" }
    guard rewritten(whole, captions: captions) == whole else { return "described twice" }
    return nil
  }

  /// A stream of sections with a valid CRC. Four bytes in front of each decide its form, its place and its length.
  private static func made(_ content: [UInt8]) -> [UInt8] {
    var stream = packets(association([(1, 0x1000), (2, 0x1001)]), identifier: 0).flatMap { $0 }
    var (rest, counter): (ArraySlice<UInt8>, UInt8) = (content[...], 0)
    while rest.count >= 4 {
      let (form, shape) = (rest[rest.startIndex], rest[rest.startIndex + 1])
      let count = Int(rest[rest.startIndex + 2]) << 8 | Int(rest[rest.startIndex + 3])
      let part = Array(rest.dropFirst(4).prefix(count))
      rest = rest.dropFirst(4 + part.count)
      let one = part.prefix(255)
      let descriptors = form & 8 == 0 ? [0x80, UInt8(one.count)] + one : Array(part.prefix(1000))
      let streams: [(type: UInt8, descriptors: [UInt8])] = [(0x0F, [0x0A, 0]), (0x24, descriptors)]
      let made = form & 4 == 0 ? map(streams) : section(table: form & 8 == 0 ? 2 : 0, Array(part.prefix(1012)))
      let packets = packets(
        made, identifier: form & 16 == 0 ? 0x1000 + UInt16(form & 3) : 0, counter: counter & 15,
        adaptation: Int(min(shape, 183)))
      counter &+= UInt8(packets.count & 15)
      // A packet may be lost.
      stream += packets.enumerated().filter { $0.offset != Int(form >> 5) - 1 }.flatMap(\.element)
    }
    return stream
  }
}
