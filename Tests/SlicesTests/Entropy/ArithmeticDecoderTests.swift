// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

@testable import Slices

@Suite struct ArithmeticDecoderTests {
  private enum Symbol {
    case decision(Bool, context: Int)
    case bypass(Int, UInt32)
    case terminate(Bool)
  }

  /// Random symbols, of which long runs are all zero so that emulation prevention is needed.
  private func symbols(_ generator: inout SeededGenerator) -> [Symbol] {
    var result: [Symbol] = []
    let bias = UInt64.random(in: 1...20, using: &generator)
    for _ in 0..<Int.random(in: 1...3000, using: &generator) {
      switch UInt64.random(in: 0..<20, using: &generator) {
      case 0..<12:
        let bin = UInt64.random(in: 0..<20, using: &generator) < bias
        result.append(.decision(bin, context: Int.random(in: 0..<8, using: &generator)))
      case 12..<19:
        let count = Int.random(in: 0...32, using: &generator)
        let value = UInt32.random(in: 0...UInt32.max, using: &generator)
        let isZero = Bool.random(using: &generator)
        result.append(.bypass(count, isZero || count == 0 ? 0 : value >> UInt32(32 - count)))
      default:
        result.append(.terminate(false))
      }
    }
    result.append(.terminate(true))
    return result
  }

  @Test(arguments: 0..<200) func readsEverySymbol(_ seed: Int) {
    var generator = SeededGenerator(state: UInt64(seed) &* 977 &+ 5)
    var writer = BitWriter()
    writer.u(16, 0x4001)
    var encoder = ArithmeticEncoder(writer)
    let initial = (0..<8).map { _ in UInt8.random(in: 0..<126, using: &generator) }
    // Two parts, each of which ends at a byte.
    let parts = [symbols(&generator), symbols(&generator)]
    for part in parts {
      var contexts = initial
      for symbol in part {
        switch symbol {
        case .decision(let bin, let context): encoder.decision(bin, &contexts[context])
        case .bypass(let count, let value): encoder.bypass(count, value)
        case .terminate(let bin): encoder.terminate(bin)
        }
      }
    }
    let bytes = encoder.writer.bytes
    let bits = encoder.writer.bitCount
    var decoder = ArithmeticDecoder(bytes.span, from: 2, to: bytes.count, bitOffset: 16)
    var expectedBinCount = 0
    for part in parts {
      var contexts = initial
      var isRight = true
      for symbol in part {
        switch symbol {
        case .decision(let bin, let context):
          isRight = isRight && decoder.decision(&contexts[context]) == bin
          expectedBinCount += 1
        case .bypass(let count, let value):
          expectedBinCount += count
          if count == 1 {
            isRight = isRight && decoder.bypass() == (value == 1)
          } else {
            isRight = isRight && decoder.bypass(count) == value
          }
        case .terminate(let bin):
          isRight = isRight && decoder.terminate() == bin
          expectedBinCount += 1
        }
      }
      #expect(isRight)
      let (endsWithStopBit, isOverrun) = (decoder.endsByteWithStopBit, decoder.isOverrun)
      #expect(endsWithStopBit && !isOverrun)
      let next = decoder.nextByte
      let place = (decoder.bitOffset + 7) & ~7
      if next < bytes.count { decoder.restart(from: next, to: bytes.count, bitOffset: place) }
    }
    let (next, place) = (decoder.nextByte, (decoder.bitOffset + 7) & ~7)
    #expect(next == bytes.count && place == bits)
    let binCount = decoder.binCount
    #expect(binCount == expectedBinCount)
  }

  @Test func readsZerosBehindTheEnd() {
    let bytes: [UInt8] = [0x12, 0x34]
    var decoder = ArithmeticDecoder(bytes.span, from: 0, to: 2, bitOffset: 0)
    let atStart = decoder.isOverrun
    for _ in 0..<10_000 { _ = decoder.bypass() }
    let atEnd = decoder.isOverrun
    #expect(!atStart && atEnd)
    let nothing: [UInt8] = []
    var empty = ArithmeticDecoder(nothing.span, from: 0, to: 0, bitOffset: 0)
    var context: ContextState = 20
    for _ in 0..<100 { _ = empty.decision(&context) }
    let isOverrun = empty.isOverrun
    #expect(isOverrun)
  }

  @Test func skipsBytesWithEmulationPrevention() {
    var writer = BitWriter()
    var encoder = ArithmeticEncoder(writer)
    var context: ContextState = 30
    encoder.decision(true, &context)
    encoder.terminate(true)
    writer = encoder.writer
    writer.append([0, 0, 0, 0, 1, 0, 0, 3])
    encoder = ArithmeticEncoder(writer)
    encoder.bypass(20, 0xABCDE)
    encoder.terminate(true)
    let bytes = encoder.writer.bytes
    var decoder = ArithmeticDecoder(bytes.span, from: 0, to: bytes.count, bitOffset: 0)
    context = 30
    let first = decoder.decision(&context)
    let isEnd = decoder.terminate()
    let hasBytes = decoder.skipBytes(8)
    let value = decoder.bypass(20)
    #expect(first && isEnd && hasBytes && value == 0xABCDE)
    let hasMore = decoder.skipBytes(100)
    #expect(!hasMore)
  }
}
