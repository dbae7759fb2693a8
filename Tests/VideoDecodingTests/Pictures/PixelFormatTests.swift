// SPDX-License-Identifier: MPL-2.0
import Testing

@testable import VideoDecoding

/// Bytes and rows of every format, in pictures whose chroma has a half sample left over.
@Suite struct PixelFormatTests {
  @Test(arguments: [
    ("gray", [5], [3]),
    ("yuv420p", [5, 3, 3], [3, 2, 2]), ("yuv422p", [5, 3, 3], [3, 3, 3]),
    ("yuv444p", [5, 5, 5], [3, 3, 3]), ("gbrp", [5, 5, 5], [3, 3, 3]), ("nv12", [5, 6], [3, 2]),
  ])
  func describesPlanesOfEveryFormat(_ name: String, _ rowByteCounts: [Int], _ rowCounts: [Int]) throws {
    // The deeper ones are named by their bits, and take two bytes a sample.
    let deeper = ["yuv420p", "yuv422p", "yuv444p", "gbrp"].contains(name) ? [9, 10, 12, 14] : []
    for depth in [8] + deeper {
      let format = try #require(PixelFormat(rawValue: depth == 8 ? name : "\(name)\(depth)le"))
      let bytes = depth == 8 ? 1 : 2
      #expect(format.bitDepth == depth && format.bytesPerSample == bytes)
      #expect(format.planeCount == rowCounts.count)
      for plane in rowCounts.indices {
        #expect(format.rowByteCount(plane: plane, width: 5) == rowByteCounts[plane] * bytes)
        #expect(format.rowCount(plane: plane, height: 3) == rowCounts[plane])
      }
      for plane in [-1, rowCounts.count] {
        #expect(format.rowByteCount(plane: plane, width: 5) == 0 && format.rowCount(plane: plane, height: 3) == 0)
      }
    }
  }

  @Test func p010HasPlanesOfNV12WithTwoBytes() {
    #expect(PixelFormat.p010.bitDepth == 10 && PixelFormat.p010.planeCount == 2)
    for plane in 0...1 {
      #expect(PixelFormat.p010.rowByteCount(plane: plane, width: 5) == [10, 12][plane])
      #expect(PixelFormat.p010.rowCount(plane: plane, height: 3) == [3, 2][plane])
    }
    for format in PixelFormat.allCases { #expect((format.semiPlanar ?? format).planar == format.planar) }
  }

  /// A crop or a size from outside is no reason to trap.
  @Test func clampsExtremeSides() {
    for format in PixelFormat.allCases {
      for plane in 0..<format.planeCount {
        let most = Int(Int32.max)
        #expect(format.rowByteCount(plane: plane, width: .max) == format.rowByteCount(plane: plane, width: most))
        #expect(format.rowCount(plane: plane, height: .max) == format.rowCount(plane: plane, height: most))
        #expect(format.rowByteCount(plane: plane, width: .min) == 0 && format.rowCount(plane: plane, height: .min) == 0)
      }
    }
  }

  @Test func listsEveryFormat() { #expect(PixelFormat.allCases.count == 7 + 4 * 4) }
}
