// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import Testing

/// The cases of GStreamer's newest tests of h265parse.
@Suite(.serialized) struct H265ParseStockTests {
  typealias Stream = H265Stream

  private static let headers = Stream.byteStream(Stream.headers)
  private static let raw = "video/x-h265, parsed=(boolean)false"
  private static let delimiter = Stream.byteStream(Stream.delimiter)
  private static let idr = Stream.byteStream(Stream.idr)
  private static let first = Stream.slice(.idrWithoutLeading, size: 12)
  private static let second = Stream.slice(.idrWithoutLeading, address: 4, size: 12)

  @Test func outputsByteStreamInAccessUnits() throws {
    let harness = try Harness.parseH265(from: Self.raw, to: "stream-format=byte-stream, alignment=au")
    #expect(harness.push(Self.headers) == 0)
    for _ in 0..<10 { #expect(harness.push(Self.idr) == 0) }
    harness.endOfStream()
    let units = try harness.pullAll()
    #expect(units.count == 10)
    #expect(units.first == Self.delimiter + Self.headers + Self.idr)
    for unit in units.dropFirst() { #expect(unit == Self.delimiter + Self.idr) }
  }

  @Test(arguments: ["au", "nal"]) func outputDoesNotDependOnInputPieces(_ alignment: String) throws {
    let stream = Self.headers + Self.idr + [0, 0, 1] + Stream.idr + [0, 0, 0] + Self.idr
    var results: [[[UInt8]]] = []
    for size in [1, 2, 3, 7, 1000] {
      let harness = try Harness.parseH265(from: Self.raw, to: "stream-format=byte-stream, alignment=\(alignment)")
      var rest = stream[...]
      while !rest.isEmpty {
        #expect(harness.push([UInt8](rest.prefix(size))) == 0)
        rest = rest.dropFirst(size)
      }
      harness.endOfStream()
      results.append(try harness.pullAll())
    }
    #expect(results[0].count == (alignment == "au" ? 3 : 6))
    for result in results { #expect(result == results[0]) }
  }

  @Test func describesTheStreamInCaps() throws {
    let harness = try Harness.parseH265(from: Self.raw, to: "stream-format=byte-stream, alignment=au")
    let sei = Stream.byteStream(Stream.contentLight, Stream.masteringDisplay)
    #expect(harness.push(Self.headers + sei + Self.idr) == 0)
    harness.endOfStream()
    let caps = try harness.outputCapsText()
    for field in [
      "width=(int)256", "height=(int)128", "framerate=(fraction)25/1", "stream-format=(string)byte-stream",
      "alignment=(string)au", "profile=(string)main", "tier=(string)main", "level=(string)2.1",
      "chroma-format=(string)4:2:0", "bit-depth-luma=(uint)8", "bit-depth-chroma=(uint)8", "parsed=(boolean)true",
      "mastering-display-info=(string)34000:16000:13250:34500:7500:3000:15635:16450:10000000:1",
      "content-light-level=(string)1000:400", "hdr-format=(string)hdr10",
    ] {
      #expect(caps.contains(field + ","), "\(field) in \(caps)")
    }
    #expect(!caps.contains("coded-picture-structure"))
  }

  @Test func displayInformationLastsUntilAnIDRPictureWithoutIt() throws {
    let harness = try Harness.parseH265(from: Self.raw, to: "stream-format=byte-stream, alignment=au")
    let sei = Stream.byteStream(Stream.contentLight, Stream.masteringDisplay)
    #expect(harness.push(Self.headers + sei + Self.idr + Self.idr + Self.idr) == 0)
    harness.endOfStream()
    #expect(harness.received == 3)
    // Caps with and caps without, and none for a picture that changes nothing.
    let caps = harness.takeCapsEvents()
    #expect(caps.count == 2)
    for field in ["mastering-display-info", "content-light-level", "hdr-format"] {
      #expect(caps.first?.contains(field) == true && caps.last?.contains(field) == false)
    }
  }

  /// HDR10 needs both messages; HDR10+ metadata takes precedence over them.
  @Test(
    arguments: [
      ([Stream.contentLight], nil), ([Stream.masteringDisplay], nil),
      ([Stream.masteringDisplay, Stream.contentLight], "hdr10"),
      ([Stream.dynamicMetadata, Stream.masteringDisplay, Stream.contentLight], "hdr10+"),
      ([Stream.dynamicMetadata], "hdr10+"),
    ] as [([[UInt8]], String?)])
  func messagesDecideTheHDRFormat(_ messages: [[UInt8]], _ format: String?) throws {
    let harness = try Harness.parseH265(from: Self.raw, to: "stream-format=byte-stream, alignment=au")
    #expect(harness.push(Self.headers + Stream.byteStream(messages) + Self.idr) == 0)
    harness.endOfStream()
    let caps = try harness.outputCapsText()
    let field = format.map { "hdr-format=(string)\($0)," }
    #expect(field.map { caps.contains($0) } ?? !caps.contains("hdr-format"))
  }

  /// A delimiter has the TemporalId of its picture (7.4.2.2).
  @Test func delimitersHaveTheSubLayerOfTheirPicture() throws {
    let harness = try Harness.parseH265(from: Self.raw, to: "stream-format=byte-stream, alignment=au")
    let sps = Stream.sps { sps in
      sps.subLayerCount = 3
      sps.profileTierLevel.subLayers = [.init(), .init()]
      sps.buffering = Array(repeating: sps.highestBuffering, count: 3)
    }
    let pictures = [
      Stream.idr, Stream.slice(.tsaR, count: 2, temporalID: 1), Stream.slice(.tsaN, count: 1, temporalID: 2),
      Stream.slice(.trailingR, count: 4),
    ]
    #expect(harness.push(Stream.byteStream([Stream.vps, sps, Stream.pps()] + pictures)) == 0)
    harness.endOfStream()
    #expect(try harness.pullAll().map { Array($0.prefix(7)) } == [1, 2, 3, 1].map { [0, 0, 0, 1, 0x46, $0, 0x50] })
  }

  private func push(_ harness: Harness, _ bytes: [UInt8], _ time: UInt64, _ flags: Buffer.Flags = []) {
    var buffer = Buffer(copying: bytes.span) ?? Buffer()
    buffer.pts = ClockTime(nanoseconds: time)
    buffer.flags.formUnion(flags)
    #expect(harness.push(buffer) == 0)
  }

  private func expect(_ harness: Harness, _ bytes: [UInt8], _ time: UInt64, _ flags: Buffer.Flags = []) throws {
    let buffer = try harness.pull()
    #expect(try buffer.copiedBytes() == bytes)
    #expect(buffer.pts == ClockTime(nanoseconds: time))
    #expect(buffer.flags.isSuperset(of: flags))
  }

  private func harness(_ input: String, _ output: String) throws -> Harness {
    try Harness.parseH265(
      from: "video/x-h265, parsed=false, stream-format=byte-stream, alignment=\(input), framerate=30/1",
      to: "stream-format=byte-stream, alignment=\(output)")
  }

  /// The headers and the slices, in buffers of the input's alignment.
  private func pushFirst(_ harness: Harness, _ input: String, _ slices: [[UInt8]]) {
    let nalUnits = Stream.headers + slices
    for buffer in input == "au" ? [nalUnits] : nalUnits.map({ [$0] }) {
      push(harness, Stream.byteStream(buffer), 10)
    }
  }

  /// With NAL unit alignment no delimiters are inserted.
  @Test(arguments: ["nal", "au"]) func outputsNALUnitsWithoutDelimiters(_ input: String) throws {
    let harness = try harness(input, "nal")
    pushFirst(harness, input, [Stream.idr])
    #expect(harness.waiting == 4)
    for nalUnit in Stream.headers + [Stream.idr] { try expect(harness, Stream.byteStream(nalUnit), 10) }
    #expect(harness.queryLatency() == .zero)
    for (time, flags) in [(100, []), (200, .discontinuity)] as [(UInt64, Buffer.Flags)] {
      push(harness, Self.idr, time, flags)
      #expect(harness.waiting == 1)
      try expect(harness, Self.idr, time, flags)
    }
  }

  @Test func outputsAccessUnitsFromAccessUnits() throws {
    let harness = try harness("au", "au")
    pushFirst(harness, "au", [Stream.idr])
    try expect(harness, Self.delimiter + Self.headers + Self.idr, 10)
    #expect(harness.queryLatency() == .zero)
    push(harness, Self.idr, 100, .discontinuity)
    try expect(harness, Self.delimiter + Self.idr, 100, .discontinuity)
    push(harness, Self.delimiter + Self.idr, 200)
    try expect(harness, Self.delimiter + Self.idr, 200)
  }

  @Test func joinsNALUnitsToAccessUnits() throws {
    let harness = try harness("nal", "au")
    pushFirst(harness, "nal", [Stream.idr])
    #expect(harness.waiting == 0)
    push(harness, Self.idr, 100)
    #expect(harness.waiting == 1)
    try expect(harness, Self.delimiter + Self.headers + Self.idr, 10)
    #expect(harness.queryLatency() == ClockTime(nanoseconds: 33_333_333))
    push(harness, Self.idr, 200)
    try expect(harness, Self.delimiter + Self.idr, 100)
    harness.endOfStream()
    #expect(harness.waiting == 1)
  }

  @Test(arguments: ["nal", "au"], ["nal", "au"]) func keepsSlicesOfAPictureTogether(_ input: String, _ output: String)
    throws
  {
    let harness = try harness(input, output)
    pushFirst(harness, input, [Self.first, Self.second])
    let slices = [Self.first, Self.second].map { Stream.byteStream($0) }
    for buffer in input == "au" ? [slices.flatMap { $0 }] : slices { push(harness, buffer, 100) }
    // The last access unit of NAL-aligned input ends with the stream.
    harness.endOfStream()
    let units = try harness.pullAll()
    if output == "nal" {
      #expect(units == Stream.headers.map { Stream.byteStream($0) } + slices + slices)
    } else {
      let picture = slices.flatMap { $0 }
      #expect(units == [Self.delimiter + Self.headers + picture, Self.delimiter + picture])
    }
  }

  @Test func acceptsALongStartCodeAfterPadding() throws {
    let harness = try Harness.parseH265(
      from: "video/x-h265, stream-format=byte-stream", to: "stream-format=byte-stream, alignment=nal")
    #expect(harness.push([0, 0, 0, 0, 1, Stream.vps[0]]) == 0)
    #expect(harness.waiting == 0)
    let rest = Stream.byteStream(Stream.sps(), Stream.pps(), Stream.idr)
    #expect(harness.push(Array(Stream.vps.dropFirst()) + rest) == 0)
    #expect(harness.waiting == 3)
    #expect(try harness.pullBytes() == Stream.byteStream(Stream.vps))
  }

  @Test func waitsForTheRestOfANALUnitHeader() throws {
    let harness = try Harness.parseH265(
      from: "video/x-h265, stream-format=byte-stream", to: "stream-format=byte-stream, alignment=nal")
    #expect(harness.push(Self.headers + Self.idr.prefix(5)) == 0)
    #expect(harness.waiting == 0)
    #expect(harness.push(Array(Self.idr.dropFirst(5))) == 0)
    #expect(harness.waiting == 3)
    #expect(try harness.pullBytes() == Stream.byteStream(Stream.vps))
  }

  @Test func userDataBecomesAMeta() throws {
    let harness = try Harness.parseH265(from: "video/x-h265, stream-format=byte-stream")
    let data = Stream.sei(5, [UInt8](1...16) + [0x4E, 0x78, 0x32])
    // No VPS, no slice, and no trailing bits.
    #expect(harness.push(Stream.byteStream(Stream.sps(), Stream.pps(), data.dropLast())) == 0)
    harness.endOfStream()
    let buffer = try harness.pull()
    let hasUserData = buffer.hasUserData
    #expect(hasUserData)
  }

  @Test func acceptsAnEmptySEIInTheRecord() throws {
    var record = Stream.hvcC()
    record[22] += 1
    record += [0x27, 0x00, 0x01, 0x00, 0x00]
    let harness = try Harness.parseH265(from: Stream.caps("hvc1", codecData: record))
    #expect(harness.push(Stream.packet(Stream.idr)) == 0)
    #expect(try harness.outputCapsText().contains("width=(int)256,"))
    #expect(try harness.pullBytes() == Stream.packet(Stream.idr))
  }

  /// 4:4:4 of 8 bits with an unknown profile.
  @Test func guessesAnUnknownProfile() throws {
    let sps = Stream.sps { sps in
      sps.chromaFormat = .yuv444
      sps.profileTierLevel.profile = H265.Profile(idc: 4, isHighTier: true)
    }
    let harness = try Harness.parseH265(from: Self.raw, to: "stream-format=byte-stream, alignment=au")
    #expect(harness.push(Stream.byteStream(Stream.vps, sps, Stream.pps(), Stream.idr)) == 0)
    harness.endOfStream()
    let caps = try harness.outputCapsText()
    #expect(caps.contains("profile=(string)main-444,") && caps.contains("tier=(string)high,"))
  }

  @Test func dropsTheDamagedRestOfPackets() throws {
    let harness = try Harness.parseH265(
      from: Stream.caps("hvc1", codecData: Stream.hvcC()), to: "stream-format=hvc1, alignment=au")
    let packet = Stream.packet(Stream.idr)
    let garbage: [UInt8] = [0, 0, 0, 0, 5]
    let pushed: [[UInt8]] = [
      packet + garbage, packet + packet + packet, packet + packet + garbage, packet.dropLast(10), garbage,
    ]
    for bytes in pushed {
      #expect(harness.push(bytes) == 0)
    }
    harness.endOfStream()
    #expect(try harness.pullAll() == [packet, packet + packet + packet, packet + packet])
  }

  @Test func convertsPacketsToNALUnits() throws {
    let harness = try Harness.parseH265(
      from: Stream.caps("hvc1", codecData: Stream.hvcC()), to: "stream-format=byte-stream, alignment=nal")
    for _ in 0..<2 { #expect(harness.push(Stream.packet(Stream.idr)) == 0) }
    #expect(try harness.pullAll() == (Stream.headers + [Stream.idr, Stream.idr]).map { Stream.byteStream($0) })
  }

  /// SEI that is in codec_data alone, such as HDR10's, stays there. A byte stream has none: there it goes with the
  /// parameter sets.
  @Test func keepsSEIOfTheRecord() throws {
    let sei = seiNALUnit([(.contentLightLevel, [0x03, 0xE8, 0x01, 0x90])], header: [0x4E, 0x01])
    let record = Stream.hvcC(Stream.headers.map { [$0] } + [[sei]])
    let harness = try Harness.parseH265(
      from: Stream.caps("hvc1", codecData: record), to: "stream-format=byte-stream, alignment=nal")
    for _ in 0..<2 { #expect(harness.push(Stream.packet(Stream.idr)) == 0) }
    #expect(try harness.pullAll() == (Stream.headers + [sei, Stream.idr, Stream.idr]).map { Stream.byteStream($0) })
    for (format, nalUnits) in [("hvc1", Stream.headers + [sei]), ("hev1", [sei])] {
      let same = try Harness.parseH265(from: Stream.caps("hvc1", codecData: record), to: "stream-format=\(format)")
      #expect(same.push(Stream.packet(Stream.idr)) == 0)
      let codecData = try same.outputCodecData()
      let output = try H265.DecoderConfigurationRecord(codecData.span)
      #expect(output.nalUnits == nalUnits, "\(format)")
      let sets = format == "hev1" ? Stream.headers : []
      #expect(try same.pullBytes() == RepackStream.lengthPrefixed(sets + [Stream.idr], 4))
    }
  }

  @Test(arguments: ["hvc1", "hev1"]) func outputsLengthPrefixedAccessUnits(_ format: String) throws {
    let harness = try Harness.parseH265(from: Self.raw, to: "stream-format=\(format), alignment=au")
    // SPS and PPS came first: the record has all in order.
    #expect(harness.push(Stream.byteStream(Stream.sps(), Stream.pps(), Stream.vps, Stream.idr, Stream.idr)) == 0)
    harness.endOfStream()
    let first = Stream.packet(Stream.sps(), Stream.pps(), Stream.vps, Stream.idr)
    #expect(try harness.pullAll() == [first, Stream.packet(Stream.idr)])
    let codecData = try harness.outputCodecData()
    let record = try H265.DecoderConfigurationRecord(codecData.span)
    #expect(record.nalUnits == (format == "hvc1" ? Stream.headers : []))
    #expect(record.levelIDC == 63 && record.profile.idc == 1)
  }

  // MARK: Parameter sets

  /// Without an SPS there are no caps and no buffers, which is no error before the end.
  @Test func outputsNothingBeforeAnSPS() throws {
    let harness = try Harness.parseH265(from: Stream.caps("hev1", codecData: Stream.hvcC([])), to: "stream-format=hev1")
    for count in UInt32(0)..<3 {
      #expect(harness.push(Stream.packet(Stream.pps(), Stream.slice(.trailingR, count: count))) == 0)
    }
    #expect(harness.waiting == 0)
  }

  /// An SPS is enough for caps, without a PPS; an SPS after slices begins an access unit.
  @Test func anSPSIsEnoughForCaps() throws {
    let harness = try Harness.parseH265(
      from: "video/x-h265, stream-format=byte-stream", to: "stream-format=byte-stream, alignment=au")
    #expect(harness.push(Stream.byteStream(Stream.vps, Stream.sps())) == 0)
    harness.endOfStream()
    #expect(try harness.outputCapsText().contains("width=(int)256,"))
    let other = try Harness.parseH265(
      from: "video/x-h265, stream-format=byte-stream", to: "stream-format=byte-stream, alignment=au")
    #expect(other.push(Stream.byteStream(Stream.headers + [Stream.idr, Stream.sps(), Stream.pps(), Stream.idr])) == 0)
    other.endOfStream()
    let second = [Stream.delimiter, Stream.sps(), Stream.pps(), Stream.idr]
    #expect(
      try other.pullAll().map { $0.suffix(Stream.byteStream(second).count) }.last == Stream.byteStream(second)[...])
  }
}
