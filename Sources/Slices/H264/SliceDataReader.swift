// SPDX-License-Identifier: MPL-2.0

import H26x

extension H264 {
  /// What reading slice data needs of a picture, and of the slice and macroblock that are being read.
  struct SliceDataReader {
    /// Of each macroblock, by its address; of each colour plane if they are coded apart.
    var infos: [MacroblockInfo] = []
    var counts: [EdgeCounts] = []
    var motion: [EdgeMotion] = []
    /// The number of the current slice; those of other slices are smaller.
    var slice: UInt32 = 0
    /// The number of the first slice whose macroblocks no other slice may cover.
    var firstSlice: UInt32 = 1
    var groups = SliceGroupMap()

    var traits = SliceTraits()
    /// Where the colour plane's macroblocks begin in the arrays.
    var base = 0

    // The current macroblock.
    /// `CurrMbAddr`.
    var address = 0
    var info = MacroblockInfo()
    var around = Surroundings()
    /// `QPY` of the macroblock before.
    var qp = 0
    /// Whether `mb_qp_delta` of the macroblock before is not 0.
    var isAfterQPChange = false
    /// Whether the current pair, or the field, has field macroblocks.
    var isFieldPair = false
    /// The macroblock at the top of the current pair, if it is skipped and the visitor has not seen it.
    var skippedTop = (isThere: false, firstBit: 0, bits: 0)
    /// Values for the visitor.
    var macroblock = Macroblock()
    /// Whether ``codedBlocks`` is needed.
    var collectsBlocks = false
    /// The blocks that have coefficients in any macroblock of the slice, the damaged one included.
    var codedBlocks = CodedBlocks()
    /// The blocks that have coefficients in the damaged macroblock.
    var damagedBlocks = CodedBlocks()

    init() {}

    // MARK: Memory

    /// Makes room for a picture.
    mutating func prepare(macroblocks: Int, isArithmetic: Bool) {
      if infos.count < macroblocks {
        infos = Array(repeating: MacroblockInfo(), count: macroblocks)
        counts = Array(repeating: EdgeCounts(), count: macroblocks)
      }
      if isArithmetic, motion.count < infos.count {
        motion = Array(repeating: EdgeMotion(), count: infos.count)
      }
    }

    /// Gives the next slice a number of its own.
    mutating func beginSlice() {
      if slice == UInt32.max {
        for index in infos.indices { infos[index].slice = 0 }
        (slice, firstSlice) = (0, 1)
      }
      slice += 1
    }

    /// Forgets which macroblocks are covered.
    mutating func beginPicture() {
      if slice == UInt32.max {
        for index in infos.indices { infos[index].slice = 0 }
        slice = 0
      }
      firstSlice = slice + 1
    }

    // MARK: Neighbors

    /// The address if its macroblock is in the current slice, else -1.
    @inline(__always)
    private func inSlice(_ address: Int) -> Int {
      address >= 0 && infos[base &+ address].slice == slice ? address : -1
    }

    /// Whether the pair left of or above the current one is available and has field macroblocks, and whether it is
    /// available.
    private func pair(_ address: Int) -> (isAvailable: Bool, isField: Bool) {
      guard inSlice(address) >= 0 else { return (false, false) }
      return (true, infos[base &+ address].has(MacroblockInfo.Flag.field))
    }

    /// The number of field pairs left of and above the current one, and the inferred `mb_field_decoding_flag` (7.4.4).
    func fieldNeighbors() -> (count: Int, inferred: Bool) {
      let number = address &>> 1
      let left = number % traits.width > 0 ? pair(2 &* number &- 2) : (isAvailable: false, isField: false)
      let above = pair(2 &* (number &- traits.width))
      let inferred = left.isAvailable ? left.isField : above.isField
      return ((left.isField ? 1 : 0) &+ (above.isField ? 1 : 0), inferred)
    }

    /// Finds the neighbors of the current macroblock (6.4.12).
    @inline(__always)
    mutating func locate() {
      if traits.isMbaff { return locateInPair() }
      let left = address % traits.width > 0 ? inSlice(address &- 1) : -1
      around.upperLeft = left
      around.lowerLeft = left
      around.hasLeft = left >= 0
      around.left = left >= 0 ? infos[base &+ left] : MacroblockInfo()
      around.leftOfLowerHalf = around.left
      let above = inSlice(address &- traits.width)
      around.aboveAddress = above
      around.hasAbove = above >= 0
      around.above = above >= 0 ? infos[base &+ above] : MacroblockInfo()
    }

    /// Neighbors in MBAFF frames (6.4.12.2, Table 6-4).
    @inline(never)
    private mutating func locateInPair() {
      let number = address &>> 1
      let isBottom = address & 1 == 1
      var (left, lowerLeft) = (number % traits.width > 0 ? inSlice(2 &* number &- 2) : -1, -1)
      around.leftRows = Surroundings.Rows.same
      around.leftFactor = 2
      around.isLeftFieldOfFrame = false
      if left >= 0 {
        let isLeftField = infos[base &+ left].has(MacroblockInfo.Flag.field)
        if isLeftField == isFieldPair {
          left &+= isBottom ? 1 : 0
          lowerLeft = left
        } else if isLeftField {
          // Of every second row of samples, as the first of each block is, the top field macroblock.
          around.leftRows = isBottom ? Surroundings.Rows.lowerHalf : Surroundings.Rows.upperHalf
          around.leftFactor = 4
          around.isLeftFieldOfFrame = true
          lowerLeft = left
        } else {
          around.leftRows = Surroundings.Rows.everySecond
          around.leftFactor = 1
          lowerLeft = left &+ 1
        }
      }
      around.upperLeft = left
      around.lowerLeft = lowerLeft
      around.hasLeft = left >= 0
      around.left = left >= 0 ? infos[base &+ left] : MacroblockInfo()
      around.leftOfLowerHalf = left >= 0 ? infos[base &+ lowerLeft] : MacroblockInfo()

      var above: Int
      around.aboveFactor = 2
      around.isAboveFieldOfFrame = false
      if isBottom, !isFieldPair {
        above = address &- 1
      } else {
        above = inSlice(2 &* (number &- traits.width))
        if above >= 0 {
          let isAboveField = infos[base &+ above].has(MacroblockInfo.Flag.field)
          if isFieldPair {
            // A field macroblock below a frame pair is below its lower macroblock.
            if isBottom || !isAboveField { above &+= 1 }
            around.aboveFactor = isAboveField ? 2 : 1
          } else {
            above &+= 1
            around.aboveFactor = isAboveField ? 4 : 2
            around.isAboveFieldOfFrame = isAboveField
          }
        }
      }
      around.aboveAddress = above
      around.hasAbove = above >= 0
      around.above = above >= 0 ? infos[base &+ above] : MacroblockInfo()
    }

    // MARK: Blocks at the edges

    /// Fills the grids of coefficient counts.
    @inline(__always)
    mutating func loadCounts(isArithmetic: Bool) {
      let isIntra = info.has(MacroblockInfo.Flag.intra)
      let missing: UInt64 = isArithmetic ? (isIntra ? 0x0101_0101_0101_0101 : 0) : 0x4040_4040_4040_4040
      if isArithmetic {
        if !around.hasLeft { around.left.dcFlags = isIntra ? 7 : 0 }
        if !around.hasAbove { around.above.dcFlags = isIntra ? 7 : 0 }
      }
      let above = edges(around.aboveAddress, around.above, missing, isIntra)
      let left = edges(around.upperLeft, around.left, missing, isIntra)
      let lowerLeft =
        around.lowerLeft == around.upperLeft ? left : edges(around.lowerLeft, around.leftOfLowerHalf, missing, isIntra)
      loadPlane(0, above.luma, left.luma, lowerLeft.luma)
      if traits.chroma == .yuv444 {
        loadPlane(1, above.cb, left.cb, lowerLeft.cb)
        loadPlane(2, above.cr, left.cr, lowerLeft.cr)
      } else if traits.chroma != .monochrome {
        loadChroma(1, above.cb, left.cb, lowerLeft.cb)
        loadChroma(2, above.cr, left.cr, lowerLeft.cr)
      }
    }

    /// The counts at the edges of a macroblock.
    @inline(__always)
    private func edges(_ address: Int, _ neighbor: MacroblockInfo, _ missing: UInt64, _ isIntra: Bool) -> EdgeCounts {
      guard address >= 0 else { return EdgeCounts(luma: missing, cb: missing, cr: missing) }
      guard neighbor.has(MacroblockInfo.Flag.counts) else { return EdgeCounts() }
      if traits.ignoresInterCounts, isIntra, neighbor.isInter { return EdgeCounts() }
      return counts[base &+ address]
    }

    @inline(__always)
    private mutating func loadPlane(_ plane: Int, _ above: UInt64, _ left: UInt64, _ lowerLeft: UInt64) {
      let origin = Grid.plane &* plane
      for column in 0..<4 {
        around.counts[origin &+ Grid.place(column, -1)] = UInt8(truncatingIfNeeded: above &>> UInt64(8 &* column))
      }
      for row in 0..<4 {
        let side = row < 2 ? left : lowerLeft
        around.counts[origin &+ Grid.place(-1, row)] = UInt8(
          truncatingIfNeeded: side &>> UInt64(truncatingIfNeeded: 32 &+ 8 &* around.leftRow(row)))
      }
    }

    @inline(__always)
    private mutating func loadChroma(_ plane: Int, _ above: UInt64, _ left: UInt64, _ lowerLeft: UInt64) {
      let origin = Grid.plane &* plane
      around.counts[origin &+ Grid.place(0, -1)] = UInt8(truncatingIfNeeded: above)
      around.counts[origin &+ Grid.place(1, -1)] = UInt8(truncatingIfNeeded: above &>> 8)
      let isHalved = traits.chroma == .yuv420
      for row in 0..<traits.chromaRows {
        // In 4:2:0 a row of chroma blocks is as high as two rows of luma blocks.
        let lumaRow = isHalved ? 2 &* row : row
        let side = lumaRow < 2 ? left : lowerLeft
        let place = isHalved ? around.leftRow(lumaRow) &>> 1 : around.leftRow(lumaRow)
        around.counts[origin &+ Grid.place(-1, row)] = UInt8(
          truncatingIfNeeded: side &>> UInt64(truncatingIfNeeded: 32 &+ 8 &* place))
      }
    }

    /// Keeps the counts at the right and at the bottom.
    @inline(__always)
    mutating func storeCounts() {
      var edges = EdgeCounts()
      edges.luma = edgeOfPlane(0, rows: 4, columns: 4)
      if traits.chroma == .yuv444 {
        edges.cb = edgeOfPlane(1, rows: 4, columns: 4)
        edges.cr = edgeOfPlane(2, rows: 4, columns: 4)
      } else if traits.chroma != .monochrome {
        edges.cb = edgeOfPlane(1, rows: traits.chromaRows, columns: 2)
        edges.cr = edgeOfPlane(2, rows: traits.chromaRows, columns: 2)
      }
      counts[base &+ address] = edges
      info.flags |= MacroblockInfo.Flag.counts
      if collectsBlocks { codedBlocks.formUnion(blocksOfMacroblock) }
    }

    /// The blocks that have coefficients in the current macroblock, as far as it has been read.
    var blocksOfMacroblock: CodedBlocks {
      var blocks = CodedBlocks()
      guard info.has(MacroblockInfo.Flag.counts), !info.has(MacroblockInfo.Flag.pcm) else { return blocks }
      for plane in 0..<(traits.chroma == .monochrome ? 1 : 3) {
        for place in 0..<16 where around.counts[Grid.plane &* plane &+ Grid.place(place & 3, place &>> 2)] > 0 {
          blocks.insert(plane: plane, place: place)
        }
        guard plane > 0, traits.chroma != .yuv444 else { continue }
        if info.dcFlags &>> UInt8(truncatingIfNeeded: plane) & 1 != 0 { blocks.insertDC(plane: plane) }
      }
      if info.has(MacroblockInfo.Flag.transform8x8) { blocks.extendTo8x8() }
      if info.has(MacroblockInfo.Flag.intra16x16) { blocks.insertLuma() }
      return blocks
    }

    @inline(__always)
    private func edgeOfPlane(_ plane: Int, rows: Int, columns: Int) -> UInt64 {
      let origin = Grid.plane &* plane
      var edge: UInt64 = 0
      for column in 0..<columns {
        let count = around.counts[origin &+ Grid.place(column, rows &- 1)]
        edge |= UInt64(count) &<< UInt64(truncatingIfNeeded: 8 &* column)
      }
      for row in 0..<rows {
        let count = around.counts[origin &+ Grid.place(columns &- 1, row)]
        edge |= UInt64(count) &<< UInt64(truncatingIfNeeded: 32 &+ 8 &* row)
      }
      return edge
    }
  }
}
