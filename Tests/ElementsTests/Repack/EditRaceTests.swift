// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import Glibc
import H26x
import HarnessSupport
import Testing

@testable import Elements

/// `edit` is set by one thread while another plays.
@Suite(.serialized) struct EditRaceTests {
  init() { #expect(Registration.succeeded) }

  private static let end = RepackEnd(format: .byteStream, alignment: "au")
  private static let edits = ["colour=bt709", "colour=bt2020-pq", "", "colour=bt709,remove-sei=1"]

  private func bench(
    _ sample: RepackSample, whenGiven: (@Sendable (PadBench, PadBench.Moment) -> Void)? = nil
  ) throws -> PadBench {
    let caps = "video/x-h\(sample.codec), stream-format=byte-stream, alignment=au"
    let bench = try PadBench(sample.element, output: caps, records: true, whenGiven: whenGiven)
    bench.go(to: GST_STATE_PLAYING)
    bench.begin(caps: sample.caps(Self.end))
    return bench
  }

  /// Plays the sample's four access units again and again.
  private func play(_ sample: RepackSample, rounds: Int, on bench: PadBench) {
    let units = sample.withSets.map { Self.end.pack($0) }
    for round in 0..<rounds {
      for (index, unit) in units.enumerated() {
        #expect(bench.push(unit, pts: UInt64(4 * round + index) * 40_000_000) == 0)
      }
    }
    bench.end()
  }

  /// Each access unit has its pictures as they were, and parameter sets of one of the edits or of none.
  private func expectWhole(_ sample: RepackSample, rounds: Int, on bench: PadBench) throws {
    #expect(bench.output.count == 4 * rounds)
    for (number, output) in bench.output.enumerated() {
      let nalUnits = Self.end.unpack(output.bytes)
      let pictures = nalUnits.filter { !EditTests.isSet($0, sample) }
      #expect(pictures == sample.accessUnits[number % 4].filter { !EditTests.isSet($0, sample) })
      let sets = nalUnits.filter { EditTests.isSet($0, sample) }
      guard !sets.isEmpty else { continue }
      let colour = try EditTests.description(sets, [], sample).colour?.primaries
      #expect(colour == nil || colour == 1 || colour == 9)
    }
  }

  /// Rounds: n, 2n and 4n.
  @Test(arguments: [100, 200, 400]) func anotherThreadSetsEditsWhilePlaying(rounds: Int) throws {
    for sample in RepackSample.all {
      let bench = try bench(sample)
      let setter = BackgroundThread {
        for edit in Self.edits { bench.setProperty("edit", edit) }
      }
      play(sample, rounds: rounds, on: bench)
      setter.end()
      try expectWhole(sample, rounds: rounds, on: bench)
      bench.go(to: GST_STATE_NULL)
    }
  }

  /// The buffer is not taken before another thread has set the property and read it again.
  @Test func aBlockedSinkDoesNotBlockSetters() throws {
    for sample in RepackSample.all {
      let bench = try bench(sample) { bench, moment in
        guard moment == .buffer || moment == .message else { return }
        let count = Counter()
        let setter = BackgroundThread {
          for edit in Self.edits { bench.setProperty("edit", edit) }
          count.increment()
        }
        while count.value == 0 { sched_yield() }
        setter.end()
      }
      play(sample, rounds: 10, on: bench)
      try expectWhole(sample, rounds: 10, on: bench)
      bench.go(to: GST_STATE_NULL)
    }
  }

  /// A seek flushes the pads while an access unit is inside. The caps of an edit come with the next one.
  @Test(arguments: [RepackEnd(format: .byteStream, alignment: "au"), RepackEnd(format: .outOfBand, alignment: "au")])
  func flushesInFrontOfChangedCaps(end: RepackEnd) throws {
    for sample in RepackSample.all {
      let bench = try PadBench(
        sample.element, output: "video/x-h\(sample.codec), stream-format=\(sample.name(end.format)), alignment=au",
        records: true)
      bench.go(to: GST_STATE_PLAYING)
      bench.begin(caps: sample.caps(Self.end))
      let units = sample.withSets.map { Self.end.pack($0) }
      #expect(bench.push(units[0], pts: 0) == 0)
      bench.setProperty("edit", "colour=bt709")
      #expect(bench.push(units[1], pts: 40_000_000) == 0)
      let pad = try unsafe #require(gst_element_get_static_pad(bench.element, "sink"))
      defer { unsafe gst_object_unref(pad) }
      let probe = unsafe gst_pad_add_probe(
        pad, GST_PAD_PROBE_TYPE_BUFFER,
        { _, _, data in
          if let data = unsafe data {
            let bench = unsafe Unmanaged<PadBench>.fromOpaque(data).takeUnretainedValue()
            unsafe gst_pad_push_event(bench.source, gst_event_new_flush_start())
          }
          return GST_PAD_PROBE_OK
        }, Unmanaged.passUnretained(bench).toOpaque(), nil)
      #expect(bench.push(units[3], pts: 120_000_000) == GST_FLOW_FLUSHING.rawValue)
      unsafe gst_pad_remove_probe(pad, probe)
      bench.flush()
      var segment = GstSegment()
      unsafe gst_segment_init(&segment, GST_FORMAT_TIME)
      unsafe gst_pad_push_event(bench.source, gst_event_new_segment(&segment))
      #expect(bench.push(units[3], pts: 120_000_000) == 0)
      #expect(bench.output.count == 3)
      let caps = try unsafe #require(gst_pad_get_current_caps(bench.sink))
      let text = unsafe gst_caps_to_string(caps)
      let description = try unsafe String(cString: #require(text))
      unsafe g_free(text)
      unsafe gst_caps_unref(caps)
      #expect(description.contains("colorimetry=(string)bt709"), "\(description)")
      bench.go(to: GST_STATE_NULL)
    }
  }
}
