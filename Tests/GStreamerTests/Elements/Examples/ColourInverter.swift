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
  @Test(arguments: [("GRAY8", 5), ("I420", 11)]) func invertingTwiceRestores(format: String, rowCount: Int)
    async throws
  {
    try ColourInverter.register(as: "testcolourinverter", typeName: "GstTestColourInverter")
    func rows(_ filters: String) async throws -> [[UInt8]] {
      let source = "videotestsrc num-buffers=1 ! video/x-raw,format=\(format),width=37,height=5"
      let picture = try #require(try await samples(of: source + filters).first).mapVideo()
      return (0..<picture.planeCount).flatMap { plane in
        (0..<picture.rowCount(ofPlane: plane)).map { row in
          let span = picture.row(row, ofPlane: plane)
          return span.indices.map { span[$0] }
        }
      }
    }
    let plain = try await rows("")
    #expect(plain.map(\.count) == [37, 37, 37, 37, 37] + Array(repeating: 19, count: rowCount - 5))
    #expect(try await rows("! testcolourinverter") == plain.map { $0.map { sample in ~sample } })
    #expect(try await rows("! testcolourinverter ! testcolourinverter") == plain)
  }
}
