// SPDX-License-Identifier: MPL-2.0
import H26x
import Testing

/// Findings of fuzzing, each with minimal input. The files are in Tests/Fuzz/FailCases.
@Suite struct FuzzFindings {
  @Test func orderOfParameterSetsDoesNotMatter() throws {
    // The PPS has scaling lists for 4:2:0 and ends inside those that its SPS, of 4:4:4, requires.
    let pps: [UInt8] = [0x68, 0xea, 0x62, 0xd5, 0xd5] + [UInt8](repeating: 0xff, count: 20)
    let sps: [UInt8] =
      [0x67, 0xf4, 0x00, 0x1f, 0x91, 0x9b, 0x28, 0x16, 0x82, 0x7f, 0x3f, 0xff, 0xff, 0xff, 0xff]
      + [0xd5, 0xd5, 0xd5, 0xd5, 0x00, 0x5d, 0xd5, 0xd5, 0xd5, 0xd3, 0xd5, 0xd5, 0xd5, 0xd7, 0xd5, 0xcb, 0x20]
    let results = [[pps, sps], [sps, pps]].map { sets in
      Result { () throws(BitstreamError) in try FormatDescription(h264ParameterSets: sets) }
    }
    #expect(results[0] == results[1])
    guard case .failure(let error) = results[0] else {
      Issue.record("a PPS that cannot be read with its SPS was taken")
      return
    }
    #expect(error.reason == .truncated || error.reason == .valueOutOfRange || error.reason == .codeTooLong)
  }

  @Test func picturesFarApartDoNotOverflow() {
    var pictures: [TimestampGenerator.Picture] = []
    for _ in 0..<600 {
      pictures.append(TimestampGenerator.Picture(order: .min, resetsPOC: true))
      pictures.append(TimestampGenerator.Picture(order: .max, resetsPOC: false))
      pictures.append(TimestampGenerator.Picture(order: .max - 1, resetsPOC: false))
    }
    var generator = TimestampGenerator(lookAhead: Array(pictures.prefix(6)), reorderDepth: 1)
    var decoding: Int64 = 0
    for picture in pictures {
      let times = generator.next(picture)
      #expect(times.decoding >= decoding && times.presentation >= times.decoding)
      decoding = times.decoding
    }
  }
}
