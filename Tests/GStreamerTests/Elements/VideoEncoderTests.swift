// SPDX-License-Identifier: MPL-2.0
import CGStreamer
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

/// Codes a picture as "k" or "p": a keyframe where one is asked for. A header is due before the first.
private final class AskableEncoder: VideoEncoder {
  override class var padTemplates: [PadTemplate] {
    [.sink("video/x-raw, format=GRAY8"), .source("video/x-test-askable")]
  }

  override func setFormat(_ state: borrowing VideoCodecState) -> Bool {
    setMinimumPTS(.seconds(1000))
    if let header = Buffer(copying: Array("header".utf8).span) { setHeaders(header) }
    let output = setOutputState(caps: Caps(mediaType: "video/x-test-askable"), reference: state)
    return output != nil
  }

  override func handleFrame(_ frame: consuming VideoCodecFrame) throws(FlowError) {
    guard let code = Buffer(copying: Array((frame.isKeyframeRequested ? "k" : "p").utf8).span) else {
      return try drop(frame)
    }
    frame.setOutput(code)
    frame.isSyncPoint = frame.isKeyframeRequested
    frame.dts = frame.pts.map { $0 - .second }
    try finish(frame)
  }
}

@Suite struct VideoEncoderTests {
  @Test func makesKeyframesOnRequest() throws {
    Harness.initialise()
    try AskableEncoder.register(as: "testaskableencoder", typeName: "GstTestAskableEncoder")
    let harness = try Harness("testaskableencoder")
    harness.setInputCaps("video/x-raw, format=GRAY8, width=4, height=4, framerate=1/1")
    var output: [String] = []
    for number in 0..<4 as Range<UInt64> {
      if number == 2 {
        guard let request = unsafe gst_video_event_new_upstream_force_key_unit(.max, 1, 1) else { return }
        let isHandled = unsafe harness.pushUpstream(Event(owning: request))
        #expect(isHandled)
      }
      #expect(harness.push([UInt8](repeating: 0, count: 16), pts: .seconds(number)) == 0)
      while let buffer = harness.tryPull() {
        output.append(String(decoding: try buffer.copiedBytes(), as: UTF8.self))
        let (pts, dts) = (buffer.pts, buffer.dts)
        if output.last != "header" {
          #expect(pts == .seconds(1000 + number) && dts == .seconds(999 + number))
        }
      }
    }
    #expect(output == ["header", "p", "p", "header", "k", "p"])
  }

  @Test func queriesReachItsMethods() async throws {
    Harness.initialise()
    try AskedEncoder.register(as: "testaskedencoder", typeName: "GstTestAskedEncoder")
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
