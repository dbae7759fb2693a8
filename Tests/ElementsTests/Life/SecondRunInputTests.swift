// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import HarnessSupport
import Testing

/// An element that went back to `READY` or `NULL` does the same again, whatever its input is.
@Suite struct SecondRunInputTests {
  init() { #expect(Registration.succeeded) }

  /// An element with its input and output.
  struct Case: Sendable, CustomTestStringConvertible {
    var codec: StreamCodec
    var element: String
    var input: RecordedInput
    /// The caps that downstream accepts.
    var output: String
    var hasFrameRate: Bool

    var testDescription: String {
      "\(codec.element)\(element) \(input.rawValue) to \(output)\(hasFrameRate ? "" : ", no frame rate")"
    }

    static let all: [Case] = StreamCodec.allCases.flatMap { codec in
      ["parse", "repack", "dec"].flatMap { element in
        RecordedInput.allCases.filter { element == "parse" || $0 != .pieces }.flatMap { input in
          outputs(element, codec).flatMap { output in
            [true, false].map { Case(codec: codec, element: element, input: input, output: output, hasFrameRate: $0) }
          }
        }
      }
    }

    private static func outputs(_ element: String, _ codec: StreamCodec) -> [String] {
      element == "dec" ? ["video/x-raw"] : RecordedRun.outputs(codec).map { "\(codec.mediaType), \($0)" }
    }
  }

  @Test(arguments: Case.all) func laterRunsEqualTheFirst(_ test: Case) throws {
    let harness = try Harness("\(test.codec.element)\(test.element)")
    let recording = HarnessRecording(harness)
    harness.setLive(false)
    harness.setOutputCaps(test.output)
    let stream = try RecordedStream("open-gop.\(test.codec)", as: test.input, hasFrameRate: test.hasFrameRate)
    // A stream that differs in all that a run might leave behind.
    let other = try RecordedStream("interlaced.\(test.codec)", as: test.element == "parse" ? .pieces : .timedPackets)
    let first = play(stream, harness, recording)
    #expect(first.count > 20)
    for state in [GST_STATE_READY, GST_STATE_NULL] {
      restart(harness, through: state)
      #expect(play(stream, harness, recording) == first)
    }
    restart(harness, through: GST_STATE_READY)
    _ = play(other, harness, recording)
    restart(harness, through: GST_STATE_READY)
    #expect(play(stream, harness, recording) == first)
  }

  /// Plays a stream to its end. Returns what came out, and the latency.
  private func play(_ stream: RecordedStream, _ harness: Harness, _ recording: HarnessRecording) -> [String] {
    let before = recording.entries.count
    harness.push(unsafe Event(owning: gst_event_new_stream_start("run")))
    harness.setInputCaps(stream.caps)
    for piece in stream.pieces { harness.push(piece.buffer) }
    let latency = harness.queryLatency()?.nanoseconds ?? 0
    harness.endOfStream()
    return RunSummary(Array(recording.entries[before...])).lines + ["latency \(latency)"]
  }

  private func restart(_ harness: Harness, through state: GstState) {
    unsafe gst_element_set_state(harness.element, state)
    unsafe gst_element_set_state(harness.element, GST_STATE_PLAYING)
  }
}
