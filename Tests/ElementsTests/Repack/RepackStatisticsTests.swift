// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import Testing

private typealias Stream = RepackStream

/// `stats`, accept-caps queries, and a second run.
@Suite(.serialized) struct RepackStatisticsTests {
  private let idr = Stream.slice(0, isIDR: true)
  private let sets = [Stream.sps(), Stream.pps()]

  @Test func bytesAreCountedInAndOut() throws {
    let first = Stream.annexB(sets + [idr], startCode: 3)
    let second = Stream.annexB([Stream.slice(1)])
    // Passed through, converted, and held for parameter sets.
    let passed = try Harness.repack(to: "byte-stream")
    passed.setInputCaps(Stream.caps("byte-stream"))
    #expect(passed.push(first) == 0)
    #expect(passed.statistic("bytes-in") == first.count && passed.statistic("bytes-out") == first.count)
    #expect(passed.statistic("untouched") == 1)

    let converted = try Harness.repack(to: "avc")
    converted.setInputCaps(Stream.caps("byte-stream"))
    #expect(converted.push(second) == 0)
    #expect(converted.statistic("bytes-in") == second.count && converted.statistic("bytes-out") == 0)
    #expect(converted.push(first) == 0)
    #expect(converted.push(second) == 0)
    #expect(converted.statistic("bytes-in") == first.count + 2 * second.count)
    let lengths = Stream.lengthPrefixed([idr]).count + Stream.lengthPrefixed([Stream.slice(1)]).count
    #expect(converted.statistic("bytes-out") == lengths)
    #expect(converted.statistic("copied") == 1 && converted.statistic("in-place") == 1)
    #expect(converted.statistic("untouched") == 0)
  }

  /// Accept-caps refuses other codecs. Faulty caps of this codec are accepted, and are an error when they come.
  @Test func acceptCapsRefusesOtherStreams() throws {
    let harness = try Harness.repack(to: "byte-stream")
    harness.play()
    let pad = try unsafe #require(gst_element_get_static_pad(harness.element, "sink"))
    defer { unsafe gst_object_unref(pad) }
    func accepts(_ text: String) throws -> Bool {
      let caps = try unsafe #require(gst_caps_from_string(text))
      defer { unsafe gst_caps_unref(caps) }
      return unsafe gst_pad_query_accept_caps(pad, caps) != 0
    }
    for text in ["video/x-h265, stream-format=byte-stream", "video/x-raw", "audio/mpeg, stream-format=raw"] {
      #expect(try !accepts(text), "\(text)")
    }
    for text in [
      "video/x-h264, stream-format=byte-stream, alignment=au", "video/x-h264, stream-format=avc", "video/x-h264",
    ] {
      #expect(try accepts(text), "\(text)")
    }
  }

  /// Start codes inside slices are replaced in the first slices of a stream. Later slices are searched only where
  /// the output is length-prefixed.
  @Test(arguments: ["byte-stream", "avc3"]) func searchesLaterSlicesOnlyForLengthPrefixedOutput(format: String) throws {
    let harness = try Harness.repack("insert-parameter-sets=never", to: format)
    harness.setInputCaps(Stream.caps("avc", codecData: Stream.avcC([sets[0]], pps: [sets[1]])))
    let slices = [Stream.slice(1), Stream.slice(1, firstMacroblock: 2)]
    let glued = Stream.lengthPrefixed([slices[0] + [0, 0, 1] + slices[1]])
    let whole = format == "avc3" ? Stream.lengthPrefixed(slices) : Stream.annexB(slices)
    for count in [0, 40, 99] {
      for _ in 0..<count {
        #expect(harness.push(Stream.lengthPrefixed([Stream.slice(2)])) == 0)
        _ = try harness.pullBytes()
      }
      #expect(harness.push(glued) == 0)
      #expect(try harness.pullBytes() == whole, "behind \(count)")
    }
    for _ in 0..<100 {
      #expect(harness.push(Stream.lengthPrefixed([Stream.slice(2)])) == 0)
      _ = try harness.pullBytes()
    }
    #expect(harness.push(glued) == 0)
    #expect(try harness.pullBytes() == (format == "avc3" ? whole : Stream.annexB([slices[0] + [0, 0, 1] + slices[1]])))
    // Other NAL units are always searched.
    #expect(harness.push(Stream.lengthPrefixed([Stream.sei + [0, 0, 0, 1] + slices[0]])) == 0)
    let both = [Stream.sei, slices[0]]
    #expect(try harness.pullBytes() == (format == "avc3" ? Stream.lengthPrefixed(both) : Stream.annexB(both)))
  }

  @Test func secondRunEqualsTheFirst() throws {
    for (format, alignment) in [("avc", "au"), ("avc3", "au"), ("byte-stream", "nal")] {
      var runs: [[[UInt8]]] = []
      var states: [String] = []
      let harness = try Harness.repack(to: format, alignment)
      for _ in 0..<2 {
        harness.play()
        harness.push(unsafe Event(owning: gst_event_new_stream_start("stream")))
        harness.setInputCaps(Stream.caps("byte-stream", "nal"))
        for unit in [Stream.slice(1)] + sets + [idr, Stream.slice(1), Stream.slice(2)] {
          #expect(harness.push(Stream.annexB([unit])) == 0)
        }
        harness.endOfStream()
        var output: [[UInt8]] = []
        while let buffer = harness.tryPull() { output.append(try buffer.copiedBytes()) }
        while harness.tryPullEvent() != nil {}
        runs.append(output)
        states.append(harness.text("stats"))
        unsafe gst_element_set_state(harness.element, GST_STATE_READY)
      }
      #expect(runs[0] == runs[1] && states[0] == states[1] && !runs[0].isEmpty)
    }
  }
}
