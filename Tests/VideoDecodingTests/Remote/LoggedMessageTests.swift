// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x
import TestSupport
import Testing

@testable import VideoDecoding

/// libavcodec logs some messages without a codec context, whose level could be set. They end no process, although
/// logging makes calls that the process's filter forbids.
@Suite struct LoggedMessageTests {
  /// A PPS of the High profiles with one element of a scaling list.
  private static func pps(deltaScale: Int32) -> [UInt8] {
    var writer = BitWriter()
    writer.u(8, 0x68)
    writer.ue(0)
    writer.ue(0)
    writer.u(2, 0)
    for _ in 0..<3 { writer.ue(0) }
    writer.u(3, 0)
    for _ in 0..<3 { writer.se(0) }
    writer.u(3, 0)
    writer.u(3, 0b011)
    writer.se(deltaScale)
    writer.trailingBits()
    return writer.bytes
  }

  /// An SPS of a size that libavutil cannot address.
  private static func largeSPS() throws -> [UInt8] {
    var sps = try H264.SequenceParameterSet(nalUnit: MinimalStream.sps().span)
    (sps.widthInMacroblocks, sps.heightInMapUnits) = (2000, 2000)
    return sps.nalUnit()
  }

  /// NAL units that nothing keeps from the codec here, as a session would.
  private static func accessUnits(_ topic: String) throws -> [[[UInt8]]] {
    let parameterSets = [MinimalStream.sps(), MinimalStream.pps()]
    let (idr, other) = (MinimalStream.slice(isIDR: true), MinimalStream.slice(isIDR: false))
    let first = parameterSets + [idr]
    return switch topic {
    case "Broken frame packetizing": [first, [other, idr], [other, idr], [idr, idr]]
    case "delta scale is invalid": [first, [pps(deltaScale: 128), other], first, [pps(deltaScale: -129)]]
    case "Picture size is invalid": [first, try [largeSPS(), MinimalStream.pps(), idr], first]
    default: []
    }
  }

  @Test(
    arguments: ["Broken frame packetizing", "delta scale is invalid", "Picture size is invalid"], [false, true])
  func loggingDoesNotEndTheProcess(_ topic: String, _ hasFrameThreads: Bool) throws {
    var settings = CodecSettings(codec: .h264)
    settings.threadCount = hasFrameThreads ? 3 : 1
    settings.useFrameThreads = hasFrameThreads
    try decode(try Self.accessUnits(topic), settings)
  }

  @Test(arguments: [false, true]) func logsH265BuffersWithoutACodecContext(_ hasFrameThreads: Bool) throws {
    let nalUnit = try #require(MalformedH265.parameterSets.first { $0.name == "33 buffers" }).nalUnit
    var settings = CodecSettings(codec: .h265)
    settings.threadCount = hasFrameThreads ? 3 : 1
    settings.useFrameThreads = hasFrameThreads
    try decode(Array(repeating: [nalUnit], count: 4), settings)
  }

  private func decode(_ accessUnits: [[[UInt8]]], _ settings: CodecSettings) throws {
    #expect(!accessUnits.isEmpty)
    let service = ServiceOpener(ProcessLimits(timeout: .seconds(60)), HardwareRequest(), cancellation: nil)
    let codec = try service.open(settings, PictureBridge(allocator: nil, layout: .native))
    let packets = PacketPool()
    for (index, nalUnits) in accessUnits.enumerated() {
      let packet = try packets.packet(copying: MinimalStream.annexB(nalUnits).span, timestamp: Int64(index))
      // Bad data is an event.
      try codec.decode(packet, index: UInt64(index)) { _ in }
    }
    try codec.drain { _ in }
  }
}
