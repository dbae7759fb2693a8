// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

/// Truncated and damaged slices and parameter sets are rewritten to something, or are errors.
@Suite struct DamagedSliceTests {
  private static let seeds: UInt64 = TestScope.isExhaustive ? 1000 : 100

  /// Rewrites the bytes if possible, each byte missing from the end, and with random bytes replaced.
  private func damage(
    _ bytes: [UInt8], _ random: inout SeededGenerator, _ rewrite: ([UInt8]) throws(BitstreamError) -> [UInt8]
  ) {
    for count in bytes.indices { _ = try? rewrite(Array(bytes[..<count])) }
    for _ in 0..<20 {
      var bytes = bytes
      for _ in 0...random.below(3) {
        let place = random.below(bytes.count)
        bytes[place] = UInt8(random.one(of: [0, 3, random.below(256)]))
      }
      _ = try? rewrite(bytes)
    }
  }

  @Test func slicesOfH264NeverTrap() throws {
    for seed in 0..<Self.seeds {
      var random = SeededGenerator(state: seed)
      let slice = try RandomSlice(&random)
      let rewriter = try H264.SliceRewriter(slice.sets, picture: [0: 200], sequence: [0: 9])
      damage(slice.bytes, &random) { (bytes) throws(BitstreamError) in
        try rewriter.rewritten(bytes) { (values: inout H264.SliceHeaderValues) throws(BitstreamError) in
          values.references.removeOperations { index, _ in index == 0 }
        }
      }
    }
  }

  /// What was truncated is an error, or as long as before.
  @Test func aTruncatedHeaderIsAnError() throws {
    for seed in 0..<Self.seeds {
      var random = SeededGenerator(state: seed)
      let slice = try RandomSlice(&random)
      let rewriter = try H264.SliceRewriter(from: slice.sets, to: slice.sets)
      let end = try H264.WholeSliceHeader(nalUnit: slice.bytes.span, parameterSets: rewriter.source).dataBitOffset
      for count in 0..<min(slice.bytes.count, end / 8) {
        let cut = Array(slice.bytes[..<count])
        #expect(throws: BitstreamError.self) { try rewriter.rewritten(cut) }
      }
    }
  }

  @Test func slicesOfH265NeverTrap() throws {
    for seed in 0..<Self.seeds {
      var random = SeededGenerator(state: seed)
      var stream = RandomH265Stream(&random)
      var rewriter = H265.SliceSegmentRewriter(
        from: .init(), identifiers: .reversed(lastPicture: 63, lastSequence: 15))
      for unit in stream.parameterSets { try rewriter.source.insert(unit.span) }
      for unit in stream.nextAccessUnit(&random) {
        guard H265.NALUnitType(headerByte: unit[0]).isSlice else { continue }
        damage(unit, &random) { (bytes) throws(BitstreamError) in try rewriter.rewritten(bytes) }
      }
    }
  }

  @Test func parameterSetsNeverTrap() throws {
    var random = SeededGenerator(state: 7)
    let (h264, h265) = (
      ParameterSetIdentifiers.reversed(lastPicture: 255, lastSequence: 31),
      ParameterSetIdentifiers.reversed(lastPicture: 63, lastSequence: 15)
    )
    for _ in 0..<Self.seeds / 10 {
      let slice = try RandomSlice(&random)
      for unit in [slice.sps.nalUnit(), slice.pps.nalUnit()] {
        damage(unit, &random) { (bytes) throws(BitstreamError) in try H264.rewritten(parameterSet: bytes.span, h264) }
      }
      for unit in [H265Samples.vps, H265Samples.layeredSPS, H265Samples.pps] {
        damage(unit, &random) { (bytes) throws(BitstreamError) in try H265.rewritten(parameterSet: bytes.span, h265) }
      }
    }
  }
}
