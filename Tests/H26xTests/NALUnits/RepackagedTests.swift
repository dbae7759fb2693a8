// SPDX-License-Identifier: MPL-2.0
import H26x
import Testing

@Suite struct RepackagedTests {
  private let accessUnit: [UInt8] = [0, 0, 0, 1, 0x09, 0xF0, 0, 0, 1, 0x06, 5, 1, 0x80, 0, 0, 0, 1, 0x65, 0x88, 7]

  @Test func thereAndBackIsTheSame() throws {
    var repackager = Repackager(codec: .h264)
    let sample = try repackager.packaged(accessUnit.span, from: .annexB, as: .lengthPrefixed(.two))
    #expect(sample == [0, 2, 0x09, 0xF0, 0, 4, 0x06, 5, 1, 0x80, 0, 3, 0x65, 0x88, 7])
    let back = try repackager.packaged(sample.span, from: .lengthPrefixed(.two), as: .annexB)
    #expect(back == [0, 0, 0, 1, 0x09, 0xF0, 0, 0, 0, 1, 0x06, 5, 1, 0x80, 0, 0, 0, 1, 0x65, 0x88, 7])
  }

  @Test func whatIsToBeDroppedIsLeftOutAndInsertionsStandBehindTheDelimiter() throws {
    var repackager = Repackager(codec: .h264)
    repackager.drop = .h264(.sei, .fillerData)
    let sample = try repackager.packaged(
      accessUnit.span, from: .annexB, as: .lengthPrefixed(.one), inserting: [[0x67, 1]])
    #expect(sample == [2, 0x09, 0xF0, 2, 0x67, 1, 3, 0x65, 0x88, 7])
    #expect(NALUnitTypeSet.h265(.prefixSEI, .accessUnitDelimiter) == NALUnitTypeSet([39, 35]))
  }

  @Test func badInputIsAnError() throws {
    var repackager = Repackager(codec: .h265)
    #expect(throws: BitstreamError.self) {
      try repackager.packaged([0, 0, 0, 9, 1].span, from: .lengthPrefixed(.four), as: .annexB)
    }
    let long = [0, 0, 1, 0x02, 1] + [UInt8](repeating: 0x55, count: 300)
    #expect(throws: BitstreamError.self) {
      try repackager.packaged(long.span, from: .annexB, as: .lengthPrefixed(.one))
    }
    #expect(try repackager.packaged([UInt8]().span, from: .annexB, as: .lengthPrefixed(.four)).isEmpty)
  }
}
