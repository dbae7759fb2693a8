// SPDX-License-Identifier: MPL-2.0
import H26x
import Testing

@testable import VideoDecoding

/// An application may change every field of a format description.
@Suite struct ExtremeFormatTests {
  @Test(arguments: [Int.min, -1, 1 << 40, Int.max], [true, false])
  func refusesImpossibleSizes(_ side: Int, _ isWidth: Bool) throws {
    var format = try streamFormat(mediaAccessUnits("clip.h264"))
    if isWidth { format.codedSize.width = side } else { format.codedSize.height = side }
    #expect(throws: DecodeError(.invalidFormatDescription)) { _ = try DecompressionSession(format: format) }
  }

  @Test(arguments: [Int.min, -1, 17, Int.max])
  func refusesImpossibleReordering(_ depth: Int) throws {
    var format = try streamFormat(mediaAccessUnits("clip.h264"))
    format.sentReorderFrames = depth
    #expect(throws: DecodeError(.invalidFormatDescription)) {
      let session = try DecompressionSession(format: format, configuration: .with { $0.threadCount = 2 })
      _ = session.latency.frames
    }
  }
}
