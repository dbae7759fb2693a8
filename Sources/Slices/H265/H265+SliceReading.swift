// SPDX-License-Identifier: MPL-2.0

internal import H26x

extension H265 {
  /// Reading stopped: ``SliceState/damage`` has the reason.
  struct Stop: Error {}

  /// Everything that reading slice data keeps from one syntax structure to the next.
  struct SliceState {
    // MARK: The slice

    var settings = SliceSettings()
    /// `slice_type`: whether it is I, or B.
    var isIntra = true
    var isB = false
    var usesLumaOffset = false
    var usesChromaOffset = false
    var referenceCount0 = 0
    var referenceCount1 = 0
    var mergeCandidateCount = 0
    var hasNoDifferencesOfBiprediction = false
    var initType = 0
    /// `SliceQpY`.
    var sliceQP = 26
    var sliceCbOffset = 0
    var sliceCrOffset = 0
    var areUnitOffsetsEnabled = false
    /// `SliceAddrRs`, in tile scan.
    var sliceStart = 0

    // MARK: The coding tree block

    /// Its place in luma samples.
    var treeX = 0
    var treeY = 0
    /// Its address in raster scan.
    var treeAddress = 0
    var isLeftAvailable = false
    var isAboveAvailable = false

    // MARK: Entropy coding

    var contexts = ContextSet()
    /// After the second coding tree unit of a row of a tile.
    var wavefrontContexts = ContextSet()
    /// After the last slice segment.
    var storedContexts = ContextSet()
    var palette = PalettePredictor()
    var wavefrontPalette = PalettePredictor()
    var storedPalette = PalettePredictor()

    // MARK: Neighbors

    /// `CtDepth` and, in bit 2, `cu_skip_flag` of the lowest coding units so far, by x / 8; 0 if not available.
    var above: [UInt8] = []
    /// The same of the rightmost ones in the rows of the coding tree block, by y / 8.
    var left: [8 of UInt8] = .init(repeating: 0)
    /// `IntraPredModeY` for prediction, by x / 4 and y / 4 in the coding tree block. Above it, it is always DC.
    var aboveModes: [16 of UInt8] = .init(repeating: 1)
    var leftModes: [16 of UInt8] = .init(repeating: 1)
    /// `QpY`, by x / 8 and y / 8 in the coding tree block.
    var aboveQP: [8 of Int8] = .init(repeating: 0)
    var leftQP: [8 of Int8] = .init(repeating: 0)

    // MARK: Quantization

    /// `QpY` of the last coding unit (`qPY_PREV` at the start of a quantization group).
    var lastQP = 0
    /// `qPY_PRED` of the quantization group.
    var predictedQP = 0
    var isQPDeltaCoded = false
    var qpDelta = 0
    var isChromaOffsetCoded = false
    /// `CuQpOffsetCb` and `CuQpOffsetCr`.
    var unitCbOffset = 0
    var unitCrOffset = 0

    // MARK: The coding unit

    var unit = CodingUnit()
    var maximumTransformDepth = 0
    var splitsIntra = false
    var splitsInter = false
    /// `intra_chroma_pred_mode` by partition.
    var chromaModeCodes: [4 of UInt8] = .init(repeating: 0)
    /// The first partition is merged.
    var isMerged = false
    var bitMark = 0

    // MARK: Palettes

    /// `PaletteIndexMap` of the coding unit, in traverse scan.
    var paletteMap: [UInt8] = []
    /// `PaletteIndexIdc` of the coding unit.
    var paletteIndices: [UInt8] = []

    // MARK: Damage

    var damage: SliceDamage?

    init() {}

    /// Records damage and returns the error to throw.
    @inline(never)
    mutating func damaged(
      _ reason: SliceDamage.Reason, _ element: StaticString, _ clause: StaticString,
      at engine: borrowing ArithmeticDecoder
    ) -> Stop {
      let (reason, element, clause) =
        engine.isOverrun
        ? (.truncated, "slice_segment_data" as StaticString, "7.3.8.1" as StaticString)
        : (reason, element, clause)
      damage = SliceDamage(reason, element, clause: clause, block: treeAddress, bitOffset: engine.bitOffset)
      return Stop()
    }

    /// The bits since the last call.
    @inline(__always)
    mutating func countedBits(_ engine: borrowing ArithmeticDecoder) -> UInt32 {
      let place = engine.bitOffset
      let count = place &- bitMark
      bitMark = place
      return UInt32(truncatingIfNeeded: count)
    }
  }
}
