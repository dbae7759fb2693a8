// SPDX-License-Identifier: MPL-2.0

internal import H26x

extension H265.SliceState {
  /// `residual_coding()` (7.3.8.11).
  ///
  /// - Parameters:
  ///   - log2Size: of the block in samples of its component, 2 to 5.
  ///   - component: `cIdx`.
  ///   - mode: the intra mode of the component; 1 if the unit is not intra.
  mutating func readResidual<V: H265.CodingUnitVisitor>(
    _ engine: inout ArithmeticDecoder, _: V.Type, log2Size: Int, component: Int, mode: UInt8
  ) throws(H265.Stop) {
    let isChroma = component != 0
    let chroma = isChroma ? 1 : 0
    let isIntraUnit = unit.mode == .intra
    var skipsTransform = false
    if settings.allowsTransformSkip, !unit.isLossless, log2Size <= settings.log2MaximumTransformSkipSize {
      skipsTransform = engine.decision(&contexts.states[ContextIndex.transformSkip &+ chroma])
    }
    var isExplicit = false
    if settings.usesExplicitRDPCM, !isIntraUnit, skipsTransform || unit.isLossless {
      isExplicit = engine.decision(&contexts.states[ContextIndex.explicitRDPCM &+ chroma])
      if isExplicit { _ = engine.bin(&contexts.states[ContextIndex.explicitRDPCMDirection &+ chroma]) }
    }

    let scan = scanIndex(log2Size: log2Size, isChroma: isChroma, mode: mode)
    let last = readLast(&engine, log2Size: log2Size, isChroma: isChroma, isVertical: scan == 2)
    let scanBase = ((log2Size &- 2) &* 3 &+ scan) &* 64
    let lastSubBlock = Int(
      ScanTables.subBlockPlaces[min(scanBase &+ (last.y &>> 2) &* 8 &+ (last.x &>> 2), 767)])
    let lastPlace = Int(ScanTables.places[scan &* 16 &+ (last.y & 3) &* 4 &+ (last.x & 3)])

    let isBypassed = unit.isLossless || skipsTransform
    let hidesSigns =
      settings.hidesSigns
      && !(unit.isLossless || isExplicit
        || (isIntraUnit && settings.usesImplicitRDPCM && skipsTransform && (mode == 10 || mode == 26)))
    let usesSingleContext = settings.usesTransformSkipContext && isBypassed
    let statistic = (isChroma ? 0 : 2) &+ (isBypassed ? 1 : 0)
    let significanceBase = ContextIndex.significant &+ (isChroma ? 27 : 0)
    let edge = (1 &<< (log2Size &- 2)) &- 1

    var codedSubBlocks: UInt64 = 0
    // Whether the sub-block before ended with greater1Ctx 0.
    var raisesSet = false
    var index = lastSubBlock
    while index >= 0 {
      let place = Int(ScanTables.subBlocks[min(scanBase &+ index, 767)])
      let (column, row) = (place & 7, place &>> 3)
      let toRight =
        column < edge ? Int(truncatingIfNeeded: codedSubBlocks &>> UInt64(truncatingIfNeeded: place &+ 1)) & 1 : 0
      let below =
        row < edge ? Int(truncatingIfNeeded: codedSubBlocks &>> UInt64(truncatingIfNeeded: place &+ 8)) & 1 : 0
      var isCoded = true
      var infersFirst = false
      if index < lastSubBlock, index > 0 {
        let context = ContextIndex.codedSubBlock &+ 2 &* chroma &+ (toRight | below)
        isCoded = engine.decision(&contexts.states[context])
        infersFirst = true
      }
      guard isCoded else {
        index &-= 1
        continue
      }
      codedSubBlocks |= 1 &<< UInt64(truncatingIfNeeded: place)

      // sig_coeff_flag, the last place of the scan in bit 15.
      var significant: UInt32 = 0
      var n = 15
      if index == lastSubBlock {
        significant = 1 &<< UInt32(truncatingIfNeeded: lastPlace)
        n = lastPlace &- 1
      }
      engine.addBins(max(0, n))
      if usesSingleContext {
        let context = ContextIndex.significant &+ 42 &+ chroma
        while n > 0 {
          significant |= engine.uncountedBin(&contexts.states[context]) &<< UInt32(truncatingIfNeeded: n)
          n &-= 1
        }
        if n == 0 {
          if infersFirst, significant == 0 {
            significant = 1
          } else {
            significant |= engine.bin(&contexts.states[context])
          }
        }
      } else {
        var base = significanceBase
        var kind = toRight | below &<< 1
        if log2Size == 2 {
          kind = 4
        } else if isChroma {
          base &+= log2Size == 3 ? 9 : 12
        } else {
          if index > 0 { base &+= 3 }
          base &+= log2Size == 3 ? (scan == 0 ? 9 : 15) : 21
        }
        let table = (scan &* 5 &+ kind) &* 16
        while n > 0 {
          let context = base &+ Int(ScanTables.significance[min(table &+ n, 239)])
          significant |= engine.uncountedBin(&contexts.states[min(context, 127)]) &<< UInt32(truncatingIfNeeded: n)
          n &-= 1
        }
        if n == 0 {
          if infersFirst, significant == 0 {
            significant = 1
          } else {
            var context = base &+ Int(ScanTables.significance[min(table, 239)])
            if index == 0, log2Size > 2 { context = significanceBase }
            significant |= engine.bin(&contexts.states[min(context, 127)])
          }
        }
      }
      if significant != 0 {
        try readLevels(
          &engine, V.self, significant,
          LevelSettings(
            set: (index == 0 || isChroma ? 0 : 2) &+ (raisesSet ? 1 : 0) &+ 4 &* chroma, hidesSigns: hidesSigns,
            statistic: statistic, isChroma: isChroma), &raisesSet)
      }
      index &-= 1
    }
  }

  /// What levels of a sub-block depend on.
  private struct LevelSettings {
    /// `ctxSet`, and 4 more for chroma.
    var set: Int
    var hidesSigns: Bool
    /// `sbType`.
    var statistic: Int
    var isChroma: Bool
  }

  /// The levels of a sub-block: `coeff_abs_level_greater1_flag` to `coeff_abs_level_remaining`.
  @inline(__always)
  private mutating func readLevels<V: H265.CodingUnitVisitor>(
    _ engine: inout ArithmeticDecoder, _: V.Type, _ significant: UInt32, _ levels: LevelSettings,
    _ raisesSet: inout Bool
  ) throws(H265.Stop) {
    let count = significant.nonzeroBitCount
    unit.coefficientCount &+= UInt32(truncatingIfNeeded: count)
    // Levels that go on, in the order of coding: bit 0 for the first one.
    var escapes: UInt32 = 0
    var firstAboveOne = -1
    var context = 1
    let flagCount = min(count, 8)
    let base = ContextIndex.aboveOne &+ 4 &* levels.set
    engine.addBins(flagCount)
    for place in 0..<flagCount {
      if engine.uncountedDecision(&contexts.states[min(base &+ context, 151)]) {
        if firstAboveOne < 0 { firstAboveOne = place }
        escapes |= 1 &<< UInt32(truncatingIfNeeded: place)
        context = 0
      } else if context > 0, context < 3 {
        context &+= 1
      }
    }
    raisesSet = context == 0
    var sum = UInt32(truncatingIfNeeded: count &+ escapes.nonzeroBitCount)
    if firstAboveOne >= 0 {
      if engine.decision(&contexts.states[min(ContextIndex.aboveTwo &+ levels.set, 157)]) {
        sum &+= 1
      } else {
        escapes &= ~(1 &<< UInt32(truncatingIfNeeded: firstAboveOne))
      }
    }
    if count > 8 { escapes |= (1 &<< UInt32(truncatingIfNeeded: count)) &- 0x100 }
    if settings.alignsBypass, escapes != 0 { engine.alignBypass() }
    // The sign of the last one, if the others hide it.
    let spread = 31 &- significant.leadingZeroBitCount &- significant.trailingZeroBitCount
    let isHidden = levels.hidesSigns && spread > 3
    _ = engine.bypass(isHidden ? count &- 1 : count)
    if escapes != 0 {
      sum &+= try readRemaining(&engine, escapes, count: count, firstAboveOne: firstAboveOne, levels)
    }
    if V.wantsBits { unit.coefficientSum &+= sum }
  }

  /// `coeff_abs_level_remaining` of a sub-block (9.3.3.11). Returns the sum.
  private mutating func readRemaining(
    _ engine: inout ArithmeticDecoder, _ escapes: UInt32, count: Int, firstAboveOne: Int, _ levels: LevelSettings
  ) throws(H265.Stop) -> UInt32 {
    var rice = settings.adaptsRiceParameters ? Int(contexts.statistics[levels.statistic]) / 4 : 0
    var isFirst = true
    var left = escapes
    var sum: UInt32 = 0
    while left != 0 {
      let place = left.trailingZeroBitCount
      left &= left &- 1
      let value = try readRemainingLevel(&engine, rice: rice, isChroma: levels.isChroma)
      sum &+= value
      // baseLevel.
      let level = value &+ (place >= 8 ? 1 : place == firstAboveOne ? 3 : 2)
      let limit = maximumLevel(isChroma: levels.isChroma)
      guard level <= limit else {
        throw damaged(.valueOutOfRange, "coeff_abs_level_remaining", "7.4.9.11", at: engine)
      }
      if level > 3 &<< UInt32(truncatingIfNeeded: rice) {
        rice = settings.adaptsRiceParameters ? rice &+ 1 : min(rice &+ 1, 4)
      }
      if isFirst, settings.adaptsRiceParameters { adapt(levels.statistic, value) }
      isFirst = false
    }
    return sum
  }

  /// The largest magnitude of a coefficient: −`CoeffMinY` or −`CoeffMinC`.
  @inline(__always)
  private func maximumLevel(isChroma: Bool) -> UInt32 {
    1 &<< UInt32(truncatingIfNeeded: dynamicRange(isChroma: isChroma))
  }

  /// `log2TransformRange`.
  @inline(__always)
  private func dynamicRange(isChroma: Bool) -> Int {
    guard settings.usesExtendedPrecision else { return 15 }
    return max(15, (isChroma ? settings.chromaBitDepth : settings.lumaBitDepth) &+ 6)
  }

  /// Updates `StatCoeff` (9.3.4.2.6).
  private mutating func adapt(_ statistic: Int, _ value: UInt32) {
    let current = contexts.statistics[statistic]
    let quarter = UInt32(current / 4)
    if value >= 3 &<< quarter {
      contexts.statistics[statistic] = min(current &+ 1, 100)
    } else if 2 &* value < 1 &<< quarter, current > 0 {
      contexts.statistics[statistic] = current &- 1
    }
  }

  /// A value of `coeff_abs_level_remaining` (9.3.3.11, 9.3.3.12).
  private mutating func readRemainingLevel(
    _ engine: inout ArithmeticDecoder, rice: Int, isChroma: Bool
  ) throws(H265.Stop) -> UInt32 {
    var prefix = 0
    let range = dynamicRange(isChroma: isChroma)
    // 32 − (3 + range), behind the three of the first part.
    let longest = settings.usesExtendedPrecision ? 32 &- range : 32
    while prefix < longest, engine.uncountedBypassBin() != 0 { prefix &+= 1 }
    engine.addBins(min(prefix &+ 1, longest))
    if prefix < 3 {
      return UInt32(truncatingIfNeeded: prefix) &<< UInt32(truncatingIfNeeded: rice) &+ engine.bypass(min(rice, 32))
    }
    let exponent = prefix &- 3
    let length: Int
    if settings.usesExtendedPrecision {
      length = prefix == longest ? range : exponent &+ rice
    } else {
      length = exponent &+ rice
    }
    // Longer codes have values out of range.
    guard length <= 26, exponent <= 26, rice <= 26 else {
      throw damaged(.illegalCode, "coeff_abs_level_remaining", "9.3.3.11", at: engine)
    }
    let base = UInt64((1 &<< UInt32(truncatingIfNeeded: exponent)) &+ UInt32(2)) &<< UInt64(truncatingIfNeeded: rice)
    let value = base &+ UInt64(engine.bypass(max(0, length)))
    return UInt32(truncatingIfNeeded: min(value, 1 &<< 30))
  }

  /// `scanIdx` (7.4.9.11).
  @inline(__always)
  private func scanIndex(log2Size: Int, isChroma: Bool, mode: UInt8) -> Int {
    guard unit.mode == .intra, log2Size == 2 || (log2Size == 3 && (!isChroma || settings.chromaType == 3)) else {
      return 0
    }
    switch mode {
    case 6...14: return 2
    case 22...30: return 1
    default: return 0
    }
  }

  /// `last_sig_coeff_x_prefix` to `last_sig_coeff_y_suffix`: the place of the last coefficient in scan order.
  @inline(__always)
  private mutating func readLast(
    _ engine: inout ArithmeticDecoder, log2Size: Int, isChroma: Bool, isVertical: Bool
  ) -> (x: Int, y: Int) {
    let offset = isChroma ? 15 : 3 &* (log2Size &- 2) &+ (log2Size &- 1) &>> 2
    let shift = isChroma ? log2Size &- 2 : (log2Size &+ 1) &>> 2
    let maximum = 2 &* log2Size &- 1
    var x = 0
    while x < maximum, engine.uncountedDecision(&contexts.states[ContextIndex.lastX &+ offset &+ x &>> shift]) {
      x &+= 1
    }
    var y = 0
    while y < maximum, engine.uncountedDecision(&contexts.states[ContextIndex.lastY &+ offset &+ y &>> shift]) {
      y &+= 1
    }
    engine.addBins(min(x &+ 1, maximum) &+ min(y &+ 1, maximum))
    if x > 3 { x = readLastSuffix(&engine, x) }
    if y > 3 { y = readLastSuffix(&engine, y) }
    return isVertical ? (y, x) : (x, y)
  }

  @inline(__always)
  private mutating func readLastSuffix(_ engine: inout ArithmeticDecoder, _ prefix: Int) -> Int {
    let length = prefix &>> 1 &- 1
    return (2 &+ prefix & 1) &<< length &+ Int(engine.bypass(length))
  }
}
