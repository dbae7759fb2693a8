// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import Testing

/// What differs in an H.265 parser.
@Suite(.serialized) struct H265ParseTests {
  typealias Stream = H265Stream

  private static let raw = "video/x-h265, stream-format=byte-stream"

  /// The access units of a byte stream of these NAL units.
  private func parsed(_ nalUnits: [[UInt8]], _ properties: String = "") throws -> (Harness, [Buffer.Attributes]) {
    let harness = try Harness.parseH265(properties, from: Self.raw, to: "stream-format=byte-stream, alignment=au")
    #expect(harness.push(Stream.byteStream(nalUnits)) == 0)
    harness.endOfStream()
    var result: [Buffer.Attributes] = []
    while let buffer = harness.tryPull() { result.append(buffer.attributes) }
    return (harness, result)
  }

  private func caps(_ nalUnits: [[UInt8]]) throws -> String { try parsed(nalUnits).0.outputCapsText() }

  // MARK: Time

  private func frames(_ times: [Buffer.Attributes]) -> [[Int?]] {
    times.map { [$0.pts, $0.dts].map { $0.map { Int($0.nanoseconds / 40_000_000) } } }
  }

  @Test func timesRawPicturesByPOC() throws {
    let counts: [UInt32] = [0, 4, 2, 1, 3]
    let pictures = counts.map { Stream.slice($0 == 0 ? .idrWithoutLeading : .trailingR, count: $0) }
    let (_, times) = try parsed(Stream.headers + pictures)
    #expect(frames(times) == [[2, 0], [6, 1], [4, 2], [3, 3], [5, 4]])
  }

  /// The parser cannot look ahead, because each access unit goes out as it comes.
  @Test func timesRawAccessUnitsByPOC() throws {
    let harness = try Harness.parseH265(
      from: Self.raw + ", alignment=au", to: "stream-format=byte-stream, alignment=au")
    for count: UInt32 in [0, 4, 2, 1, 3] {
      let slice = Stream.slice(count == 0 ? .idrWithoutLeading : .trailingR, count: count)
      #expect(harness.push(Stream.byteStream(count == 0 ? Stream.headers + [slice] : [slice])) == 0)
    }
    harness.endOfStream()
    var times: [Buffer.Attributes] = []
    while let buffer = harness.tryPull() { times.append(buffer.attributes) }
    #expect(frames(times) == [[2, 0], [6, 1], [4, 2], [3, 3], [5, 4]])
  }

  /// Without reordering each picture is shown after the one before, whatever the step of the POCs.
  @Test func withoutReorderingPicturesAreShownInDecodingOrder() throws {
    let sps = Stream.sps { $0.buffering = [.init(maximumDecodedPictures: 2, maximumReorderPictures: 0)] }
    let pictures = (0..<4).map { Stream.slice($0 == 0 ? .idrWithoutLeading : .trailingR, count: $0) }
    let (_, times) = try parsed([Stream.vps, sps, Stream.pps()] + pictures)
    #expect(frames(times) == [[0, 0], [1, 1], [2, 2], [3, 3]])
  }

  /// The leading pictures of a CRA picture are shown before it.
  @Test func leadingPicturesAreShownFirst() throws {
    let pictures = [
      Stream.slice(.idrWithoutLeading), Stream.slice(.trailingR, count: 1), Stream.slice(.cra, count: 4),
      Stream.slice(.raslN, count: 2), Stream.slice(.radlN, count: 3), Stream.slice(.trailingR, count: 5),
    ]
    let (_, times) = try parsed(Stream.headers + pictures)
    #expect(frames(times) == [[2, 0], [3, 1], [6, 2], [4, 3], [5, 4], [7, 5]])
    #expect(times.map { !$0.flags.contains(.deltaUnit) } == [true, false, true, false, false, false])
  }

  /// Decodable leading pictures of an IDR or BLA picture have POCs that restart. They are shown before it and after all
  /// pictures of the group before, wherever in the stream it is and however the data comes.
  @Test(arguments: [H265.NALUnitType.idrWithRADL, .blaWithRADL], [1, 7, 100_000])
  func leadingPicturesAfterAPOCResetAreShownFirst(type: H265.NALUnitType, piece: Int) throws {
    let group = [
      Stream.slice(type), Stream.slice(.radlN, count: 254), Stream.slice(.radlN, count: 255),
      Stream.slice(.trailingR, count: 1),
    ]
    let start = [Stream.slice(.idrWithoutLeading)] + (1...9).map { Stream.slice(.trailingR, count: $0) }
    let harness = try Harness.parseH265(from: Self.raw, to: "stream-format=byte-stream, alignment=au")
    var bytes = Stream.byteStream(Stream.headers + start + group + group)[...]
    while !bytes.isEmpty {
      #expect(harness.push(Array(bytes.prefix(piece))) == 0)
      bytes = bytes.dropFirst(piece)
    }
    harness.endOfStream()
    var times: [Buffer.Attributes] = []
    while let buffer = harness.tryPull() { times.append(buffer.attributes) }
    let later = [[14, 10], [12, 11], [13, 12], [15, 13], [18, 14], [16, 15], [17, 16], [19, 17]]
    #expect(frames(times) == (0..<10).map { [$0 + 2, $0] } + later)
  }

  /// After an end of sequence, POCs are reset at a CRA picture.
  @Test func anEndOfSequenceResetsPOCAtTheCRAPicture() throws {
    let first = [Stream.slice(.idrWithoutLeading), Stream.slice(.trailingR, count: 1)]
    let second = [Stream.slice(.cra, count: 200), Stream.slice(.trailingR, count: 201)]
    let (_, times) = try parsed(Stream.headers + first + [Stream.endOfSequence] + second)
    #expect(frames(times) == [[2, 0], [3, 1], [4, 2], [5, 3]])
    let (_, without) = try parsed(Stream.headers + first + second)
    #expect(frames(without)[2] != [4, 2])
  }

  @Test func fieldsLastHalfAFrame() throws {
    let sps = Stream.sps { sps in
      sps.vui?.isFieldSequence = true
      sps.vui?.isPictureStructurePresent = true
      sps.vui?.timing = .init(unitsInTick: 1, timeScale: 50)
      sps.buffering = [.init(maximumDecodedPictures: 5, maximumReorderPictures: 0)]
    }
    // pic_struct, source_scan_type 0, duplicate_flag 0 and the end of the payload.
    let fields = (0..<4).flatMap { field -> [[UInt8]] in
      let type: H265.NALUnitType = field == 0 ? .idrWithoutLeading : .trailingR
      return [
        Stream.sei(1, [UInt8(field % 2 == 0 ? 1 : 2) << 4 | 1]), Stream.slice(type, count: UInt32(field)),
      ]
    }
    let (harness, times) = try parsed([Stream.vps, sps, Stream.pps()] + fields)
    #expect(times.map(\.pts) == [0, 20, 40, 60].map { ClockTime(nanoseconds: $0 * 1_000_000) })
    #expect(times.allSatisfy { $0.duration == ClockTime(nanoseconds: 20_000_000) })
    #expect(times.allSatisfy { $0.flags.isSuperset(of: [.interlaced, .oneField]) })
    #expect(times.map { $0.flags.contains(.topFieldFirst) } == [true, false, true, false])
    let caps = try harness.outputCapsText()
    #expect(caps.contains("height=(int)256,") && caps.contains("framerate=(fraction)25/1,"))
  }

  private static let structures: [(structure: UInt8, flags: Buffer.Flags)] = [
    (0, []), (3, [.interlaced, .topFieldFirst]), (4, .interlaced),
    (5, [.interlaced, .topFieldFirst, .repeatFirstField]), (6, [.interlaced, .repeatFirstField]), (7, []),
  ]

  @Test(arguments: structures)
  func reportsFieldsOfFrames(structure: UInt8, flags: Buffer.Flags) throws {
    let sps = Stream.sps { $0.vui?.isPictureStructurePresent = true }
    let (_, times) = try parsed([Stream.vps, sps, Stream.pps(), Stream.sei(1, [structure << 4 | 1]), Stream.idr])
    let all: Buffer.Flags = [.interlaced, .topFieldFirst, .repeatFirstField, .oneField]
    #expect(times.first?.flags.intersection(all) == flags)
  }

  // MARK: Flags

  /// A picture of a lower sub-layer may be referred to by a higher one, whatever its type.
  @Test func onlyPicturesOfTheHighestSubLayerAreDroppable() throws {
    let pictures = [
      Stream.slice(.idrWithoutLeading), Stream.slice(.trailingN, count: 1),
      Stream.slice(.tsaN, count: 2, temporalID: 1), Stream.slice(.tsaR, count: 3, temporalID: 1),
    ]
    for (layers, expected) in [(UInt8(2), [false, false, true, false]), (1, [false, true, true, false])] {
      let sps = Stream.sps { sps in
        sps.subLayerCount = layers
        sps.profileTierLevel.subLayers = layers == 2 ? [.init()] : []
        sps.buffering = Array(repeating: sps.highestBuffering, count: Int(layers))
      }
      let (_, times) = try parsed([Stream.vps, sps, Stream.pps()] + pictures)
      #expect(times.map { $0.flags.contains(.droppable) } == expected)
    }
  }

  /// Pictures of I slices are random access points only in streams without marked ones.
  @Test func findsRandomAccessPointsByType() throws {
    let intra = Stream.slice(.trailingR, count: 5, isIntra: true)
    let (_, times) = try parsed(Stream.headers + [Stream.idr, intra, Stream.slice(.blaWithoutLeading, count: 9)])
    #expect(times.map { $0.flags.contains(.deltaUnit) } == [false, true, false])
    let (_, without) = try parsed(Stream.headers + [intra, Stream.slice(.trailingR, count: 6)])
    #expect(without.map { $0.flags.contains(.deltaUnit) } == [false, true])
  }

  // MARK: NAL units

  /// NAL unit types of RTP end an access unit and are dropped; the unspecified ones of Dolby Vision are kept.
  @Test(arguments: [(UInt8(48), 2, false), (50, 2, false), (62, 1, true)])
  func dropsRTPTypesAndKeepsUnspecifiedOnes(type: UInt8, count: Int, stays: Bool) throws {
    let foreign: [UInt8] = [type << 1, 1, 0x12, 0x34]
    let second = Stream.slice(.idrWithoutLeading, address: 4)
    let harness = try Harness.parseH265(from: Self.raw, to: "stream-format=byte-stream, alignment=au")
    #expect(harness.push(Stream.byteStream(Stream.headers + [Stream.idr, foreign, second])) == 0)
    harness.endOfStream()
    let units = try harness.pullAll()
    #expect(units.count == count)
    #expect(units.contains { $0.firstRange(of: foreign) != nil } == stays)
  }

  @Test func fillerBeforeTheFirstSPSIsDropped() throws {
    let harness = try Harness.parseH265(from: Self.raw, to: "stream-format=byte-stream, alignment=au")
    #expect(harness.push(Stream.byteStream([Stream.filler] + Stream.headers + [Stream.idr, Stream.filler])) == 0)
    harness.endOfStream()
    let expected = [Stream.delimiter] + Stream.headers + [Stream.idr, Stream.filler]
    #expect(try harness.pullAll() == [Stream.byteStream(expected)])
  }

  @Test func anUnreadableVPSStaysInTheStream() throws {
    let broken = Array(Stream.vps.prefix(4))
    for format in ["byte-stream", "hvc1"] {
      let harness = try Harness.parseH265(from: Self.raw, to: "stream-format=\(format), alignment=au")
      #expect(harness.push(Stream.byteStream(broken, Stream.sps(), Stream.pps(), Stream.idr, Stream.idr)) == 0)
      harness.endOfStream()
      let units = try harness.pullAll()
      #expect(units.count == 2 && units.first?.firstRange(of: broken) != nil)
      guard format == "hvc1" else { continue }
      let codecData = try harness.outputCodecData()
      let record = try H265.DecoderConfigurationRecord(codecData.span)
      #expect(record.nalUnits.first == broken)
    }
  }

  // MARK: SEI

  @Test(arguments: [UInt8(0xB5), 0xB4]) func captionsBecomeAMeta(country: UInt8) throws {
    let message = Stream.sei(
      4, [country, 0x00, 0x31, 0x47, 0x41, 0x39, 0x34, 0x03, 0xC1, 0xFF, 0xFC, 0x80, 0x80, 0xFF])
    let harness = try Harness.parseH265(from: Self.raw, to: "stream-format=byte-stream, alignment=au")
    #expect(harness.push(Stream.byteStream(Stream.headers + [message, Stream.idr])) == 0)
    harness.endOfStream()
    let buffer = try harness.pull()
    #expect(buffer.captionType == GST_VIDEO_CAPTION_TYPE_CEA708_RAW.rawValue)
    #expect(buffer.captions == [0xFC, 0x80, 0x80])
  }

  /// Whichever of the two messages comes first.
  @Test(arguments: [true, false]) func timeCodesBecomeAMeta(isTimingFirst: Bool) throws {
    var time = H265.TimeCode.ClockTimestamp()
    (time.hours, time.minutes, time.seconds, time.frames, time.isFull) = (1, 2, 3, 4, true)
    let code = Stream.sei(136, H265.TimeCode(clockTimestamps: [time]).payload())
    let timing = Stream.sei(1, [4 << 4 | 1])
    let sps = Stream.sps { $0.vui?.isPictureStructurePresent = true }
    let harness = try Harness.parseH265(from: Self.raw, to: "stream-format=byte-stream, alignment=au")
    let messages = isTimingFirst ? [timing, code] : [code, timing]
    #expect(harness.push(Stream.byteStream([Stream.vps, sps, Stream.pps()] + messages + [Stream.idr])) == 0)
    harness.endOfStream()
    let buffer = try harness.pull()
    let found = buffer.timeCodes
    #expect(found.count == 1)
    let first = try #require(found.first)
    #expect([first.hours, first.minutes, first.seconds, first.frames] == [1, 2, 3, 4])
    #expect(first.isInterlaced && first.fieldCount == 2)
  }

  /// The sizes of messages do not count emulation prevention bytes.
  @Test func capsHaveTheColourOfSEI() throws {
    let sps = Stream.sps { sps in
      sps.vui?.videoSignal = .init(isFullRange: false, colour: .init(primaries: 9, transfer: 14, matrix: 9))
    }
    let headers = [Stream.vps, sps, Stream.pps()]
    let plain = try caps(headers + [Stream.idr])
    #expect(plain.contains("colorimetry=(string)bt2020-10,") && !plain.contains("hdr-format"))
    #expect(try caps(headers + [Stream.sei(147, [18]), Stream.idr]).contains("colorimetry=(string)bt2100-hlg,"))
  }

  /// Digitally signed content: NAL units between its messages are not moved, and none is inserted.
  @Test(arguments: ["byte-stream, alignment=au", "byte-stream, alignment=nal", "hvc1", "hev1"])
  func keepsDigitallySignedContentInOrder(_ output: String) throws {
    let signed = [
      Stream.sei(220, [1, 2, 3]), Stream.sei(221, [4]), Stream.idr, Stream.sei(222, [5, 6], isSuffix: true),
      Stream.delimiter, Stream.sei(221, [7]), Stream.slice(.trailingR, count: 1), Stream.sei(222, [8], isSuffix: true),
    ]
    let harness = try Harness.parseH265(from: Self.raw, to: "stream-format=\(output)")
    #expect(harness.push(Stream.byteStream(Stream.headers + signed)) == 0)
    harness.endOfStream()
    let bytes = try harness.pullAll().flatMap { $0 }
    let packed = output.hasPrefix("byte") ? Stream.byteStream(signed) : RepackStream.lengthPrefixed(signed)
    #expect(bytes.suffix(packed.count) == packed[...])
  }

  @Test func reportsTwoViewsInAPicture() throws {
    var writer = BitWriter(addsEmulationPrevention: false)
    writer.ue(0)
    writer.flag(false)
    writer.u(7, 3)  // side by side
    writer.flag(false)
    writer.u(6, 1)
    writer.u(6, 0)
    writer.u(16, 0)
    writer.u(8, 0)
    writer.flag(true)  // frame_packing_arrangement_persistence_flag, one bit
    writer.flag(false)
    writer.trailingBits()
    let caps = try caps(Stream.headers + [Stream.sei(45, writer.bytes), Stream.idr])
    #expect(caps.contains("multiview-mode=(string)side-by-side"))
  }

  @Test(arguments: [(UInt8(189), "6.3"), (213, "7.1"), (216, "7.2"), (210, "7"), (186, "6.2")])
  func capsHaveTheLevelsName(idc: UInt8, name: String) throws {
    let sps = Stream.sps { $0.profileTierLevel.levelIDC = idc }
    #expect(try caps([Stream.vps, sps, Stream.pps(), Stream.idr]).contains("level=(string)\(name),"))
  }

  @Test func statisticsNameTheCodec() throws {
    let harness = try parsed(Stream.headers + [Stream.idr]).0
    let text = harness.text("stats")
    #expect(text.contains("h265-parse-stats") && text.contains("type-32"))
  }
}
