// SPDX-License-Identifier: MPL-2.0

import H26x

extension H264.SliceDataReader {
  private typealias Flag = H264.MacroblockInfo.Flag

  /// Fills the edges of the grids of reference indices and vector differences, and clears their inner places.
  mutating func loadMotion() {
    for list in 0..<(traits.isB ? 2 : 1) {
      loadIndices(list)
      let origin = H264.Grid.plane &* list
      var above: UInt64 = 0
      if around.above.has(Flag.motion) {
        let edge = motion[base &+ around.aboveAddress]
        above = scaled(list == 0 ? edge.bottom0 : edge.bottom1, around.aboveFactor)
      }
      for column in 0..<4 {
        around.motion[origin &+ H264.Grid.place(column, -1)] = UInt16(
          truncatingIfNeeded: above &>> UInt64(truncatingIfNeeded: 16 &* column))
      }
      let left = right(of: around.upperLeft, around.left, list)
      let lower =
        around.lowerLeft == around.upperLeft ? left : right(of: around.lowerLeft, around.leftOfLowerHalf, list)
      for row in 0..<4 {
        let side = row < 2 ? left : lower
        around.motion[origin &+ H264.Grid.place(-1, row)] = UInt16(
          truncatingIfNeeded: side &>> UInt64(truncatingIfNeeded: 16 &* around.leftRow(row)))
        for column in 0..<4 { around.motion[origin &+ H264.Grid.place(column, row)] = 0 }
      }
    }
  }

  private mutating func loadIndices(_ list: Int) {
    let origin = 12 &* list &+ 5
    let above = around.isAboveFieldOfFrame ? around.above.indicesAbove1 : around.above.indicesAbove0
    for column in 0..<2 {
      let bit = UInt8(truncatingIfNeeded: 4 &* list &+ 2 &+ column)
      around.indices[origin &+ column &- 4] = above &>> bit & 1
      let neighbor = around.leftInfo(2 &* column)
      let left = around.isLeftFieldOfFrame ? neighbor.indicesAbove1 : neighbor.indicesAbove0
      let block = around.leftRow(2 &* column) & 2 | 1
      around.indices[origin &+ 4 &* column &- 1] = left &>> UInt8(truncatingIfNeeded: 4 &* list &+ block) & 1
      around.indices[origin &+ 4 &* column] = 0
      around.indices[origin &+ 4 &* column &+ 1] = 0
    }
  }

  /// The vector differences at the right of a macroblock.
  private func right(of address: Int, _ neighbor: H264.MacroblockInfo, _ list: Int) -> UInt64 {
    guard neighbor.has(Flag.motion) else { return 0 }
    let edge = motion[base &+ address]
    return scaled(list == 0 ? edge.right0 : edge.right1, around.leftFactor)
  }

  /// Vector differences with their vertical components by a factor of 1, 2 or 4 halves (9.3.3.1.1.7).
  private func scaled(_ edge: UInt64, _ factor: UInt16) -> UInt64 {
    if factor == 2 { return edge }
    let vertical = edge & 0xFF00_FF00_FF00_FF00
    let horizontal = edge & 0x00FF_00FF_00FF_00FF
    // Magnitudes are 70 at most.
    return horizontal | (factor == 4 ? vertical &<< 1 : vertical &>> 1) & 0xFF00_FF00_FF00_FF00
  }

  /// Keeps the vector differences at the right and at the bottom.
  mutating func storeMotion() {
    var edge = H264.EdgeMotion()
    (edge.bottom0, edge.right0) = edges(0)
    if traits.isB { (edge.bottom1, edge.right1) = edges(1) }
    motion[base &+ address] = edge
    info.flags |= Flag.motion
  }

  private func edges(_ list: Int) -> (bottom: UInt64, right: UInt64) {
    let origin = H264.Grid.plane &* list
    var (bottom, right): (UInt64, UInt64) = (0, 0)
    for index in 0..<4 {
      let shift = UInt64(truncatingIfNeeded: 16 &* index)
      bottom |= UInt64(around.motion[origin &+ H264.Grid.place(index, 3)]) &<< shift
      right |= UInt64(around.motion[origin &+ H264.Grid.place(3, index)]) &<< shift
    }
    return (bottom, right)
  }

  /// Reads a vector difference of a partition of `width` × `height` 4×4 blocks, and keeps its magnitude for neighbors.
  @inline(__always)
  mutating func readVectorDifference<Elements: H264.MacroblockElements & ~Escapable, Visitor: H264.MacroblockVisitor>(
    _ elements: inout Elements, _ visitor: inout Visitor, list: Int, column: Int, row: Int, width: Int, height: Int
  ) {
    let place = H264.Grid.plane &* list &+ H264.Grid.place(column, row)
    var (sum0, sum1) = (0, 0)
    if Elements.isArithmetic {
      let (left, above) = (around.motion[place &- 1], around.motion[place &- H264.Grid.row])
      sum0 = Int(left & 0xFF &+ above & 0xFF)
      sum1 = Int(left &>> 8 &+ above &>> 8)
    }
    let x = elements.vectorDifference(list: list, component: 0, sum: sum0)
    let y = elements.vectorDifference(list: list, component: 1, sum: sum1)
    let (horizontal, vertical) = (abs(x), abs(y))
    if Visitor.wantsValues {
      // At most 16 of each list.
      let index = Int(macroblock.vectorDifferenceCount & 31)
      macroblock.vectorDifferences[2 &* index] = Int16(truncatingIfNeeded: x)
      macroblock.vectorDifferences[2 &* index &+ 1] = Int16(truncatingIfNeeded: y)
      macroblock.vectorDifferenceSum &+= UInt32(truncatingIfNeeded: horizontal &+ vertical)
      macroblock.vectorDifferenceCount &+= 1
    }
    guard Elements.isArithmetic else { return }
    // Sums above 32 are not distinguished, not even if they are halved.
    let kept = UInt16(truncatingIfNeeded: min(horizontal, 70) | min(vertical, 70) &<< 8)
    for y in 0..<height {
      for x in 0..<width { around.motion[place &+ H264.Grid.row &* y &+ x] = kept }
    }
  }

  /// Reads a reference index of a partition of `width` × `height` 8×8 blocks.
  @inline(__always)
  mutating func readReferenceIndex<Elements: H264.MacroblockElements & ~Escapable, Visitor: H264.MacroblockVisitor>(
    _ elements: inout Elements, _ visitor: inout Visitor, list: Int, count: Int, column: Int, row: Int, width: Int,
    height: Int
  ) {
    let place = 5 &+ column &+ 4 &* row
    let index = count > 1 ? elements.referenceIndex(count: count, list: list, place: place, &around) : 0
    guard Elements.isArithmetic || Visitor.wantsValues else { return }
    for y in row..<(row &+ height) {
      for x in column..<(column &+ width) {
        let block = 4 &* list &+ 2 &* y &+ x
        let bit = UInt8(1) &<< UInt8(truncatingIfNeeded: block)
        if index > 0 { info.indicesAbove0 |= bit }
        if index > 1 { info.indicesAbove1 |= bit }
        around.indices[12 &* list &+ 5 &+ x &+ 4 &* y] = index > 0 ? 1 : 0
        if Visitor.wantsValues { macroblock.referenceIndices[block] = Int8(truncatingIfNeeded: index) }
      }
    }
  }
}
