// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

/// Faults that damaged streams showed, each with a minimal stream.
@Suite(.serialized) struct HardeningTests {
  init() { #expect(Registration.succeeded) }

  /// The first PPS lost its last byte. Its access unit also has the only SPS, without which nothing can be decoded.
  @Test func anUnreadablePPSDoesNotDropTheSPS() throws {
    let sps: [UInt8] = [0, 0, 0, 1, 0x27, 0x42, 0xe0, 0x0c, 0x8d, 0x8d, 0x41, 0x62, 0x72]
    let pps: [UInt8] = [0, 0, 0, 1, 0x28, 0xce, 0x08, 0x15, 0xc8]
    let idr: [UInt8] = [0, 0, 0, 1, 0x25, 0xb8, 0, 4, 0, 0, 0xfe, 0x1c]
    let next: [UInt8] = [0, 0, 0, 1, 0x21, 0xb8, 0, 8, 0, 0x0b, 0xf8, 0x38]
    let harness = try Harness("swifth264parse")
    harness.setOutputCaps("video/x-h264, stream-format=byte-stream, alignment=au")
    harness.setInputCaps("video/x-h264, stream-format=byte-stream")
    #expect(harness.push(sps + pps.dropLast() + idr + pps + next) == 0)
    harness.endOfStream()
    var output: [UInt8] = []
    while let buffer = harness.tryPull() { output += try buffer.copiedBytes() }
    #expect(output.contains(sps))
    #expect(output.contains(pps))
    #expect(output.contains(next))
  }

  /// The first PPS is missing and comes again later, the SPS does not.
  @Test func aMissingPPSDoesNotDropTheSPS() throws {
    let sps: [UInt8] = [0, 0, 0, 1, 0x27, 0x42, 0xe0, 0x0c, 0x8d, 0x8d, 0x41, 0x62, 0x72]
    let pps: [UInt8] = [0, 0, 0, 1, 0x28, 0xce, 0x08, 0x15, 0xc8]
    let idr: [UInt8] = [0, 0, 0, 1, 0x25, 0xb8, 0, 4, 0, 0, 0xfe, 0x1c]
    let harness = try Harness("swifth264parse")
    harness.setOutputCaps("video/x-h264, stream-format=byte-stream, alignment=au")
    harness.setInputCaps("video/x-h264, stream-format=byte-stream")
    #expect(harness.push(sps + idr + pps + idr) == 0)
    harness.endOfStream()
    var output: [UInt8] = []
    while let buffer = harness.tryPull() { output += try buffer.copiedBytes() }
    #expect(output.contains(sps))
    #expect(output.contains(pps + idr))
  }

  /// A truncated SPS after a good one, which libavcodec would replace by it.
  @Test(arguments: ["au", "nal"]) func anUnreadableParameterSetDoesNotReplaceAGoodOne(alignment: String) throws {
    let sps: [UInt8] = [0, 0, 0, 1, 0x27, 0x42, 0xe0, 0x0c, 0x8d, 0x8d, 0x41, 0x62, 0x72]
    let pps: [UInt8] = [0, 0, 0, 1, 0x28, 0xce, 0x08, 0x15, 0xc8]
    let idr: [UInt8] = [0, 0, 0, 1, 0x25, 0xb8, 0, 4, 0, 0, 0xfe, 0x1c]
    let next: [UInt8] = [0, 0, 0, 1, 0x21, 0xb8, 0, 8, 0, 0x0b, 0xf8, 0x38]
    let (shortSPS, shortPPS) = (Array(sps.prefix(9)), Array(pps.prefix(7)))
    // With an id that no good SPS has, the truncated one may be better than none.
    let otherPPS: [UInt8] = [0, 0, 0, 1, 0x28, 0x5b]
    let harness = try Harness("swifth264parse")
    harness.setOutputCaps("video/x-h264, stream-format=byte-stream, alignment=\(alignment)")
    harness.setInputCaps("video/x-h264, stream-format=byte-stream")
    #expect(harness.push(sps + pps + idr + shortSPS + shortPPS + otherPPS + next + sps + pps + idr) == 0)
    harness.endOfStream()
    var output: [UInt8] = []
    while let buffer = harness.tryPull() { output += try buffer.copiedBytes() }
    let delimiter: [UInt8] = [0, 0, 0, 1, 9, 0xf0]
    #expect(output == delimiter + sps + pps + idr + delimiter + otherPPS + next + delimiter + sps + pps + idr)
  }
}
