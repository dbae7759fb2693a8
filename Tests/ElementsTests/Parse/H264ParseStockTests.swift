// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import Testing

/// The cases of GStreamer's own tests of h264parse.
@Suite(.serialized) struct H264ParseStockTests {
  typealias Stream = ParseStream

  private static let headers = Stream.byteStream(Stream.sps, Stream.bufferingPeriod, Stream.pps)
  private static let raw = "video/x-h264, parsed=(boolean)false"

  @Test func outputsByteStreamInAccessUnits() throws {
    let harness = try Harness.parse(from: Self.raw, to: "stream-format=byte-stream, alignment=au")
    #expect(harness.push(Self.headers) == 0)
    for _ in 0..<10 { #expect(harness.push(Stream.byteStream(Stream.idr)) == 0) }
    harness.endOfStream()
    #expect(harness.received == 10)
    let delimiter = Stream.byteStream(Stream.delimiter)
    for index in 0..<10 {
      let buffer = try harness.pull()
      let expected = delimiter + (index == 0 ? Self.headers : []) + Stream.byteStream(Stream.idr)
      #expect(try buffer.copiedBytes() == expected)
      // Without a frame rate there are decoding times only.
      #expect(buffer.pts == nil && buffer.dts != nil)
    }
  }

  @Test func outputsByteStreamInNALUnits() throws {
    let harness = try Harness.parse(from: Self.raw, to: "stream-format=byte-stream, alignment=nal")
    #expect(harness.push(Self.headers) == 0)
    for _ in 0..<3 { #expect(harness.push(Stream.byteStream(Stream.idr)) == 0) }
    harness.endOfStream()
    let units = [
      Stream.delimiter, Stream.sps, Stream.bufferingPeriod, Stream.pps, Stream.idr, Stream.delimiter, Stream.idr,
      Stream.delimiter, Stream.idr,
    ]
    #expect(try harness.pullAll() == units.map { Stream.byteStream($0) })
  }

  @Test(arguments: ["avc", "avc3"]) func outputsLengthPrefixedAccessUnits(_ format: String) throws {
    let harness = try Harness.parse(from: Self.raw, to: "stream-format=\(format), alignment=au")
    #expect(harness.push(Self.headers) == 0)
    for _ in 0..<3 { #expect(harness.push(Stream.byteStream(Stream.idr)) == 0) }
    harness.endOfStream()
    let first = Stream.packet(Stream.sps, Stream.bufferingPeriod, Stream.pps, Stream.idr)
    #expect(try harness.pullAll() == [first, Stream.packet(Stream.idr), Stream.packet(Stream.idr)])
    let record = format == "avc" ? Stream.codecData : [0x01, 0x4D, 0x40, 0x15, 0xFF, 0xE0, 0x00]
    #expect(try harness.outputCodecData() == record)
    let caps = try harness.outputCapsText()
    for field in ["width=(int)32", "height=(int)24", "profile=(string)main", "level=(string)2.1"] {
      #expect(caps.contains(field))
    }
  }

  @Test(arguments: ["au", "nal"]) func dropsATruncatedNALUnit(_ alignment: String) throws {
    let harness = try Harness.parse(from: Self.raw, to: "stream-format=byte-stream, alignment=\(alignment)")
    let garbage = Stream.byteStream([0x05])
    #expect(harness.push(Self.headers + Stream.byteStream(Stream.idr) + garbage) == 0)
    #expect(harness.push(Stream.byteStream(Stream.idr) + garbage) == 0)
    harness.endOfStream()
    let output = try harness.pullAll().flatMap { $0 }
    let delimiter = Stream.byteStream(Stream.delimiter)
    #expect(
      output == delimiter + Self.headers + Stream.byteStream(Stream.idr) + delimiter + Stream.byteStream(Stream.idr))
  }

  @Test func severalPicturesInOneBufferAreSplit() throws {
    let harness = try Harness.parse(from: Self.raw, to: "stream-format=byte-stream, alignment=au")
    #expect(harness.push(Self.headers + Stream.byteStream(Stream.idr, Stream.idr, Stream.idr)) == 0)
    harness.endOfStream()
    #expect(harness.received == 3)
  }

  @Test(arguments: ["au", "nal"]) func outputDoesNotDependOnInputPieces(_ alignment: String) throws {
    let stream =
      Self.headers + Stream.byteStream(Stream.idr) + [0, 0, 1] + Stream.idr + [0, 0, 0] + Stream.byteStream(Stream.idr)
    var results: [[[UInt8]]] = []
    for size in [1, 2, 3, 7, 1000] {
      let harness = try Harness.parse(from: Self.raw, to: "stream-format=byte-stream, alignment=\(alignment)")
      var rest = stream[...]
      while !rest.isEmpty {
        #expect(harness.push([UInt8](rest.prefix(size))) == 0)
        rest = rest.dropFirst(size)
      }
      harness.endOfStream()
      results.append(try harness.pullAll())
    }
    #expect(results[0].count == (alignment == "au" ? 3 : 9))
    for result in results { #expect(result == results[0]) }
  }

  @Test func acceptsALongStartCodeAfterPadding() throws {
    let harness = try Harness.parse(
      from: "video/x-h264, stream-format=byte-stream", to: "stream-format=byte-stream, alignment=nal")
    #expect(harness.push([0, 0, 0, 0, 1]) == 0)
    #expect(harness.waiting == 0)
    #expect(harness.push(Stream.delimiter + Stream.byteStream(Stream.sps, Stream.pps, Stream.idr)) == 0)
    #expect(harness.waiting == 3)
    #expect(try harness.pullBytes() == Stream.byteStream(Stream.delimiter))
  }

  @Test func prefersDownstreamsPackaging() throws {
    let harness = try Harness.parse(to: "stream-format=byte-stream, alignment=au")
    let filter = "video/x-h264, stream-format=avc, alignment=au; video/x-h264, stream-format=byte-stream, alignment=au"
    let structures = harness.acceptableCaps(filter).split(separator: ";")
    #expect(structures.count == 2)
    #expect(structures.first?.contains("byte-stream") == true)
    #expect(structures.last?.contains("avc") == true)
  }

  @Test func displayInformationLastsUntilAnIDRPictureWithoutIt() throws {
    let harness = try Harness.parse(from: Self.raw, to: "stream-format=byte-stream, alignment=au")
    let first = Stream.byteStream(Stream.sps, Stream.pps, Stream.contentLight, Stream.masteringDisplay, Stream.idr)
    #expect(harness.push(first + Stream.byteStream(Stream.idr)) == 0)
    #expect(harness.received == 1)
    let caps = try harness.outputCapsText()
    #expect(
      caps.contains("mastering-display-info=(string)7500:3000:34000:16000:13200:34500:15635:16450:10000000:1"))
    #expect(caps.contains("content-light-level=(string)1000:400"))
    harness.endOfStream()
    let later = try harness.outputCapsText()
    #expect(!later.contains("mastering-display-info"))
    #expect(!later.contains("content-light-level"))
  }

  @Test func convertsPacketsToNALUnits() throws {
    let harness = try Harness.parse(
      from: Stream.avcCaps(), to: "stream-format=byte-stream, alignment=nal")
    for _ in 0..<2 { #expect(harness.push(Stream.packet(Stream.idr)) == 0) }
    let units = [Stream.delimiter, Stream.sps, Stream.pps, Stream.idr, Stream.delimiter, Stream.idr]
    #expect(try harness.pullAll() == units.map { Stream.byteStream($0) })
  }

  private func push(_ harness: Harness, _ nalUnit: [UInt8], _ time: UInt64, _ flags: Buffer.Flags = []) {
    var buffer = Buffer(copying: Stream.byteStream(nalUnit).span) ?? Buffer()
    buffer.pts = ClockTime(nanoseconds: time)
    buffer.flags.formUnion(flags)
    #expect(harness.push(buffer) == 0)
  }

  private func expect(_ harness: Harness, _ nalUnit: [UInt8], _ time: UInt64, _ flags: Buffer.Flags = []) throws {
    let buffer = try harness.pull()
    #expect(try buffer.copiedBytes() == Stream.byteStream(nalUnit))
    #expect(buffer.pts == ClockTime(nanoseconds: time))
    #expect(buffer.flags.isSuperset(of: flags))
  }

  @Test func outputsSlicesAtOnce() throws {
    let harness = try Harness.parse(
      from: "video/x-h264,stream-format=byte-stream,alignment=nal,parsed=false,framerate=30/1",
      to: "stream-format=byte-stream, alignment=nal")
    push(harness, Stream.slicingSPS, 10)
    push(harness, Stream.slicingPPS, 10)
    try expect(harness, Stream.delimiter, 10)
    _ = try harness.pullAll()
    #expect(harness.queryLatency() == .zero)
    push(harness, Stream.firstSlice, 100)
    #expect(harness.waiting == 1)
    try expect(harness, Stream.firstSlice, 100)
    push(harness, Stream.secondSlice, 100)
    try expect(harness, Stream.secondSlice, 100)
    push(harness, Stream.firstSlice, 200)
    #expect(harness.waiting == 2)
    try expect(harness, Stream.delimiter, 200)
    try expect(harness, Stream.firstSlice, 200)
    push(harness, Stream.firstSlice, 400, .discontinuity)
    try expect(harness, Stream.delimiter, 400)
    try expect(harness, Stream.firstSlice, 400, .discontinuity)
  }

  @Test func splitsAlignedAccessUnitsIntoNALUnits() throws {
    let harness = try Harness.parse(
      from: "video/x-h264,stream-format=byte-stream,alignment=au,parsed=false,framerate=30/1",
      to: "stream-format=byte-stream, alignment=nal")
    let unit = Stream.byteStream(Stream.slicingSPS, Stream.slicingPPS, Stream.firstSlice, Stream.secondSlice)
    #expect(harness.push(unit, pts: ClockTime(nanoseconds: 100)) == 0)
    #expect(harness.queryLatency() == .zero)
    var units = [Stream.delimiter, Stream.slicingSPS, Stream.slicingPPS, Stream.firstSlice, Stream.secondSlice]
    for (index, nalUnit) in units.enumerated() {
      let buffer = try harness.pull()
      #expect(try buffer.copiedBytes() == Stream.byteStream(nalUnit))
      #expect(buffer.pts == ClockTime(nanoseconds: 100))
      #expect(buffer.flags.contains(.marker) == (index == units.count - 1))
    }
    #expect(
      harness.push(Stream.byteStream(Stream.firstSlice, Stream.secondSlice), pts: ClockTime(nanoseconds: 200)) == 0)
    units = [Stream.delimiter, Stream.firstSlice, Stream.secondSlice]
    #expect(try harness.pullAll() == units.map { Stream.byteStream($0) })
  }

  @Test func joinsAlignedNALUnitsToAccessUnits() throws {
    let harness = try Harness.parse(
      from: "video/x-h264,stream-format=byte-stream,alignment=nal,parsed=false,framerate=30/1",
      to: "stream-format=byte-stream, alignment=au")
    for nalUnit in [Stream.slicingSPS, Stream.slicingPPS, Stream.firstSlice, Stream.secondSlice] {
      #expect(harness.push(Stream.byteStream(nalUnit), pts: ClockTime(nanoseconds: 100)) == 0)
    }
    #expect(harness.waiting == 0)
    // A lone SPS begins an access unit.
    #expect(harness.push(Stream.byteStream(Stream.slicingSPS), pts: ClockTime(nanoseconds: 200)) == 0)
    #expect(harness.push(Stream.byteStream(Stream.firstSlice), pts: ClockTime(nanoseconds: 200)) == 0)
    #expect(harness.waiting == 1)
    let first = try harness.pull()
    #expect(
      try first.copiedBytes()
        == Stream.byteStream(
          Stream.delimiter, Stream.slicingSPS, Stream.slicingPPS, Stream.firstSlice, Stream.secondSlice))
    #expect(first.pts == ClockTime(nanoseconds: 100))
    #expect(harness.queryLatency() == ClockTime(nanoseconds: 33_333_333))
    #expect(harness.push(Stream.byteStream(Stream.firstSlice), pts: ClockTime(nanoseconds: 300)) == 0)
    let second = try harness.pull()
    #expect(
      try second.copiedBytes() == Stream.byteStream(Stream.delimiter, Stream.slicingSPS, Stream.firstSlice))
    #expect(second.pts == ClockTime(nanoseconds: 200))
  }

  static let captions: [UInt8] =
    [
      0x06, 0x04, 0x47, 0xB5, 0x00, 0x31, 0x47, 0x41, 0x39, 0x34, 0x03, 0xD4, 0xFF, 0xFC, 0x80, 0x80, 0xFD, 0x80, 0x80,
    ] + [UInt8](repeating: 0, count: 18).indices.flatMap { _ in [0xFA, 0x00, 0x00] as [UInt8] } + [0xFF, 0x80]

  @Test func captionsBecomeAMeta() throws {
    let harness = try Harness.parse(from: Stream.avcCaps(more: ", framerate=30/1"))
    #expect(harness.push(Stream.packet(Self.captions, Stream.idr)) == 0)
    let buffer = try harness.pull()
    #expect(buffer.captionType == GST_VIDEO_CAPTION_TYPE_CEA708_RAW.rawValue)
    #expect(buffer.captions.count == 60)
    #expect(buffer.captions.first == 0xFC && buffer.captions[3] == 0xFD)
  }

  @Test func avc3WithoutAnSPSOutputsNothing() throws {
    let harness = try Harness.parse(
      from: Stream.avcCaps([0x01, 0x4D, 0x40, 0x15, 0xFF, 0xE0, 0x00], format: "avc3"),
      to: "stream-format=avc3, alignment=au")
    for _ in 0..<3 { #expect(harness.push(Stream.packet(Stream.idr)) == 0) }
    harness.endOfStream()
    #expect(harness.received == 0)
  }

  private static let compatible: [(UInt8, UInt8, [String])] = [
    (66, 0, ["extended"]),
    (66, 0x40, ["baseline", "main", "high", "high-10", "high-4:2:2", "high-4:4:4"]),
    (77, 0, ["high", "high-10", "high-4:2:2", "high-4:4:4"]),
    (88, 0x80, ["baseline"]),
    (88, 0xC0, ["constrained-baseline", "baseline", "main", "high", "high-10", "high-4:2:2", "high-4:4:4"]),
    (88, 0x40, ["main", "high", "high-10", "high-4:2:2", "high-4:4:4"]),
    (100, 0, ["high-10", "high-4:2:2", "high-4:4:4"]),
    (100, 0x40, ["main", "high-10", "high-4:2:2", "high-4:4:4"]),
    (110, 0, ["high-4:2:2", "high-4:4:4"]),
    (110, 0x40, ["main", "high", "high-4:2:2", "high-4:4:4"]),
    (110, 0x10, ["high-10", "high-4:2:2", "high-4:4:4", "high-4:2:2-intra", "high-4:4:4-intra"]),
    (122, 0, ["high-4:2:2", "high-4:4:4"]),
    (122, 0x40, ["main", "high", "high-10", "high-4:4:4"]),
    (122, 0x10, ["high-4:2:2", "high-4:4:4", "high-4:2:2-intra", "high-4:4:4-intra"]),
    (244, 0x40, ["main", "high", "high-10", "high-4:2:2"]),
    (244, 0x10, ["high-4:4:4"]),
  ]

  @Test func anSPSAloneGivesCapsWithAProfileThatDownstreamAccepts() throws {
    for (profile, constraints, names) in Self.compatible {
      for name in names {
        let harness = try Harness.parse(
          from: "video/x-h264",
          to: "stream-format=(string){ avc, avc3, byte-stream }, alignment=(string){ au, nal }, profile=(string)\(name)"
        )
        var sps = Stream.sps
        (sps[1], sps[2], sps[3]) = (profile, constraints, 0)
        #expect(harness.push(Stream.byteStream(sps)) == 0)
        harness.endOfStream()
        #expect(try harness.outputCapsText().contains("profile=(string)\(name),"), "\(profile) \(constraints) \(name)")
      }
    }
  }

  @Test func damagedPacketsDoNotEndTheStream() throws {
    let harness = try Harness.parse(from: Stream.avcCaps(), to: "stream-format=avc, alignment=au")
    #expect(harness.push([0xFF, 0xFF, 0xFF, 0xFF] + Stream.idr) == 0)
    #expect(harness.push(Stream.packet(Stream.idr) + [0, 0, 1, 0, 0x65]) == 0)
    #expect(harness.push([0]) == 0)
    #expect(harness.push(Stream.packet(Stream.idr)) == 0)
    harness.endOfStream()
    let first = try harness.pull()
    #expect(try first.copiedBytes() == Stream.packet(Stream.sps, Stream.pps, Stream.idr))
    #expect(first.flags.contains(.corrupted))
    let second = try harness.pull()
    #expect(try second.copiedBytes() == Stream.packet(Stream.idr))
    #expect(!second.flags.contains(.corrupted))
    #expect(harness.waiting == 0)
  }
}
