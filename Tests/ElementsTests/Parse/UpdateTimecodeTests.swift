// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import Testing

/// The property `update-timecode` of parsers.
@Suite(.serialized) struct UpdateTimecodeTests {
  private typealias Stream = ParseStream
  private typealias Metadata = H264ParseMetadataTests

  @Test(arguments: [true, false]) func rewritesTimeCodesFromTheMetaOfTheBuffer(_ updates: Bool) throws {
    let harness = try Harness.parse(
      "update-timecode=\(updates)", from: "video/x-h264, stream-format=byte-stream, alignment=au",
      to: "stream-format=byte-stream, alignment=au")
    let before: [(type: SEIPayloadType, payload: [UInt8])] = [
      (.userDataUnregistered, [UInt8](1...20)), (.pictureTiming, try Metadata.timing(.frame, [[1, 2, 3, 4]])),
    ]
    let after = [before[0], (.pictureTiming, try Metadata.timing(.frame, [[10, 11, 12, 13]]))]
    var buffer = Buffer(copying: Metadata.timedUnit(before).span) ?? Buffer()
    buffer.addTimeCode(
      Buffer.TimeCode(
        hours: 10, minutes: 11, seconds: 12, frames: 13, frameRate: Fraction(25, 1), dropsFrames: false,
        isInterlaced: false, fieldCount: 0))
    #expect(harness.push(buffer) == 0)
    let output = try harness.pull()
    #expect(
      try output.copiedBytes() == Stream.byteStream(Stream.delimiter) + Metadata.timedUnit(updates ? after : before))
    // There is only the meta of the input buffer.
    #expect(output.timeCodes.map(\.hours) == [10])
  }
}
