// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import HarnessSupport
import Synchronization
import Testing

/// New caps or the end of the stream that reach a decoder on the same thread while it pushes. (A flush may not:
/// the base class would free the frame that it is pushing.)
@Suite(.serialized) struct H264DecodeReentranceTests {
  init() { #expect(Registration.succeeded) }

  /// An event that is pushed into the decoder inside one of its own pushes.
  enum Intrusion: CaseIterable, Sendable {
    case otherCaps, otherPackaging, endOfStream
  }

  /// After the next flush the stream is decoded completely.
  @Test(arguments: Intrusion.allCases, [1, 2, 7])
  func decodesCompletelyAfterAnInterruptedPush(by intrusion: Intrusion, at place: Int) throws {
    let stream = try LifeStreams.byteStream("clip.h264")
    let other = try LifeStreams.avc("clip.h264")
    for element in ["swifth264dec thread-type=none", "swifth264dec max-threads=3 thread-type=frame"] {
      let pushes = Counter()
      let bench = try PadBench(element, output: "video/x-raw", records: true) { bench, moment in
        guard case .buffer = moment else { return }
        pushes.increment()
        guard pushes.value == place else { return }
        switch intrusion {
        case .otherCaps: bench.begin(caps: stream.caps + ", framerate=30/1")
        case .otherPackaging: bench.begin(caps: other.caps)
        case .endOfStream: bench.end()
        }
      }
      bench.go(to: GST_STATE_PLAYING)
      bench.begin(caps: stream.caps)
      for (index, unit) in stream.accessUnits.enumerated() { bench.push(unit, pts: UInt64(index) * 40_000_000) }
      let before = bench.output.count
      #expect(before >= place)
      bench.flush()
      bench.begin(caps: stream.caps)
      for (index, unit) in stream.accessUnits.enumerated() {
        #expect(bench.push(unit, pts: UInt64(index) * 40_000_000) == 0)
      }
      bench.end()
      #expect(bench.output.count == before + Clip.frameCount)
      bench.go(to: GST_STATE_NULL)
    }
  }

  /// The second run of an element gives the same pictures, properties and statistics.
  @Test func secondRunEqualsTheFirst() throws {
    let stream = try LifeStreams.byteStream("clip.h264")
    let bench = try PadBench("swifth264dec max-threads=2", output: "video/x-raw", records: true)
    var runs: [[PadBench.Output]] = []
    for _ in 0..<3 {
      let before = bench.output.count
      bench.go(to: GST_STATE_PLAYING)
      bench.begin(caps: stream.caps)
      for (index, unit) in stream.accessUnits.enumerated() { bench.push(unit, pts: UInt64(index) * 40_000_000) }
      bench.end()
      runs.append(Array(bench.output.dropFirst(before)))
      bench.go(to: GST_STATE_READY)
    }
    #expect(runs[0].count == Clip.frameCount)
    #expect(runs[1] == runs[0] && runs[2] == runs[0])
  }
}
