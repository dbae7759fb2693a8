// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import TestSupport
import Testing

/// NAL units made to break parsers, between good pictures: each is counted, and all good pictures come out.
@Suite(.serialized) struct H265HostileTests {
  init() { #expect(Registration.succeeded) }

  typealias Stream = H265Stream

  /// A hostile NAL unit, and where it is counted.
  struct Case: Sendable, CustomTestStringConvertible {
    var name: String
    var nalUnit: [UInt8]
    /// The parser's statistic that counts it; nil where the parser does not read so far.
    var counter: String?

    var testDescription: String { name }
  }

  static let cases: [Case] =
    MalformedH265.parameterSets.map {
      Case(name: $0.name, nalUnit: $0.nalUnit, counter: "parameter-sets")
    } + slices + others

  /// Slices with good parameter sets that enable every part of the slice header.
  private static let slices = [
    Case(
      name: "a set predicted from nowhere",
      nalUnit: slice { writer in
        writer.u(8, 1)
        writer.u(2, 0b01)
        writer.ue(200)
      }),
    Case(
      name: "40 pictures before",
      nalUnit: slice { writer in
        writer.u(8, 1)
        writer.flag(false)
        writer.ue(40)
        writer.ue(40)
      }),
    Case(
      name: "2^31 pictures before",
      nalUnit: slice { writer in
        writer.u(8, 1)
        writer.flag(false)
        writer.ue(1 << 31)
      }),
    Case(name: "a PPS that cannot be", nalUnit: [0x02, 0x01, 0x80, 0, 0, 0x80, 0x80], counter: "slices"),
    Case(name: "an address beyond the picture", nalUnit: Stream.slice(.trailingR, count: 1, address: 7)),
    Case(name: "a code of 32 zeros", nalUnit: [0x02, 0x01, 0x80, 0, 3, 0, 0, 3, 0, 0, 3, 0x80], counter: "slices"),
  ]

  private static let others = [
    Case(name: "one byte", nalUnit: [0x02]),
    Case(name: "one byte of an SPS", nalUnit: [0x42]),
    Case(name: "a header alone", nalUnit: [0x02, 0x01]),
    Case(name: "the header of an SPS alone", nalUnit: [0x42, 0x01]),
    Case(name: "the header of a VPS alone", nalUnit: [0x40, 0x01]),
    Case(name: "the header of an SEI alone", nalUnit: [0x4E, 0x01]),
    Case(name: "an SEI longer than its NAL unit", nalUnit: [0x4E, 0x01, 5, 0xFF, 0xFF, 0xFF, 10, 1], counter: "sei"),
    Case(name: "an SEI without an end", nalUnit: [0x4E, 0x01] + [UInt8](repeating: 0xFF, count: 3000), counter: "sei"),
    Case(name: "temporal id -1", nalUnit: [0x02, 0x00, 0x80, 0x55]),
    Case(name: "the forbidden bit", nalUnit: [0x82, 0x01, 0x80, 0x55]),
  ]

  private static func slice(_ write: (inout BitWriter) -> Void) -> [UInt8] {
    var writer = BitWriter()
    H265.NALUnitHeader(type: .trailingR).write(to: &writer)
    writer.flag(true)
    writer.ue(0)
    writer.ue(1)
    write(&writer)
    writer.append([UInt8](repeating: 0x55, count: 400))
    writer.trailingBits()
    return writer.bytes
  }

  /// Three groups, with a NAL unit between the pictures of the second.
  private static func stream(with nalUnit: [UInt8]) -> (nalUnits: [[UInt8]], pictures: [[UInt8]]) {
    var (all, pictures): ([[UInt8]], [[UInt8]]) = ([], [])
    for group in 0..<3 {
      let slices = (0..<4).map { index in
        Stream.slice(index == 0 ? .idrWithoutLeading : .trailingR, count: UInt32(index), size: 30 + 4 * group + index)
      }
      all += Stream.headers + slices[..<2] + (group == 1 ? [nalUnit] : []) + slices[2...]
      pictures += slices
    }
    return (all, pictures)
  }

  @Test(arguments: cases, ["byte-stream, alignment=au", "byte-stream, alignment=nal", "hvc1, alignment=au", "hev1"])
  func parserContinuesAfterHostileNALUnits(_ hostile: Case, _ output: String) throws {
    let (nalUnits, pictures) = Self.stream(with: hostile.nalUnit)
    let harness = try Harness.parseH265(
      from: "video/x-h265, stream-format=byte-stream", to: "stream-format=\(output)")
    #expect(harness.push(Stream.byteStream(nalUnits)) == 0)
    harness.endOfStream()
    let bytes = try harness.pullAll().flatMap { $0 }
    for picture in pictures { #expect(bytes.firstRange(of: picture) != nil) }
    guard let counter = hostile.counter else { return }
    #expect(try #require(harness.statistic(counter)) > 0)
  }

  @Test(arguments: cases, ["byte-stream", "hvc1", "hev1"])
  func repackagerContinuesAfterHostileNALUnits(_ hostile: Case, _ output: String) throws {
    let (nalUnits, pictures) = Self.stream(with: hostile.nalUnit)
    let harness = try Harness("swifth265repack")
    harness.setOutputCaps("video/x-h265, stream-format=\(output), alignment=au")
    harness.setInputCaps(Stream.caps("byte-stream", "nal"))
    for nalUnit in nalUnits { #expect(harness.push(Stream.byteStream(nalUnit)) == 0) }
    harness.endOfStream()
    let bytes = try harness.pullAll().flatMap { $0 }
    for picture in pictures { #expect(bytes.firstRange(of: picture) != nil) }
  }

  /// Decodable pictures, with the hostile NAL unit before the second group. libavcodec may lose its
  /// neighbours, but nothing after the next random access point.
  @Test(arguments: cases) func decoderContinuesAfterHostileNALUnits(_ hostile: Case) throws {
    let units = try Clip.accessUnits("open-gop.h265", of: H265.self)
    let isStart = { (unit: [UInt8]) in
      Clip.nalUnits(unit).contains { H265.NALUnitType(headerByte: $0[0]).isIRAP }
    }
    let starts = units.indices.filter { isStart(units[$0]) }
    let whole = try decode(units)
    var hostileUnits = units
    hostileUnits[starts[1] + 2] += [0, 0, 0, 1] + hostile.nalUnit
    let pictures = try decode(hostileUnits)
    let later = Set(pictures.suffix(units.count - starts[3]).map(\.fingerprint))
    #expect(whole.suffix(units.count - starts[3]).allSatisfy { later.contains($0.fingerprint) })
    #expect(pictures.count >= units.count - (starts[2] - starts[1]))
    let known = Set(whole.map(\.fingerprint))
    #expect(pictures.allSatisfy { $0.flags.contains(.corrupted) || known.contains($0.fingerprint) })
  }

  private func decode(_ units: [[UInt8]]) throws -> [Picture] {
    let harness = try Harness.decoder("swifth265dec max-threads=1 max-errors=-1", input: H265DecodeTests.byteStream)
    for (index, unit) in units.enumerated() { #expect(harness.push(unit, pts: Clip.time(index)) == 0) }
    harness.endOfStream()
    return try harness.takePictures()
  }

  /// Records of 65,535 empty NAL units, and of wrong lengths: no work beyond their bytes, and an error or a stream.
  @Test(arguments: ["swifth265parse", "swifth265repack", "swifth265dec"]) func handlesRecordsOfEmptyNALUnits(
    _ element: String
  )
    throws
  {
    let front = Array(Stream.hvcC().prefix(22))
    let empty: [UInt8] = [0x20, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 2 * 65_535)
    let sets = Array(Stream.hvcC().dropFirst(23))
    let records: [(name: String, bytes: [UInt8], isReadable: Bool)] = [
      ("one array of empty units", front + [1] + empty, true),
      ("an empty array and the sets", front + [4] + empty + sets, true),
      ("255 arrays of which one is there", front + [255] + empty, false),
      ("a length beyond the end", front + [1, 0x20, 0, 1, 0xFF, 0xFF, 0x40], false),
      ("the front alone", front + [0], true),
      ("cut in the front", Array(front.prefix(9)), false),
    ]
    for record in records {
      let harness = try Harness(element)
      harness.collectMessages()
      if element != "swifth265dec" { harness.setOutputCaps("video/x-h265, stream-format=byte-stream, alignment=au") }
      harness.setInputCaps(Stream.caps("hev1", codecData: record.bytes))
      let flow = harness.push(Stream.packet(Stream.vps, Stream.sps(), Stream.pps(), Stream.idr), pts: Clip.time(0))
      harness.endOfStream()
      // The parameter sets are in-band, so that the record needs none.
      if record.isReadable { #expect(flow == 0, "\(record.name)") }
      guard record.isReadable, element != "swifth265dec" else { continue }
      #expect(try harness.pullBytes().firstRange(of: Stream.idr) != nil, "\(record.name)")
    }
  }
}
