// SPDX-License-Identifier: MPL-2.0

internal import H26x

extension H265.SliceState {
  /// `palette_syntax()` (7.3.8.13).
  mutating func readPalette<V: H265.CodingUnitVisitor>(
    _ engine: inout ArithmeticDecoder, _: V.Type
  ) throws(H265.Stop) {
    if V.wantsBits { unit.bits.header = countedBits(engine) }
    let count = 1 &<< (2 &* unit.log2Size)
    if paletteMap.count < count {
      paletteMap = [UInt8](repeating: 0, count: 1024)
      paletteIndices = [UInt8](repeating: 0, count: 1024)
    }
    let size = try readPaletteEntries(&engine)
    // palette_escape_val_present_flag.
    let hasEscapes = size == 0 || engine.bypass()
    let maximumIndex = size &- (hasEscapes ? 0 : 1)
    var (indexCount, endsWithCopy, isTransposed) = (1, false, false)
    if maximumIndex > 0 {
      indexCount = try readPaletteIndices(&engine, maximum: maximumIndex, sampleCount: count)
      endsWithCopy = engine.decision(&contexts.states[ContextIndex.copyAbove])
      isTransposed = engine.decision(&contexts.states[ContextIndex.transposePalette])
    }
    if hasEscapes {
      try readQPDelta(&engine)
      if !unit.isLossless { readChromaOffset(&engine) }
    }
    if maximumIndex > 0 {
      try readPaletteRuns(
        &engine, maximum: maximumIndex, sampleCount: count, indexCount: indexCount, endsWithCopy: endsWithCopy)
    } else {
      for place in 0..<count { paletteMap[place] = 0 }
    }
    if hasEscapes { try readEscapes(&engine, index: maximumIndex, sampleCount: count, isTransposed: isTransposed) }
    if V.wantsBits { unit.bits.luma = countedBits(engine) }
  }

  /// `palette_predictor_run` to `new_palette_entries`. Returns `CurrentPaletteSize`.
  private mutating func readPaletteEntries(_ engine: inout ArithmeticDecoder) throws(H265.Stop) -> Int {
    var predicted = 0
    var entry = 0
    while entry < palette.size, predicted < settings.paletteMaximumSize {
      let run = try readExponentialGolomb(&engine, order: 0, "palette_predictor_run")
      if run == 1 { break }
      if run > 1 { entry &+= run &- 1 }
      guard entry < palette.size else {
        throw damaged(.valueOutOfRange, "palette_predictor_run", "7.4.9.13", at: engine)
      }
      predicted &+= 1
      entry &+= 1
    }
    var signaled = 0
    if predicted < settings.paletteMaximumSize {
      signaled = try readExponentialGolomb(&engine, order: 0, "num_signalled_palette_entries")
      guard signaled <= settings.paletteMaximumSize &- predicted else {
        throw damaged(.valueOutOfRange, "num_signalled_palette_entries", "7.4.9.13", at: engine)
      }
    }
    for _ in 0..<signaled { _ = engine.bypass(settings.lumaBitDepth) }
    if settings.chromaType != 0 {
      for _ in 0..<2 &* signaled { _ = engine.bypass(settings.chromaBitDepth) }
    }
    let size = predicted &+ signaled
    // Entries that are not used again stay behind the new ones.
    palette.size = min(size &+ palette.size &- predicted, max(settings.palettePredictorMaximumSize, 0))
    return size
  }

  /// `num_palette_indices_minus1` and `palette_idx_idc`. Returns the number.
  private mutating func readPaletteIndices(
    _ engine: inout ArithmeticDecoder, maximum: Int, sampleCount: Int
  ) throws(H265.Stop) -> Int {
    // 9.3.3.14.
    let rice = 3 &+ (maximum &+ 1) &>> 3
    var prefix = 0
    while prefix < 4, engine.bypass() { prefix &+= 1 }
    var count = prefix &<< rice
    if prefix < 4 {
      count &+= Int(engine.bypass(rice))
    } else {
      count &+= try readExponentialGolomb(&engine, order: rice &+ 1, "num_palette_indices_minus1")
    }
    count &+= 1
    guard count <= sampleCount, count <= paletteIndices.count else {
      throw damaged(.valueOutOfRange, "num_palette_indices_minus1", "7.4.9.13", at: engine)
    }
    for place in 0..<count {
      // Later ones differ from a neighbor.
      let symbols = place == 0 ? maximum &+ 1 : maximum
      paletteIndices[place] = UInt8(truncatingIfNeeded: readTruncatedBinary(&engine, symbols))
    }
    return count
  }

  /// `copy_above_palette_indices_flag`, `palette_run_prefix` and `palette_run_suffix`: the map of indices.
  private mutating func readPaletteRuns(
    _ engine: inout ArithmeticDecoder, maximum: Int, sampleCount: Int, indexCount: Int, endsWithCopy: Bool
  ) throws(H265.Stop) {
    let width = unit.size
    var left = indexCount
    var place = 0
    var copiedBefore = false
    while place < sampleCount {
      var copies = false
      if place >= width, !copiedBefore {
        if left > 0, place < sampleCount &- 1 {
          copies = engine.decision(&contexts.states[ContextIndex.copyAbove])
        } else {
          copies = left == 0
        }
      }
      var index = 0
      var code = 0
      if !copies {
        guard left > 0 else {
          throw damaged(.valueOutOfRange, "num_palette_indices_minus1", "7.4.9.13", at: engine)
        }
        code = Int(paletteIndices[indexCount &- left])
        left &-= 1
        index = code
        if place > 0 {
          // The index of the sample before, or above a copied one, would have made one run.
          let other = copiedBefore ? aboveIndex(place, width: width) : paletteMap[place &- 1]
          if index >= Int(other) { index &+= 1 }
        }
      }
      var run = sampleCount &- place &- 1
      if left > 0 || copies != endsWithCopy {
        let longest = run &- left &- (endsWithCopy ? 1 : 0)
        guard longest >= 0 else {
          throw damaged(.valueOutOfRange, "num_palette_indices_minus1", "7.4.9.13", at: engine)
        }
        run = longest > 0 ? min(readRun(&engine, longest: longest, copies: copies, code: code), longest) : 0
      }
      for _ in 0...run {
        paletteMap[place] = copies ? aboveIndex(place, width: width) : UInt8(truncatingIfNeeded: index)
        place &+= 1
      }
      copiedBefore = copies
    }
  }

  /// The index above a sample in traverse scan, in which every second row runs to the left.
  @inline(__always)
  private func aboveIndex(_ place: Int, width: Int) -> UInt8 {
    let column = place & (width &- 1)
    let above = place &- 2 &* column &- 1
    return above >= 0 ? paletteMap[above] : 0
  }

  /// `palette_run_prefix` and `palette_run_suffix`: `PaletteRunMinus1`.
  private mutating func readRun(
    _ engine: inout ArithmeticDecoder, longest: Int, copies: Bool, code: Int
  ) -> Int {
    let maximum = Int.bitWidth &- longest.leadingZeroBitCount
    var prefix = 0
    while prefix < maximum {
      let isLonger: Bool
      if prefix > 4 {
        isLonger = engine.bypass()
      } else {
        // Table 9-46 and 9.3.4.2.8.
        let context: Int
        switch prefix {
        case 0: context = copies ? 5 : code < 1 ? 0 : code < 3 ? 1 : 2
        case 1, 2: context = copies ? 6 : 3
        default: context = copies ? 7 : 4
        }
        isLonger = engine.decision(&contexts.states[ContextIndex.paletteRunPrefix &+ context])
      }
      guard isLonger else { break }
      prefix &+= 1
    }
    guard prefix > 1 else { return prefix }
    let base = 1 &<< (prefix &- 1)
    guard longest != base else { return base }
    return base &+ readTruncatedBinary(&engine, min(base, longest &- base &+ 1))
  }

  /// `palette_escape_val`.
  private mutating func readEscapes(
    _ engine: inout ArithmeticDecoder, index: Int, sampleCount: Int, isTransposed: Bool
  ) throws(H265.Stop) {
    let width = unit.size
    for component in 0..<(settings.chromaType == 0 ? 1 : 3) {
      for place in 0..<sampleCount where Int(paletteMap[place]) == index {
        let y = place &>> unit.log2Size
        let column = place & (width &- 1)
        let x = y & 1 == 0 ? column : width &- 1 &- column
        let isPresent: Bool
        switch component == 0 ? 3 : settings.chromaType {
        case 1: isPresent = (x | y) & 1 == 0
        case 2: isPresent = (isTransposed ? y : x) & 1 == 0
        default: isPresent = true
        }
        if isPresent { _ = try readExponentialGolomb(&engine, order: 3, "palette_escape_val") }
      }
    }
  }

  /// An Exp-Golomb code of an order (9.3.3.5).
  private mutating func readExponentialGolomb(
    _ engine: inout ArithmeticDecoder, order: Int, _ element: StaticString
  ) throws(H265.Stop) -> Int {
    var length = order
    var base = 0
    while engine.bypass() {
      base &+= 1 &<< length
      length &+= 1
      guard length < 26 else { throw damaged(.illegalCode, element, "9.3.3.5", at: engine) }
    }
    return base &+ Int(engine.bypass(length))
  }

  /// A truncated binary code of one of `count` symbols (9.3.3.6).
  private mutating func readTruncatedBinary(_ engine: inout ArithmeticDecoder, _ count: Int) -> Int {
    guard count > 1 else { return 0 }
    let length = Int.bitWidth &- 1 &- count.leadingZeroBitCount
    let shorter = 1 &<< (length &+ 1) &- count
    let value = Int(engine.bypass(length))
    return value < shorter ? value : 2 &* value &+ Int(engine.bypassBin()) &- shorter
  }
}
