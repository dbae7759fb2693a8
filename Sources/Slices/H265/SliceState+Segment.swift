// SPDX-License-Identifier: MPL-2.0

internal import H26x

extension H265.SliceState {
  /// Takes the parameter sets, and memory for the width of the picture.
  mutating func begin(_ settings: H265.SliceSettings) {
    self.settings = settings
    let count = settings.widthInTreeBlocks &<< (settings.log2TreeBlockSize &- 3)
    if above.count < count { above = [UInt8](repeating: 0, count: count) }
  }

  /// Takes the header of an independent slice segment.
  ///
  /// - Parameter start: its address in tile scan.
  mutating func begin(_ header: H265.SliceSegmentHeader, _ coding: H265.SliceCoding, start: Int) {
    isIntra = header.sliceType == .i
    isB = header.sliceType == .b
    usesLumaOffset = coding.usesLumaOffset
    usesChromaOffset = coding.usesChromaOffset
    referenceCount0 = Int(coding.referenceCountList0)
    referenceCount1 = Int(coding.referenceCountList1)
    mergeCandidateCount = Int(coding.prediction.mergeCandidateCount)
    hasNoDifferencesOfBiprediction = coding.prediction.hasNoDifferencesOfBiprediction
    // initType (9.3.2.2).
    if isIntra {
      initType = 0
    } else {
      initType = isB != coding.prediction.swapsInitialContexts ? 2 : 1
    }
    sliceQP = coding.quantizationParameter
    sliceCbOffset = Int(coding.offsets.cb)
    sliceCrOffset = Int(coding.offsets.cr)
    areUnitOffsetsEnabled = coding.offsets.areCodingUnitOffsetsEnabled
    sliceStart = start
    unitCbOffset = 0
    unitCrOffset = 0
    lastQP = sliceQP
  }

  /// Initializes the contexts for the first coding tree unit of a slice segment (9.3.1).
  mutating func beginSegment(_ walk: H265.TreeBlockWalk, isDependent: Bool) {
    if walk.beginsTile {
      initialize()
      lastQP = sliceQP
    } else if settings.usesWavefronts, walk.isFirstInTileRow {
      if isDependent { synchronize(walk) } else { initialize() }
      lastQP = sliceQP
    } else if isDependent {
      contexts = storedContexts
      palette = storedPalette
    } else {
      initialize()
    }
  }

  /// Initializes the contexts for a tile or, with wavefronts, a row (9.3.1).
  mutating func beginSubstream(_ walk: H265.TreeBlockWalk) {
    if walk.beginsTile { initialize() } else { synchronize(walk) }
    lastQP = sliceQP
  }

  private mutating func initialize() {
    contexts.initialize(initType: initType, qp: sliceQP)
    palette = H265.PalettePredictor()
    palette.size = settings.palettePredictorInitialSize
  }

  /// Takes the contexts from the row above, if its second block is available.
  private mutating func synchronize(_ walk: H265.TreeBlockWalk) {
    let address = walk.tileScanAddress(settings)
    guard walk.hasAboveRight, address &- walk.tileWidth &+ 1 >= sliceStart else { return initialize() }
    contexts = wavefrontContexts
    palette = wavefrontPalette
  }

  /// Stores the contexts behind the second block of a row (9.3.2.4).
  @inline(__always)
  mutating func storeWavefront(_ walk: H265.TreeBlockWalk) {
    guard settings.usesWavefronts, walk.isSecondInTileRow else { return }
    wavefrontContexts = contexts
    wavefrontPalette = palette
  }

  /// Stores the contexts behind a slice segment.
  mutating func endSegment() {
    guard settings.storesContextsAtEnd else { return }
    storedContexts = contexts
    storedPalette = palette
  }

  /// Goes to a coding tree block: its place, and the neighbors that are available (6.4.1).
  mutating func enter(_ walk: H265.TreeBlockWalk) {
    let log2Size = settings.log2TreeBlockSize
    treeX = walk.x &<< log2Size
    treeY = walk.y &<< log2Size
    treeAddress = walk.y &* settings.widthInTreeBlocks &+ walk.x
    let address = walk.tileScanAddress(settings)
    isLeftAvailable = walk.hasLeft && address &- 1 >= sliceStart
    isAboveAvailable = walk.hasAbove && address &- walk.tileWidth >= sliceStart
    if !isLeftAvailable {
      left = .init(repeating: 0)
      leftModes = .init(repeating: 1)
    }
    aboveModes = .init(repeating: 1)
    if !isAboveAvailable {
      let first = treeX &>> 3
      for index in first..<first &+ (1 &<< (log2Size &- 3)) where index < above.count { above[index] = 0 }
    }
  }
}
