// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import Testing

/// Metas of SEI messages, and metas of input buffers.
@Suite(.serialized) struct H264ParseMetadataTests {
  typealias Stream = ParseStream

  private static let raw = "video/x-h264"
  private static let packed = "video/x-h264, stream-format=byte-stream, alignment=au"
  private static let toBytes = "stream-format=byte-stream, alignment=au"

  private static func registered(_ payload: [UInt8]) -> (type: SEIPayloadType, payload: [UInt8]) {
    (.userDataRegistered, [0xB5, 0x00, 0x31] + payload)
  }

  /// A Caption Distribution Packet with one triplet.
  private static let packet: [UInt8] = {
    var bytes: [UInt8] = [0x96, 0x69, 0x10, 0x3F, 0x43, 0, 1, 0x72, 0xE1, 0xFC, 0x94, 0x20, 0x74, 0, 1]
    bytes.append(0 &- bytes.reduce(0, &+))
    return bytes
  }()

  private func parse(
    _ messages: [(type: SEIPayloadType, payload: [UInt8])], chain: String = "swifth264parse"
  ) throws -> Buffer {
    _ = try Harness.parse()
    let harness = try Harness(chain)
    harness.setOutputCaps("video/x-h264, parsed=true, \(Self.toBytes)")
    harness.setInputCaps(Self.raw)
    #expect(harness.push(Stream.byteStream(Stream.sps, Stream.pps, seiNALUnit(messages), Stream.idr)) == 0)
    harness.endOfStream()
    return try harness.pull()
  }

  @Test func distinguishesCaptionFormats() throws {
    let triplets: [UInt8] = [0xFC, 0x94, 0x20]
    let identifier = Array("GA94".utf8)
    for (payload, type, bytes) in [
      (identifier + [3, 0xC1, 0xFF] + triplets + [0xFF], GST_VIDEO_CAPTION_TYPE_CEA708_RAW, triplets),
      (identifier + [3] + Self.packet, GST_VIDEO_CAPTION_TYPE_CEA708_CDP, Self.packet),
      (Self.packet, GST_VIDEO_CAPTION_TYPE_CEA708_CDP, Self.packet),
    ] {
      let buffer = try parse([Self.registered(payload)])
      #expect(buffer.captionType == type.rawValue)
      #expect(buffer.captions == bytes)
    }
    var damaged = Self.packet
    damaged[9] ^= 1
    let buffer = try parse([Self.registered(damaged)])
    #expect(buffer.captionType == 0)
  }

  @Test func barsAndActiveFormatBecomeMetas() throws {
    let identifier = Array("GA94".utf8)
    let top = identifier + [6, 0xCF, 0xC0, 0x10, 0xC1, 0x10]
    let left = identifier + [6, 0x3F, 0xC0, 0x20, 0xC2, 0x60]
    let format = Array("DTG1".utf8) + [0x41, 0xFA]
    let letterbox = try parse([Self.registered(top), Self.registered(format)])
    #expect(letterbox.bars == [[1, 16, 272]])
    #expect(letterbox.activeFormats == [10])
    let pillarbox = try parse([Self.registered(left)])
    #expect(pillarbox.bars == [[0, 32, 608]])
    #expect(pillarbox.activeFormats.isEmpty)
    // A reserved code, and a flag for no active format.
    for bytes: [UInt8] in [[0x41, 0xF1], [0x01]] {
      let buffer = try parse([Self.registered(Array("DTG1".utf8) + bytes)])
      #expect(buffer.activeFormats.isEmpty)
    }
  }

  /// A second parser does not add the metas of the first again.
  @Test func metasAreNotAddedTwice() throws {
    let messages = [
      Self.registered(Array("GA94".utf8) + [3, 0xC1, 0xFF, 0xFC, 0x94, 0x20, 0xFF]),
      Self.registered(Array("GA94".utf8) + [6, 0xCF, 0xC0, 0x10, 0xC1, 0x10]),
      Self.registered(Array("DTG1".utf8) + [0x41, 0xFA]), (.userDataUnregistered, [UInt8](1...20)),
    ]
    let buffer = try parse(messages, chain: "swifth264parse ! swifth264parse")
    for kind in [
      gst_video_caption_meta_api_get_type(), gst_video_bar_meta_api_get_type(), gst_video_afd_meta_api_get_type(),
      gst_video_sei_user_data_unregistered_meta_api_get_type(),
    ] {
      #expect(buffer.metaCount(kind) == 1)
    }
  }

  // MARK: Time codes

  private static let timedSPS = Stream.spsToOrder(reorder: 0, hasPictureStructure: true)

  static func timing(_ structure: H264.PictureTiming.Structure, _ times: [[UInt8]]) throws -> [UInt8] {
    let sps = try H264.SequenceParameterSet(nalUnit: timedSPS.span)
    var timing = H264.PictureTiming(structure: structure)
    timing.clockTimestamps = times.map { time in
      var timestamp = H264.PictureTiming.ClockTimestamp()
      timestamp.isFieldBased = true
      timestamp.isFull = true
      (timestamp.hours, timestamp.minutes, timestamp.seconds) = (time[0], time[1], time[2])
      timestamp.frames = UInt16(time[3])
      timestamp.scanType = structure == .frame ? 0 : 1
      return timestamp
    }
    return timing.payload(sps: sps)
  }

  static func timedUnit(_ information: [(type: SEIPayloadType, payload: [UInt8])]) -> [UInt8] {
    Stream.byteStream(
      timedSPS, Stream.ppsToOrder(), seiNALUnit(information), Stream.slice(2, number: 0, order: 0, idr: true))
  }

  @Test func timeCodesBecomeMetas() throws {
    let harness = try Harness.parse(from: Self.packed, to: Self.toBytes)
    #expect(harness.push(Self.timedUnit([(.pictureTiming, try Self.timing(.frame, [[1, 2, 3, 4]]))])) == 0)
    #expect(
      harness.push(Self.timedUnit([(.pictureTiming, try Self.timing(.topBottom, [[1, 2, 3, 5], [1, 2, 3, 5]]))])) == 0)
    let frame = try harness.pull()
    #expect(frame.timeCodes.map { [$0.hours, $0.minutes, $0.seconds, $0.frames, $0.fieldCount] } == [[1, 2, 3, 4, 0]])
    #expect(frame.timeCodes.first?.frameRate == Fraction(25, 1))
    #expect(!frame.flags.contains(.interlaced))
    let fields = try harness.pull()
    #expect(fields.timeCodes.map { [$0.frames, $0.fieldCount] } == [[5, 1], [5, 2]])
    #expect(fields.flags.isSuperset(of: [.interlaced, .topFieldFirst]))
  }

  @Test(
    arguments: [
      (H264.PictureTiming.Structure.topBottomTop, [.interlaced, .topFieldFirst, .repeatFirstField], 1.5),
      (.bottomTopBottom, [.interlaced, .repeatFirstField], 1.5), (.bottomTop, [.interlaced], 1),
      (.frameDoubling, [], 2), (.frameTripling, [], 3),
    ] as [(H264.PictureTiming.Structure, Buffer.Flags, Double)])
  func pictureStructureGivesFieldsAndDuration(
    _ structure: H264.PictureTiming.Structure, _ flags: Buffer.Flags, _ frames: Double
  ) throws {
    let harness = try Harness.parse(from: Self.packed, to: Self.toBytes)
    #expect(harness.push(Self.timedUnit([(.pictureTiming, try Self.timing(structure, []))]), pts: .zero) == 0)
    let buffer = try harness.pull()
    let all: Buffer.Flags = [.interlaced, .topFieldFirst, .repeatFirstField, .oneField]
    #expect(buffer.flags.intersection(all) == flags)
    #expect(buffer.duration == ClockTime(nanoseconds: UInt64(frames * 40_000_000)))
  }

  // MARK: Input buffers

  @Test(arguments: [
    toBytes, "stream-format=avc, alignment=au",
  ]) func keepsMetasFlagsAndTimesOfInputBuffers(_ output: String) throws {
    let harness = try Harness.parse(from: Self.packed, to: output)
    var buffer = Buffer(copying: Stream.byteStream(Stream.sps, Stream.pps, Stream.idr).span) ?? Buffer()
    let reference = Caps(mediaType: "timestamp/x-test")
    unsafe gst_buffer_add_reference_timestamp_meta(buffer.raw, reference.raw, 42, GstClockTime.max)
    (buffer.pts, buffer.dts, buffer.duration) = (.seconds(3), .seconds(2), .second)
    buffer.flags = [.corrupted, .decodeOnly, .discontinuity]
    #expect(harness.push(buffer) == 0)
    let result = try harness.pull()
    #expect(result.metaCount(gst_reference_timestamp_meta_api_get_type()) == 1)
    #expect(result.flags.isSuperset(of: [.corrupted, .decodeOnly, .discontinuity]))
    #expect(result.pts == .seconds(3) && result.dts == .seconds(2))
  }
}

extension Buffer {
  /// The bar metas: whether they are letterbox bars, and both limits.
  fileprivate var bars: [[UInt32]] {
    var result: [[UInt32]] = []
    var state: gpointer?
    while let meta = unsafe gst_buffer_iterate_meta_filtered(raw, &state, gst_video_bar_meta_api_get_type()) {
      let bars = unsafe UnsafeMutableRawPointer(meta).assumingMemoryBound(to: GstVideoBarMeta.self).pointee
      unsafe result.append([UInt32(bars.is_letterbox), bars.bar_data1, bars.bar_data2])
    }
    return result
  }

  /// The active format metas.
  fileprivate var activeFormats: [UInt32] {
    var result: [UInt32] = []
    var state: gpointer?
    while let meta = unsafe gst_buffer_iterate_meta_filtered(raw, &state, gst_video_afd_meta_api_get_type()) {
      let format = unsafe UnsafeMutableRawPointer(meta).assumingMemoryBound(to: GstVideoAFDMeta.self).pointee
      unsafe result.append(format.afd.rawValue)
    }
    return result
  }
}
