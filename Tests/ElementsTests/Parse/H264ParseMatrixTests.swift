// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import Testing

/// Every input packaging to every output packaging.
@Suite(.serialized) struct H264ParseMatrixTests {
  typealias Stream = ParseStream

  enum Input: String, CaseIterable {
    case unknown, unaligned, accessUnits, nalUnits, avc, avc3, avc3WithoutCodecData

    var caps: String? {
      switch self {
      case .unknown: "video/x-h264"
      case .unaligned: "video/x-h264, stream-format=byte-stream"
      case .accessUnits: "video/x-h264, stream-format=byte-stream, alignment=au"
      case .nalUnits: "video/x-h264, stream-format=byte-stream, alignment=nal"
      case .avc: Stream.avcCaps()
      case .avc3: Stream.avcCaps([0x01, 0x4D, 0x40, 0x15, 0xFF, 0xE0, 0x00], format: "avc3")
      case .avc3WithoutCodecData: "video/x-h264, stream-format=avc3, alignment=au"
      }
    }

    func buffers(_ units: [[[UInt8]]]) -> [[UInt8]] {
      switch self {
      case .unknown, .unaligned: [units.flatMap { $0.flatMap { Stream.byteStream($0) } }]
      case .accessUnits: units.map { $0.flatMap { Stream.byteStream($0) } }
      case .nalUnits: units.flatMap { $0.map { Stream.byteStream($0) } }
      case .avc, .avc3, .avc3WithoutCodecData: units.map { $0.flatMap { Stream.packet($0) } }
      }
    }
  }

  enum Output: String, CaseIterable {
    case avc = "stream-format=avc, alignment=au"
    case avc3 = "stream-format=avc3, alignment=au"
    case accessUnits = "stream-format=byte-stream, alignment=au"
    case nalUnits = "stream-format=byte-stream, alignment=nal"

    func buffers(_ units: [[[UInt8]]]) -> [[UInt8]] {
      let delimited = units.map { [Stream.delimiter] + $0 }
      return switch self {
      case .avc, .avc3: units.map { $0.flatMap { Stream.packet($0) } }
      case .accessUnits: delimited.map { $0.flatMap { Stream.byteStream($0) } }
      case .nalUnits: delimited.flatMap { $0.map { Stream.byteStream($0) } }
      }
    }
  }

  private static let units: [[[UInt8]]] = [
    [Stream.sps, Stream.pps, Stream.bufferingPeriod, Stream.idr], [Stream.bufferingPeriod, Stream.idr], [Stream.idr],
  ]

  @Test(arguments: Input.allCases, Output.allCases) func convertsEveryPackagingToEveryOther(
    _ input: Input, _ output: Output
  ) throws {
    let harness = try Harness.parse(from: input.caps, to: output.rawValue)
    for buffer in input.buffers(Self.units) { #expect(harness.push(buffer) == 0) }
    harness.endOfStream()
    #expect(try harness.pullAll() == output.buffers(Self.units))
    let caps = try harness.outputCapsText()
    for field in output.rawValue.split(separator: ", ") {
      #expect(caps.contains(field.replacing("=", with: "=(string)") + ","))
    }
    #expect(caps.contains("parsed=(boolean)true,"))
    #expect(caps.contains("codec_data") == [.avc, .avc3].contains(output))
  }

  /// If downstream accepts anything, the packaging stays as it is. A byte stream is aligned to access units.
  @Test(arguments: [
    (Input.unknown, Output.accessUnits), (.unaligned, .accessUnits), (.accessUnits, .accessUnits),
    (.nalUnits, .nalUnits), (.avc, .avc), (.avc3, .avc3), (.avc3WithoutCodecData, .avc3),
  ]) func keepsThePackagingIfDownstreamAcceptsAny(_ input: Input, _ output: Output) throws {
    let harness = try Harness.parse(from: input.caps)
    for buffer in input.buffers(Self.units) { #expect(harness.push(buffer) == 0) }
    harness.endOfStream()
    #expect(try harness.pullAll() == output.buffers(Self.units))
  }

  @Test func dropsEmptyNALUnitsAndGarbage() throws {
    let packets = try Harness.parse(from: Stream.avcCaps(), to: Output.accessUnits.rawValue)
    #expect(packets.push([0, 0, 0, 0] + Stream.packet(Stream.idr) + [0, 0, 0, 0]) == 0)
    #expect(try packets.pullAll() == Output.accessUnits.buffers([[Stream.sps, Stream.pps, Stream.idr]]))
    let bytes = try Harness.parse(from: "video/x-h264", to: Output.accessUnits.rawValue)
    let garbage: [UInt8] = [0x47, 0x11, 0, 0, 2, 0xFF]
    #expect(bytes.push(garbage + [0, 0, 0, 0, 0] + Self.units[0].flatMap { Stream.byteStream($0) }) == 0)
    bytes.endOfStream()
    #expect(try bytes.pullAll() == Output.accessUnits.buffers([Self.units[0]]))
    // The last zero of the padding does not count as part of a start code of four bytes.
    #expect(bytes.text("stats").filter { $0 != "\\" }.contains("bytes-skipped=(guint64)11"))
  }

  /// NAL units of layers, auxiliary pictures and filler data belong to the base picture before them, and prefix NAL
  /// units to the next picture. An SEI message may precede the SPS that it needs.
  @Test func keepsSupplementaryNALUnitsWithTheirPicture() throws {
    let prefix: [UInt8] = [0x6E, 0x40, 0x40, 0x10]
    let layer: [UInt8] = [0x74, 0x40, 0x40, 0x10, 0x88, 0x84]
    let auxiliary: [UInt8] = [0x73, 0x88, 0x84, 0x00, 0x10]
    let filler: [UInt8] = [0x0C, 0xFF, 0xFF, 0x80]
    let units: [[[UInt8]]] = [
      [Stream.bufferingPeriod, Stream.sps, Stream.pps, prefix, Stream.idr, auxiliary, layer, filler],
      [prefix, Stream.idr, layer, [0x0A]], [Stream.idr],
    ]
    let harness = try Harness.parse(from: "video/x-h264", to: Output.accessUnits.rawValue)
    #expect(harness.push(Input.unknown.buffers(units)[0]) == 0)
    harness.endOfStream()
    #expect(try harness.pullAll() == Output.accessUnits.buffers(units))
  }
}
