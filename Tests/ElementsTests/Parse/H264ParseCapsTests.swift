// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import Testing

/// The parser's source caps.
@Suite(.serialized) struct H264ParseCapsTests {
  typealias Stream = ParseStream

  private static let toBytes = "stream-format=byte-stream, alignment=au"

  /// 1920 × 1080, High 4:2:2, level 4, 10 bits, samples of 4:3, BT.709, 30000/1001 pictures a second.
  static let described: [UInt8] = {
    var writer = BitWriter()
    for byte: UInt32 in [0x67, 122, 0, 40] { writer.u(8, byte) }
    for value: UInt32 in [0, 2, 2, 2] { writer.ue(value) }  // id, 4:2:2, bit depths
    writer.u(2, 0)
    for value: UInt32 in [0, 0, 4, 4] { writer.ue(value) }  // frame_num, POC type and LSB, references
    writer.flag(false)
    writer.ue(119)
    writer.ue(67)
    writer.flag(true)  // frames only
    writer.flag(true)
    writer.flag(true)  // cropping: 8 lines at the bottom
    for value: UInt32 in [0, 0, 0, 8] { writer.ue(value) }
    writer.flag(true)  // VUI
    writer.flag(true)
    writer.u(8, 255)
    writer.u(16, 4)
    writer.u(16, 3)
    writer.flag(false)
    writer.flag(true)  // video_signal_type
    writer.u(3, 5)
    writer.flag(false)
    writer.flag(true)
    for value: UInt32 in [1, 1, 1] { writer.u(8, value) }
    writer.flag(false)
    writer.flag(true)  // timing
    writer.u(32, 1001)
    writer.u(32, 60000)
    writer.flag(true)
    for _ in 0..<4 { writer.flag(false) }
    writer.trailingBits()
    return writer.bytes
  }()

  private func caps(_ stream: [UInt8], from input: String = "video/x-h264", to output: String = toBytes) throws
    -> String
  {
    let harness = try Harness.parse(from: input, to: output)
    #expect(harness.push(stream) == 0)
    harness.endOfStream()
    return try harness.outputCapsText()
  }

  @Test func describesTheSPSInCaps() throws {
    let text = try caps(Stream.byteStream(Self.described))
    for field in [
      "width=(int)1920", "height=(int)1080", "pixel-aspect-ratio=(fraction)4/3", "framerate=(fraction)30000/1001",
      "colorimetry=(string)bt709", "chroma-format=(string)4:2:2", "bit-depth-luma=(uint)10",
      "bit-depth-chroma=(uint)10",
      "profile=(string)high-4:2:2", "level=(string)4", "coded-picture-structure=(string)frame",
    ] {
      #expect(text.contains(field + ","))
    }
  }

  @Test func fieldsOfUpstreamCapsTakePrecedence() throws {
    let given = [
      "framerate=(fraction)10/1", "pixel-aspect-ratio=(fraction)2/1",
      "colorimetry=(string)bt601", "multiview-mode=(string)side-by-side", "mastering-display-info=(string)1:2:3",
    ]
    let stream = Stream.byteStream(Self.described, Stream.ppsToOrder(), Stream.masteringDisplay, Stream.idr)
    let text = try caps(stream, from: "video/x-h264, " + given.joined(separator: ", "))
    for field in given { #expect(text.contains(field + ",")) }
    // The stream knows better how large its pictures are; 0/1 is no rate.
    for wrong in ["width=100, height=50", "width=100", "height=50", "width=0, height=0", "framerate=0/1"] {
      let text = try caps(stream, from: "video/x-h264, \(wrong)")
      for field in ["width=(int)1920", "height=(int)1080", "framerate=(fraction)30000/1001"] {
        #expect(text.contains(field + ","), "\(wrong)")
      }
    }
    // Only the stream has these.
    for field in ["profile=(string)high-4:2:2", "chroma-format=(string)4:2:2"] { #expect(text.contains(field + ",")) }
  }

  /// An SPS with this colour description; nil for none.
  private static func coloured(isFullRange: Bool, _ colours: [UInt32]?) -> [UInt8] {
    var writer = BitWriter()
    for byte: UInt32 in [0x67, 77, 0, 30] { writer.u(8, byte) }
    for value: UInt32 in [0, 0, 2, 1] { writer.ue(value) }  // id, frame_num, POC type 2, references
    writer.flag(false)
    writer.ue(1)
    writer.ue(1)
    writer.flag(true)
    writer.flag(true)
    writer.flag(false)
    writer.flag(true)  // VUI
    writer.flag(false)
    writer.flag(false)
    writer.flag(true)  // video_signal_type
    writer.u(3, 5)
    writer.flag(isFullRange)
    writer.flag(colours != nil)
    for colour in colours ?? [] { writer.u(8, colour) }
    for _ in 0..<6 { writer.flag(false) }
    writer.trailingBits()
    return writer.bytes
  }

  /// Unspecified parts are 0, but the range is set: converters take an unknown range for full.
  @Test(
    arguments: [
      (false, [2, 2, 1], "2:3:0:0"), (true, [2, 2, 1], "1:3:0:0"), (false, [1, 1, 1], "bt709"),
      (false, nil, "2:0:0:0"), (true, nil, "1:0:0:0"), (true, [1, 1, 1], "1:3:5:1"),
    ] as [(Bool, [UInt32]?, String)])
  func signalsTheColourRange(_ isFullRange: Bool, _ colours: [UInt32]?, _ expected: String) throws {
    let text = try caps(Stream.byteStream(Self.coloured(isFullRange: isFullRange, colours)))
    #expect(text.contains("colorimetry=(string)\(expected),"))
  }

  @Test func omitsAbsurdFrameRates() throws {
    for rate: UInt32 in [0, 2000, 1 << 30] {
      #expect(try !caps(Stream.byteStream(Stream.spsToOrder(rate: rate))).contains("framerate"))
    }
    #expect(try caps(Stream.byteStream(Stream.spsToOrder(rate: 50))).contains("framerate=(fraction)50/1,"))
  }

  /// A decoder that lists only Main gets Constrained Baseline, a subset of it, but not High.
  @Test func acceptsProfilesThatAreSubsetsOfAListedOne() throws {
    let harness = try Harness.parse(to: "\(Self.toBytes), profile=main")
    for (profile, isTaken) in [("main", true), ("constrained-baseline", true), ("high", false), ("baseline", false)] {
      #expect(harness.acceptableCaps("video/x-h264, profile=\(profile)").contains("EMPTY") == !isTaken, "\(profile)")
    }
  }

  // MARK: Views

  private static func packing(_ type: UInt32, interpretation: UInt32, flags: UInt32 = 0) -> [UInt8] {
    var writer = BitWriter(addsEmulationPrevention: false)
    writer.ue(0)
    writer.flag(false)
    writer.u(7, type)
    writer.flag(false)
    writer.u(6, interpretation)
    writer.u(6, flags)
    if type != 5 { writer.u(16, 0) }
    writer.u(8, 0)
    writer.ue(1)
    writer.flag(false)
    writer.trailingBits()
    return writer.bytes
  }

  private func stereoCaps(_ type: SEIPayloadType, _ payload: [UInt8]) throws -> String {
    let units = Stream.byteStream(Self.described, Stream.ppsToOrder(), seiNALUnit([(type, payload)]), Stream.idr)
    return try caps(units)
  }

  /// Whether `multiview-flags` has the flag right-view-first, of value 1.
  private func isRightViewFirst(_ caps: String) -> Bool? {
    caps.firstMatch(of: /multiview-flags=\(GstVideoMultiviewFlagsSet\)([0-9a-f]+):/)
      .flatMap { UInt32($0.1, radix: 16) }.map { $0 & 1 == 1 }
  }

  @Test(
    arguments: [
      (3, 1, "side-by-side", false), (3, 2, "side-by-side", true), (4, 1, "top-bottom", false),
      (0, 1, "checkerboard", false), (5, 1, "frame-by-frame", false),
    ] as [(UInt32, UInt32, String, Bool)])
  func signalsFramePacking(_ type: UInt32, _ interpretation: UInt32, _ mode: String, _ isRightFirst: Bool) throws {
    let text = try stereoCaps(.framePackingArrangement, Self.packing(type, interpretation: interpretation))
    #expect(text.contains("multiview-mode=(string)\(mode),"))
    #expect(isRightViewFirst(text) == isRightFirst)
  }

  /// The view that is mirrored or upside down: frame 0 is the left view unless the right one comes first.
  @Test(
    arguments: [
      // type, interpretation, spatial_flipping_flag and frame0_flipped_flag
      (3, 1, 0x20, .rightFlopped), (3, 1, 0x30, .leftFlopped), (3, 2, 0x20, .leftFlopped), (3, 2, 0x30, .rightFlopped),
      (4, 1, 0x20, .rightFlipped), (4, 1, 0x30, .leftFlipped), (4, 2, 0x30, .rightFlipped), (4, 1, 0x10, []),
    ] as [(UInt32, UInt32, UInt32, MultiviewFlags)])
  func signalsFlippedViews(_ type: UInt32, _ interpretation: UInt32, _ flags: UInt32, _ expected: MultiviewFlags) throws
  {
    let payload = Self.packing(type, interpretation: interpretation, flags: flags)
    let text = try stereoCaps(.framePackingArrangement, payload)
    let found = text.firstMatch(of: /multiview-flags=\(GstVideoMultiviewFlagsSet\)([0-9a-f]+):/)
      .flatMap { UInt32($0.1, radix: 16) }.map { MultiviewFlags(rawValue: $0) }
    let all: MultiviewFlags = [.leftFlipped, .leftFlopped, .rightFlipped, .rightFlopped]
    #expect(found?.intersection(all) == expected)
  }

  @Test(
    arguments: [
      // field_views_flag, top_field_is_left_view_flag
      ([0xC8], "row-interleaved", false), ([0x88], "row-interleaved", true),
      // 0, current_frame_is_left_view_flag, next_frame_is_second_view_flag
      ([0x64], "frame-by-frame", false), ([0x24], "frame-by-frame", true),
      ([0x04], "frame-by-frame", false), ([0x44], "frame-by-frame", true),
    ] as [([UInt8], String, Bool)])
  func signalsStereoInformation(_ payload: [UInt8], _ mode: String, _ isRightFirst: Bool) throws {
    let text = try stereoCaps(.stereoVideoInformation, payload)
    #expect(text.contains("multiview-mode=(string)\(mode),"))
    #expect(isRightViewFirst(text) == isRightFirst)
  }

  @Test func marksTheFirstViewOfABundle() throws {
    let harness = try Harness.parse(from: "video/x-h264", to: Self.toBytes)
    let units: [[UInt8]] = [[0x64], [0x04]].map { payload in
      Stream.byteStream(seiNALUnit([(.stereoVideoInformation, payload)]), Stream.idr)
    }
    #expect(harness.push(Stream.byteStream(Stream.sps, Stream.pps) + units[0] + units[1]) == 0)
    harness.endOfStream()
    let first = try harness.pull()
    let second = try harness.pull()
    #expect(first.flags.contains(.firstInBundle))
    #expect(!second.flags.contains(.firstInBundle))
    // The second view does not change the arrangement.
    #expect(harness.takeCapsEvents().count == 1)
  }

  // MARK: Parameter sets

  @Test func codecDataHasAllParameterSets() throws {
    let other = Stream.ppsToOrder(id: 3)
    let base = Stream.ppsToOrder(id: 1)
    // seq_parameter_set_extension without an auxiliary picture.
    let more: [UInt8] = [0x6D, 0xD0]
    let slice = Stream.slice(2, number: 0, order: 0, idr: true, pps: 1)
    let harness = try Harness.parse(from: "video/x-h264", to: "stream-format=avc, alignment=au")
    #expect(harness.push(Stream.byteStream(other, Self.described, more, base, slice)) == 0)
    harness.endOfStream()
    let bytes = try harness.outputCodecData()
    let record = try H264.DecoderConfigurationRecord(bytes.span)
    #expect(record.sequenceParameterSets == [Self.described])
    #expect(record.pictureParameterSets == [base, other])
    #expect(record.high?.sequenceParameterSetExtensions == [more])
    #expect(record.high?.lumaBitDepth == 10)
  }

  /// Only codec_data has changed: no new caps, which would drain a decoder; the parameter sets go in-band.
  @Test func insertsNewCodecDataInBand() throws {
    let harness = try Harness.parse(from: Stream.avcCaps(), to: "stream-format=avc, alignment=au")
    #expect(harness.push(Stream.packet(Stream.idr)) == 0)
    let pps: [UInt8] = [0x68, 0xEB, 0xEC, 0xB6]
    harness.setInputCaps(Stream.avcCaps(Stream.codecData.dropLast(4) + pps))
    for _ in 0..<2 { #expect(harness.push(Stream.packet(Stream.idr)) == 0) }
    #expect(
      try harness.pullAll() == [
        Stream.packet(Stream.idr), Stream.packet(Stream.sps, pps, Stream.idr), Stream.packet(Stream.idr),
      ])
    #expect(harness.takeCapsEvents().count == 1)
  }

  @Test func avcPacketsPassUnchanged() throws {
    let harness = try Harness.parse(from: Stream.avcCaps(), to: "stream-format=avc, alignment=au")
    #expect(harness.push(Stream.packet(Stream.idr)) == 0)
    let buffer = try harness.pull()
    #expect(try buffer.copiedBytes() == Stream.packet(Stream.idr))
    #expect(!buffer.flags.contains(.header))
  }

  @Test func insertedParameterSetsAreFlagged() throws {
    let harness = try Harness.parse(from: Stream.avcCaps(), to: Self.toBytes)
    for _ in 0..<2 { #expect(harness.push(Stream.packet(Stream.idr)) == 0) }
    let first = try harness.pull()
    #expect(first.flags.contains(.header))
    let second = try harness.pull()
    #expect(!second.flags.contains(.header))
  }
}
