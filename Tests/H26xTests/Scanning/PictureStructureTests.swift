// SPDX-License-Identifier: MPL-2.0

import H26x
import Testing

/// `pic_struct` in both codecs: how many clock timestamps a picture has, and for how many fields it is shown.
@Suite struct PictureStructureTests {
  /// H.264 Table D-1.
  @Test func describesH264Structures() {
    typealias Structure = H264.PictureTiming.Structure
    #expect(Structure.allCases.map(\.rawValue) == Array(0...8))
    #expect(Structure.allCases.map(\.clockTimestampCount) == [1, 1, 1, 2, 2, 3, 3, 2, 3])
    #expect(Structure.allCases.map(\.fieldPeriods) == [2, 1, 1, 2, 2, 3, 3, 4, 6])
  }

  /// H.265 Table D.2; reserved values are shown as frames.
  @Test func describesH265Structures() {
    let all = (UInt8(0)..<16).map { H265.PictureTiming.Structure(rawValue: $0) }
    #expect(all.map(\.fieldPeriods) == [2, 1, 1, 2, 2, 3, 3, 4, 6, 1, 1, 1, 1, 2, 2, 2])
    #expect(all.filter(\.isField).map(\.rawValue) == [1, 2, 9, 10, 11, 12])
    #expect(all.filter { $0.isTopFirst == true }.map(\.rawValue) == [1, 3, 5, 9, 11])
    #expect(all.filter { $0.isTopFirst == false }.map(\.rawValue) == [2, 4, 6, 10, 12])
    #expect(all.filter { $0.isSecondField == true }.map(\.rawValue) == [9, 10])
    #expect(all.filter { $0.isSecondField == false }.map(\.rawValue) == [11, 12])
    #expect(H265.PictureTiming.Structure(rawValue: 0xF3) == .topBottom)
  }

  /// A message has at most three clock timestamps.
  @Test func boundsClockTimestamps() {
    let four = H265.TimeCode(clockTimestamps: [nil, nil, nil, nil])
    #expect(four.payload() == [0b1100_0100])
    #expect(H265.TimeCode(clockTimestamps: [nil, nil]).payload() == [0b1000_1000])
  }
}
