// SPDX-License-Identifier: MPL-2.0
import H26x
import TestSupport

/// Kinds of damage to NAL units.
enum Damage: String, CaseIterable {
  case drop, truncate, flip, reorder

  /// Damages NAL units of the access units at a rate; parameter sets of the first stay as they are.
  func apply(to units: [[UInt8]], rate: Double, seed: UInt64) -> [[UInt8]] {
    var generator = SeededGenerator(state: seed)
    var result: [[UInt8]] = []
    for (index, unit) in units.enumerated() {
      var damaged: [UInt8] = []
      var held: [UInt8]?
      var nalUnits = AnnexB.NALUnits(unit.span)
      while let nalUnit = nalUnits.next() {
        var bytes = [0, 0, 0, 1] + unit[nalUnit.range]
        let isSlice = 1...5 ~= unit[nalUnit.range.lowerBound] & 31
        if (index > 0 || isSlice) && Double.random(in: 0..<1, using: &generator) < rate {
          switch self {
          case .drop: bytes = []
          case .truncate: bytes.removeLast(Int.random(in: 0..<bytes.count - 4, using: &generator))
          case .flip:
            bytes[Int.random(in: 4..<bytes.count, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
          case .reorder:
            held = bytes
            bytes = []
          }
        }
        damaged += bytes
      }
      result.append(damaged + (held ?? []))
    }
    if self == .reorder {
      for index in result.indices.dropLast().dropFirst() where Double.random(in: 0..<1, using: &generator) < rate {
        result.swapAt(index, index + 1)
      }
    }
    return result.filter { !$0.isEmpty }
  }
}
