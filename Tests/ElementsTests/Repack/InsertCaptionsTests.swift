// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import Testing

@testable import Elements

/// The property `insert-captions` of repackagers.
@Suite(.serialized) struct InsertCaptionsTests {
  private static let end = RepackEnd(format: .byteStream, alignment: "au")

  /// The triplets of the picture with a number.
  static func triplets(_ number: Int) -> [UInt8] { [0xFC, 0x20 | UInt8(number & 0x1F), 0x80 | UInt8(number >> 5)] }

  /// Triplets with padding up to a number of them.
  static func padded(_ triplets: [UInt8], to count: Int) -> [UInt8] {
    triplets + (triplets.count / 3..<count).flatMap { _ in [0xFA, 0, 0] as [UInt8] }
  }

  /// An SEI message of ATSC A/53, written without the code under test.
  static func message(_ triplets: [UInt8]) -> [UInt8] {
    [4, UInt8(11 + triplets.count), 0xB5, 0x00, 0x31] + Array("GA94".utf8)
      + [3, 0xC0 | UInt8(triplets.count / 3), 0xFF] + triplets + [0xFF]
  }

  /// The SEI NAL unit of messages.
  static func sei(_ codec: String, _ triplets: [UInt8]..., isSuffix: Bool = false) -> [UInt8] {
    (codec == "264" ? [6] : [isSuffix ? 0x50 : 0x4E, 1]) + triplets.flatMap(message) + [0x80]
  }

  /// An access unit with SEI in front of its first slice.
  static func inserting(_ sei: [UInt8], _ unit: [[UInt8]], _ codec: String) -> [[UInt8]] {
    let place = unit.firstIndex { isVCL($0, codec) } ?? unit.count
    return Array(unit[..<place]) + [sei] + Array(unit[place...])
  }

  private static func isVCL(_ nalUnit: [UInt8], _ codec: String) -> Bool {
    codec == "264"
      ? H264.NALUnitType(headerByte: nalUnit[0]).isVCL : H265.NALUnitType(headerByte: nalUnit[0]).isVCL
  }

  /// A buffer with captions.
  static func buffer(_ bytes: [UInt8], _ captions: Buffer.ClosedCaptions...) throws -> Buffer {
    try buffer(bytes, all: captions)
  }

  private static func buffer(_ bytes: [UInt8], all captions: [Buffer.ClosedCaptions]) throws -> Buffer {
    var buffer = try RepackStream.buffer(bytes)
    for captions in captions { buffer.addCaptions(captions.bytes.span, format: try #require(captions.format)) }
    return buffer
  }

  static func captions(_ bytes: [UInt8], _ format: Buffer.CaptionFormat = .cea708Raw) -> Buffer.ClosedCaptions {
    Buffer.ClosedCaptions(bytes, format: format)
  }

  /// The NAL units of the output for an access unit with captions.
  private func output(
    _ unit: [[UInt8]], _ captions: [Buffer.ClosedCaptions], _ sample: RepackSample,
    _ properties: String = "insert-captions=true", caps: String = ""
  ) throws -> [[UInt8]] {
    let harness = try sample.harness(properties, to: Self.end)
    harness.setInputCaps(sample.caps(Self.end, more: caps))
    #expect(harness.push(try Self.buffer(Self.end.pack(unit), all: captions)) == 0)
    harness.endOfStream()
    return try EditTests.pullAll(harness, Self.end)
  }

  /// Each access unit has its captions in front of its slices, and all else is as it was.
  @Test func writesCaptionsInEveryPackaging() throws {
    for sample in RepackSample.all {
      for input in RepackEnd.inputs where input.lengthSize == 4 {
        for output in RepackEnd.outputs where output.lengthSize == 4 {
          let comment: Comment = "\(sample.codec) \(input) to \(output)"
          let harness = try sample.harness("insert-captions=true", to: output)
          harness.setInputCaps(sample.caps(input))
          for (number, unit) in (input.format == .outOfBand ? sample.accessUnits : sample.withSets).enumerated() {
            for (index, nalUnits) in (input.alignment == "au" ? [unit] : unit.map { [$0] }).enumerated() {
              var buffer = try RepackStream.buffer(input.pack(nalUnits))
              if index == 0 { buffer.addCaptions(Self.triplets(number).span, format: .cea708Raw) }
              #expect(harness.push(buffer) == 0)
            }
          }
          harness.endOfStream()
          let nalUnits = try EditTests.pullAll(harness, output).filter { !sample.isSet($0) }
          let expected = sample.accessUnits.enumerated().flatMap { number, unit in
            Self.inserting(Self.sei(sample.codec, Self.triplets(number)), unit, sample.codec)
          }
          #expect(nalUnits == expected, comment)
          #expect(harness.statistic("edited-nal-units") == sample.accessUnits.count, comment)
        }
      }
    }
  }

  /// They come behind parameter sets, whether these were there or are inserted.
  @Test func captionsFollowParameterSets() throws {
    for sample in RepackSample.all {
      let sei = Self.sei(sample.codec, Self.triplets(7))
      let expected = Self.inserting(sei, sample.withSets[0], sample.codec)
      for unit in [sample.withSets[0], sample.accessUnits[0]] {
        let input = RepackEnd(format: unit == sample.withSets[0] ? .byteStream : .outOfBand, alignment: "au")
        let harness = try sample.harness("insert-captions=true", to: Self.end)
        harness.setInputCaps(sample.caps(input))
        #expect(harness.push(try Self.buffer(input.pack(unit), Self.captions(Self.triplets(7)))) == 0)
        #expect(try EditTests.pullAll(harness, Self.end) == expected)
      }
    }
  }

  /// Every layout of captions becomes triplets of `cc_data`.
  @Test func writesEveryLayout() throws {
    let all = (0..<31).flatMap(Self.triplets)
    let packet = CaptionDistributionPacket(
      frameRateCode: 4, flags: [.captions], sequenceCounter: 1,
      sections: [.captions(markerBits: 7, [CaptionTriplet(.packetStart, 0x02, 0x21)])])
    for (captions, triplets) in [
      (Self.captions(all), all),
      (Self.captions([0x94, 0x20, 0x94, 0x2F], .cea608Raw), [0xFC, 0x94, 0x20, 0xFC, 0x94, 0x2F]),
      (Self.captions([0x8C, 0x94, 0x20, 0x0C, 0x80, 0x81], .cea608S334), [0xFC, 0x94, 0x20, 0xFD, 0x80, 0x81]),
      (Self.captions(try packet.bytes(), .cea708Packet), [0xFF, 0x02, 0x21]),
    ] {
      for sample in RepackSample.all {
        let unit = sample.withSets[0]
        let expected = Self.inserting(Self.sei(sample.codec, triplets), unit, sample.codec)
        #expect(try output(unit, [captions], sample) == expected, "\(captions)")
      }
    }
  }

  /// Padding fills them to the `cc_count` of the rate; all are in one message, with pairs of CTA-608 in front.
  @Test(arguments: [
    ("24000/1001", 25), ("24/1", 25), ("25/1", 24), ("30000/1001", 20), ("30/1", 20), ("50/1", 12),
    ("60000/1001", 10), ("60/1", 10),
  ])
  func padsToTheCountOfTheRate(rate: String, count: Int) throws {
    let (pair, other): ([UInt8], [UInt8]) = ([0xFC, 0x94, 0x20], [0xFD, 0x80, 0x81])
    let packet: [UInt8] = [0xFF, 0x02, 0x21]
    let raw = Self.captions([0x94, 0x20], .cea608Raw)
    let lines = Self.captions([0x8C, 0x94, 0x20, 0x0C, 0x80, 0x81], .cea608S334)
    let full = Self.padded(packet, to: count)
    for (captions, expected) in [
      ([raw], pair), ([lines], pair + other), ([Self.captions(packet)], packet), ([Self.captions(full)], full),
      ([raw, Self.captions([0x0C] + other[1...], .cea608S334)], pair + other),
      ([Self.captions(full), raw], pair + packet),
      ([Self.captions(packet + packet), lines], pair + other + packet + packet),
    ] {
      for sample in RepackSample.all {
        let sei = Self.sei(sample.codec, Self.padded(expected, to: count))
        let unit = Self.inserting(sei, sample.withSets[0], sample.codec)
        let caps = ", framerate=(fraction)\(rate)"
        #expect(try output(sample.withSets[0], captions, sample, caps: caps) == unit, "\(captions)")
      }
    }
  }

  /// If there are more than the rate has, all stay, in several messages if one has no room for them.
  @Test func keepsTooManyCaptions() throws {
    let (few, many) = ((0..<11).flatMap(Self.triplets), (0..<20).flatMap(Self.triplets))
    for sample in RepackSample.all {
      let unit = sample.withSets[0]
      for (captions, sei) in [
        ([few], Self.sei(sample.codec, few)), ([few, few], Self.sei(sample.codec, few + few)),
        ([many, many], Self.sei(sample.codec, many, many)),
      ] {
        let found = try output(
          unit, captions.map { Self.captions($0) }, sample, caps: ", framerate=(fraction)60/1")
        #expect(found == Self.inserting(sei, unit, sample.codec))
      }
    }
  }

  /// Without a constant rate that has a count, each meta is a message.
  @Test(arguments: ["", ", framerate=(fraction)0/1", ", framerate=(fraction)15/1"])
  func doesNotPadAtOtherRates(caps: String) throws {
    for sample in RepackSample.all {
      let captions = [Self.captions([0x94, 0x20], .cea608Raw), Self.captions([0xFF, 0x02, 0x21])]
      let sei = Self.sei(sample.codec, [0xFC, 0x94, 0x20], [0xFF, 0x02, 0x21])
      #expect(
        try output(sample.withSets[0], captions, sample, caps: caps)
          == Self.inserting(sei, sample.withSets[0], sample.codec))
    }
  }

  /// Both fields of a frame share its captions.
  @Test func doesNotPadFields() throws {
    let harness = try Harness("swifth265repack insert-captions=true")
    harness.setOutputCaps("video/x-h265, stream-format=byte-stream, alignment=au")
    harness.setInputCaps("video/x-h265, stream-format=byte-stream, alignment=au, framerate=(fraction)25/1")
    let units = try StreamCodec.h265.accessUnits(in: Clip.read("interlaced.h265"))
    let sei = Self.sei("265", [0xFC, 0x94, 0x20])
    for unit in units {
      #expect(harness.push(try Self.buffer(unit, Self.captions([0x94, 0x20], .cea608Raw))) == 0)
      #expect(Self.end.unpack(try harness.pullBytes()).contains(sei))
    }
    #expect(units.count > 20)
  }

  /// The SEI has the TemporalId of its picture (7.4.2.2).
  @Test func captionsHaveTheSubLayerOfTheirPicture() throws {
    let sample = RepackSample.all[1]
    let unit = sample.sets + [H265Stream.slice(.tsaN, count: 1, temporalID: 2)]
    let found = try output(unit, [Self.captions(Self.triplets(1))], sample)
    #expect(found.count == 5 && found[3].prefix(2) == [0x4E, 3])
  }

  /// In H.264 nothing comes between a prefix NAL unit and its slice.
  @Test func captionsPrecedePrefixNALUnits() throws {
    let sample = RepackSample.all[0]
    let prefix: [UInt8] = [0x6E, 0x40, 0x80, 0x07]
    let slice = RepackStream.slice(0, isIDR: true)
    let sei = Self.sei("264", Self.triplets(1))
    #expect(
      try output(sample.sets + [prefix, slice], [Self.captions(Self.triplets(1))], sample)
        == sample.sets + [sei, prefix, slice])
  }

  /// A parser behind the repackager makes the same metas of the SEI.
  @Test func aParserFindsTheSameCaptions() throws {
    for codec in StreamCodec.allCases {
      let harness = try Harness(
        codec.chain("swifth264repack insert-captions=true remove-caption-meta=true ! swifth264parse"))
      harness.setInputCaps("\(codec.mediaType), stream-format=byte-stream, alignment=au")
      let units = try codec.accessUnits(in: Clip.read("clip.\(codec)"))
      for (number, unit) in units.enumerated() {
        let second = [0xFD] + Self.triplets(number).dropFirst()
        #expect(
          harness.push(try Self.buffer(unit, Self.captions(Self.triplets(number)), Self.captions(second))) == 0)
      }
      harness.endOfStream()
      var count = 0
      while let buffer = harness.tryPull() {
        let second = [0xFD] + Self.triplets(count).dropFirst()
        #expect(buffer.closedCaptions == [Self.captions(Self.triplets(count)), Self.captions(second)])
        count += 1
      }
      #expect(count == units.count)
    }
  }

  /// An access unit that has captions stays as it is, wherever they are, and is not copied.
  @Test func captionsInTheStreamStay() throws {
    for sample in RepackSample.all {
      let unit = sample.withSets[0]
      let own = Self.sei(sample.codec, Self.triplets(30))
      let header = own.prefix(sample.codec == "264" ? 1 : 2)
      let user: [UInt8] = [5, 17] + [UInt8](1...17)
      var units = [
        Self.inserting(own, unit, sample.codec),
        Self.inserting(Array(header + user + own.dropFirst(header.count)), unit, sample.codec),
      ]
      if sample.codec == "265" { units.append(unit + [Self.sei("265", Self.triplets(30), isSuffix: true)]) }
      for unit in units {
        let harness = try sample.harness("insert-captions=true", to: Self.end)
        harness.setInputCaps(sample.caps(Self.end))
        #expect(harness.push(try Self.buffer(Self.end.pack(unit), Self.captions(Self.triplets(1)))) == 0)
        #expect(try EditTests.pullAll(harness, Self.end) == unit)
        #expect(harness.statistic("untouched") == 1)
      }
    }
  }

  /// Captions that an edit or `drop` removes are replaced.
  @Test(arguments: ["edit=remove-sei=4", "drop=sei"]) func replacesRemovedCaptions(property: String) throws {
    for sample in RepackSample.all {
      let unit = sample.sets + [sample.accessUnits[1][0]]
      let own = Self.inserting(Self.sei(sample.codec, Self.triplets(30)), unit, sample.codec)
      let expected = Self.inserting(Self.sei(sample.codec, Self.triplets(1)), unit, sample.codec)
      let properties = "insert-captions=true \(property)"
      #expect(try output(own, [Self.captions(Self.triplets(1))], sample, properties) == expected)
      #expect(try output(own, [], sample, properties) == unit)
    }
  }

  /// Beside an edit that inserts messages, and one that removes a message behind the slices.
  @Test func insertsBesideEdits() throws {
    for sample in RepackSample.all {
      let unit = sample.withSets[0]
      let light: [UInt8] = (sample.codec == "264" ? [6] : [0x4E, 1]) + [144, 4, 0, 1, 0, 2, 0x80]
      let kept = unit.filter { nalUnit in
        sample.codec == "264"
          ? nalUnit[0] & 31 != 6 : !H265.NALUnitType(headerByte: nalUnit[0]).isSEI
      }
      let expected = Self.inserting(
        Self.sei(sample.codec, Self.triplets(1)), Self.inserting(light, kept, sample.codec), sample.codec)
      let edit = "insert-captions=true edit=\"keep-sei=6,insert-sei=144=00010002\""
      #expect(try output(unit, [Self.captions(Self.triplets(1))], sample, edit) == expected)
    }
  }

  /// Captions that cannot be read are left out, with one warning. Others are written.
  @Test func unreadableCaptionsAreLeftOut() throws {
    let bad = [
      Self.captions([0xFC, 0x94, 0x20, 0xFC, 0x94]), Self.captions((0..<32).flatMap(Self.triplets)),
      Self.captions([UInt8](repeating: 0x80, count: 100_000)), Self.captions([0x94], .cea608Raw),
      Self.captions([0x8C, 0x94], .cea608S334), Self.captions([0x96, 0x69, 0xFF], .cea708Packet),
      Self.captions(Self.triplets(1), .cea708Packet),
    ]
    for sample in RepackSample.all {
      for output in [Self.end, RepackEnd(format: .inBand, alignment: "au")] {
        let harness = try sample.harness("insert-captions=true", to: output)
        harness.collectMessages()
        harness.setInputCaps(sample.caps(Self.end))
        for captions in bad {
          #expect(harness.push(try Self.buffer(Self.end.pack(sample.withSets[0]), captions)) == 0)
          #expect(try EditTests.pullAll(harness, output) == sample.withSets[0], "\(captions)")
        }
        let mixed = try Self.buffer(Self.end.pack(sample.withSets[0]), bad[0], Self.captions(Self.triplets(2)), bad[1])
        #expect(harness.push(mixed) == 0)
        let expected = Self.inserting(
          Self.sei(sample.codec, Self.triplets(2)), sample.withSets[0], sample.codec)
        #expect(try EditTests.pullAll(harness, output) == expected)
        #expect(
          harness.takeMessages() == ["warning: Closed captions on buffers cannot be read; they are not written."])
      }
    }
  }

  /// Metas of an unknown type, and without data, as elements in C may make them.
  @Test func unknownCaptionsAreLeftOut() throws {
    for sample in RepackSample.all {
      let harness = try sample.harness("insert-captions=true", to: Self.end)
      harness.collectMessages()
      harness.setInputCaps(sample.caps(Self.end))
      for isUnknown in [true, false] {
        let buffer = try Self.buffer(Self.end.pack(sample.withSets[0]), Self.captions(Self.triplets(1)))
        let meta = try unsafe #require(gst_buffer_get_meta(buffer.raw, gst_video_caption_meta_api_get_type()))
        let captions = unsafe UnsafeMutableRawPointer(meta).assumingMemoryBound(to: GstVideoCaptionMeta.self)
        if isUnknown {
          unsafe captions.pointee.caption_type = GstVideoCaptionType(rawValue: 99)
        } else {
          unsafe g_free(captions.pointee.data)
          unsafe captions.pointee.data = nil
        }
        #expect(harness.push(buffer) == 0)
        #expect(try EditTests.pullAll(harness, Self.end) == sample.withSets[0])
      }
      #expect(harness.takeMessages().count == 1)
    }
  }

  /// A stream without captions is not copied, nor is a buffer without a picture given any.
  @Test func copiesNothingWithoutNeed() throws {
    for sample in RepackSample.all {
      let harness = try sample.harness("insert-captions=true", to: Self.end)
      harness.setInputCaps(sample.caps(Self.end))
      try EditTests.push(sample, Self.end, into: harness)
      #expect(try EditTests.pullAll(harness, Self.end) == Array(sample.withSets.joined()))
      #expect(harness.statistic("untouched") == 4 && harness.statistic("copied") == 0)
      let end = sample.codec == "264" ? [0x0A] : H265Stream.endOfSequence
      #expect(try output([end], [Self.captions(Self.triplets(1))], sample) == [end])
    }
  }

  @Test func takesEffectWithTheNextBuffer() throws {
    for sample in RepackSample.all {
      let harness = try sample.harness("", to: Self.end)
      harness.setInputCaps(sample.caps(Self.end))
      let unit = sample.withSets[0]
      let captioned = Self.inserting(Self.sei(sample.codec, Self.triplets(1)), unit, sample.codec)
      for isSet in [false, true, false, true] {
        harness.set("insert-captions", "\(isSet)")
        #expect(harness.push(try Self.buffer(Self.end.pack(unit), Self.captions(Self.triplets(1)))) == 0)
        #expect(try EditTests.pullAll(harness, Self.end) == (isSet ? captioned : unit))
      }
    }
  }

  /// Large slices stay in the input's memory.
  @Test func doesNotCopyLargeSlices() throws {
    for sample in RepackSample.all {
      var unit = sample.withSets[3]
      unit[unit.count - 1] += [UInt8](repeating: 0xA5, count: 40_000)
      let harness = try sample.harness("insert-captions=true", to: Self.end)
      harness.setInputCaps(sample.caps(Self.end))
      #expect(harness.push(try Self.buffer(Self.end.pack(unit), Self.captions(Self.triplets(1)))) == 0)
      let buffer = try harness.pull()
      #expect(unsafe gst_buffer_n_memory(buffer.raw) == 2)
      let expected = Self.inserting(Self.sei(sample.codec, Self.triplets(1)), unit, sample.codec)
      #expect(Self.end.unpack(try buffer.copiedBytes()) == expected)
    }
  }

  /// Another thread sets the properties while buffers with captions come.
  @Test(arguments: [100, 200]) func anotherThreadSetsThePropertiesWhilePlaying(rounds: Int) throws {
    for sample in RepackSample.all {
      let caps = "video/x-h\(sample.codec), stream-format=byte-stream, alignment=au"
      let bench = try PadBench(sample.element, output: caps, records: true)
      bench.go(to: GST_STATE_PLAYING)
      bench.begin(caps: sample.caps(Self.end))
      let setter = BackgroundThread {
        for value in ["true", "false"] {
          for name in ["insert-captions", "remove-caption-meta"] { bench.setProperty(name, value) }
        }
      }
      for round in 0..<rounds {
        for unit in sample.withSets {
          let buffer = try Self.buffer(Self.end.pack(unit), Self.captions(Self.triplets(round & 255)))
          let flow = unsafe gst_pad_push(bench.source, buffer.take())
          #expect(flow == GST_FLOW_OK)
        }
      }
      bench.end()
      setter.end()
      #expect(bench.output.count == 4 * rounds)
      for (number, output) in bench.output.enumerated() {
        let unit = sample.withSets[number % 4]
        let captioned = Self.inserting(Self.sei(sample.codec, Self.triplets(number / 4 & 255)), unit, sample.codec)
        let found = Self.end.unpack(output.bytes)
        #expect(found == unit || found == captioned)
      }
      bench.go(to: GST_STATE_NULL)
    }
  }

  /// An encoder that leaves captions on its buffers: every picture has its own in the stream.
  @Test(.enabled(if: Self.hasX265, "needs x265enc")) func everyPictureOfAnEncoderHasItsCaptions() throws {
    let harness = try Harness(
      """
      x265enc speed-preset=ultrafast log-level=none key-int-max=50 option-string=bframes=3:pools=none:frame-threads=1 \
      ! swifth265repack insert-captions=true
      """)
    harness.setOutputCaps("video/x-h265, stream-format=hvc1, alignment=au")
    harness.setInputCaps("video/x-raw, format=I420, width=64, height=64, framerate=30000/1001")
    for number in 0..<180 {
      let picture = [UInt8](repeating: UInt8(number), count: 64 * 64 * 3 / 2)
      var buffer = try Self.buffer(picture, Self.captions(Self.triplets(number)))
      buffer.pts = .seconds(UInt64(number), times: 1001, over: 30_000)
      buffer.duration = .seconds(1, times: 1001, over: 30_000)
      #expect(harness.push(buffer) == 0)
    }
    harness.endOfStream()
    let end = RepackEnd(format: .outOfBand, alignment: "au")
    var times: [ClockTime] = []
    var captioned = 0
    while let buffer = harness.tryPull() {
      let (pts, captions) = (buffer.pts ?? .zero, buffer.closedCaptions.first?.bytes ?? [])
      times.append(pts)
      let sei = Self.sei("265", Self.padded(captions, to: 20)).dropFirst(2)
      if end.unpack(try buffer.copiedBytes()).contains(where: { $0.dropFirst(2) == sei }) { captioned += 1 }
      let number = Int((pts.nanoseconds - (times.min() ?? pts).nanoseconds + 16_000_000) / 33_366_667)
      #expect(captions == Self.triplets(number), "picture \(number)")
    }
    #expect(times.count == 180 && captioned == 180)
    #expect(times != times.sorted(), "pictures are reordered")
  }

  private static var hasX265: Bool {
    Harness.initialise()
    guard let factory = unsafe gst_element_factory_find("x265enc") else { return false }
    unsafe gst_object_unref(UnsafeMutableRawPointer(factory))
    return true
  }
}
