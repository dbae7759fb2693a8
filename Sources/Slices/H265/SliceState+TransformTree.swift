// SPDX-License-Identifier: MPL-2.0

internal import H26x

extension H265 {
  /// A node of a transform tree.
  struct TransformNode {
    var x: Int
    var y: Int
    var log2Size: Int
    var depth: Int
    /// `blkIdx`.
    var index: Int
    /// `cbf_cb` of the node above: bit 0 for the upper or only block, bit 1 for the lower one of 4:2:2.
    var parentCb: Int
    /// `cbf_cr` of the node above.
    var parentCr: Int
  }
}

extension H265.SliceState {
  /// `transform_tree()` (7.3.8.8).
  mutating func readTransformTree<V: H265.CodingUnitVisitor>(
    _ engine: inout ArithmeticDecoder, _: V.Type, _ node: H265.TransformNode
  ) throws(H265.Stop) {
    let isSplit: Bool
    if node.log2Size <= settings.log2MaximumTransformSize, node.log2Size > settings.log2MinimumTransformSize,
      node.depth < maximumTransformDepth, !(splitsIntra && node.depth == 0)
    {
      isSplit = engine.decision(&contexts.states[ContextIndex.splitTransform &+ (5 &- node.log2Size)])
    } else {
      isSplit =
        node.log2Size > settings.log2MaximumTransformSize || ((splitsIntra || splitsInter) && node.depth == 0)
    }
    var (cb, cr) = (0, 0)
    if settings.chromaType != 0, node.log2Size > 2 || settings.chromaType == 3 {
      let isPair = settings.chromaType == 2 && (!isSplit || node.log2Size == 3)
      if node.parentCb != 0 { cb = readCodedChroma(&engine, node.depth, isPair: isPair) }
      if node.parentCr != 0 { cr = readCodedChroma(&engine, node.depth, isPair: isPair) }
    } else if settings.chromaType != 0, node.depth > 0 {
      // 4×4 blocks share the chroma of the node above.
      (cb, cr) = (node.parentCb, node.parentCr)
    }
    guard isSplit else {
      var isLumaCoded = true
      if unit.mode == .intra || node.depth != 0 || cb | cr != 0 {
        isLumaCoded = engine.decision(&contexts.states[ContextIndex.codedLuma &+ (node.depth == 0 ? 1 : 0)])
      }
      try readTransformUnit(&engine, V.self, node, isLumaCoded: isLumaCoded, cb: cb, cr: cr)
      return
    }
    let half = 1 &<< (node.log2Size &- 1)
    for part in 0..<4 {
      try readTransformTree(
        &engine, V.self,
        H265.TransformNode(
          x: node.x &+ (part & 1) &* half, y: node.y &+ (part &>> 1) &* half, log2Size: node.log2Size &- 1,
          depth: node.depth &+ 1, index: part, parentCb: cb, parentCr: cr))
    }
  }

  /// `cbf_cb` or `cbf_cr`, one or two.
  @inline(__always)
  private mutating func readCodedChroma(_ engine: inout ArithmeticDecoder, _ depth: Int, isPair: Bool) -> Int {
    let context = ContextIndex.codedChroma &+ min(depth, 4)
    var flags = Int(engine.bin(&contexts.states[context]))
    if isPair { flags |= Int(engine.bin(&contexts.states[context])) &<< 1 }
    return flags
  }

  /// `transform_unit()` (7.3.8.10).
  private mutating func readTransformUnit<V: H265.CodingUnitVisitor>(
    _ engine: inout ArithmeticDecoder, _: V.Type, _ node: H265.TransformNode, isLumaCoded: Bool, cb: Int, cr: Int
  ) throws(H265.Stop) {
    let sizeIndex = (node.log2Size &- 2) & 3
    unit.transformUnits[sizeIndex] &+= 1
    guard isLumaCoded || cb | cr != 0 else { return }
    let isIntra = unit.mode == .intra
    // The partition that the unit lies in.
    let part = splitsIntra ? partition(of: node) : 0
    let chromaPart = settings.chromaType == 3 ? part : 0
    if settings.usesColourTransform, usesColourTransform {
      _ = engine.bin(&contexts.states[ContextIndex.colourTransform])
    }
    try readQPDelta(&engine)
    if cb | cr != 0, !unit.isLossless { readChromaOffset(&engine) }
    if V.wantsBits { unit.bits.header &+= countedBits(engine) }
    if isLumaCoded {
      unit.codedBlocks[sizeIndex] &+= 1
      try readResidual(
        &engine, V.self, log2Size: node.log2Size, component: 0, mode: isIntra ? unit.intraModes[part] : 1)
      if V.wantsBits { unit.bits.luma &+= countedBits(engine) }
    }
    let mode = isIntra ? unit.chromaModes[chromaPart] : 1
    if node.log2Size > 2 || settings.chromaType == 3 {
      let log2Size = settings.chromaType == 3 ? node.log2Size : node.log2Size &- 1
      let predictsAcross =
        settings.predictsAcrossComponents && isLumaCoded && (!isIntra || chromaModeCodes[chromaPart] == 4)
      if predictsAcross { readCrossComponentPrediction(&engine, 0) }
      try readChroma(&engine, V.self, log2Size: log2Size, component: 1, flags: cb, mode: mode)
      if predictsAcross { readCrossComponentPrediction(&engine, 1) }
      try readChroma(&engine, V.self, log2Size: log2Size, component: 2, flags: cr, mode: mode)
    } else if node.index == 3 {
      try readChroma(&engine, V.self, log2Size: 2, component: 1, flags: cb, mode: mode)
      try readChroma(&engine, V.self, log2Size: 2, component: 2, flags: cr, mode: mode)
    }
    if V.wantsBits { unit.bits.chroma &+= countedBits(engine) }
  }

  /// The quarter of the coding unit that holds a transform unit.
  @inline(__always)
  private func partition(of node: H265.TransformNode) -> Int {
    let half = unit.size &>> 1
    return (node.x &- unit.x >= half ? 1 : 0) | (node.y &- unit.y >= half ? 2 : 0)
  }

  /// Whether `tu_residual_act_flag` is present.
  private var usesColourTransform: Bool {
    if unit.mode != .intra { return true }
    if unit.partition == .whole { return chromaModeCodes[0] == 4 }
    return chromaModeCodes[0] == 4 && chromaModeCodes[1] == 4 && chromaModeCodes[2] == 4 && chromaModeCodes[3] == 4
  }

  @inline(__always)
  private mutating func readChroma<V: H265.CodingUnitVisitor>(
    _ engine: inout ArithmeticDecoder, _: V.Type, log2Size: Int, component: Int, flags: Int, mode: UInt8
  ) throws(H265.Stop) {
    if flags & 1 != 0 { try readResidual(&engine, V.self, log2Size: log2Size, component: component, mode: mode) }
    if flags & 2 != 0, settings.chromaType == 2 {
      try readResidual(&engine, V.self, log2Size: log2Size, component: component, mode: mode)
    }
  }

  /// `cross_comp_pred()` (7.3.8.12).
  private mutating func readCrossComponentPrediction(_ engine: inout ArithmeticDecoder, _ component: Int) {
    var value = 0
    while value < 4, engine.decision(&contexts.states[ContextIndex.crossComponent &+ 4 &* component &+ value]) {
      value &+= 1
    }
    if value != 0 { _ = engine.bin(&contexts.states[ContextIndex.crossComponentSign &+ component]) }
  }
}
