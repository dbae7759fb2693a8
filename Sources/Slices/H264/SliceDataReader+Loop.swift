// SPDX-License-Identifier: MPL-2.0

import H26x

extension H264.SliceDataReader {
  private typealias Flag = H264.MacroblockInfo.Flag

  /// `slice_data()` (7.3.4) without arithmetic coding.
  ///
  /// - Returns: the number of macroblocks.
  mutating func readVariableLength<Visitor: H264.MacroblockVisitor>(
    _ elements: inout H264.VariableLengthElements, _ visitor: inout Visitor
  ) throws(SliceDamage) -> Int {
    var count = 0
    var hasMoreData = true
    var isBehindSkipped = false
    while hasMoreData {
      var start = elements.bitOffset
      if !traits.isIntra {
        let run = elements.code.ue()
        guard run >= 0, run <= traits.size else {
          throw damage(.valueOutOfRange, "mb_skip_run", "7.4.4", at: start, &elements)
        }
        for index in 0..<run {
          try checkAddress("mb_skip_run", at: start, &elements)
          beginMacroblock(at: start)
          beginPairIfTop(&elements)
          setFieldFlag()
          // The first one of the run bears its bits.
          skip(&visitor, bits: index == 0 ? elements.bitOffset &- start : 0)
          count &+= 1
          advance()
        }
        isBehindSkipped = run > 0
        if run > 0 {
          start = elements.bitOffset
          hasMoreData = elements.code.moreData()
        }
        guard !elements.isOverrun else { throw damage(.truncated, "mb_skip_run", "7.3.4", at: start, &elements) }
      }
      guard hasMoreData else { break }
      try checkAddress("macroblock_layer", at: start, &elements)
      beginMacroblock(at: start)
      beginPairIfTop(&elements)
      if traits.isMbaff, address & 1 == 0 || isBehindSkipped {
        isFieldPair = elements.fieldFlag(fieldNeighbors: 0)
        if address & 1 == 1 { setFieldOfTop() }
      }
      setFieldFlag()
      showSkippedTop(&visitor)
      locate()
      readMacroblockLayer(&elements, &visitor)
      try finish(&elements, &visitor)
      count &+= 1
      advance()
      isBehindSkipped = false
      hasMoreData = elements.code.moreData()
    }
    return count
  }

  /// `slice_data()` (7.3.4) with arithmetic coding.
  ///
  /// - Returns: the number of macroblocks.
  mutating func readArithmetic<Visitor: H264.MacroblockVisitor>(
    _ elements: inout H264.ArithmeticElements, _ visitor: inout Visitor
  ) throws(SliceDamage) -> Int {
    var count = 0
    var isBehindSkipped = false
    var start = elements.bitOffset
    while true {
      try checkAddress("macroblock_layer", at: start, &elements)
      beginMacroblock(at: start)
      beginPairIfTop(&elements)
      setFieldFlag()
      locate()
      var isSkipped = false
      if !traits.isIntra { isSkipped = elements.skipFlag(isB: traits.isB, &around) }
      if isSkipped {
        skip(&visitor, bits: elements.bitOffset &- start)
        guard !elements.isOverrun else { throw damage(.truncated, "mb_skip_flag", "7.3.4", at: start, &elements) }
      } else {
        if traits.isMbaff, address & 1 == 0 || isBehindSkipped {
          let isField = elements.fieldFlag(fieldNeighbors: fieldNeighbors().count)
          if isField != isFieldPair {
            isFieldPair = isField
            setFieldFlag()
            if address & 1 == 1 { setFieldOfTop() }
            locate()
          }
        }
        showSkippedTop(&visitor)
        readMacroblockLayer(&elements, &visitor)
        try finish(&elements, &visitor)
      }
      count &+= 1
      start = elements.bitOffset
      let isTopOfPair = traits.isMbaff && address & 1 == 0
      isBehindSkipped = isSkipped
      advance()
      if !isTopOfPair, elements.endOfSliceFlag() { return count }
    }
  }

  // MARK: A macroblock

  /// Checks that the current address is in the picture and that no other slice covers it.
  @inline(__always)
  private func checkAddress<Elements: H264.MacroblockElements & ~Escapable>(
    _ element: StaticString, at bitOffset: Int, _ elements: inout Elements
  ) throws(SliceDamage) {
    guard address < traits.size else { throw damage(.beyondPicture, element, "7.3.4", at: bitOffset, &elements) }
    guard infos[base &+ address].slice < firstSlice else {
      throw damage(.codedTwice, element, "7.4.3", at: bitOffset, &elements)
    }
  }

  @inline(__always)
  private mutating func beginMacroblock(at bitOffset: Int) {
    info = H264.MacroblockInfo()
    info.slice = slice
    macroblock.firstBit = bitOffset
  }

  /// Infers `mb_field_decoding_flag` at the start of a pair (7.4.4): it holds until the flag is read, and if it is not.
  @inline(__always)
  private mutating func beginPairIfTop<Elements: H264.MacroblockElements & ~Escapable>(_ elements: inout Elements) {
    if traits.isMbaff, address & 1 == 0 { isFieldPair = fieldNeighbors().inferred }
  }

  @inline(__always)
  private mutating func setFieldFlag() {
    if isFieldPair { info.flags |= Flag.field } else { info.flags &= ~Flag.field }
  }

  /// The flag was read at the bottom macroblock; it holds for the skipped one at the top, too.
  private mutating func setFieldOfTop() {
    let top = base &+ address &- 1
    guard infos[top].slice == slice else { return }
    if isFieldPair { infos[top].flags |= Flag.field } else { infos[top].flags &= ~Flag.field }
  }

  /// - Parameter bits: those of `mb_skip_run` or `mb_skip_flag`.
  private mutating func skip<Visitor: H264.MacroblockVisitor>(_ visitor: inout Visitor, bits: Int) {
    info.flags |= traits.isB ? Flag.skipped | Flag.direct : Flag.skipped
    isAfterQPChange = false
    infos[base &+ address] = info
    guard Visitor.wantsValues else { return }
    if traits.isMbaff, address & 1 == 0 {
      // Its field flag may come with the bottom macroblock.
      skippedTop = (true, macroblock.firstBit, bits)
      return
    }
    showSkippedTop(&visitor)
    showSkipped(&visitor, bits: bits)
  }

  private mutating func showSkipped<Visitor: H264.MacroblockVisitor>(_ visitor: inout Visitor, bits: Int) {
    macroblock.bits.header = UInt32(truncatingIfNeeded: bits)
    macroblock.kind = traits.isB ? .directSkip : .predictedSkip
    visit(&visitor)
    macroblock = H264.Macroblock()
  }

  /// Shows the visitor the skipped macroblock at the top of the current pair, whose field flag is known now.
  @inline(__always)
  private mutating func showSkippedTop<Visitor: H264.MacroblockVisitor>(_ visitor: inout Visitor) {
    guard Visitor.wantsValues, skippedTop.isThere else { return }
    skippedTop.isThere = false
    let (bottom, firstBit) = (info, macroblock.firstBit)
    address &-= 1
    info = infos[base &+ address]
    macroblock.firstBit = skippedTop.firstBit
    showSkipped(&visitor, bits: skippedTop.bits)
    address &+= 1
    info = bottom
    macroblock.firstBit = firstBit
  }

  /// Looks for faults, keeps the macroblock for its neighbors and shows it to the visitor.
  @inline(__always)
  private mutating func finish<Elements: H264.MacroblockElements & ~Escapable, Visitor: H264.MacroblockVisitor>(
    _ elements: inout Elements, _ visitor: inout Visitor
  ) throws(SliceDamage) {
    guard elements.fault == nil, !elements.isOverrun else {
      damagedBlocks = blocksOfMacroblock
      throw damage(&elements)
    }
    infos[base &+ address] = info
    guard Visitor.wantsValues else { return }
    visit(&visitor)
    macroblock = H264.Macroblock()
  }

  /// Fills the values that all macroblocks have.
  @inline(never)
  private mutating func visit<Visitor: H264.MacroblockVisitor>(_ visitor: inout Visitor) {
    macroblock.address = address
    let number = traits.isMbaff ? address &>> 1 : address
    macroblock.column = number % traits.width
    macroblock.row = traits.isMbaff ? number / traits.width &* 2 &+ address & 1 : number / traits.width
    macroblock.isField = traits.isField || info.has(Flag.field)
    macroblock.uses8x8Transform = info.has(Flag.transform8x8)
    macroblock.codedBlockPattern = info.codedBlockPattern
    if macroblock.kind == .pcm {
      macroblock.codedBlockPattern = 0
      (macroblock.lumaQP, macroblock.cbQP, macroblock.crQP) = (0, 0, 0)
    } else {
      macroblock.lumaQP = Int8(truncatingIfNeeded: qp)
      macroblock.cbQP = Int8(truncatingIfNeeded: traits.chromaQP(qp, offset: traits.cbQPIndexOffset))
      macroblock.crQP = Int8(truncatingIfNeeded: traits.chromaQP(qp, offset: traits.crQPIndexOffset))
    }
    visitor.visit(macroblock)
  }

  /// `NextMbAddress` (8.2.2).
  @inline(__always)
  private mutating func advance() {
    if groups.next.isEmpty {
      address &+= 1
    } else {
      advanceInGroup()
    }
  }

  @inline(never)
  private mutating func advanceInGroup() {
    if traits.isMbaff, address & 1 == 0 {
      address &+= 1
      return
    }
    let shift = traits.isMbaff ? 1 : 0
    let units = groups.next.count
    let unit = address &>> shift
    let next = unit < units ? Int(groups.next[unit]) : units
    address = next < units ? next &<< shift : traits.size
  }

  /// Lets other slices cover the macroblocks of the current one, from the first to the current address.
  ///
  /// - Returns: the number of macroblocks.
  mutating func uncover(from first: Int) -> Int {
    var count = 0
    let last = address
    address = first
    while address <= last, address < traits.size {
      if infos[base &+ address].slice == slice { infos[base &+ address].slice = 0 }
      count &+= 1
      advance()
    }
    return count
  }

  // MARK: Damage

  @inline(never)
  private func damage<Elements: H264.MacroblockElements & ~Escapable>(
    _ reason: SliceDamage.Reason, _ element: StaticString, _ clause: StaticString, at bitOffset: Int,
    _ elements: inout Elements
  ) -> SliceDamage {
    SliceDamage(
      elements.isOverrun ? .truncated : reason, element, clause: clause, block: address, bitOffset: bitOffset)
  }

  @inline(never)
  private func damage<Elements: H264.MacroblockElements & ~Escapable>(_ elements: inout Elements) -> SliceDamage {
    guard let fault = elements.fault, !elements.isOverrun else {
      return SliceDamage(
        .truncated, "macroblock_layer", clause: "7.3.5", block: address, bitOffset: macroblock.firstBit)
    }
    return SliceDamage(
      fault.reason, fault.element, clause: fault.clause, block: address, bitOffset: fault.bitOffset)
  }
}

extension H264.SliceTraits {
  /// `QPC` by `qPI`, from 30 on (Table 8-15).
  private static let chromaQPs: InlineArray<22, Int8> = [
    29, 30, 31, 32, 32, 33, 34, 34, 35, 35, 36, 36, 37, 37, 37, 38, 38, 38, 39, 39, 39, 39,
  ]

  /// `QPC` (8.5.8) of a `QPY`.
  func chromaQP(_ qp: Int, offset: Int) -> Int {
    guard chroma != .monochrome else { return qp }
    let index = max(-chromaQPOffset, min(51, qp + offset))
    return index < 30 ? index : Int(Self.chromaQPs[index - 30])
  }
}
