// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

/// The check that is also fuzzed.
@Suite struct RewrittenStreamTests {
  private static let rounds = TestScope.isExhaustive ? 200 : 20

  /// Damages bytes at a few places, most of them in parameter sets and the first slice.
  private func damage(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
    for _ in 0...random.below(8) {
      let place = random.below(random.below(3) == 0 ? bytes.count : min(bytes.count, 200))
      switch random.below(4) {
      case 0: bytes[place] = random.one(of: [0, 1, 3, 255])
      case 1: bytes[place] ^= 1 << UInt8(random.below(8))
      case 2: bytes.insert(UInt8(random.below(256)), at: place)
      default: bytes.remove(at: place)
      }
    }
  }

  private func expectNoDefect(of stream: [UInt8], seed: UInt64, _ defect: (Span<UInt8>) -> String?) {
    #expect(defect(stream.span) == nil)
    var random = SeededGenerator(state: seed)
    for _ in 0..<Self.rounds {
      var bytes = stream
      damage(&bytes, &random)
      #expect(defect(bytes.span) == nil)
    }
  }

  @Test func damagedStreamsOfH264ComeBackFromOtherIDs() throws {
    for seed in 0..<UInt64(6) {
      var random = SeededGenerator(state: seed)
      let slice = try RandomSlice(&random)
      let units = [slice.sps.nalUnit(), slice.pps.nalUnit(), slice.bytes]
      expectNoDefect(of: units.flatMap { [0, 0, 1] + $0 }, seed: seed, RewrittenStream.defectOfH264)
    }
  }

  @Test func damagedStreamsOfH265ComeBackFromOtherIDs() throws {
    for seed in 0..<UInt64(6) {
      var random = SeededGenerator(state: seed)
      var stream = RandomH265Stream(&random)
      let units = stream.parameterSets + stream.nextAccessUnit(&random)
      expectNoDefect(of: units.flatMap { [0, 0, 1] + $0 }, seed: seed, RewrittenStream.defectOfH265)
    }
  }
}
