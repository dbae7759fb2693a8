// SPDX-License-Identifier: MPL-2.0

import Testing

@testable import Slices

@Suite struct QPDistributionTests {
  @Test func weightsByArea() {
    var qp = QPDistribution()
    qp.add(20, area: 3 * 256)
    qp.add(40, area: 256)
    // 25 ± √75.
    #expect(qp.average == 25_000 && qp.deviation == 8660)
    #expect(qp.minimum == 20 && qp.maximum == 40 && qp.area == 1024)
  }

  @Test func countsNegativeValues() {
    var qp = QPDistribution()
    qp.add(-12, area: 64)
    qp.add(-11, area: 64)
    #expect(qp.average == -11_500 && qp.deviation == 500 && qp.minimum == -12 && qp.maximum == -11)
  }

  @Test func addsOthers() {
    var (whole, first, second) = (QPDistribution(), QPDistribution(), QPDistribution())
    for (index, value) in [31, 26, 22, 51, 0].enumerated() {
      whole.add(value, area: UInt64(64 << index))
      if index < 2 { first.add(value, area: UInt64(64 << index)) } else { second.add(value, area: UInt64(64 << index)) }
    }
    first.add(QPDistribution())
    first.add(second)
    #expect(first == whole)
    var empty = QPDistribution()
    empty.add(whole)
    #expect(empty == whole)
  }

  @Test func isEmptyAtFirst() {
    let qp = QPDistribution()
    #expect(qp.average == 0 && qp.deviation == 0 && qp.area == 0)
  }
}
