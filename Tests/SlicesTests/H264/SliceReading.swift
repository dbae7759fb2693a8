// SPDX-License-Identifier: MPL-2.0

import H26x
import Slices

// The testing macros do not support nonescapable values such as spans. These functions take arrays.

extension H264.SliceReader {
  /// Reads a slice, or its data partitions.
  mutating func read(
    _ nalUnits: [[UInt8]], _ sets: H264.ParameterSets, visitor: inout CollectingVisitor
  ) throws(SliceDamage) -> SliceExtent {
    let a = nalUnits[0]
    let b = nalUnits.count > 1 ? nalUnits[1] : []
    let c = nalUnits.count > 2 ? nalUnits[2] : []
    return try read(
      a.span, partitionB: b.span, partitionC: c.span, parameterSets: sets, visitor: &visitor)
  }

  /// The damage of a slice; nil if there is none.
  mutating func damage(_ nalUnit: [UInt8], _ sets: H264.ParameterSets) -> SliceDamage? {
    do throws(SliceDamage) {
      _ = try verify(nalUnit.span, parameterSets: sets)
      return nil
    } catch {
      return error
    }
  }
}
