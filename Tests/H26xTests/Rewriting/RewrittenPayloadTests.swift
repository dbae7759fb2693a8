// SPDX-License-Identifier: MPL-2.0

import TestSupport
import Testing

@testable import H26x

/// Payloads whose bits move, compared with copying bit by bit.
@Suite struct RewrittenPayloadTests {
  /// The payload without emulation prevention bytes, in bits.
  private func bits(_ nalUnit: [UInt8], from start: Int) -> [Bool] {
    var reader = BitReader(nalUnit.span, from: 1)
    var bits: [Bool] = []
    while let bit = try? reader.flag("bit") { bits.append(bit) }
    return Array(bits.dropFirst(start - 8))
  }

  /// The same as ``RewrittenPayload``, by the writer for single bits.
  private func expected(_ front: [Bool], _ nalUnit: [UInt8], from start: Int) -> [UInt8] {
    let rest = bits(nalUnit, from: start)
    var writer = BitWriter()
    for bit in front { writer.flag(bit) }
    let isInPlace = (front.count - start) & 7 == 0
    guard !isInPlace, let stop = rest.lastIndex(of: true) else {
      for bit in rest { writer.flag(bit) }
      return [nalUnit[0]] + writer.bytes
    }
    for bit in rest[...stop] { writer.flag(bit) }
    writer.align()
    return [nalUnit[0]] + writer.bytes
  }

  private func rewritten(_ front: [Bool], _ nalUnit: [UInt8], from start: Int) throws(BitstreamError) -> [UInt8] {
    var writer = BitWriter(addsEmulationPrevention: false)
    for bit in front { writer.flag(bit) }
    var output = [nalUnit[0]]
    try RewrittenPayload(of: nalUnit.span, headerLength: 1).append(writer, thenFrom: start, to: &output)
    return output
  }

  /// The NAL unit of these bytes with emulation prevention.
  private func nalUnit(_ payload: [UInt8]) -> [UInt8] {
    var writer = BitWriter()
    writer.u(8, 0x41)
    writer.append(payload)
    return writer.bytes
  }

  /// Zeros at every place, next to every value that decides on emulation prevention, moved by 0 to 7 bits.
  @Test func emulationPreventionIsRedoneAtEveryPlaceAndShift() throws {
    for start in [8, 11, 16, 23] {
      for length in 0...9 {
        let front = (0..<length).map { _ in false }
        for zeros in 1...5 {
          for place in 0..<14 {
            for value: UInt8 in [0x01, 0x02, 0x03, 0x04, 0x10, 0x30, 0x80] {
              var payload = [UInt8](repeating: 0x55, count: 20)
              for index in place..<place + zeros { payload[index] = 0 }
              payload[place + zeros] = value
              let unit = nalUnit(payload)
              try #require(try rewritten(front, unit, from: start) == expected(front, unit, from: start))
            }
          }
        }
      }
    }
  }

  @Test func dataOfEmulationPreventionComesOutRight() throws {
    for pattern in [[0, 0, 3], [0, 0, 0], [0, 0, 1], [0, 3], [0, 0, 2, 0]] as [[UInt8]] {
      for count in [1, 2, 3, 7, 8, 9, 30, 31, 32, 33, 100] {
        let unit = nalUnit((0..<count).map { pattern[$0 % pattern.count] } + [0x80])
        for start in 8...16 {
          for length in 0..<16 {
            let front = (0..<length).map { $0 % 5 == 0 }
            try #require(try rewritten(front, unit, from: start) == expected(front, unit, from: start))
          }
        }
      }
    }
  }

  @Test func randomDataComesOutRight() throws {
    var random = SeededGenerator(state: 1)
    for _ in 0..<(TestScope.isExhaustive ? 20_000 : 2000) {
      let payload: [UInt8] = (0..<random.below(300)).map { _ in random.one(of: [0, 0, 0, 1, 2, 3, 4, 0x40, 0xFF]) }
      let unit = nalUnit(payload + [0x20])
      let start = 8 + random.below(8 * unit.count - 8)
      let front = (0..<random.below(40)).map { _ in random.oneIn(4) }
      guard bits(unit, from: start).contains(true) else { continue }
      let output = try rewritten(front, unit, from: start)
      try #require(output == expected(front, unit, from: start))
    }
  }

  /// `cabac_zero_word`s (7.3.2.8) stay behind data that moves, and behind data that does not.
  @Test func zeroWordsStay() throws {
    let unit: [UInt8] = [0x41, 0x12, 0x34, 0x80, 0, 0, 3, 0, 0, 3]
    #expect(try rewritten([true], unit, from: 9) == [0x41, 0x92, 0x34, 0x80, 0, 0, 3, 0, 0, 3])
    #expect(try rewritten([true], unit, from: 16) == [0x41, 0x9A, 0x40, 0, 0, 3, 0, 0, 3])
    // Zeros in front of them decide anew on emulation prevention.
    let zeros: [UInt8] = [0x41, 0, 0, 3, 0, 0, 3]
    let one = [Bool](repeating: false, count: 7) + [true]
    #expect(try rewritten(one, zeros, from: 16) == [0x41, 1, 0, 0, 3, 0, 3])
  }

  @Test func dataWithoutAStopBitIsAnErrorOnlyIfItMoves() throws {
    let unit: [UInt8] = [0x41, 0xFF, 0, 0]
    #expect(try rewritten([true, true], unit, from: 10) == unit)
    let error = failure { () throws(BitstreamError) in _ = try rewritten([true], unit, from: 16) }
    #expect(error == BitstreamError(.badTrailingBits, "rbsp_stop_one_bit", bitOffset: 16))
    #expect(failure { () throws(BitstreamError) in _ = try rewritten([true], unit, from: 1000) } != nil)
  }
}
