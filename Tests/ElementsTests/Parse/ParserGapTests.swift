// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import HarnessSupport
import Testing

/// GAP events and buffers without bytes.
@Suite(.serialized) struct ParserGapTests {
  typealias Stream = ParseStream

  private static let bytes = "video/x-h264, stream-format=byte-stream, alignment=au"

  private static func time(_ frames: UInt64) -> ClockTime { ClockTime(nanoseconds: frames * 40_000_000) }

  /// Muxers write a description for each caps, and some none that can be read.
  @Test(arguments: ["avc", "byte-stream"]) func capsBeforeAGapDescribeTheStream(_ output: String) throws {
    let harness = try Harness.parse(from: Stream.avcCaps(), to: "stream-format=\(output), alignment=au")
    harness.push(Event.gap(at: .zero, duration: Self.time(25)))
    let early = harness.takeCapsEvents()
    #expect(harness.push(Stream.packet(Stream.idr), pts: Self.time(25), dts: Self.time(25)) == 0)
    harness.endOfStream()
    #expect(harness.waiting == 1)
    #expect(early.count == 1 && early[0].contains("width=(int)32"), "\(early)")
    #expect(early[0].contains("stream-format=(string)\(output)"), "\(early)")
    #expect(harness.takeCapsEvents().isEmpty)
  }

  /// A gap in front of the first parameter sets does not change the packaging.
  @Test func aLeadingGapKeepsTheByteStreamFormat() throws {
    let harness = try Harness.parse(from: Self.bytes)
    harness.push(Event.gap(at: .zero, duration: Self.time(25)))
    let unit = Stream.byteStream(Stream.sps, Stream.pps, Stream.idr)
    #expect(harness.push(unit, pts: Self.time(25), dts: Self.time(25)) == 0)
    harness.endOfStream()
    #expect(try harness.pullBytes().starts(with: [0, 0, 0, 1]))
    let caps = harness.takeCapsEvents()
    #expect(caps.allSatisfy { $0.contains("byte-stream") && !$0.contains("codec_data") }, "\(caps)")
    #expect(caps.last?.contains("width=(int)32") == true, "\(caps)")
  }

  /// HDR metadata comes with the first access unit.
  @Test func capsAfterAGapGainFieldsOfTheFirstPicture() throws {
    let harness = try Harness.parse(from: Stream.avcCaps(), to: "stream-format=avc, alignment=au")
    harness.push(Event.gap(at: .zero, duration: Self.time(25)))
    let unit = Stream.packet(Stream.contentLight, Stream.idr)
    #expect(harness.push(unit, pts: Self.time(25), dts: Self.time(25)) == 0)
    harness.endOfStream()
    let caps = harness.takeCapsEvents()
    #expect(caps.last?.contains("content-light-level=(string)1000:400") == true, "\(caps)")
  }

  /// Its times belong to no byte, and those of the bytes after it stay.
  @Test(arguments: [nil, 10] as [UInt64?]) func anEmptyBufferDoesNotChangeTimes(_ pts: UInt64?) throws {
    let harness = try Harness.parse(from: Self.bytes, to: "stream-format=byte-stream, alignment=au")
    let slice = Stream.slice(2, number: 0, order: 0, idr: true)
    let unit = Stream.byteStream(Stream.spsToOrder(reorder: 0), Stream.ppsToOrder(), slice)
    for frame in UInt64(0)..<6 {
      if frame == 3 { #expect(harness.push([], pts: pts.map(Self.time)) == 0) }
      #expect(harness.push(unit, pts: Self.time(frame), dts: Self.time(frame), duration: Self.time(1)) == 0)
    }
    harness.endOfStream()
    var times: [ClockTime?] = []
    while harness.waiting > 0 { times.append(try harness.pull().pts) }
    #expect(times == (0..<6).map { Self.time($0) })
  }

  /// If the parser makes room for decoding times, gaps are as much later as pictures are.
  @Test func aGapMovesWithTheSegment() throws {
    let harness = try Harness.parse(from: Self.bytes, to: "stream-format=byte-stream, alignment=au")
    let sps = Stream.spsToOrder(reorder: 2)
    for (kind, number, place) in [(2, 0, 0), (0, 1, 3), (1, 2, 1), (1, 2, 2)] as [(UInt32, UInt32, UInt64)] {
      let slice = Stream.slice(
        kind, number: number, order: UInt32(2 * place), idr: kind == 2, reference: kind == 1 ? 0 : 1)
      let unit = kind == 2 ? Stream.byteStream(sps, Stream.ppsToOrder(), slice) : Stream.byteStream(slice)
      #expect(harness.push(unit, pts: Self.time(place), duration: Self.time(1)) == 0)
    }
    harness.push(Event.gap(at: Self.time(4), duration: Self.time(2)))
    var (start, gap): (UInt64?, (start: ClockTime, duration: ClockTime?)?) = (nil, nil)
    while let event = harness.tryPullEvent() {
      if event.kind == .segment { start = event.segment?.start }
      if let found = event.gap { gap = found }
    }
    #expect(start == Self.time(2).nanoseconds)
    #expect(gap?.start == Self.time(6) && gap?.duration == Self.time(2))
    #expect(harness.waiting == 4)
  }
}
