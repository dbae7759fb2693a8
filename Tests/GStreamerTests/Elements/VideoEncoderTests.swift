// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

/// Outputs the first bytes of each picture, and records which methods were called.
private final class AskedEncoder: VideoEncoder {
  static let asked = Locked<Set<String>>([])

  override class var padTemplates: [PadTemplate] {
    [.sink("video/x-raw, format=GRAY8"), .source("video/x-test-asked")]
  }

  private func note(_ call: String) { Self.asked.withLock { _ = $0.insert(call) } }

  override func setFormat(_ state: borrowing VideoCodecState) -> Bool {
    let output = setOutputState(caps: Caps(mediaType: "video/x-test-asked"), reference: state)
    return output != nil && negotiateOutput()
  }
  override func negotiate() -> Bool {
    note("negotiate")
    return super.negotiate()
  }
  override func decideAllocation(_ query: borrowing Query) -> Bool {
    note("decide \(query.kind)")
    return super.decideAllocation(query)
  }
  override func proposeAllocation(_ query: borrowing Query) -> Bool {
    note("propose \(query.kind)")
    return super.proposeAllocation(query)
  }
  override func sinkQuery(_ query: borrowing Query) -> Bool {
    note("sink \(query.kind)")
    return super.sinkQuery(query)
  }
  override func sourceQuery(_ query: borrowing Query) -> Bool {
    note("source \(query.kind)")
    return super.sourceQuery(query)
  }

  override func handleFrame(_ frame: consuming VideoCodecFrame) throws(FlowError) {
    guard inputSegment.isTime, let output = outputState, output.info.frameRate == Fraction(25, 1),
      var code = allocateOutputBuffer(size: 3)
    else { return try drop(frame) }
    do {
      var map = try code.mapForWriting()
      var bytes = map.bytes
      for index in bytes.indices { bytes[index] = 7 }
    }
    frame.setOutput(code)
    try finish(frame)
  }
}

@Suite struct VideoEncoderTests {
  @Test func queriesReachItsMethods() async throws {
    Harness.initialise()
    AskedEncoder.register(as: "testaskedencoder", typeName: "GstTestAskedEncoder")
    let source = "videotestsrc num-buffers=2 ! video/x-raw,format=GRAY8,width=4,height=4,framerate=25/1"
    let pictures = try await samples(of: "\(source) ! testaskedencoder")
    for picture in pictures { #expect(try picture.copiedBytes() == [7, 7, 7]) }
    #expect(pictures.count == 2)
    let asked = AskedEncoder.asked.snapshot
    #expect(
      asked.isSuperset(of: ["negotiate", "decide allocation", "propose allocation", "sink caps", "source latency"]),
      "\(asked)")
  }
}
