// SPDX-License-Identifier: MPL-2.0

import H26x

extension H264 {
  /// Syntax elements with arithmetic coding: CABAC (9.3; `entropy_coding_mode_flag` 1).
  struct ArithmeticElements: ~Escapable, MacroblockElements {
    static var isArithmetic: Bool { true }

    var engine: ArithmeticDecoder
    private var contexts = InlineArray<1024, ContextState>(repeating: 0)
    private let bytes: Span<UInt8>
    private let end: Int
    /// Whether significance contexts of fields are in use.
    private var isField = false
    /// Whether the current macroblock is intra: blocks of neighbors that are not available count as coded.
    private var isIntra = false
    /// `ChromaArrayType` is 3.
    private let isFullChroma: Bool
    private let largestCoefficient: Int

    var fault: ElementFault?
    var coefficientCount = 0
    var coefficientSum = 0

    /// Initializes engine and contexts (9.3.1).
    ///
    /// - Parameters:
    ///   - bytes: the NAL unit.
    ///   - start: the first byte of arithmetically coded data.
    ///   - traits: of the slice.
    ///   - initIDC: `cabac_init_idc`.
    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>, from start: RawPlace, _ traits: SliceTraits, initIDC: UInt8) {
      self.bytes = bytes
      end = RawPlace.lastSetByte(of: bytes, from: start.byte) + 1
      engine = ArithmeticDecoder(bytes, from: start.byte, to: end, bitOffset: start.bitOffset)
      isFullChroma = traits.chroma == .yuv444
      largestCoefficient = traits.largestCoefficient
      initializeContexts(traits, initIDC: initIDC)
    }

    var bitOffset: Int { engine.bitOffset }
    var binCount: Int { engine.binCount }
    var isOverrun: Bool { engine.isOverrun }
    /// Whether the last bit read is in the last byte of the data.
    var isInLastByte: Bool { engine.nextByte == end }
    /// Whether the last bit read is the stop bit.
    var endsWithStopBit: Bool { engine.endsByteWithStopBit }

    @inline(__always)
    private mutating func bin(_ context: Int) -> Bool { engine.decision(&contexts[context]) }

    /// 1 or 0, with a context.
    @inline(__always)
    private mutating func bit(_ context: Int) -> Int { Int(truncatingIfNeeded: engine.bin(&contexts[context])) }

    // MARK: Slice data

    /// `mb_skip_flag`.
    mutating func skipFlag(isB: Bool, _ around: inout Surroundings) -> Bool {
      bin((isB ? 24 : 11) &+ around.countWithout(MacroblockInfo.Flag.skipped))
    }

    mutating func fieldFlag(fieldNeighbors: Int) -> Bool { bin(70 &+ fieldNeighbors) }

    /// `end_of_slice_flag`.
    mutating func endOfSliceFlag() -> Bool { engine.terminate() }

    // MARK: Macroblock layer

    mutating func macroblockType(_ slice: SliceHeader.SliceType, _ around: inout Surroundings) -> Int {
      switch slice {
      case .i: return intraTypeOfIntraSlice(&around)
      case .si:
        guard bin(around.countWithout(MacroblockInfo.Flag.switching)) else { return 0 }
        return 1 &+ intraTypeOfIntraSlice(&around)
      case .p, .sp:
        if bin(14) { return 5 &+ intraType(prefixedAt: 17) }
        if bin(15) { return bin(17) ? 1 : 2 }
        return bin(16) ? 3 : 0
      case .b: return bidirectionalType(&around)
      }
    }

    private mutating func intraTypeOfIntraSlice(_ around: inout Surroundings) -> Int {
      guard bin(3 &+ around.countWithout(MacroblockInfo.Flag.intraNxN)) else { return 0 }
      if engine.terminate() { return 25 }
      var type = 1 &+ 12 &* bit(6)
      if bin(7) { type &+= 4 &+ 4 &* bit(8) }
      type &+= 2 &* bit(9)
      return type &+ bit(10)
    }

    /// The suffix of `mb_type` in P and B slices.
    private mutating func intraType(prefixedAt context: Int) -> Int {
      guard bin(context) else { return 0 }
      if engine.terminate() { return 25 }
      var type = 1 &+ 12 &* bit(context &+ 1)
      if bin(context &+ 2) { type &+= 4 &+ 4 &* bit(context &+ 2) }
      type &+= 2 &* bit(context &+ 3)
      return type &+ bit(context &+ 3)
    }

    private mutating func bidirectionalType(_ around: inout Surroundings) -> Int {
      guard bin(27 &+ around.countWithout(MacroblockInfo.Flag.direct)) else { return 0 }
      guard bin(30) else { return 1 &+ bit(32) }
      var bits = 8 &* bit(31)
      bits &+= 4 &* bit(32)
      bits &+= 2 &* bit(32)
      bits &+= bit(32)
      switch bits {
      case 0..<8: return bits &+ 3
      case 13: return 23 &+ intraType(prefixedAt: 32)
      case 14: return 11
      case 15: return 22
      default: return 2 &* bits &+ bit(32) &- 4
      }
    }

    mutating func subMacroblockType(isB: Bool) -> Int {
      guard isB else {
        if bin(21) { return 0 }
        guard bin(22) else { return 1 }
        return bin(23) ? 2 : 3
      }
      guard bin(36) else { return 0 }
      guard bin(37) else { return 1 &+ bit(39) }
      var type = 3
      if bin(38) {
        if bin(39) { return 11 &+ bit(39) }
        type = 7
      }
      type &+= 2 &* bit(39)
      return type &+ bit(39)
    }

    mutating func transformSize8x8Flag(_ around: inout Surroundings) -> Bool {
      bin(399 &+ around.count(MacroblockInfo.Flag.transform8x8))
    }

    mutating func intraPredictionMode() {
      guard !bin(68) else { return }
      _ = bin(69)
      _ = bin(69)
      _ = bin(69)
    }

    mutating func intraChromaMode(_ around: inout Surroundings) -> Int {
      guard bin(64 &+ around.count(MacroblockInfo.Flag.chromaPrediction)) else { return 0 }
      guard bin(67) else { return 1 }
      return bin(67) ? 3 : 2
    }

    mutating func referenceIndex(count: Int, list: Int, place: Int, _ around: inout Surroundings) -> Int {
      let base = 12 &* list &+ place
      var context = Int(around.indices[base &- 1]) &+ 2 &* Int(around.indices[base &- 4])
      var index = 0
      while bin(54 &+ context) {
        index &+= 1
        context = context &>> 2 &+ 4
        guard index < count else {
          fail(.valueOutOfRange, list == 0 ? "ref_idx_l0" : "ref_idx_l1", "7.4.5.1")
          return 0
        }
      }
      return index
    }

    mutating func vectorDifference(list: Int, component: Int, sum: Int) -> Int {
      let base = component == 0 ? 40 : 47
      guard bin(base &+ (sum < 3 ? 0 : sum > 32 ? 2 : 1)) else { return 0 }
      var (value, context) = (1, 3)
      while value < 9, bin(base &+ context) {
        value &+= 1
        if context < 6 { context &+= 1 }
      }
      if value == 9 {
        var order = 3
        while engine.bypass() {
          value &+= 1 &<< order
          order &+= 1
          guard order < 17 else {
            fail(.valueOutOfRange, list == 0 ? "mvd_l0" : "mvd_l1", "7.4.5.1")
            return 0
          }
        }
        value &+= Int(truncatingIfNeeded: engine.bypass(order))
      }
      let isNegative = engine.bypass()
      if value > (isNegative ? 32768 : 32767) {
        fail(.valueOutOfRange, list == 0 ? "mvd_l0" : "mvd_l1", "7.4.5.1")
        return 0
      }
      return isNegative ? 0 &- value : value
    }

    mutating func codedBlockPattern(isIntra: Bool, hasChroma: Bool, _ around: inout Surroundings) -> Int {
      // Neighbors count if they have no coefficients; see Surroundings.codedBlocks.
      let left = around.uncodedLeft
      let above = around.uncodedAbove
      var pattern = 0
      pattern |= bit(73 &+ (left & 1) &+ 2 &* (above & 1))
      pattern |= bit(73 &+ (pattern & 1 ^ 1) &+ (above & 2)) &<< 1
      pattern |= bit(73 &+ (left &>> 1) &+ 2 &* (pattern & 1 ^ 1)) &<< 2
      pattern |= bit(73 &+ (pattern &>> 2 & 1 ^ 1) &+ (pattern & 2 ^ 2)) &<< 3
      guard hasChroma else { return pattern }
      let chromaLeft = Int(around.left.codedBlockPattern &>> 4)
      let chromaAbove = Int(around.above.codedBlockPattern &>> 4)
      guard bin(77 &+ (chromaLeft > 0 ? 1 : 0) &+ (chromaAbove > 0 ? 2 : 0)) else { return pattern }
      return pattern &+ 16 &+ 16 &* bit(81 &+ (chromaLeft > 1 ? 1 : 0) &+ (chromaAbove > 1 ? 2 : 0))
    }

    mutating func qpDelta(isAfterChange: Bool, limit: Int) -> Int {
      guard bin(isAfterChange ? 61 : 60) else { return 0 }
      var (value, context) = (1, 62)
      while bin(context) {
        value &+= 1
        context = 63
        guard value <= 2 &* limit else {
          fail(.valueOutOfRange, "mb_qp_delta", "7.4.5")
          return 0
        }
      }
      // Odd values are positive (Table 9-3).
      let magnitude = (value &+ 1) &>> 1
      if value & 1 == 1, magnitude >= limit {
        fail(.valueOutOfRange, "mb_qp_delta", "7.4.5")
        return 0
      }
      return value & 1 == 1 ? magnitude : 0 &- magnitude
    }

    mutating func pcmSamples(bits: Int) {
      // A conformance stream, HCAFR3_HHI, has other bits than pcm_alignment_zero_bit here: they are not looked at.
      let start = engine.bitOffset &+ 7 & ~7
      let count = (bits &+ 7) &>> 3
      let byte = RawPlace.index(behind: count, from: engine.nextByte, in: bytes)
      engine.restart(from: byte, to: end, bitOffset: start &+ 8 &* count)
    }

    // MARK: Coefficients

    mutating func beginResidual(isIntra: Bool, isField: Bool) {
      self.isIntra = isIntra
      self.isField = isField
    }

    mutating func endResidual() {}

    @inline(__always)
    mutating func block(_ category: Int, coefficients: Int, place: Int, _ around: inout Surroundings) -> Int {
      var isCoded = true
      let isWhole8x8 = category == 5 || category == 9 || category == 13
      if !isWhole8x8 || isFullChroma {
        var increment: Int
        switch category {
        case 0, 3, 6, 10:
          // The plane: 0 for luma. Chroma DC of 4:2:0 and 4:2:2 has the places of its planes.
          let plane = place / Grid.plane
          increment = Int(around.left.dcFlags &>> UInt8(truncatingIfNeeded: plane) & 1)
          increment &+= 2 &* Int(around.above.dcFlags &>> UInt8(truncatingIfNeeded: plane) & 1)
        default:
          increment = around.counts[place &- 1] != 0 ? 1 : 0
          if around.counts[place &- Grid.row] != 0 { increment &+= 2 }
        }
        isCoded = bin(Int(ResidualContexts.codedBlockFlags[category]) &+ increment)
      }
      guard isCoded else { return 0 }
      let count = readCoefficients(category, coefficients)
      switch category {
      case 0, 3, 6, 10: break
      case 5, 9, 13:
        around.counts[place] = 16
        around.counts[place &+ 1] = 16
        around.counts[place &+ Grid.row] = 16
        around.counts[place &+ Grid.row &+ 1] = 16
      default: around.counts[place] = UInt8(truncatingIfNeeded: count)
      }
      return count
    }

    /// `residual_block_cabac()` behind `coded_block_flag`.
    @inline(never)
    private mutating func readCoefficients(_ category: Int, _ most: Int) -> Int {
      var engine = self.engine
      let offset = isField ? 14 : 0
      let significance = Int(ResidualContexts.significant[offset &+ category])
      let lastBase = Int(ResidualContexts.last[offset &+ category])
      var count = 0
      var index = 0
      // Without inference, there are flags at `index` + 1 places, and `count` that tell the last one.
      var binCount = 1
      if category == 5 || category == 9 || category == 13 {
        let map = isField ? 63 : 0
        while true {
          let context = significance &+ Int(ResidualContexts.significant8x8[map &+ index])
          if engine.uncountedDecision(&contexts[context]) {
            count &+= 1
            if engine.uncountedDecision(&contexts[lastBase &+ Int(ResidualContexts.last8x8[index])]) { break }
          }
          index &+= 1
          if index == 63 {
            count &+= 1
            binCount = -1
            break
          }
        }
      } else if category == 3 {
        // 4:2:2 has two 8×8 blocks: a context for two coefficients (9.3.3.1.3).
        let shift = most == 8 ? 1 : 0
        while true {
          let context = min(index &>> shift, 2)
          if engine.uncountedDecision(&contexts[significance &+ context]) {
            count &+= 1
            if engine.uncountedDecision(&contexts[lastBase &+ context]) { break }
          }
          index &+= 1
          if index == most &- 1 {
            count &+= 1
            binCount = -1
            break
          }
        }
      } else {
        while true {
          if engine.uncountedDecision(&contexts[significance &+ index]) {
            count &+= 1
            if engine.uncountedDecision(&contexts[lastBase &+ index]) { break }
          }
          index &+= 1
          if index == most &- 1 {
            count &+= 1
            binCount = -1
            break
          }
        }
      }

      // coeff_abs_level_minus1 (9.3.3.1.3) and coeff_sign_flag.
      let base = Int(ResidualContexts.levels[category])
      let mostAbove = category == 3 ? 3 : 4
      binCount &+= index &+ count
      var (ones, above, sum, left) = (1, 0, 0, count)
      while left > 0 {
        left &-= 1
        let first = base &+ (above > 0 ? 0 : min(4, ones))
        if !engine.uncountedDecision(&contexts[first]) {
          ones &+= 1
          sum &+= 1
        } else {
          let context = base &+ 5 &+ min(mostAbove, above)
          above &+= 1
          var magnitude = 2
          while magnitude < 15, engine.uncountedDecision(&contexts[context]) { magnitude &+= 1 }
          if magnitude == 15 {
            var order = 0
            while engine.bypass(), order < 24 { order &+= 1 }
            magnitude &+= (1 &<< order) &- 1 &+ Int(truncatingIfNeeded: engine.bypass(order))
            if magnitude > largestCoefficient {
              self.engine = engine
              fail(.valueOutOfRange, "coeff_abs_level_minus1", "7.4.5.3.3")
              return count
            }
            binCount &-= magnitude &- 14
          }
          sum &+= magnitude
        }
        _ = engine.uncountedBypassBin()
      }
      // As many bins as the magnitude, 14 at most, and a sign.
      engine.addBins(binCount &+ sum &+ count)
      coefficientCount &+= count
      coefficientSum &+= sum
      self.engine = engine
      return count
    }

    private mutating func initializeContexts(_ traits: SliceTraits, initIDC: UInt8) {
      let qp = max(0, min(51, traits.qp))
      switch traits.isIntra ? 3 : initIDC {
      case 0: setContexts(ContextTables.predicted0, qp)
      case 1: setContexts(ContextTables.predicted1, qp)
      case 2: setContexts(ContextTables.predicted2, qp)
      default: setContexts(ContextTables.intra, qp)
      }
      guard isFullChroma else { return }
      for copy in 0..<ResidualContexts.chromaCopies.count {
        let (to, from, count) = ResidualContexts.chromaCopy(copy)
        for index in 0..<count { contexts[to &+ index] = contexts[from &+ index] }
      }
      for index in 0..<8 { contexts[1016 &+ index] = contexts[1012 &+ index & 3] }
    }

    /// The initial states at a QP (9.3.1.1).
    @inline(__always)
    private mutating func setContexts(_ table: borrowing InlineArray<928, Int8>, _ qp: Int) {
      for index in 0..<464 {
        let state = max(1, min(126, (Int(table[2 &* index]) &* qp) &>> 4 &+ Int(table[2 &* index &+ 1])))
        let value = state < 64 ? 2 &* (63 &- state) : 2 &* (state &- 64) &+ 1
        contexts[index < 460 ? index : index &+ 552] = ContextState(truncatingIfNeeded: value)
      }
    }
  }
}
