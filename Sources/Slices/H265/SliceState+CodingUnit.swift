// SPDX-License-Identifier: MPL-2.0

internal import H26x

extension H265.SliceState {
  /// `coding_unit()` (7.3.8.5).
  mutating func readCodingUnit<V: H265.CodingUnitVisitor>(
    _ engine: inout ArithmeticDecoder, _ visitor: inout V, x: Int, y: Int, log2Size: Int, depth: Int
  ) throws(H265.Stop) {
    beginUnit(at: engine, x: x, y: y, log2Size: log2Size)
    if settings.allowsTransquantBypass {
      unit.isLossless = engine.decision(&contexts.states[ContextIndex.transquantBypass])
    }
    if !isIntra, readSkipFlag(&engine, x: x, y: y) {
      unit.mode = .skip
      if V.wantsBits { unit.bits.header = countedBits(engine) }
      readMergedPrediction(&engine, 0)
      if V.wantsBits { unit.bits.motion = countedBits(engine) }
    } else {
      if !isIntra, !engine.decision(&contexts.states[ContextIndex.predictionMode]) { unit.mode = .inter }
      if unit.mode == .intra, log2Size <= settings.log2MaximumTransformSize, settings.paletteMaximumSize >= 0 {
        unit.isPalette = engine.decision(&contexts.states[ContextIndex.paletteMode])
      }
      if unit.isPalette {
        try readPalette(&engine, V.self)
      } else {
        try readPredictedUnit(&engine, V.self, depth: depth)
      }
    }
    if engine.isOverrun { throw damaged(.truncated, "slice_segment_data", "7.3.8.1", at: engine) }
    endUnit(depth: depth)
    visitor.visit(unit)
  }

  private mutating func beginUnit(at engine: borrowing ArithmeticDecoder, x: Int, y: Int, log2Size: Int) {
    unit.x = x
    unit.y = y
    unit.log2Size = log2Size
    unit.mode = .intra
    unit.partition = .whole
    unit.isLossless = false
    unit.isPCM = false
    unit.isPalette = false
    unit.hasTransformTree = false
    unit.codedBlocks = .init(repeating: 0)
    unit.transformUnits = .init(repeating: 0)
    unit.coefficientCount = 0
    unit.coefficientSum = 0
    unit.bits = BlockBits()
    bitMark = engine.bitOffset
    unit.firstBit = bitMark
  }

  /// Records what later units need, and completes the unit.
  private mutating func endUnit(depth: Int) {
    let qp = currentQP
    lastQP = qp
    unit.qpY = qp
    unit.qpDelta = qpDelta
    if settings.chromaType == 0 {
      unit.qpCb = qp
      unit.qpCr = qp
    } else {
      unit.qpCb = chromaQP(qp, offset: settings.cbQPOffset &+ sliceCbOffset &+ unitCbOffset)
      unit.qpCr = chromaQP(qp, offset: settings.crQPOffset &+ sliceCrOffset &+ unitCrOffset)
    }
    let info = UInt8(truncatingIfNeeded: depth & 3) | (unit.mode == .skip ? 4 : 0)
    let level = Int8(truncatingIfNeeded: qp)
    let mask = (1 &<< settings.log2TreeBlockSize) &- 1
    let count = unit.size &>> 3
    let (column, row) = ((unit.x & mask) &>> 3, (unit.y & mask) &>> 3)
    for index in 0..<count {
      left[(unit.y &>> 3 &+ index) & 7] = info
      leftQP[(row &+ index) & 7] = level
      aboveQP[(column &+ index) & 7] = level
      let place = unit.x &>> 3 &+ index
      if place < above.count { above[place] = info }
    }
    guard unit.mode != .intra || unit.isPCM || unit.isPalette else { return }
    setModes(1, x: unit.x & mask, y: unit.y & mask, size: unit.size)
  }

  /// Stores an intra mode for the prediction of others.
  mutating func setModes(_ mode: UInt8, x: Int, y: Int, size: Int) {
    let (column, row) = (x &>> 2, y &>> 2)
    for index in 0..<(size &>> 2) {
      leftModes[(row &+ index) & 15] = mode
      aboveModes[(column &+ index) & 15] = mode
    }
  }

  @inline(__always)
  private mutating func readSkipFlag(_ engine: inout ArithmeticDecoder, x: Int, y: Int) -> Bool {
    let context = ContextIndex.skip &+ Int(left[(y &>> 3) & 7] &>> 2) &+ Int(aboveInfo(x) &>> 2)
    return engine.decision(&contexts.states[min(context, ContextIndex.skip &+ 2)])
  }

  /// A unit that is neither skipped nor coded by palette.
  private mutating func readPredictedUnit<V: H265.CodingUnitVisitor>(
    _ engine: inout ArithmeticDecoder, _: V.Type, depth: Int
  ) throws(H265.Stop) {
    isMerged = false
    if unit.mode == .inter || unit.log2Size == settings.log2MinimumCodingBlockSize { readPartition(&engine) }
    if unit.mode == .intra {
      if unit.partition == .whole, settings.hasPCM,
        settings.log2MinimumPCMSize...max(settings.log2MinimumPCMSize, settings.log2MaximumPCMSize) ~= unit.log2Size
      {
        unit.isPCM = engine.terminate()
      }
      if V.wantsBits { unit.bits.header = countedBits(engine) }
      if unit.isPCM {
        try readPCM(&engine, V.self)
        return
      }
      readIntraModes(&engine)
      if V.wantsBits { unit.bits.prediction = countedBits(engine) }
    } else {
      if V.wantsBits { unit.bits.header = countedBits(engine) }
      try readPredictions(&engine, depth: depth)
      if V.wantsBits { unit.bits.motion = countedBits(engine) }
      if !(unit.partition == .whole && isMerged) {
        unit.hasTransformTree = engine.decision(&contexts.states[ContextIndex.rootCodedBlock])
        guard unit.hasTransformTree else {
          if V.wantsBits { unit.bits.header &+= countedBits(engine) }
          return
        }
      }
    }
    unit.hasTransformTree = true
    splitsIntra = unit.mode == .intra && unit.partition == .quarters
    splitsInter = settings.transformDepthInter == 0 && unit.mode == .inter && unit.partition != .whole
    maximumTransformDepth =
      unit.mode == .intra ? settings.transformDepthIntra &+ (splitsIntra ? 1 : 0) : settings.transformDepthInter
    let tree = H265.TransformNode(
      x: unit.x, y: unit.y, log2Size: unit.log2Size, depth: 0, index: 0, parentCb: 3, parentCr: 3)
    try readTransformTree(&engine, V.self, tree)
    if V.wantsBits { unit.bits.header &+= countedBits(engine) }
  }

  /// `part_mode` (9.3.3.7).
  private mutating func readPartition(_ engine: inout ArithmeticDecoder) {
    if engine.decision(&contexts.states[ContextIndex.partMode]) { return }
    guard unit.mode == .inter else {
      unit.partition = .quarters
      return
    }
    let isMinimum = unit.log2Size == settings.log2MinimumCodingBlockSize
    let isRows = engine.decision(&contexts.states[ContextIndex.partMode &+ 1])
    if isMinimum {
      if isRows {
        unit.partition = .rows
      } else if unit.log2Size == 3 || engine.decision(&contexts.states[ContextIndex.partMode &+ 2]) {
        unit.partition = .columns
      } else {
        unit.partition = .quarters
      }
      return
    }
    unit.partition = isRows ? .rows : .columns
    guard settings.usesAsymmetricPartitions, !engine.decision(&contexts.states[ContextIndex.partMode &+ 3]) else {
      return
    }
    let isSecond = engine.bypass()
    if isRows {
      unit.partition = isSecond ? .lowerQuarter : .upperQuarter
    } else {
      unit.partition = isSecond ? .rightQuarter : .leftQuarter
    }
  }

  /// `pcm_alignment_zero_bit` and `pcm_sample()` (7.3.8.7).
  private mutating func readPCM<V: H265.CodingUnitVisitor>(
    _ engine: inout ArithmeticDecoder, _: V.Type
  ) throws(H265.Stop) {
    guard engine.endsByteWithStopBit else {
      throw damaged(.badAlignment, "pcm_alignment_zero_bit", "7.4.9.5", at: engine)
    }
    let luma = 1 &<< (2 &* unit.log2Size)
    let chroma =
      switch settings.chromaType {
      case 0: 0
      case 1: luma / 2
      case 2: luma
      default: 2 &* luma
      }
    let bits = luma &* settings.pcmLumaBits &+ chroma &* settings.pcmChromaBits
    // Blocks have 64 samples or more, so their bits fill bytes.
    guard engine.skipBytes(bits &>> 3) else {
      throw damaged(.truncated, "pcm_sample_luma", "7.3.8.7", at: engine)
    }
    if V.wantsBits {
      bitMark = engine.bitOffset &- 9
      unit.bits.luma = UInt32(truncatingIfNeeded: luma &* settings.pcmLumaBits)
      unit.bits.chroma = UInt32(truncatingIfNeeded: chroma &* settings.pcmChromaBits)
    }
  }
}
