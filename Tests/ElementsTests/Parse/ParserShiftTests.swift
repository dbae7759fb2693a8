// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import Foundation
import GStreamer
import HarnessSupport
import Testing

/// Input with presentation times only: decoding times need room before the first of them.
@Suite(.serialized) struct ParserShiftTests {
  typealias Stream = ParseStream

  private static let input = "video/x-h264, stream-format=byte-stream, alignment=au"
  private static let output = "stream-format=byte-stream, alignment=au"
  private static let frame: UInt64 = 40_000_000

  private static func time(_ frames: UInt64) -> ClockTime { ClockTime(nanoseconds: frames * frame) }

  private struct Picture {
    var bytes: [UInt8]
    var pts: ClockTime
  }

  /// `groups` times I P B B, with presentation times from `start` on, in frames.
  private static func pictures(groups: Int = 3, from start: UInt64 = 0, sps: [UInt8]) -> [Picture] {
    (0..<UInt64(groups)).flatMap { group in
      let places: [(UInt32, UInt32, UInt64)] = [(2, 0, 0), (0, 1, 3), (1, 2, 1), (1, 2, 2)]
      return places.map { kind, number, place in
        let slice = Stream.slice(
          kind, number: number, order: UInt32(2 * place), idr: kind == 2, reference: kind == 1 ? 0 : 1,
          idrID: UInt32(group))
        return Picture(
          bytes: kind == 2 ? Stream.byteStream(sps, Stream.ppsToOrder(), slice) : Stream.byteStream(slice),
          pts: time(start + 4 * group + place))
      }
    }
  }

  private struct Outcome {
    var segments: [(start: UInt64, stop: UInt64, time: UInt64, base: UInt64)] = []
    var pts: [UInt64] = []
    var dts: [UInt64] = []

    var isStrictlyIncreasing: Bool { zip(dts, dts.dropFirst()).allSatisfy { $0 < $1 } }
  }

  private func push(_ pictures: [Picture], into harness: Harness, hasDecodingTimes: Bool = false) {
    for (index, picture) in pictures.enumerated() {
      let dts = hasDecodingTimes ? Self.time(UInt64(index)) : nil
      #expect(harness.push(picture.bytes, pts: picture.pts, dts: dts, duration: Self.time(1)) == 0)
    }
  }

  private func take(_ harness: Harness) throws -> Outcome {
    var outcome = Outcome()
    while harness.waiting > 0 {
      let buffer = try harness.pull()
      outcome.pts.append(buffer.pts?.nanoseconds ?? .max)
      outcome.dts.append(buffer.dts?.nanoseconds ?? .max)
    }
    while let event = harness.tryPullEvent() {
      guard event.kind == .segment else { continue }
      var segment: UnsafePointer<GstSegment>?
      unsafe gst_event_parse_segment(event.raw, &segment)
      guard let found = unsafe segment?.pointee else { continue }
      outcome.segments.append(
        (UInt64(found.start), UInt64(found.stop), UInt64(found.time), UInt64(found.base)))
    }
    return outcome
  }

  @Test(arguments: [1, 2] as [UInt64]) func shiftsTheFirstSegment(_ depth: UInt64) throws {
    let harness = try Harness.parse(from: Self.input, to: Self.output)
    let pictures = Self.pictures(sps: Stream.spsToOrder(reorder: UInt32(depth)))
    push(pictures, into: harness)
    harness.endOfStream()
    let outcome = try take(harness)
    let shift = depth * Self.frame
    #expect(outcome.segments.count == 1)
    #expect(outcome.segments.first?.start == shift)
    #expect(outcome.segments.first?.stop == .max)
    #expect(outcome.segments.first?.time == 0 && outcome.segments.first?.base == 0)
    #expect(outcome.pts == pictures.map { $0.pts.nanoseconds + shift })
    #expect(outcome.dts == (0..<12).map { $0 * Self.frame })
  }

  /// Without the field in the VUI the depth is what the level allows: 16 frames of this size.
  @Test func theLevelBoundsReordering() throws {
    let harness = try Harness.parse(from: Self.input, to: Self.output)
    let pictures = Self.pictures(groups: 8, sps: Stream.spsToOrder())
    push(pictures, into: harness)
    let outcome = try take(harness)
    let start = try #require(outcome.segments.first?.start)
    #expect(start == 16 * Self.frame && outcome.segments.count == 1)
    #expect(outcome.pts.map { $0 - start } == pictures.map(\.pts.nanoseconds))
    #expect(outcome.isStrictlyIncreasing && zip(outcome.dts, outcome.pts).allSatisfy { $0 <= $1 })
  }

  /// Half of the room is there already.
  @Test func shiftsByTheMissingRoom() throws {
    let harness = try Harness.parse(from: Self.input, to: Self.output)
    push(Self.pictures(from: 1, sps: Stream.spsToOrder(reorder: 2)), into: harness)
    let outcome = try take(harness)
    #expect(outcome.segments.first?.start == Self.frame)
    #expect(outcome.dts == (0..<12).map { $0 * Self.frame })
  }

  @Test func doesNotShiftWithoutNeed() throws {
    for (reorder, start, hasDecodingTimes) in [(0, 0, false), (2, 50, false), (2, 2, true)] as [(UInt32, UInt64, Bool)]
    {
      let harness = try Harness.parse(from: Self.input, to: Self.output)
      let pictures = Self.pictures(from: start, sps: Stream.spsToOrder(reorder: reorder))
      push(pictures, into: harness, hasDecodingTimes: hasDecodingTimes)
      let outcome = try take(harness)
      #expect(outcome.segments.count == 1 && outcome.segments.first?.start == 0)
      #expect(outcome.pts == pictures.map(\.pts.nanoseconds))
    }
  }

  /// The segment after a seek is forwarded as upstream sends it.
  @Test func doesNotShiftLaterSegments() throws {
    let harness = try Harness.parse(from: Self.input, to: Self.output)
    let pictures = Self.pictures(sps: Stream.spsToOrder(reorder: 2))
    push(pictures, into: harness)
    _ = try take(harness)
    harness.flush()
    push(pictures, into: harness)
    let outcome = try take(harness)
    #expect(outcome.segments.count == 1 && outcome.segments.first?.start == 0)
    #expect(outcome.pts == pictures.map(\.pts.nanoseconds))
    #expect(zip(outcome.dts, outcome.pts).allSatisfy { $0 <= $1 })
  }

  /// Matroska may begin with a segment of two pictures. Downstream holds some of them when the next one comes.
  @Test func aSegmentWithoutAFlushKeepsTheShift() throws {
    let harness = try Harness.parse(from: Self.input, to: Self.output)
    let pictures = Self.pictures(sps: Stream.spsToOrder(reorder: 2))
    push(Array(pictures[..<2]), into: harness)
    var segment = GstSegment()
    unsafe gst_segment_init(&segment, GST_FORMAT_TIME)
    segment.start = guint64(Self.frame)
    segment.time = guint64(Self.frame)
    harness.push(unsafe Event(owning: gst_event_new_segment(&segment)))
    push(Array(pictures[2...]), into: harness)
    let outcome = try take(harness)
    let shift = 2 * Self.frame
    #expect(outcome.segments.map(\.start) == [shift, Self.frame + shift])
    #expect(outcome.segments.map(\.time) == [0, Self.frame])
    #expect(outcome.pts == pictures.map { $0.pts.nanoseconds + shift })
    #expect(zip(outcome.dts, outcome.dts.dropFirst()).allSatisfy { $0 <= $1 })
    #expect(zip(outcome.dts, outcome.pts).allSatisfy { $0 <= $1 })
  }

  /// Running time and stream time are not changed.
  @Test func keyUnitsAreAnsweredInRunningTime() throws {
    let harness = try Harness.parse(from: Self.input, to: Self.output)
    let pictures = Self.pictures(sps: Stream.spsToOrder(reorder: 2))
    push(Array(pictures[..<4]), into: harness)
    unsafe harness.pushUpstream(Event(owning: gst_video_event_new_upstream_force_key_unit(GstClockTime.max, 1, 7)))
    push(Array(pictures[4...]), into: harness)
    var answers: [ForceKeyUnit] = []
    while let event = harness.tryPullEvent() { if let answer = ForceKeyUnit(event) { answers.append(answer) } }
    #expect(answers.map(\.runningTime) == [Self.time(4)] && answers.map(\.streamTime) == [Self.time(4)])
    #expect(answers.map(\.timestamp) == [Self.time(6)])
  }

  // MARK: Containers

  /// A player that honours edit lists shows every picture.
  @Test(arguments: ["clip.mkv ! matroskademux", "clip.flv ! flvdemux"]) func mp4ShowsEveryPicture(
    _ source: String
  ) throws {
    _ = try Harness.parse()
    let path = FileManager.default.temporaryDirectory.appending(path: "parser-shift-\(UUID()).mp4").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let parts = source.split(separator: " ").map(String.init)
    try Self.play(
      "filesrc location=\(Clip.path(parts[0])) ! \(parts[2]) ! swifth264parse ! mp4mux ! filesink location=\(path)")
    let pipeline = try GatedPipeline("filesrc location=\(path) ! qtdemux", admitting: .max)
    let (arrivals, segments) = try pipeline.wait()
    let segment = try #require(segments.first)
    let shown = arrivals.filter { arrival in
      guard let pts = arrival.attributes.pts?.nanoseconds else { return false }
      return pts >= segment.start && pts < segment.stop
    }
    #expect(segments.count == 1 && arrivals.count == 62 && shown.count == 62)
    let dts = arrivals.compactMap(\.attributes.dts)
    #expect(dts.count == 62 && zip(dts, dts.dropFirst()).allSatisfy { $0 < $1 })
    let pts = arrivals.compactMap(\.attributes.pts?.nanoseconds).sorted()
    for (index, time) in pts.enumerated() {
      // Matroska rounds to milliseconds.
      let expected = segment.start + UInt64(index) * Self.frame
      #expect(time + 1_000_000 >= expected && time <= expected + 1_000_000)
    }
  }

  private static func play(_ description: String) throws {
    let pipeline = try unsafe #require(gst_parse_launch(description, nil))
    let bus = try unsafe #require(gst_element_get_bus(pipeline))
    defer {
      unsafe gst_element_set_state(pipeline, GST_STATE_NULL)
      unsafe gst_object_unref(bus)
      unsafe gst_object_unref(pipeline)
    }
    unsafe gst_element_set_state(pipeline, GST_STATE_PLAYING)
    let ends = GstMessageType(rawValue: GST_MESSAGE_EOS.rawValue | GST_MESSAGE_ERROR.rawValue)
    let message = try unsafe #require(gst_bus_timed_pop_filtered(bus, 60_000_000_000, ends))
    #expect(unsafe message.pointee.type == GST_MESSAGE_EOS)
    unsafe gst_message_unref(message)
  }
}
