// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

// An encoder of a user's own, whole: a picture's "code" is its number and its samples; every tenth is a keyframe.

private final class RawEncoder: VideoEncoder {
  private var count: UInt32 = 0

  override class var padTemplates: [PadTemplate] {
    [.sink("video/x-raw, format=GRAY8"), .source("video/x-test-raw")]
  }

  override func prepareToStream() { count = 0 }

  override func setFormat(_ state: borrowing VideoCodecState) -> Bool {
    let output = setOutputState(caps: Caps(mediaType: "video/x-test-raw"), reference: state)
    return output != nil
  }

  override func handleFrame(_ frame: consuming VideoCodecFrame) throws(FlowError) {
    guard var code = Buffer(copying: [UInt8(truncatingIfNeeded: count)].span),
      let picture = frame.withInput({ $0.share() })
    else { return try drop(frame) }
    code.append(picture)
    frame.setOutput(code)
    frame.isSyncPoint = count % 10 == 0
    count += 1
    try finish(frame)
  }
}

@Suite struct RawEncoderTests {
  @Test func picturesComeOutWithTheirTimes() async throws {
    Harness.initialise()
    RawEncoder.register(as: "testrawencoder", typeName: "GstTestRawEncoder")
    let pipeline = try Pipeline(
      """
      videotestsrc num-buffers=12 ! video/x-raw,format=GRAY8,width=4,height=4,framerate=10/1 ! testrawencoder \
      ! appsink name=out sync=false
      """)
    let samples = try pipeline.appSink("out")
    try await pipeline.play()
    var keyframes: [Int] = []
    var count = 0
    var first: ClockTime?
    for try await sample in samples {
      if first == nil { first = sample.pts }
      #expect(sample.size == 17 && sample.caps?.mediaType == "video/x-test-raw")
      #expect((sample.pts ?? .zero) - (first ?? .zero) == .seconds(UInt64(count), times: 1, over: 10))
      if !sample.attributes.flags.contains(.deltaUnit) { keyframes.append(count) }
      count += 1
    }
    #expect(count == 12 && keyframes == [0, 10])
    await pipeline.stop()
  }
}
