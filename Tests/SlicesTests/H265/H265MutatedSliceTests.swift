// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

@testable import Slices

/// Changed slices of the vectors. Any result is right as long as nothing traps; most are damage.
@Suite(.enabled(if: Vectors.isAvailable)) struct H265MutatedSliceTests {
  private struct Units: H265.CodingUnitVisitor {
    static var wantsBits: Bool { true }
    var area = 0

    mutating func visit(_ unit: borrowing H265.CodingUnit) { area += unit.size * unit.size }
  }

  @Test(arguments: Vectors.byteStreams(codec: "hevc")) func readsChangedSlices(_ file: String) throws {
    var generator = SeededGenerator(state: UInt64(file.utf8.count))
    var sets = H265.ParameterSets()
    var slices: [[UInt8]] = []
    for unit in try Vectors.nalUnits(file) {
      let type = H265.NALUnitType(headerByte: unit[0])
      if type.isParameterSet { _ = try sets.insert(unit.span) }
      if type.isSlice, unit.count < 20_000 { slices.append(unit) }
    }
    guard sets.canReadSlices, !slices.isEmpty else { return }
    var reader = H265.SliceReader()
    for _ in 0..<Vectors.mutations {
      let bytes = changed(slices, &generator)
      var visitor = Units()
      var size = 0
      do throws(SliceDamage) {
        let extent = try reader.read(bytes.span, parameterSets: sets, visitor: &visitor)
        size = extent.blockCount
        #expect(extent.dataBits <= 8 * bytes.count && extent.endBlock == extent.firstBlock + size)
      } catch {
        #expect(error.bitOffset >= 0)
      }
      // No unit is larger than the coding tree blocks that hold it.
      #expect(size == 0 || visitor.area <= size * 4096)
    }
  }

  private func changed(_ slices: [[UInt8]], _ generator: inout SeededGenerator) -> [UInt8] {
    func below(_ count: Int) -> Int { Int.random(in: 0..<max(1, count), using: &generator) }
    var bytes = slices[below(slices.count)]
    switch below(6) {
    case 0: bytes.removeLast(below(bytes.count))
    case 1: bytes.append(contentsOf: slices[below(slices.count)].suffix(below(200)))
    case 2:
      let start = below(bytes.count)
      let value = [UInt8(0), 0xFF, UInt8(below(256))][below(3)]
      for index in start..<min(bytes.count, start + below(200)) { bytes[index] = value }
    case 3:
      let start = below(bytes.count)
      bytes.removeSubrange(start..<min(bytes.count, start + 184))
    default: for _ in 0...below(5) { bytes[below(bytes.count)] ^= 1 << UInt8(below(8)) }
    }
    return bytes
  }
}
