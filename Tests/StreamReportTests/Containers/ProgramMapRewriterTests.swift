// SPDX-License-Identifier: MPL-2.0
import H26x
import StreamReport
import TestSupport
import Testing

/// The record of Dolby Vision and the caption services in program maps.
@Suite struct ProgramMapRewriterTests {
  private typealias Made = RewrittenProgramMap

  private static let codec: [UInt8] = [5, 4] + Array("HEVC".utf8)
  private static let record: [UInt8] = [5, 4] + Array("DOVI".utf8) + [0xB0, 5, 1, 0, 16, 53, 16]
  private static let association = Made.packets(Made.association([(1, 0x1000)]), identifier: 0)
  private static let sound: (type: UInt8, descriptors: [UInt8]) = (0x0F, [0x0A, 4] + Array("eng".utf8) + [0])

  /// A packet of another stream.
  private static let picture: [UInt8] = [0x47, 0x41, 0, 0x10] + (0..<184).map { UInt8($0) }

  private static func stream(_ packets: [[UInt8]]...) -> [UInt8] { (association + packets.joined()).flatMap { $0 } }

  private static func map(_ streams: [(type: UInt8, descriptors: [UInt8])], version: UInt8 = 0) -> [UInt8] {
    Made.map(version: version, information: [0x09, 2, 1, 2], streams)
  }

  private static func packets(_ section: [UInt8], counter: UInt8 = 0, adaptation: Int = 0) -> [[UInt8]] {
    Made.packets(section, identifier: 0x1000, counter: counter, adaptation: adaptation)
  }

  @Test(arguments: [UInt8(0x1B), 0x24], [0, 1, 2, 60]) func describesTheVideo(type: UInt8, adaptation: Int) {
    func stream(_ descriptors: [UInt8]) -> [UInt8] {
      let map = Self.map([Self.sound, (type, descriptors), (type, Self.codec)])
      return Self.stream(
        [Self.picture], Self.packets(map, counter: 15, adaptation: adaptation), [Self.picture])
    }
    let rewritten = Made.rewritten(stream(Self.codec))
    #expect(rewritten == stream(Self.codec + Self.record))
    #expect(Made.rewritten(rewritten) == rewritten)
  }

  /// CC1 and service 1, in English and Spanish.
  private static let services: [UInt8] =
    [0xE2] + Array("eng".utf8) + [0x7E, 0x3F, 0xFF] + Array("spa".utf8) + [0xC1, 0x3F, 0xFF]

  /// One that the map has stays.
  @Test func addsCaptionServices() throws {
    let added = [0x86, 13] + Self.services
    func stream(_ descriptors: [UInt8]) -> [UInt8] {
      Self.stream(Self.packets(Self.map([Self.sound, (0x24, descriptors)])), [Self.picture])
    }
    func rewritten(_ descriptors: [UInt8], hasRecord: Bool) -> [UInt8] {
      Made.rewritten(stream(descriptors), hasRecord: hasRecord, captions: Self.services)
    }
    #expect(rewritten(Self.codec, hasRecord: false) == stream(Self.codec + added))
    #expect(rewritten(Self.codec, hasRecord: true) == stream(Self.codec + Self.record + added))
    #expect(rewritten(Self.record, hasRecord: true) == stream(Self.record + added))
    #expect(rewritten([0x86, 1, 0xE0], hasRecord: true) == stream([0x86, 1, 0xE0] + Self.record))
    // There is room for the first.
    let long = [0x80, 255] + [UInt8](repeating: 0, count: 255)
    let crowded = long + long + long + [0x80, 197] + [UInt8](repeating: 0, count: 197)
    #expect(rewritten(crowded, hasRecord: true) == stream(crowded + Self.record))
    #expect(rewritten(crowded, hasRecord: false) == stream(crowded + added))
    #expect(
      ProgramMapRewriter(nil) == nil && ProgramMapRewriter(nil, captions: [UInt8](repeating: 0, count: 256)) == nil)
    var rewriter = try #require(ProgramMapRewriter(nil, captions: Self.services))
    #expect(!rewriter.hasCaptionServices)
    _ = rewriter.rewrite(stream(Self.codec).span)
    #expect(rewriter.hasCaptionServices && !rewriter.hasRecord)
  }

  /// Of each stream in the map, at its first place, and nothing of damaged sections.
  @Test func readsCaptionServices() {
    let video: (type: UInt8, descriptors: [UInt8]) = (0x24, Self.codec + [0x86, 13] + Self.services + [0x0A, 0])
    var other = Self.map([(0x24, [0x86, 1, 0xE0])], version: 1)
    let first = Self.packets(Self.map([Self.sound, video, (0x06, [0x86, 1, 0xE1]), (0x1B, [0x86, 9, 0])]))
    var maps = ProgramMapRewriter()
    let stream = Self.stream([Self.picture], first, Self.packets(other))
    #expect(maps.rewrite(stream.span) == stream && maps.hasCaptionServices)
    #expect(maps.captionServices == [0x100: [], 0x101: Self.services, 0x102: [0xE1], 0x103: []])
    other[other.count - 1] ^= 1
    var damaged = ProgramMapRewriter()
    _ = damaged.rewrite(Self.stream(Self.packets(other)).span)
    #expect(damaged.captionServices.isEmpty)
  }

  @Test(arguments: [1, 3, 187, 188, 189, 400]) func takesBytesInAnyPieces(size: Int) {
    let map = Self.packets(Self.map([(0x24, Self.codec)]))
    let stream = Self.stream(map, [Self.picture], map) + Self.picture.prefix(100)
    #expect(Made.rewritten(stream, piece: size) == Made.rewritten(stream))
    #expect(Made.rewritten(stream) != stream)
  }

  /// The map becomes one packet longer. Its packets behind it go on counting.
  @Test func addsAPacketForWhatHasNoRoom() {
    let long = Self.codec + [0x80, 145] + [UInt8](repeating: 7, count: 145)
    let (before, after) = (Self.map([(0x24, long)]), Self.map([(0x24, long + Self.record)]))
    #expect(Self.packets(before).count == 1 && Self.packets(after).count == 2)
    let stream = Self.stream(
      Self.packets(before, counter: 14), [Self.picture], Self.packets(before, counter: 15), Self.packets(before))
    #expect(
      Made.rewritten(stream)
        == Self.stream(
          Self.packets(after, counter: 14), [Self.picture], Self.packets(after, counter: 0),
          Self.packets(after, counter: 2)))
  }

  @Test func describesSectionsOfSeveralPackets() {
    let sounds = Array(repeating: Self.sound, count: 60)
    let packets = Self.packets(Self.map(sounds + [(0x24, Self.codec)]))
    let after = Self.map(sounds + [(0x24, Self.codec + Self.record)])
    #expect(packets.count == 4)
    // Packets of other streams between them may come earlier.
    let stream = Self.stream([packets[0], packets[1], Self.picture, packets[2], packets[3]])
    #expect(Made.rewritten(stream) == Self.stream([Self.picture], Self.packets(after)))
  }

  @Test func describesEachProgramAndVersion() {
    let numbers: [UInt16] = [1, 2, 300]
    let association = Made.packets(Made.association(numbers.map { ($0, 0x1000 + $0) }), identifier: 0)
    func stream(_ descriptors: [UInt8]) -> [UInt8] {
      let maps = (0..<UInt8(4)).flatMap { version in
        numbers.flatMap { number in
          let streams: [(type: UInt8, descriptors: [UInt8])] = [(number == 2 ? 0x1B : 0x24, descriptors)]
          return Made.packets(
            Made.map(number: number, version: version, streams), identifier: 0x1000 + number, counter: version)
        }
      }
      return (association + maps + association).flatMap { $0 }
    }
    #expect(Made.rewritten(stream(Self.codec)) == stream(Self.codec + Self.record))
  }

  /// The program association may take several packets.
  @Test func findsTheLastOfManyPrograms() {
    let programs = (1...250).map { (number: UInt16($0), identifier: 0x1000 + UInt16($0)) }
    let association = Made.packets(Made.association(programs), identifier: 0)
    #expect(association.count == 6)
    func stream(_ descriptors: [UInt8]) -> [UInt8] {
      let map = Made.map(number: 250, [(type: 0x24, descriptors: descriptors)])
      return (association + Made.packets(map, identifier: 0x1000 + 250)).flatMap { $0 }
    }
    #expect(Made.rewritten(stream(Self.codec)) == stream(Self.codec + Self.record))
  }

  struct Untouched: CustomTestStringConvertible {
    let testDescription: String
    let packets: [[UInt8]]
  }

  static let untouched: [Untouched] = {
    let section = map([(0x24, codec)])
    var damaged = packets(section)
    damaged[0][20] ^= 1
    var later = packets(section)
    later[0].replaceSubrange(4..<188, with: [3, 0, 0, 0] + later[0][5..<185])
    var shared = packets(section)
    shared[0].replaceSubrange(5 + section.count..<5 + 2 * section.count, with: section)
    var wrong = packets(section)
    wrong[0][1] |= 0x80
    let long = packets(map(Array(repeating: sound, count: 40) + [(0x24, codec)]))
    let crowded: [(type: UInt8, descriptors: [UInt8])] = [
      (0x24, [0x80, 255] + [UInt8](repeating: 0, count: 255)), (0x0F, [UInt8](repeating: 0, count: 729)),
    ]
    let endless = Made.section(table: 2, [0xE1, 0, 0xF0, 0, 0x24, 0xE1, 0, 0xF3, 0xFF])
    let torn = map([(0x24, codec + [0x0A, 9, 0])])
    let beyond = Made.section(table: 2, [0xE1, 0, 0xFF, 0xFF, 0x24, 0xE1, 0, 0xF0, 0])
    func stated(length: Int) -> [[UInt8]] {
      packets([2, 0xB0 | UInt8(length >> 8), UInt8(length & 255)] + [UInt8](repeating: 0, count: 200))
    }
    return [
      Untouched(testDescription: "a wrong CRC", packets: damaged),
      Untouched(testDescription: "bytes in front of the section", packets: later),
      Untouched(testDescription: "two sections in a packet", packets: shared),
      Untouched(testDescription: "an error indicator", packets: wrong),
      Untouched(testDescription: "a packet that is missing", packets: [long[0], long[2]]),
      Untouched(testDescription: "a section without its end", packets: Array(long[..<2])),
      Untouched(testDescription: "an end without its beginning", packets: Array(long[1...])),
      Untouched(testDescription: "no video", packets: packets(map([sound]))),
      Untouched(testDescription: "no stream", packets: packets(map([]))),
      Untouched(testDescription: "a record", packets: packets(map([(0x24, codec + record)]))),
      Untouched(testDescription: "another table", packets: packets(Made.section(table: 0xC0, Array(section[8...])))),
      Untouched(testDescription: "a length of 0", packets: stated(length: 0)),
      Untouched(testDescription: "the greatest length", packets: stated(length: 0xFFF)),
      Untouched(testDescription: "descriptors beyond the section", packets: packets(endless)),
      Untouched(testDescription: "a descriptor beyond the others", packets: packets(torn)),
      Untouched(testDescription: "information beyond the section", packets: packets(beyond)),
      Untouched(testDescription: "no room", packets: packets(map(crowded))),
    ]
  }()

  @Test(arguments: untouched) func leavesOtherPacketsAsTheyAre(source: Untouched) {
    let stream = Self.stream(source.packets, [Self.picture])
    let rewritten = Made.rewritten(stream)
    // Packets that wait for the end of a section come behind.
    let sorted = [stream, rewritten].map { bytes in
      stride(from: 0, to: bytes.count, by: 188).map { Array(bytes[$0..<min($0 + 188, bytes.count)]) }
        .sorted { $0.lexicographicallyPrecedes($1) }
    }
    #expect(sorted[0] == sorted[1])
  }

  /// Reserved bits are part of the descriptor if they are used. A track without base layer has no descriptor.
  @Test func writesAllBitsOfTheRecord() throws {
    var bytes = DolbyVision.Configuration(profile: 8, level: 6, compatibilityID: 1).bytes
    bytes[4] |= 8
    bytes[6] = 9
    let record = try DolbyVision.Configuration(bytes.span)
    var rewriter = try #require(ProgramMapRewriter(record))
    let stream = Self.stream(Self.packets(Self.map([(0x24, [])])))
    let described = [5, 4] + Array("DOVI".utf8) + [0xB0, 7, 1, 0, 16, 53, 24, 0, 9]
    #expect(!rewriter.hasRecord)
    #expect(rewriter.rewrite(stream.span) == Self.stream(Self.packets(Self.map([(0x24, described)]))))
    #expect(rewriter.hasRecord && rewriter.finish().isEmpty)
    bytes[3] &= 0xFE
    let layer = try DolbyVision.Configuration(bytes.span)
    #expect(!layer.hasBaseLayer && ProgramMapRewriter(layer) == nil)
    #expect(ProgramMapRewriter(layer, captions: [0xE0]) != nil)
  }

  /// Sections of any content, lost packets and adaptation fields of any length.
  @Test func hasItsPropertiesForAnyBytes() {
    var generator = SeededGenerator(state: 50)
    for _ in 0..<60 {
      let count = Int.random(in: 0..<800, using: &generator)
      var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
      // Lengths of sections that are seldom beyond the end.
      for place in stride(from: 3, to: bytes.count, by: 60) { bytes[place] &= 1 }
      #expect(RewrittenProgramMap.defect(bytes.span) == nil, "\(bytes)")
    }
  }
}
