// SPDX-License-Identifier: MPL-2.0

import H26x
import Testing

@testable import Slices

/// The tables of prefix codes against the codes that they are made of.
@Suite struct CodeTableTests {
  /// The codes of a table as text, found by looking up every pattern of `bits` bits, with the value of each.
  private func codes(
    bits count: Int, suffixBits: Int, lookUp: (_ zeros: Int, _ suffix: Int) -> (length: Int, value: Int)?
  ) -> [String: Int] {
    var codes: [String: Int] = [:]
    for pattern in 0..<(1 << count) {
      let bits = UInt32(pattern) << UInt32(32 - count)
      let zeros = min(bits.leadingZeroBitCount, count)
      let suffix = Int(truncatingIfNeeded: ((bits << UInt32(zeros)) << 1) >> UInt32(32 - suffixBits))
      guard let (length, value) = lookUp(zeros, suffix) else { continue }
      let text = String(String(pattern + 1 << count, radix: 2).suffix(count).prefix(length))
      if let known = codes[text] {
        #expect(known == value)
      } else {
        codes[text] = value
      }
    }
    return codes
  }

  /// Expects a prefix code in which no value has two codes.
  private func expectPrefixCode(_ codes: [String: Int], values: Int, unusedPatterns: Int, of bits: Int) {
    #expect(codes.count == values)
    #expect(Set(codes.values).count == values)
    let sorted = codes.keys.sorted()
    for (code, next) in zip(sorted, sorted.dropFirst()) { #expect(!next.hasPrefix(code)) }
    let used = codes.keys.reduce(0) { $0 + 1 << (bits - $1.count) }
    #expect(used == 1 << bits - unusedPatterns)
  }

  /// The unused patterns are those of Table 9-5: 0000 0000 0000 000 with 0 behind, and the like.
  @Test(arguments: [(0, 2), (128, 8), (256, 64)]) func tokensOfBlocksAreAPrefixCode(
    _ origin: Int, _ unused: Int
  ) {
    let codes = codes(
      bits: 16, suffixBits: 3,
      lookUp: { zeros, suffix in
        guard zeros < 16 else { return nil }
        let entry = Int(CoefficientTokens.blocks[origin + zeros * 8 + suffix])
        return entry == 0 ? nil : (entry >> 8, entry & 255)
      })
    expectPrefixCode(codes, values: 62, unusedPatterns: unused, of: 16)
    for value in codes.values { #expect(value & 3 <= min(3, value >> 2) && value >> 2 <= 16) }
  }

  @Test func tokensOfChromaDCAreAPrefixCode() {
    let small = codes(
      bits: 16, suffixBits: 3,
      lookUp: { zeros, suffix in
        let entry = Int(CoefficientTokens.chromaDC[min(zeros, 7) * 8 + (zeros < 7 ? suffix : 0)])
        return entry == 0 ? nil : (entry >> 8, entry & 255)
      })
    expectPrefixCode(small, values: 14, unusedPatterns: 0, of: 8)
    let large = codes(
      bits: 16, suffixBits: 3,
      lookUp: { zeros, suffix in
        guard zeros < 16 else { return nil }
        let entry = Int(CoefficientTokens.chromaDC[128 + zeros * 8 + suffix])
        return entry == 0 ? nil : (entry >> 8, entry & 255)
      })
    expectPrefixCode(large, values: 30, unusedPatterns: 7, of: 13)
  }

  @Test func zeroRunsAreCompletePrefixCodes() {
    for total in 1...15 {
      let codes = codes(
        bits: 11, suffixBits: 2,
        lookUp: { zeros, suffix in
          let entry = Int(ZeroRuns.blocks[40 * (total - 1) + 4 * min(zeros, 9) + (zeros < 9 ? suffix : 0)])
          return entry == 0 ? nil : (entry >> 4, entry & 15)
        })
      expectPrefixCode(codes, values: 17 - total, unusedPatterns: total == 1 ? 1 : 0, of: 9)
      #expect(codes.values.max() == 16 - total)
    }
    for total in 1...3 {
      let codes = codes(
        bits: 11, suffixBits: 2,
        lookUp: { zeros, suffix in
          let entry = Int(ZeroRuns.chromaDC420[40 * (total - 1) + 4 * min(zeros, 9) + (zeros < 9 ? suffix : 0)])
          return entry == 0 ? nil : (entry >> 4, entry & 15)
        })
      expectPrefixCode(codes, values: 5 - total, unusedPatterns: 0, of: 9)
    }
    for total in 1...7 {
      let codes = codes(
        bits: 11, suffixBits: 2,
        lookUp: { zeros, suffix in
          let entry = Int(ZeroRuns.chromaDC422[40 * (total - 1) + 4 * min(zeros, 9) + (zeros < 9 ? suffix : 0)])
          return entry == 0 ? nil : (entry >> 4, entry & 15)
        })
      expectPrefixCode(codes, values: 9 - total, unusedPatterns: 0, of: 9)
    }
    for left in 1...6 {
      var codes: [String: Int] = [:]
      for bits in 0..<8 {
        let entry = Int(ZeroRuns.before[8 * left + bits])
        codes[String(String(bits + 8, radix: 2).dropFirst().prefix(entry >> 4))] = entry & 15
      }
      expectPrefixCode(codes, values: left + 1, unusedPatterns: 0, of: 3)
    }
  }

  @Test func codedBlockPatternsArePermutations() {
    for column in 0..<2 {
      #expect(Set((0..<48).map { Int(H264.CodedBlockPatterns.withChroma[48 * column + $0]) }) == Set(0..<48))
      #expect(Set((0..<16).map { Int(H264.CodedBlockPatterns.lumaOnly[16 * column + $0]) }) == Set(0..<16))
    }
  }
}
