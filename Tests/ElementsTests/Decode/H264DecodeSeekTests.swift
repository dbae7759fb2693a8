// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import Testing

/// Seeks of every kind through a demuxer, gaps, and caps that change while data is flushed.
@Suite(.serialized) struct H264DecodeSeekTests {
  let units: [[UInt8]]
  init() throws { units = try Clip.accessUnits("clip.h264") }

  private static let chains = ["swifth264dec", "swifth264parse ! swifth264dec", "swifth264dec thread-type=none"]
  /// Parameter sets are buffers of their own before each keyframe.
  private static let nalUnitChain =
    "swifth264parse config-interval=-1 ! video/x-h264, stream-format=byte-stream, alignment=nal ! swifth264dec"
  private static let end = Clip.time(Clip.frameCount).nanoseconds

  /// A paused pipeline, with the arrivals of its preroll taken.
  private func paused(_ codec: StreamCodec, _ chain: String) throws -> PlayedPipeline {
    let clip = Clip.path(codec == .h264 ? "clip.mp4" : "clip-h265.mp4")
    let pipeline = try PlayedPipeline(
      "filesrc location=\(clip) ! qtdemux ! \(codec.chain(chain)) ! fakesink name=sink sync=false")
    #expect(pipeline.go(to: GST_STATE_PAUSED))
    return pipeline
  }

  @Test(arguments: StreamCodec.allCases, chains)
  func segmentSeeksLoop(codec: StreamCodec, chain: String) throws {
    let pipeline = try paused(codec, chain)
    let (start, stop) = (Clip.time(10).nanoseconds, Clip.time(40).nanoseconds)
    #expect(pipeline.seek(GST_SEEK_FLAG_FLUSH, GST_SEEK_FLAG_SEGMENT, GST_SEEK_FLAG_ACCURATE, from: start, to: stop))
    #expect(pipeline.go(to: GST_STATE_PAUSED))
    // Pictures before the seek do not count; the first one after it waits in the sink.
    #expect(pipeline.takeFrameNumbers().last == 10)
    #expect(pipeline.go(to: GST_STATE_PLAYING))
    for _ in 0..<3 {
      #expect(pipeline.waits(for: GST_MESSAGE_SEGMENT_DONE))
      #expect(pipeline.seek(GST_SEEK_FLAG_SEGMENT, GST_SEEK_FLAG_ACCURATE, from: start, to: stop))
    }
    #expect(pipeline.waits(for: GST_MESSAGE_SEGMENT_DONE))
    // The demultiplexer posts segment-done before all pictures are decoded, so that they are counted at the end.
    #expect(pipeline.seek(GST_SEEK_FLAG_ACCURATE, from: start, to: stop))
    #expect(pipeline.waits(for: GST_MESSAGE_EOS))
    let loop = Array(10..<40)
    #expect(pipeline.takeFrameNumbers() == loop.dropFirst() + loop + loop + loop + loop)
  }

  @Test(arguments: StreamCodec.allCases, chains)
  func accurateSeeksShowTheRequestedRange(codec: StreamCodec, chain: String) throws {
    let pipeline = try paused(codec, chain)
    for frame in [30, 5, 61, 0, 26, 24] {
      let time = Clip.time(frame).nanoseconds
      #expect(pipeline.seek(GST_SEEK_FLAG_FLUSH, GST_SEEK_FLAG_ACCURATE, from: time, to: Self.end))
      #expect(pipeline.go(to: GST_STATE_PAUSED))
      #expect(pipeline.takeFrameNumbers().last == frame)
    }
  }

  @Test(arguments: StreamCodec.allCases, chains)
  func reversePlaybackShowsEveryFrame(codec: StreamCodec, chain: String) throws {
    let pipeline = try paused(codec, chain)
    #expect(pipeline.seek(rate: -1, GST_SEEK_FLAG_FLUSH, from: 0, to: Self.end))
    #expect(pipeline.go(to: GST_STATE_PAUSED))
    let first = pipeline.takeFrameNumbers().last
    #expect(first == Clip.frameCount - 1)
    #expect(pipeline.go(to: GST_STATE_PLAYING))
    #expect(pipeline.waits(for: GST_MESSAGE_EOS))
    #expect(pipeline.takeFrameNumbers() == (0..<Clip.frameCount - 1).reversed())
  }

  @Test(arguments: StreamCodec.allCases, chains + [nalUnitChain])
  func keyUnitSeeksShowOnlyKeyUnits(codec: StreamCodec, chain: String) throws {
    let groups = try keyframes(codec)
    let pipeline = try paused(codec, chain)
    #expect(
      pipeline.seek(rate: 4, GST_SEEK_FLAG_FLUSH, GST_SEEK_FLAG_TRICKMODE_KEY_UNITS, from: 0, to: Self.end))
    #expect(pipeline.go(to: GST_STATE_PAUSED))
    #expect(pipeline.takeFrameNumbers().last == 0)
    #expect(pipeline.go(to: GST_STATE_PLAYING))
    #expect(pipeline.waits(for: GST_MESSAGE_EOS))
    #expect(pipeline.takeFrameNumbers() == Array(groups.dropFirst()))
  }

  /// The numbers of the keyframes in order of presentation.
  private func keyframes(_ codec: StreamCodec) throws -> [Int] {
    let pipeline = try paused(codec, "identity drop-buffer-flags=delta-unit")
    #expect(pipeline.go(to: GST_STATE_PLAYING))
    #expect(pipeline.waits(for: GST_MESSAGE_EOS))
    return pipeline.takeFrameNumbers()
  }

  // MARK: Gaps

  /// The base class forwards a gap event at once; decoding continues in the middle of the group.
  @Test(arguments: [7, 20, 33]) func gapEventsLoseNoPicture(position: Int) throws {
    let harness = try Harness.decoder("swifth264dec max-threads=3")
    let positions = Clip.presentationOrder(units)
    for (index, unit) in units.enumerated() {
      if index == position {
        harness.push(
          unsafe Event(
            owning: gst_event_new_gap(
              GstClockTime(Clip.time(index).nanoseconds), GstClockTime(Clip.frameDuration.nanoseconds))))
        #expect(hasGap(harness))
      }
      harness.push(unit, pts: Clip.time(positions[index]))
    }
    harness.endOfStream()
    let pictures = try harness.takePictures()
    #expect(try checksum(pictures) == Clip.checksum())
    #expect(pictures.map(\.pts) == (0..<Clip.frameCount).map { Clip.time($0) })
  }

  private func hasGap(_ harness: Harness) -> Bool {
    while let event = harness.tryPullEvent() {
      if event.kind == .gap { return true }
    }
    return false
  }

  // MARK: Caps

  /// The packaging changes with each flush, while another thread keeps pushing.
  @Test func capsChangeWhileFlushing() throws {
    let sets = Clip.nalUnits(units[0]).filter { 7...8 ~= $0[0] & 31 }
    let description = try FormatDescription(h264ParameterSets: sets, nalLengthSize: .four)
    let avc = RepackStream.caps("avc", codecData: try description.h264DecoderConfigurationRecord().bytes())
    let prefixed = units.map { Clip.nalUnits($0).flatMap { RepackStream.lengthPrefixed([$0], 4) } }
    let harness = try Harness.decoder()
    let pusher = TwoThreads(harness: harness, streams: [(Harness.byteStream, units), (avc, prefixed)])
    pusher.run(rounds: 60)
    for (caps, units) in [(avc, prefixed), (Harness.byteStream, units)] {
      harness.flush()
      harness.setInputCaps(caps)
      harness.push(units: units)
      harness.endOfStream()
      #expect(try checksum(harness.takePictures()) == Clip.checksum())
    }
  }
}
