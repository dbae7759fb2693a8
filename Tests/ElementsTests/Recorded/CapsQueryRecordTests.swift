// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import TestSupport
import Testing

/// The elements' answers to caps queries at the sink pad, by downstream's caps and by the filter.
@Suite struct CapsQueryRecordTests {
  private static let downstream = [
    "", "parsed=true, stream-format=byte-stream, alignment=nal", "parsed=true, stream-format=avc, alignment=au",
    "parsed=true, profile=high", "parsed=true, profile={main, baseline}",
    "parsed=true, stream-format=byte-stream, width=64", "parsed=true, profile=unheard",
  ]

  private static let questions: [String?] = [
    nil, "", "stream-format=avc", "stream-format=byte-stream, alignment=au, width=32", "profile=main, parsed=true",
    "width=64, height=64", "profile={constrained-baseline, main, high-10}", "stream-format=unheard",
  ]

  @Test(arguments: ["swifth264parse", "swifth265parse", "swifth264repack", "swifth265repack"])
  func sinkCapsMatchTheRecord(_ element: String) throws {
    _ = Harness.registered
    let codec: StreamCodec = element.contains("264") ? .h264 : .h265
    for downstream in Self.downstream {
      let harness = try Harness(element)
      let fields = codec.chain(
        element.hasSuffix("parse") ? downstream : downstream.replacing("parsed=true, ", with: ""))
      if !fields.isEmpty { harness.setOutputCaps("\(codec.mediaType), \(fields)") }
      harness.play()
      var answers: [String] = []
      for question in Self.questions {
        let filter = question.flatMap { text in
          Caps(parsing: text.isEmpty ? codec.mediaType : "\(codec.mediaType), \(codec.chain(text))")
        }
        let answer = harness.querySinkCaps(filter: filter)
        answers.append(answer.description)
        switch filter {
        case .some(let filter): if filter.isFixed { answers.append("\(harness.sinkAccepts(filter))") }
        case .none: break
        }
      }
      let sum = HarnessRecording.checksum(Array(answers.joined(separator: "\n").utf8)).short
      try RecordFile.elements.expect(
        "sink caps \(element) \(downstream)",
        [answers[0], answers.filter { $0.hasSuffix("e") }.joined(separator: " "), sum])
    }
  }
}
