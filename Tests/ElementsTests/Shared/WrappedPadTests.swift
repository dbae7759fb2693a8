// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

/// Applications that put functions of their own in front of those of our pads, as GstValidate does.
@Suite struct WrappedPadTests {
  init() { #expect(Registration.succeeded) }

  @Test(arguments: StreamCodec.allCases, ["parse", "repack", "dec"])
  func wrappedPadFunctionsDoNotChangeTheOutput(codec: StreamCodec, element: String) throws {
    let plain = try play("\(codec.element)\(element)", codec, isWrapped: false)
    let wrapped = try play("\(codec.element)\(element)", codec, isWrapped: true)
    #expect(plain.count > 5)
    #expect(wrapped == plain)
  }

  /// The checksum of each output buffer, after an empty buffer in the middle, a gap and a latency query.
  private func play(_ element: String, _ codec: StreamCodec, isWrapped: Bool) throws -> [String] {
    let harness = try Harness(element)
    if isWrapped { unsafe WrappedPads.wrap(padsOf: harness.element) }
    let clip = try RecordedStream("clip.\(codec)", as: .timedPackets)
    harness.setInputCaps(clip.caps)
    for (index, piece) in clip.pieces.enumerated() {
      #expect(harness.push(piece.buffer) == 0)
      if index == clip.pieces.count / 2 { #expect(harness.push([]) == 0) }
    }
    var result = ["\(harness.querySourceCaps().description), \(String(describing: harness.queryLatency()))"]
    harness.endOfStream()
    while let buffer = harness.tryPull() {
      result.append("\(HarnessRecording.checksum(try buffer.copiedBytes())) \(String(describing: buffer.pts))")
    }
    return result
  }
}
