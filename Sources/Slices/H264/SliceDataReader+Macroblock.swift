// SPDX-License-Identifier: MPL-2.0

import H26x

extension H264.SliceDataReader {
  private typealias Flag = H264.MacroblockInfo.Flag
  private typealias Grid = H264.Grid

  /// `macroblock_layer()` (7.3.5), behind which neither fault nor end was looked for.
  mutating func readMacroblockLayer<Elements: H264.MacroblockElements & ~Escapable, Visitor: H264.MacroblockVisitor>(
    _ elements: inout Elements, _ visitor: inout Visitor
  ) {
    var bitOffset = macroblock.firstBit
    let firstBit = elements.bitOffset
    let number = elements.macroblockType(traits.sliceType, &around)
    elements.coefficientCount = 0
    elements.coefficientSum = 0
    switch traits.sliceType {
    case .i: readIntra(number, &elements, &visitor, &bitOffset)
    case .si:
      if number > 0 {
        readIntra(number &- 1, &elements, &visitor, &bitOffset)
      } else {
        info.flags |= Flag.intra | Flag.switching
        macroblock.kind = .switchingIntra
        readNxN(16, &elements, &visitor, &bitOffset)
      }
    case .p, .sp:
      if number >= 5 {
        readIntra(number &- 5, &elements, &visitor, &bitOffset)
      } else {
        readInter(number, &elements, &visitor, &bitOffset)
      }
    case .b:
      if number >= 23 {
        readIntra(number &- 23, &elements, &visitor, &bitOffset)
      } else {
        readInter(number, &elements, &visitor, &bitOffset)
      }
    }
    if Visitor.wantsValues {
      macroblock.coefficientCount = UInt16(truncatingIfNeeded: elements.coefficientCount)
      macroblock.coefficientSum = UInt32(truncatingIfNeeded: elements.coefficientSum)
      macroblock.layerBits = elements.bitOffset &- firstBit
    }
  }

  /// Counts the bits since the last place.
  @inline(__always)
  private mutating func count<Elements: H264.MacroblockElements & ~Escapable, Visitor: H264.MacroblockVisitor>(
    _ kind: WritableBits, _ elements: inout Elements, _ visitor: inout Visitor, from place: inout Int
  ) {
    guard Visitor.wantsBits else { return }
    let now = elements.bitOffset
    let bits = UInt32(truncatingIfNeeded: now &- place)
    switch kind {
    case .header: macroblock.bits.header &+= bits
    case .prediction: macroblock.bits.prediction &+= bits
    case .motion: macroblock.bits.motion &+= bits
    case .luma: macroblock.bits.luma &+= bits
    case .chroma: macroblock.bits.chroma &+= bits
    }
    place = now
  }

  private enum WritableBits { case header, prediction, motion, luma, chroma }

  // MARK: Intra

  private mutating func readIntra<Elements: H264.MacroblockElements & ~Escapable, Visitor: H264.MacroblockVisitor>(
    _ number: Int, _ elements: inout Elements, _ visitor: inout Visitor, _ bitOffset: inout Int
  ) {
    info.flags |= Flag.intra
    if Visitor.wantsValues { macroblock.typeNumber = UInt8(truncatingIfNeeded: number) }
    switch number {
    case 0:
      info.flags |= Flag.intraNxN
      macroblock.kind = .intra4x4
      var blocks = 16
      if traits.allows8x8Transform, elements.transformSize8x8Flag(&around) {
        info.flags |= Flag.transform8x8
        macroblock.kind = .intra8x8
        blocks = 4
      }
      readNxN(blocks, &elements, &visitor, &bitOffset)
    case 25:
      macroblock.kind = .pcm
      readPCM(&elements, &visitor, &bitOffset)
    default:
      info.flags |= Flag.intra16x16
      macroblock.kind = .intra16x16
      let mode = number &- 1
      if Visitor.wantsValues { macroblock.intra16x16Mode = UInt8(truncatingIfNeeded: mode & 3) }
      let chroma = (mode &>> 2) % 3
      info.codedBlockPattern = UInt8(truncatingIfNeeded: 16 &* chroma &+ (number > 12 ? 15 : 0))
      count(.header, &elements, &visitor, from: &bitOffset)
      readChromaMode(&elements, &visitor)
      count(.prediction, &elements, &visitor, from: &bitOffset)
      readQPAndResidual(&elements, &visitor, &bitOffset)
    }
  }

  /// The rest of I_NxN and SI.
  private mutating func readNxN<Elements: H264.MacroblockElements & ~Escapable, Visitor: H264.MacroblockVisitor>(
    _ blocks: Int, _ elements: inout Elements, _ visitor: inout Visitor, _ bitOffset: inout Int
  ) {
    count(.header, &elements, &visitor, from: &bitOffset)
    for _ in 0..<blocks { elements.intraPredictionMode() }
    readChromaMode(&elements, &visitor)
    count(.prediction, &elements, &visitor, from: &bitOffset)
    readPattern(&elements)
    if info.codedBlockPattern != 0 {
      readQPAndResidual(&elements, &visitor, &bitOffset)
    } else {
      isAfterQPChange = false
      count(.header, &elements, &visitor, from: &bitOffset)
    }
  }

  private mutating func readChromaMode<Elements: H264.MacroblockElements & ~Escapable, Visitor: H264.MacroblockVisitor>(
    _ elements: inout Elements, _ visitor: inout Visitor
  ) {
    guard traits.hasSubsampledChroma else { return }
    let mode = elements.intraChromaMode(&around)
    if mode != 0 { info.flags |= Flag.chromaPrediction }
    if Visitor.wantsValues { macroblock.intraChromaMode = UInt8(truncatingIfNeeded: mode) }
  }

  private mutating func readPCM<Elements: H264.MacroblockElements & ~Escapable, Visitor: H264.MacroblockVisitor>(
    _ elements: inout Elements, _ visitor: inout Visitor, _ bitOffset: inout Int
  ) {
    count(.header, &elements, &visitor, from: &bitOffset)
    let chromaSamples =
      switch traits.chroma {
      case .monochrome: 0
      case .yuv420: 128
      case .yuv422: 256
      case .yuv444: 512
      }
    elements.beginResidual(isIntra: true, isField: false)
    if Visitor.wantsBits { bitOffset = elements.bitOffset }
    elements.pcmSamples(bits: 256 &* traits.lumaBitDepth &+ chromaSamples &* traits.chromaBitDepth)
    if Visitor.wantsBits {
      let chromaBits = chromaSamples &* traits.chromaBitDepth
      let all = elements.bitOffset &- bitOffset
      macroblock.bits.luma = UInt32(truncatingIfNeeded: max(0, all &- chromaBits))
      macroblock.bits.chroma = UInt32(truncatingIfNeeded: min(all, chromaBits))
    }
    elements.endResidual()
    info.flags |= Flag.pcm | Flag.counts
    info.codedBlockPattern = 0x2F
    info.dcFlags = 7
    counts[base &+ address] = .pcm
    isAfterQPChange = false
  }

  // MARK: Inter

  private mutating func readInter<Elements: H264.MacroblockElements & ~Escapable, Visitor: H264.MacroblockVisitor>(
    _ number: Int, _ elements: inout Elements, _ visitor: inout Visitor, _ bitOffset: inout Int
  ) {
    if Visitor.wantsValues { macroblock.typeNumber = UInt8(truncatingIfNeeded: number) }
    var allows8x8 = traits.allows8x8Transform
    if traits.isB, number == 0 {
      info.flags |= Flag.direct
      macroblock.kind = .direct
      allows8x8 = allows8x8 && traits.infers8x8Direct
    } else {
      if Elements.isArithmetic { loadMotion() }
      if number == (traits.isB ? 22 : 3) || !traits.isB && number == 4 {
        macroblock.kind = .inter8x8
        let isWhole = readSubMacroblocks(number, &elements, &visitor, &bitOffset)
        allows8x8 = allows8x8 && isWhole
      } else {
        count(.header, &elements, &visitor, from: &bitOffset)
        readPartitions(number, &elements, &visitor)
      }
      count(.motion, &elements, &visitor, from: &bitOffset)
      if Elements.isArithmetic { storeMotion() }
    }
    readPattern(&elements)
    if info.codedBlockPattern & 15 != 0, allows8x8, elements.transformSize8x8Flag(&around) {
      info.flags |= Flag.transform8x8
    }
    if info.codedBlockPattern != 0 {
      readQPAndResidual(&elements, &visitor, &bitOffset)
    } else {
      isAfterQPChange = false
      count(.header, &elements, &visitor, from: &bitOffset)
    }
  }

  /// Reference indices that a macroblock of the current kind chooses from.
  @inline(__always)
  private func referenceCount(_ list: Int) -> Int {
    isFieldPair ? 2 &* traits.referenceCounts[list] : traits.referenceCounts[list]
  }

  /// `mb_pred()` (7.3.5.1) of one or two partitions.
  private mutating func readPartitions<Elements: H264.MacroblockElements & ~Escapable, Visitor: H264.MacroblockVisitor>(
    _ number: Int, _ elements: inout Elements, _ visitor: inout Visitor
  ) {
    // The partitions' size and lists. In P slices 1 is two rows, 2 is two columns.
    let isWhole = traits.isB ? number < 4 : number == 0
    let isRows = traits.isB ? number & 1 == 0 : number == 1
    let (first, second) = traits.isB ? H264.InterTypes.lists(number) : (1, 1)
    macroblock.kind = isWhole ? .inter16x16 : isRows ? .inter16x8 : .inter8x16
    let parts = isWhole ? 1 : 2
    let (width, height) = (isWhole || isRows ? 2 : 1, isWhole || !isRows ? 2 : 1)
    for list in 0..<(traits.isB ? 2 : 1) {
      let count = referenceCount(list)
      for part in 0..<parts where (part == 0 ? first : second) & (list &+ 1) != 0 {
        readReferenceIndex(
          &elements, &visitor, list: list, count: count, column: isRows ? 0 : part, row: isRows ? part : 0,
          width: width, height: height)
      }
    }
    for list in 0..<(traits.isB ? 2 : 1) {
      for part in 0..<parts where (part == 0 ? first : second) & (list &+ 1) != 0 {
        readVectorDifference(
          &elements, &visitor, list: list, column: isRows ? 0 : 2 &* part, row: isRows ? 2 &* part : 0,
          width: 2 &* width, height: 2 &* height)
      }
    }
  }

  /// `sub_mb_pred()` (7.3.5.2).
  ///
  /// - Returns: whether an 8×8 transform is possible: no part is smaller than 8×8.
  private mutating func readSubMacroblocks<
    Elements: H264.MacroblockElements & ~Escapable, Visitor: H264.MacroblockVisitor
  >(
    _ number: Int, _ elements: inout Elements, _ visitor: inout Visitor, _ bitOffset: inout Int
  ) -> Bool {
    var isWhole = true
    var subs = InlineArray<4, UInt8>(repeating: 0)
    for block in 0..<4 {
      let type = elements.subMacroblockType(isB: traits.isB)
      let sub = traits.isB ? H264.InterTypes.sub[type] : H264.InterTypes.predictedSub[type & 3]
      subs[block] = sub
      if Visitor.wantsValues { macroblock.subTypes[block] = UInt8(truncatingIfNeeded: type) }
      isWhole = isWhole && (sub == 0 ? traits.infers8x8Direct : sub &>> 2 == 5)
    }
    count(.header, &elements, &visitor, from: &bitOffset)
    let isFirstReference = !traits.isB && number == 4
    for list in 0..<(traits.isB ? 2 : 1) {
      let count = isFirstReference ? 1 : referenceCount(list)
      for block in 0..<4 where Int(subs[block]) & (list &+ 1) != 0 {
        readReferenceIndex(
          &elements, &visitor, list: list, count: count, column: block & 1, row: block &>> 1, width: 1, height: 1)
      }
    }
    for list in 0..<(traits.isB ? 2 : 1) {
      for block in 0..<4 where Int(subs[block]) & (list &+ 1) != 0 {
        let sub = Int(subs[block])
        let (columns, rows) = ((sub &>> 2) & 3, sub &>> 4)
        let (width, height) = (columns == 1 ? 2 : 1, rows == 1 ? 2 : 1)
        for row in 0..<rows {
          for column in 0..<columns {
            readVectorDifference(
              &elements, &visitor, list: list, column: 2 &* (block & 1) &+ column,
              row: block & 2 &+ row, width: width, height: height)
          }
        }
      }
    }
    return isWhole
  }

  // MARK: Coefficients

  private mutating func readPattern<Elements: H264.MacroblockElements & ~Escapable>(_ elements: inout Elements) {
    let pattern = elements.codedBlockPattern(
      isIntra: info.has(Flag.intra), hasChroma: traits.hasSubsampledChroma, &around)
    info.codedBlockPattern = UInt8(truncatingIfNeeded: pattern)
  }

  private mutating func readQPAndResidual<
    Elements: H264.MacroblockElements & ~Escapable, Visitor: H264.MacroblockVisitor
  >(
    _ elements: inout Elements, _ visitor: inout Visitor, _ bitOffset: inout Int
  ) {
    let offset = traits.lumaQPOffset
    let delta = elements.qpDelta(isAfterChange: isAfterQPChange, limit: 26 &+ offset / 2)
    isAfterQPChange = delta != 0
    // 7.4.5: it wraps around within −QpBdOffsetY to 51.
    qp &+= delta
    if qp > 51 {
      qp &-= 52 &+ offset
    } else if qp < -offset {
      qp &+= 52 &+ offset
    }
    count(.header, &elements, &visitor, from: &bitOffset)

    let isField = traits.isField || isFieldPair
    clearCounts()
    loadCounts(isArithmetic: Elements.isArithmetic)
    elements.beginResidual(isIntra: info.has(Flag.intra), isField: isField)
    // The coefficients may lie in another data partition, whose bits are counted from its own start.
    if Visitor.wantsBits { bitOffset = elements.bitOffset }
    if Elements.isArithmetic, traits.chroma == .yuv444, info.has(Flag.transform8x8) { ignoreSmallerTransforms() }
    readPlane(0, &elements)
    count(.luma, &elements, &visitor, from: &bitOffset)
    if traits.chroma == .yuv444 {
      readPlane(1, &elements)
      readPlane(2, &elements)
    } else if traits.chroma != .monochrome {
      readChroma(&elements)
    }
    count(.chroma, &elements, &visitor, from: &bitOffset)
    elements.endResidual()
    storeCounts()
  }

  /// Sets the inner places of the grids of counts to 0.
  @inline(__always)
  private mutating func clearCounts() {
    for plane in 0..<(traits.chroma == .monochrome ? 1 : 3) {
      for row in 0..<4 {
        let place = Grid.plane &* plane &+ Grid.place(0, row)
        around.counts[place] = 0
        around.counts[place &+ 1] = 0
        around.counts[place &+ 2] = 0
        around.counts[place &+ 3] = 0
      }
    }
  }

  /// For an 8×8 block of 4:4:4, neighbors with smaller transforms have no coded block (9.3.3.1.1.9).
  private mutating func ignoreSmallerTransforms() {
    func isSmaller(_ isAvailable: Bool, _ neighbor: H264.MacroblockInfo) -> Bool {
      isAvailable && !neighbor.has(Flag.transform8x8) && !neighbor.has(Flag.pcm)
    }
    let ignoresAbove = isSmaller(around.hasAbove, around.above)
    let ignoresUpper = isSmaller(around.hasLeft, around.left)
    let ignoresLower = isSmaller(around.hasLeft, around.leftOfLowerHalf)
    for plane in 0..<3 {
      for index in 0..<4 {
        if ignoresAbove { around.counts[Grid.plane &* plane &+ Grid.place(index, -1)] = 0 }
        if index < 2 ? ignoresUpper : ignoresLower {
          around.counts[Grid.plane &* plane &+ Grid.place(-1, index)] = 0
        }
      }
    }
  }

  /// `residual_luma()` (7.3.5.3.1), of Cb and Cr in 4:4:4, too.
  @inline(__always)
  private mutating func readPlane<Elements: H264.MacroblockElements & ~Escapable>(
    _ plane: Int, _ elements: inout Elements
  ) {
    let origin = Grid.plane &* plane
    let category = plane == 0 ? 0 : 4 &* plane &+ 2
    let isIntra16x16 = info.has(Flag.intra16x16)
    if isIntra16x16, elements.block(category, coefficients: 16, place: origin &+ Grid.place(0, 0), &around) > 0 {
      info.dcFlags |= 1 &<< UInt8(truncatingIfNeeded: plane)
    }
    let pattern = Int(info.codedBlockPattern)
    if Elements.isArithmetic, info.has(Flag.transform8x8) {
      let category = plane == 0 ? 5 : 4 &* plane &+ 5
      for block in 0..<4 where pattern &>> block & 1 != 0 {
        let place = origin &+ Grid.place(2 &* (block & 1), block & 2)
        _ = elements.block(category, coefficients: 64, place: place, &around)
      }
      return
    }
    for block in 0..<16 where pattern &>> (block &>> 2) & 1 != 0 {
      _ = elements.block(
        category &+ (isIntra16x16 ? 1 : 2), coefficients: isIntra16x16 ? 15 : 16,
        place: origin &+ Grid.place(ofBlock: block), &around)
    }
  }

  /// Chroma of 4:2:0 and 4:2:2 (7.3.5.3).
  @inline(__always)
  private mutating func readChroma<Elements: H264.MacroblockElements & ~Escapable>(_ elements: inout Elements) {
    let pattern = info.codedBlockPattern &>> 4
    guard pattern != 0 else { return }
    let rows = traits.chromaRows
    for plane in 1...2 {
      let place = Grid.plane &* plane &+ Grid.place(0, 0)
      if elements.block(3, coefficients: 2 &* rows, place: place, &around) > 0 {
        info.dcFlags |= 1 &<< UInt8(truncatingIfNeeded: plane)
      }
    }
    guard pattern == 2 else { return }
    for plane in 1...2 {
      for row in 0..<rows {
        for column in 0..<2 {
          let place = Grid.plane &* plane &+ Grid.place(column, row)
          _ = elements.block(4, coefficients: 15, place: place, &around)
        }
      }
    }
  }
}
