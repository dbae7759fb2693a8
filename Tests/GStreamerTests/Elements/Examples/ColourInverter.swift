// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

// A video filter of a user's own, whole: every sample becomes its opposite.

private final class ColourInverter: VideoFilter {
  override class var padTemplates: [PadTemplate] {
    [.sink("video/x-raw, format={ I420, GRAY8 }"), .source("video/x-raw, format={ I420, GRAY8 }")]
  }

  override func changePicture(_ picture: inout VideoFrameMap) throws(FlowError) {
    for plane in 0..<picture.planeCount {
      for row in 0..<picture.rowCount(ofPlane: plane) {
        var samples = picture.mutableRow(row, ofPlane: plane)
        for column in samples.indices { samples[column] = ~samples[column] }
      }
    }
  }
}

@Suite(.serialized) struct ColourInverterTests {
  /// Twice is the same again; odd sizes have rows that are padded.
  @Test(arguments: ["GRAY8", "I420"]) func whatIsInvertedTwiceIsAsBefore(format: String) async throws {
    Harness.initialise()
    ColourInverter.register(as: "testcolourinverter", typeName: "GstTestColourInverter")
    func rows(_ filters: String) async throws -> [[UInt8]] {
      let pipeline = try Pipeline(
        "videotestsrc num-buffers=1 ! video/x-raw,format=\(format),width=37,height=5 \(filters) ! appsink name=out")
      let samples = try pipeline.appSink("out")
      try await pipeline.play()
      var rows: [[UInt8]] = []
      for try await sample in samples {
        let picture = try sample.mapVideo()
        for plane in 0..<picture.planeCount {
          for row in 0..<picture.rowCount(ofPlane: plane) {
            let span = picture.row(row, ofPlane: plane)
            rows.append(span.indices.map { span[$0] })
          }
        }
      }
      await pipeline.stop()
      return rows
    }
    let plain = try await rows("")
    let widths: [Int] = Array(repeating: 37, count: 5) + Array(repeating: 19, count: format == "I420" ? 6 : 0)
    #expect(plain.map(\.count) == widths)
    let opposite = plain.map { row in row.map { sample in ~sample } }
    #expect(try await rows("! testcolourinverter") == opposite)
    #expect(try await rows("! testcolourinverter ! testcolourinverter") == plain)
  }
}
