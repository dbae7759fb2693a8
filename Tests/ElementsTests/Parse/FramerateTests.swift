// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import Testing

/// The property `framerate` of parsers.
@Suite(.serialized) struct FramerateTests {
  typealias Stream = ParseStream

  @Test func decidesTimesAndCapsOfAStreamWithoutARate() throws {
    let harness = try Harness.parse(
      "framerate=50/1", from: "video/x-h264", to: "stream-format=byte-stream, alignment=au")
    let sps = Stream.spsToOrder(rate: nil, reorder: 0)
    #expect(
      harness.push(
        Stream.byteStream(
          sps, Stream.ppsToOrder(), Stream.slice(2, number: 0, order: 0, idr: true),
          Stream.slice(0, number: 1, order: 2)))
        == 0)
    harness.endOfStream()
    _ = try harness.pull()
    let second = try harness.pull()
    #expect(second.pts == ClockTime(nanoseconds: 20_000_000))
    #expect(try harness.outputCapsText().contains("framerate=(fraction)50/1,"))
  }

  /// Buffers have no duration where the frame rate is unknown, unless the property sets one.
  @Test(arguments: [0, 50]) func givesAFileItsDuration(_ rate: Int) throws {
    var nalUnits = [ParseStream.spsToOrder(rate: nil, reorder: 0), ParseStream.ppsToOrder()]
    nalUnits.append(ParseStream.slice(2, number: 0, order: 0, idr: true, size: 400))
    for index in UInt32(1)..<100 {
      nalUnits.append(ParseStream.slice(0, number: index % 16, order: 2 * index, size: 400))
    }
    try ParserDurationTests.withFile(RepackStream.annexB(nalUnits)) { path in
      let pipeline = try QueriedPipeline("filesrc location=\(path) ! swifth264parse framerate=\(rate)/1")
      let seconds: Double? = rate == 0 ? nil : 2
      #expect(
        seconds.map { ParserDurationTests.isNear(pipeline.duration, $0, within: 0.05) } ?? (pipeline.duration == nil))
      #expect(try pipeline.tag("bitrate").map { _ in true } == seconds.map { _ in true })
      _ = try pipeline.finish()
      #expect(
        seconds.map { ParserDurationTests.isNear(pipeline.duration, $0, within: 1e-9) } ?? (pipeline.duration == nil))
    }
  }
}
