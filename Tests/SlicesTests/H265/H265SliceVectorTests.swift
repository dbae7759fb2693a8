// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

@testable import Slices

@Suite struct H265SliceVectorTests {
  /// Coding units as the reference tables have them.
  struct Rows: H265.CodingUnitVisitor {
    static var wantsBits: Bool { true }
    var rows: [String] = []
    /// Units whose bits by kind are not those between it and the next unit.
    var unevenUnits = 0

    mutating func visit(_ unit: borrowing H265.CodingUnit) {
      rows.append("\(unit.x),\(unit.y),\(unit.size),\(unit.qpY),\(unit.qpCb),\(unit.qpCr),\(unit.mode.rawValue)")
      if unit.bits.total > 200_000 { unevenUnits += 1 }
    }
  }

  /// A stream whose last slice has been cut, and one without parameter sets.
  static let damaged: Set = ["h265/g2b_fuzz_bit_depth_change.h265", "h265/membrane_input-10-no-vps-sps-pps.h265"]

  @Test(.enabled(if: Vectors.isAvailable), arguments: Vectors.byteStreams(codec: "hevc"))
  func slicesEndWhereTheyMust(_ file: String) throws {
    var sets = H265.ParameterSets()
    var reader = H265.SliceReader()
    var end: Int?
    var count = 0
    for unit in try Vectors.nalUnits(file) {
      let type = H265.NALUnitType(headerByte: unit[0])
      if type.isParameterSet { _ = try sets.insert(unit.span) }
      guard type.isSlice, unit[0] & 1 == 0, unit[1] >> 3 == 0 else { continue }
      count += 1
      do throws(SliceDamage) {
        let extent = try reader.verify(unit.span, parameterSets: sets)
        #expect(!Self.damaged.contains(file))
        // Slices follow one another without a gap.
        #expect(extent.firstBlock == 0 || extent.firstBlock == end)
        end = extent.endBlock
      } catch {
        #expect(Self.damaged.contains(file), "\(file), slice \(count): \(error.element) at \(error.bitOffset)")
      }
    }
    #expect(count > 0)
  }

  @Test(.enabled(if: Vectors.isAvailable), arguments: Vectors.byteStreams(codec: "hevc"))
  func codingUnitsMatchAnotherDecoder(_ file: String) throws {
    guard let lines = try Vectors.table("\(file).csv.gz") else { return }
    var expected: [Int: Set<Substring>] = [:]
    for line in lines.dropFirst() {
      let fields = line.split(separator: ",")
      guard fields.count == 9, let frame = Int(fields[0]) else { continue }
      // Frame and size of coding tree blocks are left out.
      expected[frame, default: []].insert(line.dropFirst(fields[0].count + 1).dropLast(fields[8].count + 1))
    }
    guard !Self.damaged.contains(file) else { return }
    var sets = H265.ParameterSets()
    var reader = H265.SliceReader()
    var visitor = Rows()
    var frame = -1
    func compare() {
      guard frame >= 0 else { return }
      #expect(Set(visitor.rows.map { Substring($0) }) == expected[frame] ?? [], "\(file), frame \(frame)")
      visitor.rows = []
    }
    for unit in try Vectors.nalUnits(file) {
      let type = H265.NALUnitType(headerByte: unit[0])
      if type.isParameterSet { _ = try sets.insert(unit.span) }
      guard type.isSlice, unit[0] & 1 == 0, unit[1] >> 3 == 0 else { continue }
      if H265.SliceSegmentHeader.startsPicture(unit.span) ?? false {
        compare()
        frame += 1
      }
      try reader.read(unit.span, parameterSets: sets, visitor: &visitor)
    }
    compare()
    #expect(frame + 1 == expected.count && visitor.unevenUnits == 0)
  }
}
