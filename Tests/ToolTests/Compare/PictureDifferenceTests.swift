// SPDX-License-Identifier: MPL-2.0
import GStreamer
import Testing

@testable import Containers
@testable import Tool

@Suite struct PictureDifferenceTests {
  /// A picture of one value in luma; chroma is 0.
  private static func picture(_ format: VideoFormat, luma: Int) throws -> Sample {
    let info = try #require(VideoInfo(format: format, width: 16, height: 16))
    var bytes = [UInt8](repeating: 0, count: info.size)
    for index in 0..<256 {
      bytes[2 * index] = UInt8(luma & 255)
      bytes[2 * index + 1] = UInt8(luma >> 8)
    }
    guard let buffer = Buffer(copying: bytes.span) else { throw FlowError.error }
    return Sample(buffer, caps: info.caps())
  }

  /// P010 has the ten bits of a sample in the higher bits of two bytes: the same difference has the same PSNR.
  @Test func measuresTheSameDifferenceInEachLayout() throws {
    Runtime.initialise()
    let formats: [(name: String, shift: Int)] = [("I420_10LE", 0), ("P010_10LE", 6)]
    for (name, shift) in formats {
      let format = try #require(VideoFormat(name: name))
      let one = try Self.picture(format, luma: 500 << shift)
      let other = try Self.picture(format, luma: 501 << shift)
      let difference = try PictureDifference(one, other, number: 0)
      // 20 log10(1023)
      #expect(difference.summary.contains(" 60.20 dB"), "\(name): \(difference.summary)")
    }
  }
}
