// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import TestSupport
import Testing

/// Start codes in length-prefixed streams: repaired wherever they are, with one warning a stream.
@Suite struct MisplacedStartCodeTests {
  init() { #expect(Registration.succeeded) }

  /// What a muxer did.
  enum Fault: String, CaseIterable, Sendable {
    /// The first length counts all NAL units, the others have start codes.
    case inside
    /// The first NAL unit has its length, the others have start codes.
    case behindTheFirst
    /// All NAL units have start codes, of four and of three bytes.
    case all, allShort
    /// All but the first have three bytes.
    case allButTheFirstShort

    func packet(_ nalUnits: [[UInt8]], _ size: NALLengthSize) -> [UInt8] {
      let first = nalUnits.first ?? []
      let startCode: [UInt8] = self == .allButTheFirstShort ? [0, 0, 1] : [0, 0, 0, 1]
      let rest = nalUnits.dropFirst().flatMap { startCode + $0 }
      switch self {
      case .inside: return prefix(first.count + rest.count, size) + first + rest
      case .behindTheFirst: return prefix(first.count, size) + first + rest
      case .all, .allButTheFirstShort: return [0, 0, 0, 1] + first + rest
      case .allShort: return nalUnits.flatMap { [0, 0, 1] as [UInt8] + $0 }
      }
    }

    private func prefix(_ length: Int, _ size: NALLengthSize) -> [UInt8] {
      (0..<size.byteCount).reversed().map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
    }
  }

  /// A stream of small pictures, packaged rightly and wrongly.
  struct Stream {
    var caps: String
    var sound: [[UInt8]] = []
    var faulty: [[UInt8]] = []

    init(_ codec: StreamCodec, _ size: NALLengthSize, _ fault: Fault, from start: Int) throws {
      let sets = codec.parameterSets(reorder: 0)
      let record = try codec == .h264 ? Self.record(sets, size, H264.self) : Self.record(sets, size, H265.self)
      caps =
        "\(codec.mediaType), stream-format=\(codec.inBand), alignment=au, "
        + "codec_data=(buffer)\(ParseStream.hexadecimal(record))"
      let delimiter: [UInt8] = codec == .h264 ? [9, 0xF0] : [0x46, 1, 0x50]
      for index in 0..<UInt32(6) {
        let picture = codec.picture(index == 0 ? .idr : .p, number: index, order: index, size: 60)
        let nalUnits = [delimiter] + (index == 0 ? sets : []) + [picture]
        let packet = try nalUnits.flatMap { try NALPackaging.lengthPrefixed(size).packaged($0) }
        sound.append(packet)
        faulty.append(index < start ? packet : fault.packet(nalUnits, size))
      }
    }

    private static func record<Codec: ElementCodecSyntax>(
      _ nalUnits: [[UInt8]], _ size: NALLengthSize, _: Codec.Type
    ) throws -> [UInt8] {
      var sets = Codec.ParameterSets()
      for nalUnit in nalUnits { _ = try sets.insert(nalUnit.span) }
      return try Codec.ConfigurationRecord(sets, nalLengthSize: size).bytes()
    }
  }

  static let cases = StreamCodec.allCases.flatMap { codec in
    NALLengthSize.allCases.flatMap { size in
      Fault.allCases.flatMap { fault in [0, 5].map { (codec, size, fault, $0) } }
    }
  }

  /// From the first packet on, and in the last one alone.
  @Test(arguments: ["parse", "repack"], cases)
  func repairsMisplacedStartCodes(element: String, _ test: (StreamCodec, NALLengthSize, Fault, Int)) throws {
    let (codec, size, fault, start) = test
    let stream = try Stream(codec, size, fault, from: start)
    // A repackager that passes access units through unchanged does not read them.
    let passedThrough = element == "repack" && size == .four ? "stream-format=\(codec.inBand), alignment=au" : nil
    for output in RecordedRun.outputs(codec) where output != passedThrough {
      let sound = try play(stream.sound, stream.caps, codec, element, output)
      let repaired = try play(stream.faulty, stream.caps, codec, element, output)
      #expect(repaired.buffers == sound.buffers, "\(output)")
      #expect(sound.buffers.count > 4 && sound.warnings == 0)
      #expect(repaired.warnings == 1, "\(output)")
    }
  }

  private func play(
    _ packets: [[UInt8]], _ caps: String, _ codec: StreamCodec, _ element: String, _ output: String
  ) throws -> (buffers: [[UInt8]], warnings: Int) {
    let harness = try Harness("\(codec.element)\(element)")
    harness.collectMessages()
    harness.setOutputCaps("\(codec.mediaType), \(output)")
    harness.setInputCaps(caps)
    for (index, packet) in packets.enumerated() {
      #expect(harness.push(packet, pts: .milliseconds(UInt64(40 * index))) == 0)
    }
    harness.endOfStream()
    var buffers: [[UInt8]] = []
    while let buffer = harness.tryPull() { buffers.append(try buffer.copiedBytes()) }
    return (buffers, harness.takeMessages().filter { $0.hasPrefix("warning") }.count)
  }

  @Test(arguments: StreamCodec.allCases) func decoderRepairsMisplacedStartCodes(codec: StreamCodec) throws {
    let clip = try RecordedStream("clip.\(codec)", as: .timedPackets)
    let expected = try decode(clip.pieces.map(\.bytes), clip.caps, codec)
    #expect(expected.warnings == 0)
    for fault in Fault.allCases {
      for start in [0, clip.pieces.count - 1] {
        let packets = clip.pieces.enumerated().map { index, piece in
          index < start ? piece.bytes : fault.packet(nalUnits(piece.bytes), .four)
        }
        let repaired = try decode(packets, clip.caps, codec)
        #expect(repaired.pictures == expected.pictures, "\(fault) from \(start)")
        #expect(repaired.warnings == (packets == clip.pieces.map(\.bytes) ? 0 : 1), "\(fault) from \(start)")
      }
    }
  }

  private func nalUnits(_ packet: [UInt8]) -> [[UInt8]] {
    NALPackaging.lengthPrefixed(.four).nalUnits(of: packet.span).map { Array(packet[$0]) }
  }

  private func decode(
    _ packets: [[UInt8]], _ caps: String, _ codec: StreamCodec
  ) throws -> (pictures: String, warnings: Int) {
    let harness = try Harness("\(codec.element)dec max-threads=1")
    harness.collectMessages()
    harness.setLive(false)
    harness.setOutputCaps("video/x-raw")
    harness.setInputCaps(caps)
    for (index, packet) in packets.enumerated() { harness.push(packet, pts: .milliseconds(UInt64(40 * index))) }
    harness.endOfStream()
    return (checksum(try harness.takePictures()), harness.takeMessages().filter { $0.hasPrefix("warning") }.count)
  }
}
