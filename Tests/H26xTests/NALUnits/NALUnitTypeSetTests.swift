// SPDX-License-Identifier: MPL-2.0

import H26x
import Testing

@Suite struct NALUnitTypeSetTests {
  @Test func containsOnlyAddedTypes() {
    let none = NALUnitTypeSet()
    #expect(none.isEmpty && (0...255 as ClosedRange<UInt8>).allSatisfy { !none.contains($0) })
    for type in UInt8(0)..<64 {
      var set = none
      set.insert(type)
      #expect(!set.isEmpty && set == NALUnitTypeSet([type]))
      #expect((0...255 as ClosedRange<UInt8>).filter { set.contains($0) } == [type])
    }
    for type in UInt8(64)...255 {
      var set = none
      set.insert(type)
      #expect(set == none && NALUnitTypeSet([type]) == none)
    }
    let both = NALUnitTypeSet([1, 63]).union(NALUnitTypeSet([H264.NALUnitType.idrSlice]))
    #expect((0...255 as ClosedRange<UInt8>).filter { both.contains($0) } == [1, 5, 63])
  }
}

@Suite struct RatioTests {
  @Test func reducesRatiosToLowestTerms() {
    let most = UInt32(Int32.max)
    let cases: [(UInt32, UInt32, String?)] = [
      (0, 0, nil), (0, 1, nil), (1, 0, nil), (1, 1, "1/1"), (60000, 2002, "30000/1001"), (12, 18, "2/3"),
      (most, 1, "\(most)/1"), (most + 1, 1, nil), (1, most, "1/\(most)"), (1, most + 1, nil),
      (most + 1, 2, "1073741824/1"), (.max, .max, "1/1"), (.max, 3, "1431655765/1"),
    ]
    for (numerator, denominator, text) in cases { #expect(Ratio(numerator, denominator)?.description == text) }
  }
}
