// SPDX-License-Identifier: MPL-2.0
import H26x
import Testing

/// The start code search reads 64 bytes at a time: it must find what a search byte by byte finds.
@Suite struct StartCodeSearchTests {
  private func plainSearch(_ bytes: [UInt8], from start: Int) -> Int? {
    guard start >= 0, bytes.count >= 3 else { return nil }
    var index = start
    while index <= bytes.count - 3 {
      if bytes[index] == 0, bytes[index + 1] == 0, bytes[index + 2] == 1 { return index }
      index += 1
    }
    return nil
  }

  @Test func findsAStartCodeAtAnyOffset() {
    for fill: UInt8 in [0, 1, 3, 0x80, 0xFF] {
      for count in [3, 4, 64, 65, 66, 67, 68, 130, 200] {
        for place in 0...(count - 3) {
          var bytes = [UInt8](repeating: fill, count: count)
          bytes.replaceSubrange(place..<(place + 3), with: [0, 0, 1])
          for start in [0, 1, place, place + 1] where start < count {
            #expect(AnnexB.startCode(in: bytes.span, from: start) == plainSearch(bytes, from: start))
          }
        }
      }
    }
  }

  /// All is searched when no more comes; else a start code may begin in the last two bytes.
  @Test(arguments: [(false, 8), (true, 10)]) func reportsHowFarItSearched(_ isComplete: Bool, _ searched: Int) {
    let bytes: [UInt8] = [0, 0, 1, 0x41, 1, 2, 3, 4, 5, 6]
    var scanner = AnnexB.Scanner()
    let found = scanner.next(in: bytes.span, isComplete: isComplete)
    #expect(found?.range == (isComplete ? 3..<10 : nil))
    #expect(scanner.searchedOffset == searched && scanner.pendingStartCode == (isComplete ? nil : 0))
  }

  @Test func findsTheSameStartCodesAsBytewiseSearch() {
    var state: UInt64 = 7
    for round in 0..<3000 {
      let values = UInt64(round % 5) + 2
      let bytes: [UInt8] = (0..<(round % 300)).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8((state >> 33) % (values * values * values))
      }
      var start = 0
      while let found = AnnexB.startCode(in: bytes.span, from: start) {
        #expect(found == plainSearch(bytes, from: start))
        start = found + 1
      }
      #expect(plainSearch(bytes, from: start) == nil)
    }
  }
}
