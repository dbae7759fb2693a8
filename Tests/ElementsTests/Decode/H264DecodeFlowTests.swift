// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import Glibc
import H26x
import HarnessSupport
import Testing

/// Seeks, flushes, states, latency, quality of service.
@Suite(.serialized) struct H264DecodeFlowTests {
  let units: [[UInt8]]
  init() throws { units = try Clip.accessUnits("clip.h264") }

  /// The indices of the clip's keyframes, the same in decoding order and in presentation order.
  private var groups: [Int] {
    units.indices.filter { index in Clip.nalUnits(units[index]).contains { $0[0] & 31 == 5 } }
  }

  @Test func noOldPictureFollowsAFlush() throws {
    let harness = try Harness.decoder()
    let whole = try Harness.decoder().decode(units)
    let start = groups[1]
    for round in 1...5 {
      harness.push(units: Array(units[..<(round * 7)]))
      _ = try harness.takePictures()
      harness.flush()
      #expect(harness.waiting == 0)
      harness.push(units: Array(units[start...]), from: start)
      harness.endOfStream()
      let pictures = try harness.takePictures()
      #expect(checksum(pictures) == checksum(Array(whole[start...])))
      #expect(pictures.first?.pts == Clip.time(start))
      harness.flush()
    }
  }

  @Test func picturesBeforeARandomAccessPointAreDropped() throws {
    let whole = try Harness.decoder().decode(units)
    let harness = try Harness.decoder()
    let sets = Clip.nalUnits(units[0]).filter { 7...8 ~= $0[0] & 31 }
      .flatMap { [0, 0, 0, 1] + $0 as [UInt8] }
    var rest = Array(units[10...])
    rest[0] = sets + rest[0]
    #expect(harness.push(units: rest, from: 10).allSatisfy { $0 == 0 })
    harness.endOfStream()
    let pictures = try harness.takePictures()
    #expect(checksum(pictures) == checksum(Array(whole[groups[1]...])))
    #expect(harness.statistic("failed") == 0)
  }

  @Test func keyUnitTrickModeShowsRandomAccessPointsOnly() throws {
    let harness = try Harness.decoder()
    harness.push(segment(flags: GST_SEGMENT_FLAG_TRICKMODE_KEY_UNITS))
    for (index, unit) in units.enumerated() {
      guard var buffer = Buffer(copying: unit.span) else { continue }
      buffer.pts = Clip.time(index)
      if !groups.contains(index) { buffer.flags.insert(.deltaUnit) }
      harness.push(buffer)
    }
    harness.endOfStream()
    let pictures = try harness.takePictures()
    #expect(pictures.map(\.pts) == groups.map { Clip.time($0) })
    #expect(harness.statistic("frames-in") == units.count)
    #expect(harness.statistic("dropped") == units.count - groups.count)
  }

  @Test(arguments: [
    GST_SEGMENT_FLAG_TRICKMODE.rawValue, GST_SEGMENT_FLAG_TRICKMODE_FORWARD_PREDICTED.rawValue,
  ]) func trickModesDropNonReferencePictures(flag: UInt32) throws {
    let harness = try Harness.decoder("swifth264dec thread-type=none")
    harness.push(segment(flags: GstSegmentFlags(rawValue: flag)))
    harness.push(units: units)
    harness.endOfStream()
    let needed = units.count { unit in Clip.nalUnits(unit).contains { 1...5 ~= $0[0] & 31 && $0[0] & 0x60 != 0 } }
    #expect(needed < units.count && harness.received == needed)
  }

  @Test func reversePlaybackOutputsGroupsBackwards() throws {
    let whole = try Harness.decoder().decode(units)
    let harness = try Harness.decoder()
    harness.push(segment(rate: -1))
    let positions = Clip.presentationOrder(units)
    for (start, end) in zip(groups, groups.dropFirst() + [units.count]).reversed() {
      for index in start..<end {
        let unit = units[index]
        guard var buffer = Buffer(copying: unit.span) else { continue }
        buffer.pts = Clip.time(positions[index])
        buffer.dts = Clip.time(index)
        buffer.duration = Clip.frameDuration
        if index == start { buffer.flags.insert(.discontinuity) } else { buffer.flags.insert(.deltaUnit) }
        harness.push(buffer)
      }
    }
    harness.endOfStream()
    let pictures = try harness.takePictures()
    #expect(pictures.map(\.pts) == (0..<Clip.frameCount).reversed().map { Clip.time($0) })
    #expect(checksum(pictures) == checksum(whole.reversed()))
  }

  @Test func lateDecodersSkipNonReferencePictures() throws {
    let harness = try Harness.decoder("swifth264dec max-threads=2")
    // The base class forgets what downstream has answered before the first picture.
    harness.push(units: Array(units[..<16]))
    #expect(harness.received > 0)
    // Downstream answers that it is at 10 s.
    harness.pushUpstream(
      unsafe Event(owning: gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2, 10_000_000_000, 1_000_000_000)))
    harness.push(units: Array(units[16...]), from: 16)
    harness.endOfStream()
    // The base class drops pictures that are too late in spite of that.
    #expect((harness.statistic("dropped") ?? 0) > 10)
    #expect((harness.statistic("frames-out") ?? 0) > 20)
    #expect(harness.statistic("failed") == 0 && harness.statistic("corrupted") == 0)
  }

  // MARK: Properties of the stock decoder

  /// Properties of avdec_h264 are supported, and the pictures are the same.
  @Test(arguments: [
    "std-compliance=auto", "std-compliance=strict", "std-compliance=normal", "thread-type=frame+slice", "thread-type=1",
    "max-threads=1000", "output-corrupt=true", "skip-frame=0", "qos=false max-errors=-1 discard-corrupted-frames=true",
  ])
  func valuesOfStockPropertiesDoNotChangePictures(properties: String) throws {
    let harness = try Harness.decoder("swifth264dec \(properties)")
    #expect(try checksum(harness.decode(units)) == Clip.checksum())
  }

  // MARK: Threads and states

  @Test func pushesAndFlushesFromTwoThreads() throws {
    let harness = try Harness.decoder(isLive: false)
    TwoThreads(harness: harness, streams: [(Harness.byteStream, units)]).run(rounds: 60)
    harness.flush()
    harness.push(units: units)
    harness.endOfStream()
    let pictures = try harness.takePictures()
    #expect(try checksum(pictures.suffix(Clip.frameCount)) == Clip.checksum())
  }

  @Test func statesChangeTwoHundredTimesUnderLoad() throws {
    Harness.initialise()
    _ = try Harness.decoder()
    let description =
      "filesrc location=\(Clip.path("clip.h264")) ! h264parse ! swifth264dec name=decoder ! fakevideosink sync=false"
    let pipeline = try unsafe #require(gst_parse_launch(DecoderIsolation.described(description), nil))
    defer { unsafe gst_object_unref(pipeline) }
    let states = [GST_STATE_PLAYING, GST_STATE_PAUSED, GST_STATE_READY, GST_STATE_PLAYING, GST_STATE_NULL]
    for round in 0..<200 {
      let answer = unsafe gst_element_set_state(pipeline, states[round % states.count])
      #expect(answer != GST_STATE_CHANGE_FAILURE)
      if round % 3 == 0 { usleep(useconds_t(round % 7) * 1000) }
    }
    unsafe gst_element_set_state(pipeline, GST_STATE_PLAYING)
    let bus = unsafe gst_element_get_bus(pipeline)
    defer { unsafe gst_object_unref(bus) }
    let wanted = GstMessageType(rawValue: GST_MESSAGE_EOS.rawValue | GST_MESSAGE_ERROR.rawValue)
    let message = unsafe gst_bus_timed_pop_filtered(bus, 60_000_000_000, wanted)
    #expect(unsafe message?.pointee.type == GST_MESSAGE_EOS)
    if let message = unsafe message { unsafe gst_message_unref(message) }
    unsafe gst_element_set_state(pipeline, GST_STATE_NULL)
  }

  // MARK: Helpers

  private func segment(rate: Double = 1, flags: GstSegmentFlags = GST_SEGMENT_FLAG_NONE) -> Event {
    var segment = GstSegment()
    unsafe gst_segment_init(&segment, GST_FORMAT_TIME)
    segment.rate = rate
    segment.flags = flags
    if rate < 0 {
      segment.stop = guint64(Clip.time(Clip.frameCount).nanoseconds)
      segment.position = segment.stop
    }
    return unsafe Event(owning: gst_event_new_segment(&segment))
  }
}
