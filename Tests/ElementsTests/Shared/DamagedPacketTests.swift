// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import TestSupport
import Testing

/// Damaged length-prefixed access units: lengths of 256 to 511 look like start codes, and the NAL units in front of a bad
/// length are kept.
@Suite struct DamagedPacketTests {
  init() { #expect(Registration.succeeded) }

  /// What happened to an access unit.
  enum Damage: String, CaseIterable, Sendable {
    /// Bytes behind the last NAL unit.
    case garbage, garbageWithStartCode
    /// The last NAL unit is a byte shorter than its length.
    case cutShort
    /// The last length is a byte too long.
    case longerLength
    /// Only half of it is left.
    case halved

    func apply(to packet: [UInt8], lastNALUnit: Int) -> [UInt8] {
      var packet = packet
      switch self {
      case .garbage: packet += [0xDE, 0xAD, 0xBE, 0xEF, 0x55]
      case .garbageWithStartCode: packet += [0xDE, 0, 0, 1, 0xBE, 0xEF]
      case .cutShort: packet.removeLast()
      case .longerLength: packet[packet.count - lastNALUnit - 1] &+= 1
      case .halved: packet.removeLast(packet.count / 2)
      }
      return packet
    }

    /// Whether all NAL units are still there.
    var keepsAll: Bool { self == .garbage || self == .garbageWithStartCode }
  }

  /// The size of its NAL units; 384 is the first with a bit set that no NAL unit header has.
  static let sizes = [255, 256, 257, 300, 383, 384, 480, 511, 512]

  @Test(arguments: StreamCodec.allCases, sizes)
  func damagedPacketsDoNotChangeOthers(codec: StreamCodec, size: Int) throws {
    for hasSEI in [false, true] {
      let pictures = (0..<UInt32(6)).map { index in
        Self.sized(size) { codec.picture(index == 0 ? .idr : .p, number: index, order: index, size: $0) }
      }
      let sei = Self.message(codec, size)
      let sound = try pictures.map { picture in
        try (hasSEI ? [sei, picture] : [picture]).flatMap { try NALPackaging.lengthPrefixed(.four).packaged($0) }
      }
      let record = try Self.record(codec)
      let caps =
        "\(codec.mediaType), stream-format=\(codec.inBand), alignment=au, "
        + "codec_data=(buffer)\(ParseStream.hexadecimal(record))"
      for element in ["parse", "repack"] {
        let expected = try play(sound, caps, codec, element)
        #expect(expected.count == sound.count)
        for damage in Damage.allCases {
          for index in [0, 3, sound.count - 1] {
            // The first packet alone is ambiguous: one NAL unit and a start code behind it.
            if damage == .garbageWithStartCode, index == 0, !hasSEI { continue }
            var packets = sound
            packets[index] = damage.apply(to: sound[index], lastNALUnit: size)
            let output = try play(packets, caps, codec, element)
            let remark: Comment = "\(element), \(damage) in \(index), with SEI: \(hasSEI)"
            if damage.keepsAll {
              #expect(output == expected, remark)
            } else {
              let others = expected.enumerated().filter { $0.offset != index }.map(\.element)
              #expect(others.allSatisfy(output.contains), remark)
            }
          }
        }
      }
    }
  }

  /// The access units of a byte stream that come out.
  private func play(_ packets: [[UInt8]], _ caps: String, _ codec: StreamCodec, _ element: String) throws -> [[UInt8]] {
    let harness = try Harness("\(codec.element)\(element)")
    harness.setOutputCaps("\(codec.mediaType), stream-format=byte-stream, alignment=au")
    harness.setInputCaps(caps)
    for (index, packet) in packets.enumerated() {
      #expect(harness.push(packet, pts: .milliseconds(UInt64(40 * index))) == 0)
    }
    harness.endOfStream()
    var output: [[UInt8]] = []
    while let buffer = harness.tryPull() {
      // Parameter sets go in front of the first one that comes.
      let slices = Clip.nalUnits(try buffer.copiedBytes()).filter { !codec.isParameterSet($0) }
      output.append(slices.flatMap { [0, 0, 0, 1] + $0 })
    }
    return output
  }

  /// Of a packet whose second length points past its end, the first NAL unit comes out, in each packaging; the packets
  /// around it come whole.
  @Test(arguments: StreamCodec.allCases, [100, 256, 300, 511, 600])
  func keepsNALUnitsBeforeABadLength(codec: StreamCodec, size: Int) throws {
    let pictures = (0..<UInt32(3)).map { index in
      Self.sized(size) { codec.picture(index == 0 ? .idr : .p, number: index, order: index, size: $0) }
    }
    let sound = try pictures.map { try NALPackaging.lengthPrefixed(.four).packaged($0) }
    let record = try Self.record(codec)
    let caps =
      "\(codec.mediaType), stream-format=\(codec.inBand), alignment=au, "
      + "codec_data=(buffer)\(ParseStream.hexadecimal(record))"
    for length in [Int(Int32.max), size + 1] {
      // The second NAL unit is a byte short, or much more.
      let damaged = sound[1] + [24, 16, 8, 0].map { UInt8(length >> $0 & 255) } + pictures[2]
      let packets = [sound[0], damaged, sound[2]]
      for element in ["parse", "repack"] {
        #expect(try play(packets, caps, codec, element) == play(sound, caps, codec, element), "\(element)")
      }
      for alignment in ["au", "nal"] {
        let output = "\(codec.mediaType), stream-format=\(codec.inBand), alignment=\(alignment)"
        let expected = try parse(sound, caps, codec, to: output)
        #expect(try parse(packets, caps, codec, to: output) == expected && expected.count >= 3, "\(alignment)")
      }
    }
  }

  /// The buffers that a parser makes of packets.
  private func parse(
    _ packets: [[UInt8]], _ caps: String, _ codec: StreamCodec, to output: String
  ) throws -> [[UInt8]] {
    let harness = try Harness("\(codec.element)parse")
    harness.setOutputCaps(output)
    harness.setInputCaps(caps)
    for (index, packet) in packets.enumerated() {
      #expect(harness.push(packet, pts: .milliseconds(UInt64(40 * index))) == 0)
    }
    harness.endOfStream()
    var buffers: [[UInt8]] = []
    while let buffer = harness.tryPull() { buffers.append(try buffer.copiedBytes()) }
    return buffers
  }

  /// Every picture has garbage behind it, which the parser removes, or the decoder itself.
  @Test(arguments: ["small-slices.h264", "clip.h264", "clip.h265"], [true, false])
  func decodesPacketsThatEndInGarbage(clip: String, hasParser: Bool) throws {
    let codec: StreamCodec = clip.hasSuffix("5") ? .h265 : .h264
    let chain = (hasParser ? "\(codec.element)parse ! " : "") + "\(codec.element)dec max-threads=1"
    let stream = try RecordedStream(clip, as: .timedPackets)
    let sound = stream.pieces.map(\.bytes)
    let expected = try decode(sound, stream.caps, chain)
    #expect(expected.count == sound.count)
    for damage in Damage.allCases where damage.keepsAll {
      let packets = sound.map { damage.apply(to: $0, lastNALUnit: 0) }
      // The first packet alone would show nothing of the stream's lengths.
      #expect(try decode([sound[0]] + packets.dropFirst(), stream.caps, chain) == expected, "\(damage)")
    }
  }

  /// Buffers of a packet whose last NAL unit is truncated are flagged, those of a packet with other bytes behind it are
  /// not.
  @Test(arguments: StreamCodec.allCases, ["parse", "repack"])
  func flagsAccessUnitsThatLackNALUnits(codec: StreamCodec, element: String) throws {
    let pictures = (0..<UInt32(4)).map { index in
      Self.sized(300) { codec.picture(index == 0 ? .idr : .p, number: index, order: index, size: $0) }
    }
    let sei = Self.message(codec, 40)
    let sound = try pictures.map { picture in
      try [sei, picture].flatMap { try NALPackaging.lengthPrefixed(.four).packaged($0) }
    }
    let record = try Self.record(codec)
    let caps =
      "\(codec.mediaType), stream-format=\(codec.inBand), alignment=au, "
      + "codec_data=(buffer)\(ParseStream.hexadecimal(record))"
    let trailers: [(damage: [UInt8], lacksNALUnit: Bool)] = [
      ([0, 0, 0, 9, sei[0], sei[0]], true), ([0, 0, 1], true), ([0, 0, 0, 9, 0xFF, 1], false),
      ([0xDE, 0xAD, 0xBE, 0xEF, 0x55], false), ([0, 0, 0], false),
    ]
    for (trailer, lacksNALUnit) in trailers {
      for output in ["byte-stream, alignment=au", "byte-stream, alignment=nal"] {
        let harness = try Harness("\(codec.element)\(element)")
        harness.setOutputCaps("\(codec.mediaType), stream-format=\(output)")
        harness.setInputCaps(caps)
        for (index, packet) in sound.enumerated() {
          #expect(harness.push(packet + (index == 2 ? trailer : []), pts: .milliseconds(UInt64(40 * index))) == 0)
        }
        harness.endOfStream()
        var flagged: [ClockTime?] = []
        while let buffer = harness.tryPull() { if buffer.flags.contains(.corrupted) { flagged.append(buffer.pts) } }
        let isRight = lacksNALUnit ? flagged.contains(.milliseconds(80)) : flagged.isEmpty
        #expect(isRight && flagged.allSatisfy { $0 == .milliseconds(80) }, "\(element), \(output), \(trailer)")
      }
    }
  }

  /// Start codes of three bytes in place of lengths would be lengths past the end.
  @Test(arguments: StreamCodec.allCases) func doesNotFlagStartCodesInPlaceOfLengths(codec: StreamCodec) throws {
    let record = try Self.record(codec)
    let harness = try Harness("\(codec.element)parse")
    harness.setOutputCaps("\(codec.mediaType), stream-format=byte-stream, alignment=nal")
    harness.setInputCaps(
      "\(codec.mediaType), stream-format=\(codec.inBand), alignment=au, "
        + "codec_data=(buffer)\(ParseStream.hexadecimal(record))")
    for index in 0..<UInt32(3) {
      let picture = Self.sized(100) { codec.picture(index == 0 ? .idr : .p, number: index, order: index, size: $0) }
      let packet: [UInt8] = [0, 0, 1] + Self.message(codec, 40) + [0, 0, 1] + picture
      #expect(harness.push(packet, pts: .milliseconds(UInt64(40 * index))) == 0)
    }
    harness.endOfStream()
    var count = 0
    while let buffer = harness.tryPull() {
      count += 1
      #expect(!buffer.flags.contains(.corrupted))
    }
    #expect(count >= 6)
  }

  /// Damage that no decoder can see: whole slices are missing.
  @Test(arguments: ["clip.h264", "clip.h265"], ["", "alignment=nal"])
  func decodersFlagThePicturesOfFlaggedInput(clip: String, alignment: String) throws {
    let codec: StreamCodec = clip.hasSuffix("5") ? .h265 : .h264
    let filter = alignment.isEmpty ? "" : "\(codec.element)parse ! \(codec.mediaType), \(alignment) ! "
    let stream = try RecordedStream(clip, as: .timedPackets)
    let harness = try Harness("\(filter)\(codec.element)dec max-threads=1")
    harness.setLive(false)
    harness.setOutputCaps("video/x-raw")
    harness.setInputCaps(stream.caps)
    for (index, piece) in stream.pieces.enumerated() {
      guard var buffer = Buffer(copying: piece.bytes.span) else { throw FlowError.error }
      buffer.pts = .milliseconds(UInt64(40 * index))
      // The last one, so that no other picture refers to it.
      if index == stream.pieces.count - 1 { buffer.flags.insert(.corrupted) }
      harness.push(buffer)
    }
    harness.endOfStream()
    let pictures = try harness.takePictures()
    #expect(pictures.count == stream.pieces.count)
    #expect(pictures.filter { $0.flags.contains(.corrupted) }.count == 1)
  }

  private func decode(_ packets: [[UInt8]], _ caps: String, _ chain: String) throws -> [String] {
    let harness = try Harness(chain)
    harness.setLive(false)
    harness.setOutputCaps("video/x-raw")
    harness.setInputCaps(caps)
    for (index, packet) in packets.enumerated() { harness.push(packet, pts: .milliseconds(UInt64(40 * index))) }
    harness.endOfStream()
    return try harness.takePictures().map { checksum([$0]) }
  }

  // MARK: Made to order

  /// A NAL unit of this size.
  private static func sized(_ size: Int, _ make: (Int) -> [UInt8]) -> [UInt8] {
    let overhead = make(0).count
    return make(size - overhead)
  }

  /// An SEI NAL unit of this size with user data.
  private static func message(_ codec: StreamCodec, _ size: Int) -> [UInt8] {
    let header: [UInt8] = codec == .h264 ? [6] : [78, 1]
    // Type, a size of one or two bytes, and the trailing bits.
    let payload = size - header.count - 3 < 255 ? size - header.count - 3 : size - header.count - 4
    let length: [UInt8] = payload < 255 ? [UInt8(payload)] : [255, UInt8(payload - 255)]
    return header + [5] + length + [UInt8](repeating: 0x44, count: payload) + [0x80]
  }

  private static func record(_ codec: StreamCodec) throws -> [UInt8] {
    let sets = codec.parameterSets(reorder: 0)
    return try codec == .h264 ? record(sets, H264.self) : record(sets, H265.self)
  }

  private static func record<Codec: ElementCodecSyntax>(_ nalUnits: [[UInt8]], _: Codec.Type) throws -> [UInt8] {
    var sets = Codec.ParameterSets()
    for nalUnit in nalUnits { _ = try sets.insert(nalUnit.span) }
    return try Codec.ConfigurationRecord(sets, nalLengthSize: .four).bytes()
  }
}
