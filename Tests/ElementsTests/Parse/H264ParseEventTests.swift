// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import HarnessSupport
import Testing

/// Events: key unit requests, trick modes, reverse playback.
@Suite(.serialized) struct H264ParseEventTests {
  typealias Stream = ParseStream

  private static let packed = "video/x-h264, stream-format=byte-stream, alignment=au"
  private static let toBytes = "stream-format=byte-stream, alignment=au"
  private static let headed = Stream.byteStream(Stream.spsToOrder(reorder: 1), Stream.ppsToOrder())

  /// I P B B, as access units, with their presentation times in frames from `start`.
  private static func group(from start: UInt64) -> [(bytes: [UInt8], frame: UInt64)] {
    [
      (headed + Stream.byteStream(Stream.slice(2, number: 0, order: 0, idr: true)), start),
      (Stream.byteStream(Stream.slice(0, number: 1, order: 6)), start + 3),
      (Stream.byteStream(Stream.slice(1, number: 2, order: 2, reference: 0)), start + 1),
      (Stream.byteStream(Stream.slice(1, number: 2, order: 4, reference: 0)), start + 2),
    ]
  }

  /// Far enough from 0 that decoding times have room.
  private static func time(_ frame: UInt64) -> ClockTime { ClockTime(nanoseconds: (frame + 10) * 40_000_000) }

  private static func segment(
    rate: Double = 1, flags: GstSegmentFlags = GST_SEGMENT_FLAG_NONE, stop: ClockTime? = nil
  ) -> Event {
    var segment = GstSegment()
    unsafe gst_segment_init(&segment, GST_FORMAT_TIME)
    segment.rate = rate
    segment.flags = flags
    if let stop { segment.stop = guint64(stop.nanoseconds) }
    return unsafe Event(owning: gst_event_new_segment(&segment))
  }

  private func push(_ units: [(bytes: [UInt8], frame: UInt64)], into harness: Harness, discontinuous: Bool = false) {
    for (index, unit) in units.enumerated() {
      var buffer = Buffer(copying: unit.bytes.span) ?? Buffer()
      buffer.pts = Self.time(unit.frame)
      buffer.duration = ClockTime(nanoseconds: 40_000_000)
      if discontinuous, index == 0 { buffer.flags.insert(.discontinuity) }
      #expect(harness.push(buffer) == 0)
    }
  }

  private func pullTimes(_ harness: Harness) throws -> [ClockTime?] {
    var result: [ClockTime?] = []
    while harness.waiting > 0 {
      let buffer = try harness.pull()
      result.append(buffer.pts)
    }
    return result
  }

  // MARK: Trick modes

  @Test(
    arguments: [
      (GST_SEGMENT_FLAG_NONE, [0, 3, 1, 2]), (GST_SEGMENT_FLAG_TRICKMODE_FORWARD_PREDICTED, [0, 3]),
      // Upstream selects the key units, so that the parser forwards all that it gets.
      (GST_SEGMENT_FLAG_TRICKMODE_KEY_UNITS, [0, 3, 1, 2]),
    ] as [(GstSegmentFlags, [UInt64])])
  func trickModesDropWhatStockDrops(_ flags: GstSegmentFlags, _ frames: [UInt64]) throws {
    let harness = try Harness.parse(from: Self.packed, to: Self.toBytes)
    harness.push(Self.segment(flags: flags))
    push(Self.group(from: 0), into: harness)
    harness.endOfStream()
    #expect(try pullTimes(harness) == frames.map(Self.time))
  }

  /// Access units of B slices go as a whole, delimiters too, whatever the output's alignment.
  @Test func keepsDelimitersWithTheirPictures() throws {
    let harness = try Harness.parse(from: Self.packed, to: "stream-format=byte-stream, alignment=nal")
    harness.push(Self.segment(flags: GST_SEGMENT_FLAG_TRICKMODE_FORWARD_PREDICTED))
    push(Self.group(from: 0), into: harness)
    harness.endOfStream()
    let types = try harness.pullAll().map { $0[4] & 31 }
    #expect(types == [9, 7, 8, 5, 9, 1])
  }

  @Test func trickModesEndWithTheirSegment() throws {
    let harness = try Harness.parse(from: Self.packed, to: Self.toBytes)
    harness.push(Self.segment(flags: GST_SEGMENT_FLAG_TRICKMODE_FORWARD_PREDICTED))
    push(Self.group(from: 0), into: harness)
    harness.push(Self.segment())
    push(Self.group(from: 4), into: harness)
    #expect(try pullTimes(harness) == [0, 3, 4, 7, 5, 6].map(Self.time))
  }

  /// Upstream sends groups from last to first; each is pushed forwards, its first buffer with DISCONT.
  @Test(arguments: [toBytes, "stream-format=avc, alignment=au"]) func reversePlaybackPushesEachGroupForwards(
    _ output: String
  ) throws {
    let harness = try Harness.parse(from: Self.packed, to: output)
    harness.push(Self.segment(rate: -1, stop: .second))
    for start in [8, 4, 0] as [UInt64] { push(Self.group(from: start), into: harness, discontinuous: true) }
    harness.endOfStream()
    #expect(harness.received == 12)
    for start in [8, 4, 0] as [UInt64] {
      for (index, frame) in [0, 3, 1, 2].enumerated() as EnumeratedSequence<[UInt64]> {
        let buffer = try harness.pull()
        #expect(buffer.pts == Self.time(start + frame))
        #expect(buffer.flags.contains(.discontinuity) == (index == 0))
        #expect(buffer.flags.contains(.deltaUnit) == (index > 0))
      }
    }
  }

  // MARK: Key units

  private func keyUnits(_ harness: Harness) -> [ForceKeyUnit] {
    var result: [ForceKeyUnit] = []
    while let event = harness.tryPullEvent() {
      if let request = ForceKeyUnit(event) { result.append(request) }
    }
    return result
  }

  /// A downstream force-key-unit event is pushed before the keyframe that it announces.
  @Test func forceKeyUnitEventsComeBeforeTheirKeyframe() throws {
    let harness = try Harness.parse(from: Self.packed, to: Self.toBytes)
    push(Self.group(from: 0), into: harness)
    _ = keyUnits(harness)
    harness.push(
      unsafe Event(
        owning: gst_video_event_new_downstream_force_key_unit(
          GstClockTime.max, GstClockTime.max, GstClockTime(Self.time(7).nanoseconds), 1, 3)))
    // Too early, and no keyframe.
    push(Self.group(from: 4), into: harness)
    #expect(keyUnits(harness).isEmpty)
    push([Self.group(from: 8)[0]], into: harness)
    let answers = keyUnits(harness)
    #expect(answers.map(\.count) == [3])
    #expect(answers.map(\.runningTime) == [Self.time(8)])
    #expect(answers.map(\.timestamp) == [Self.time(8)])
    push(Self.group(from: 12), into: harness)
    #expect(keyUnits(harness).isEmpty)
  }

  /// A muxer that cuts at the answer must not cut between the slices of a picture.
  @Test func forceKeyUnitEventsDoNotSplitPictures() throws {
    let input = "video/x-h264, stream-format=byte-stream, alignment=nal"
    let harness = try Harness.parse(from: input, to: "stream-format=byte-stream, alignment=nal")
    let slices = { (id: UInt32) in
      [0, 2].map { Stream.byteStream(Stream.slice(2, number: 0, order: 0, idr: true, first: $0, idrID: id)) }
    }
    push([(Self.headed + slices(0)[0], 0)], into: harness)
    _ = keyUnits(harness)
    harness.push(
      unsafe Event(
        owning: gst_video_event_new_downstream_force_key_unit(
          GstClockTime.max, GstClockTime.max, GstClockTime.max, 1, 3)))
    push([(slices(0)[1], 0)], into: harness)
    #expect(keyUnits(harness).isEmpty)
    push([(slices(1)[0], 1)], into: harness)
    #expect(keyUnits(harness).map(\.count) == [3])
  }

  @Test(arguments: [true, false]) func forceKeyUnitRequestsGoUpstream(_ allHeaders: Bool) throws {
    let harness = try Harness.parse(from: Self.packed, to: Self.toBytes)
    let idr = Stream.byteStream(Stream.slice(2, number: 0, order: 0, idr: true))
    push([(Self.headed + idr, 0)], into: harness)
    unsafe harness.pushUpstream(
      Event(owning: gst_video_event_new_upstream_force_key_unit(GstClockTime.max, allHeaders ? 1 : 0, 5)))
    var counts: [UInt32] = []
    while let event = harness.tryPullUpstreamEvent() {
      if let request = ForceKeyUnit(event) { counts.append(request.count) }
    }
    #expect(counts == [5])
    push([(idr, 1), (idr, 2)], into: harness)
    let delimiter = Stream.byteStream(Stream.delimiter)
    #expect(
      try harness.pullAll() == [
        delimiter + Self.headed + idr, delimiter + (allHeaders ? Self.headed : []) + idr, delimiter + idr,
      ])
  }
}
