// SPDX-License-Identifier: MPL-2.0

import H26x

extension H264 {
  /// Syntax elements without arithmetic coding: CAVLC (9.2) and Exp-Golomb codes (9.1; `entropy_coding_mode_flag` 0).
  struct VariableLengthElements: ~Escapable, MacroblockElements {
    static var isArithmetic: Bool { false }

    var code: CodeReader
    /// The coefficients of intra and of inter macroblocks lie in other NAL units, or are missing.
    private(set) var isPartitioned = false
    private var hasIntra = false
    private var hasInter = false
    private var intra: CodeReader
    private var inter: CodeReader
    /// The other syntax elements, while coefficients are read.
    private var outer: CodeReader
    private var residual = Residual.here

    var fault: ElementFault?
    var coefficientCount = 0
    var coefficientSum = 0
    /// ``SliceTraits/longestLevelPrefix``.
    private let longestLevelPrefix: Int
    /// ``SliceTraits/largestCoefficient``.
    private let largestCoefficient: Int

    /// Where coefficients are read.
    private enum Residual { case here, intra, inter, nowhere }

    @_lifetime(copy code)
    init(_ code: CodeReader, _ traits: SliceTraits) {
      self.code = code
      intra = code
      inter = code
      outer = code
      longestLevelPrefix = traits.longestLevelPrefix
      largestCoefficient = traits.largestCoefficient
    }

    /// Reads coefficients from data partitions, which have been read through their headers.
    @_lifetime(self: copy self, copy intra, copy inter)
    mutating func setPartitions(intra: CodeReader, hasIntra: Bool, inter: CodeReader, hasInter: Bool) {
      isPartitioned = true
      self.intra = intra
      self.inter = inter
      self.hasIntra = hasIntra
      self.hasInter = hasInter
    }

    /// Whether each data partition ends where it must.
    var arePartitionsAtEnd: Bool {
      mutating get { (!hasIntra || intra.isAtStopBit) && (!hasInter || inter.isAtStopBit) }
    }

    var bitOffset: Int { code.bitOffset }
    var isOverrun: Bool { code.isOverrun || isPartitioned && (intra.isOverrun || inter.isOverrun) }

    // MARK: Macroblock layer

    mutating func fieldFlag(fieldNeighbors: Int) -> Bool { code.flag() }

    mutating func macroblockType(_ slice: SliceHeader.SliceType, _ around: inout Surroundings) -> Int {
      let most =
        switch slice {
        case .i: 25
        case .si: 26
        case .p, .sp: 30
        case .b: 48
        }
      return ue(most, "mb_type", "7.4.5")
    }

    mutating func subMacroblockType(isB: Bool) -> Int { ue(isB ? 12 : 3, "sub_mb_type", "7.4.5.2") }

    mutating func transformSize8x8Flag(_ around: inout Surroundings) -> Bool { code.flag() }

    mutating func intraPredictionMode() {
      code.need(4)
      code.skip(code.peek(1) != 0 ? 1 : 4)
    }

    mutating func intraChromaMode(_ around: inout Surroundings) -> Int { ue(3, "intra_chroma_pred_mode", "7.4.5.1") }

    mutating func referenceIndex(count: Int, list: Int, place: Int, _ around: inout Surroundings) -> Int {
      if count == 2 { return code.flag() ? 0 : 1 }
      return ue(count &- 1, list == 0 ? "ref_idx_l0" : "ref_idx_l1", "7.4.5.1")
    }

    mutating func vectorDifference(list: Int, component: Int, sum: Int) -> Int {
      guard let value = code.se(), -32768...32767 ~= value else {
        fail(.valueOutOfRange, list == 0 ? "mvd_l0" : "mvd_l1", "7.4.5.1")
        return 0
      }
      return value
    }

    mutating func codedBlockPattern(isIntra: Bool, hasChroma: Bool, _ around: inout Surroundings) -> Int {
      let number = ue(hasChroma ? 47 : 15, "coded_block_pattern", "9.1.2")
      let column = isIntra ? 0 : 48
      return Int(
        hasChroma ? CodedBlockPatterns.withChroma[column &+ number] : CodedBlockPatterns.lumaOnly[column / 3 &+ number])
    }

    mutating func qpDelta(isAfterChange: Bool, limit: Int) -> Int {
      guard let value = code.se(), value >= -limit, value < limit else {
        fail(.valueOutOfRange, "mb_qp_delta", "7.4.5")
        return 0
      }
      return value
    }

    mutating func pcmSamples(bits: Int) {
      if isPartitioned, residual == .nowhere { return }
      if !code.align() { fail(.badAlignment, "pcm_alignment_zero_bit", "7.3.5") }
      code.skipMany(bits)
    }

    @inline(__always)
    private mutating func ue(_ most: Int, _ element: StaticString, _ clause: StaticString) -> Int {
      let value = code.ue()
      if value >= 0, value <= most { return value }
      fail(.valueOutOfRange, element, clause)
      return 0
    }

    // MARK: Coefficients

    mutating func beginResidual(isIntra: Bool, isField: Bool) {
      guard isPartitioned else { return }
      outer = code
      if isIntra {
        residual = hasIntra ? .intra : .nowhere
        if hasIntra { code = intra }
      } else {
        residual = hasInter ? .inter : .nowhere
        if hasInter { code = inter }
      }
    }

    mutating func endResidual() {
      switch residual {
      case .here: return
      case .intra: intra = code
      case .inter: inter = code
      case .nowhere: break
      }
      code = outer
      residual = .here
    }

    @inline(__always)
    mutating func block(_ category: Int, coefficients: Int, place: Int, _ around: inout Surroundings) -> Int {
      if isPartitioned, residual == .nowhere { return 0 }
      if category == 3 { return chromaDC(coefficients) }
      // 9.2.1: the neighbors' average, or the one that is available. 64 marks one that is not.
      let sum = Int(around.counts[place &- 1]) &+ Int(around.counts[place &- Grid.row])
      let expected = (sum < 64 ? (sum &+ 1) &>> 1 : sum) & 31
      let count = readCoefficients(coefficients, expected: expected)
      // DC coefficients do not count for neighbors.
      if category != 0, category != 6, category != 10 { around.counts[place] = UInt8(truncatingIfNeeded: count) }
      return count
    }

    /// `residual_block_cavlc()` for blocks other than chroma DC.
    @inline(never)
    private mutating func readCoefficients(_ most: Int, expected: Int) -> Int {
      code.need(32)
      var (total, ones) = (0, 0)
      if expected < 8 {
        let zeros = code.cache.leadingZeroBitCount
        // With 16 zeros or more the table has no code either.
        let suffix = Int(truncatingIfNeeded: (code.cache &<< UInt64(truncatingIfNeeded: zeros & 31)) &>> 60) & 7
        let table = expected < 2 ? 0 : expected < 4 ? 128 : 256
        let token = Int(CoefficientTokens.blocks[table &+ (min(zeros, 15) &<< 3 | suffix)])
        code.skip(token &>> 8)
        (total, ones) = ((token &>> 2) & 31, token & 3)
        guard token != 0, zeros < 16, total <= most else {
          fail(.illegalCode, "coeff_token", "9.2.1")
          return 0
        }
      } else {
        let token = code.peek(6)
        code.skip(6)
        if token != 3 {
          (total, ones) = ((token &>> 2) &+ 1, token & 3)
          guard total >= ones, total <= most else {
            fail(.illegalCode, "coeff_token", "9.2.1")
            return 0
          }
        }
      }
      guard total > 0 else { return 0 }
      levels(total, ones: ones)
      guard total < most else { return total }
      // Blocks of 15 coefficients use the tables of 16.
      code.need(32)
      let zeros = min(code.cache.leadingZeroBitCount, 9)
      let suffix = Int(truncatingIfNeeded: (code.cache &<< UInt64(truncatingIfNeeded: zeros)) &>> 61) & 3
      let entry = Int(ZeroRuns.blocks[40 &* (total &- 1) &+ 4 &* zeros &+ suffix])
      code.skip(entry &>> 4)
      guard entry != 0, entry & 15 <= most &- total else {
        fail(.illegalCode, "total_zeros", "9.2.3")
        return total
      }
      runs(total, zeros: entry & 15)
      return total
    }

    /// `residual_block_cavlc()` for chroma DC.
    private mutating func chromaDC(_ most: Int) -> Int {
      code.need(32)
      let zeros = code.cache.leadingZeroBitCount
      let suffix = Int(truncatingIfNeeded: (code.cache &<< UInt64(truncatingIfNeeded: zeros & 31)) &>> 60) & 7
      // In 4:2:0 seven zeros are a code, whatever follows.
      let index = most == 4 ? min(zeros, 7) &<< 3 : 128 &+ min(zeros, 15) &<< 3
      let token = Int(CoefficientTokens.chromaDC[index &+ suffix])
      code.skip(token &>> 8)
      let (total, ones) = ((token &>> 2) & 31, token & 3)
      guard token != 0, zeros < 16 || most == 4 else {
        fail(.illegalCode, "coeff_token", "9.2.1")
        return 0
      }
      guard total > 0 else { return 0 }
      levels(total, ones: ones)
      guard total < most else { return total }
      code.need(32)
      let zeroBits = min(code.cache.leadingZeroBitCount, 9)
      let rest = Int(truncatingIfNeeded: (code.cache &<< UInt64(truncatingIfNeeded: zeroBits)) &>> 61) & 3
      let place = 40 &* (total &- 1) &+ 4 &* zeroBits &+ rest
      let entry = Int(most == 4 ? ZeroRuns.chromaDC420[place] : ZeroRuns.chromaDC422[place])
      code.skip(entry &>> 4)
      guard entry != 0 else {
        fail(.illegalCode, "total_zeros", "9.2.3")
        return total
      }
      runs(total, zeros: entry & 15)
      return total
    }

    /// `trailing_ones_sign_flag`, `level_prefix` and `level_suffix` (9.2.2).
    @inline(__always)
    private mutating func levels(_ total: Int, ones: Int) {
      code.skip(ones)
      var sum = ones
      var suffixLength = total > 10 && ones < 3 ? 1 : 0
      var isFirst = ones < 3
      var left = total &- ones
      while left > 0 {
        left &-= 1
        // Enough for a prefix of 15 and its suffix.
        code.need(29)
        var prefix = code.cache.leadingZeroBitCount
        if prefix > 15 {
          code.need(56)
          prefix = code.cache.leadingZeroBitCount
        }
        guard prefix <= longestLevelPrefix else {
          fail(.illegalCode, "level_prefix", "9.2.2.1")
          return
        }
        code.skip(prefix &+ 1)
        var levelCode = min(15, prefix) &<< suffixLength
        let size = prefix == 14 && suffixLength == 0 ? 4 : prefix >= 15 ? prefix &- 3 : suffixLength
        if size > 0 {
          levelCode &+= code.peek(size)
          code.skip(size)
        }
        if prefix >= 15, suffixLength == 0 { levelCode &+= 15 }
        if prefix >= 16 { levelCode &+= (1 &<< (prefix &- 3)) &- 4096 }
        if isFirst { levelCode &+= 2 }
        isFirst = false
        let magnitude = (levelCode &+ 2) &>> 1
        if suffixLength == 0 { suffixLength = 1 }
        if magnitude > 3 &<< (suffixLength &- 1), suffixLength < 6 { suffixLength &+= 1 }
        sum &+= magnitude
        if magnitude > largestCoefficient { fail(.valueOutOfRange, "coeff_level", "7.4.5.3.1") }
      }
      coefficientCount &+= total
      coefficientSum &+= sum
    }

    /// `run_before` (9.2.3).
    @inline(__always)
    private mutating func runs(_ total: Int, zeros: Int) {
      var (zerosLeft, left) = (zeros, total &- 1)
      while zerosLeft > 0, left > 0 {
        left &-= 1
        code.need(16)
        if zerosLeft <= 6 {
          let entry = Int(ZeroRuns.before[8 &* zerosLeft &+ code.peek(3)])
          code.skip(entry &>> 4)
          zerosLeft &-= entry & 15
        } else {
          let bits = code.peek(3)
          if bits > 0 {
            code.skip(3)
            zerosLeft &-= 7 &- bits
          } else {
            let run = code.cache.leadingZeroBitCount &+ 4
            guard run <= zerosLeft else {
              fail(.illegalCode, "run_before", "9.2.3")
              return
            }
            code.skip(run &- 3)
            zerosLeft &-= run
          }
        }
      }
    }
  }
}
