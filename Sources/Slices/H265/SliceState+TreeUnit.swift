// SPDX-License-Identifier: MPL-2.0

internal import H26x

extension H265.SliceState {
  /// `coding_tree_unit()` (7.3.8.2).
  mutating func readTreeUnit<V: H265.CodingUnitVisitor>(
    _ engine: inout ArithmeticDecoder, _ visitor: inout V
  ) throws(H265.Stop) {
    if usesLumaOffset || usesChromaOffset { try readOffsets(&engine) }
    try readQuadtree(&engine, &visitor, x: treeX, y: treeY, log2Size: settings.log2TreeBlockSize, depth: 0)
  }

  /// `sao()` (7.3.8.3).
  private mutating func readOffsets(_ engine: inout ArithmeticDecoder) throws(H265.Stop) {
    if isLeftAvailable, engine.decision(&contexts.states[ContextIndex.offsetMerge]) { return }
    if isAboveAvailable, engine.decision(&contexts.states[ContextIndex.offsetMerge]) { return }
    var type: UInt32 = 0
    for component in 0..<(settings.chromaType == 0 ? 1 : 3) {
      guard component == 0 ? usesLumaOffset : usesChromaOffset else { continue }
      if component < 2 {
        // 0: not applied, 1: band offset, 2: edge offset.
        type = engine.bin(&contexts.states[ContextIndex.offsetType])
        if type != 0 { type &+= engine.bypassBin() }
      }
      guard type != 0 else { continue }
      let bitDepth = component == 0 ? settings.lumaBitDepth : settings.chromaBitDepth
      let maximum = (1 &<< (min(bitDepth, 10) &- 5)) &- 1
      var nonzero = 0
      for _ in 0..<4 {
        var value = 0
        while value < maximum, engine.bypass() { value &+= 1 }
        if value != 0 { nonzero &+= 1 }
      }
      if type == 1 {
        _ = engine.bypass(nonzero)
        _ = engine.bypass(5)
      } else if component < 2 {
        _ = engine.bypass(2)
      }
    }
  }

  /// `coding_quadtree()` (7.3.8.4).
  private mutating func readQuadtree<V: H265.CodingUnitVisitor>(
    _ engine: inout ArithmeticDecoder, _ visitor: inout V, x: Int, y: Int, log2Size: Int, depth: Int
  ) throws(H265.Stop) {
    let size = 1 &<< log2Size
    let isSplit: Bool
    if log2Size <= settings.log2MinimumCodingBlockSize {
      isSplit = false
    } else if x &+ size <= settings.width, y &+ size <= settings.height {
      var context = ContextIndex.splitCodingUnit
      if Int(left[(y &>> 3) & 7] & 3) > depth { context &+= 1 }
      if Int(aboveInfo(x) & 3) > depth { context &+= 1 }
      isSplit = engine.decision(&contexts.states[context])
    } else {
      isSplit = true
    }
    if log2Size >= settings.log2QPGroupSize { beginQuantizationGroup(x: x, y: y) }
    if areUnitOffsetsEnabled, log2Size >= settings.log2ChromaOffsetGroupSize { isChromaOffsetCoded = false }
    guard isSplit else {
      try readCodingUnit(&engine, &visitor, x: x, y: y, log2Size: log2Size, depth: depth)
      return
    }
    let half = size &>> 1
    for part in 0..<4 {
      let (partX, partY) = (x &+ (part & 1) &* half, y &+ (part &>> 1) &* half)
      guard partX < settings.width, partY < settings.height else { continue }
      try readQuadtree(&engine, &visitor, x: partX, y: partY, log2Size: log2Size &- 1, depth: depth &+ 1)
    }
  }

  /// Depth and skip flag of the block above, as ``above`` has them.
  @inline(__always)
  func aboveInfo(_ x: Int) -> UInt8 {
    let index = x &>> 3
    return index < above.count ? above[index] : 0
  }
}
