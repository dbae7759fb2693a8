// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

// An encoder of a user's own, whole: a picture's "code" is its number and its samples; every tenth is a keyframe, and
// each that is requested.

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
    frame.isSyncPoint = count % 10 == 0 || frame.isKeyframeRequested
    count += 1
    try finish(frame)
  }
}

@Suite struct RawEncoderTests {
  @Test func keepsTimesOfPictures() async throws {
    try RawEncoder.register(as: "testrawencoder", typeName: "GstTestRawEncoder")
    let source = "videotestsrc num-buffers=12 ! video/x-raw,format=GRAY8,width=4,height=4,framerate=10/1"
    let pictures = try await samples(of: "\(source) ! testrawencoder")
    #expect(pictures.allSatisfy { $0.size == 17 && $0.caps?.mediaType == "video/x-test-raw" })
    let first = try #require(pictures.first?.pts)
    #expect(pictures.map { ($0.pts ?? .zero) - first } == (0..<12).map { ClockTime.seconds($0, times: 1, over: 10) })
    #expect(pictures.indices.filter { !pictures[$0].attributes.flags.contains(.deltaUnit) } == [0, 10])
  }
}
