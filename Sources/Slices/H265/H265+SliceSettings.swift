// SPDX-License-Identifier: MPL-2.0

internal import H26x

extension H265 {
  /// The values of SPS and PPS that reading slice data depends on, as numbers and flags.
  struct SliceSettings: Equatable {
    var width = 0
    var height = 0
    var log2TreeBlockSize = 4
    var log2MinimumCodingBlockSize = 3
    var log2MinimumTransformSize = 2
    var log2MaximumTransformSize = 5
    var transformDepthInter = 0
    var transformDepthIntra = 0
    /// `ChromaArrayType`.
    var chromaType = 1
    var hasSeparatePlanes = false
    var lumaBitDepth = 8
    var chromaBitDepth = 8
    /// `QpBdOffsetY` and `QpBdOffsetC`.
    var lumaQPOffset = 0
    var chromaQPOffset = 0
    var usesAsymmetricPartitions = false
    var hasPCM = false
    var log2MinimumPCMSize = 3
    var log2MaximumPCMSize = 3
    var pcmLumaBits = 8
    var pcmChromaBits = 8
    // Range extension.
    var usesTransformSkipContext = false
    var usesImplicitRDPCM = false
    var usesExplicitRDPCM = false
    var usesExtendedPrecision = false
    var adaptsRiceParameters = false
    var alignsBypass = false
    // PPS.
    var hidesSigns = false
    var allowsTransformSkip = false
    var log2MaximumTransformSkipSize = 2
    var hasQPDelta = false
    /// `Log2MinCuQpDeltaSize`.
    var log2QPGroupSize = 4
    var cbQPOffset = 0
    var crQPOffset = 0
    var allowsTransquantBypass = false
    var usesWavefronts = false
    var storesContextsAtEnd = false
    var predictsAcrossComponents = false
    var hasChromaOffsets = false
    var log2ChromaOffsetGroupSize = 4
    var chromaOffsetCount = 0
    var cbOffsets: [6 of Int8] = .init(repeating: 0)
    var crOffsets: [6 of Int8] = .init(repeating: 0)
    // Screen content.
    var paletteMaximumSize = -1
    var palettePredictorMaximumSize = 0
    var palettePredictorInitialSize = 0
    var refersToCurrentPicture = false
    var usesColourTransform = false
    // Tiles.
    var tileColumnCount = 1
    var tileRowCount = 1
    /// The first coding tree block of each column, and the width of the picture.
    var columnStarts: [21 of Int32] = .init(repeating: 0)
    /// The first coding tree block of each row, and the height of the picture.
    var rowStarts: [23 of Int32] = .init(repeating: 0)

    /// `PicWidthInCtbsY`.
    var widthInTreeBlocks = 0
    /// `PicHeightInCtbsY`.
    var heightInTreeBlocks = 0

    init() {}

    /// Nil if the sets contradict each other so that no slice data can follow.
    init?(_ sps: H265.SequenceParameterSet, _ pps: H265.PictureParameterSet) {
      width = sps.codedSize.width
      height = sps.codedSize.height
      log2TreeBlockSize = Int(sps.log2CodingTreeBlockSize)
      log2MinimumCodingBlockSize = Int(sps.log2MinimumCodingBlockSize)
      log2MinimumTransformSize = Int(sps.log2MinimumTransformBlockSize)
      log2MaximumTransformSize = log2MinimumTransformSize &+ Int(sps.log2TransformBlockSizeRange)
      widthInTreeBlocks = sps.widthInCodingTreeBlocks
      heightInTreeBlocks = sps.heightInCodingTreeBlocks
      // 7.4.3.2.1.
      guard 3...6 ~= log2TreeBlockSize, 3...log2TreeBlockSize ~= log2MinimumCodingBlockSize,
        2..<log2MinimumCodingBlockSize ~= log2MinimumTransformSize,
        log2MaximumTransformSize <= min(log2TreeBlockSize, 5), width > 0, height > 0,
        width & ((1 &<< log2MinimumCodingBlockSize) &- 1) == 0,
        height & ((1 &<< log2MinimumCodingBlockSize) &- 1) == 0
      else { return nil }
      transformDepthInter = Int(sps.maximumTransformDepthInter)
      transformDepthIntra = Int(sps.maximumTransformDepthIntra)
      chromaType = Int(sps.chromaArrayType.rawValue)
      hasSeparatePlanes = sps.hasSeparateColourPlanes
      lumaBitDepth = Int(sps.lumaBitDepth)
      chromaBitDepth = Int(sps.chromaBitDepth)
      lumaQPOffset = 6 &* (lumaBitDepth &- 8)
      chromaQPOffset = 6 &* (chromaBitDepth &- 8)
      usesAsymmetricPartitions = sps.usesAsymmetricPartitions
      if let pcm = sps.pcm {
        hasPCM = true
        log2MinimumPCMSize = Int(pcm.log2MinimumBlockSize)
        log2MaximumPCMSize = log2MinimumPCMSize &+ Int(pcm.log2BlockSizeRange)
        pcmLumaBits = Int(pcm.lumaBitDepth)
        pcmChromaBits = Int(pcm.chromaBitDepth)
      }
      if let range = sps.extensions?.range {
        usesTransformSkipContext = range.contains(.transformSkipContext)
        usesImplicitRDPCM = range.contains(.implicitRDPCM)
        usesExplicitRDPCM = range.contains(.explicitRDPCM)
        usesExtendedPrecision = range.contains(.extendedPrecision)
        adaptsRiceParameters = range.contains(.persistentRiceAdaptation)
        alignsBypass = range.contains(.bypassAlignment)
      }
      if let palette = sps.extensions?.screenContent?.palette {
        paletteMaximumSize = Int(palette.maximumSize)
        palettePredictorMaximumSize = paletteMaximumSize &+ Int(palette.maximumPredictorSizeDelta)
        palettePredictorInitialSize = palette.predictorInitializers?.first?.count ?? 0
      }
      take(pps)
    }

    private mutating func take(_ pps: H265.PictureParameterSet) {
      hidesSigns = pps.hidesSigns
      allowsTransformSkip = pps.allowsTransformSkip
      hasQPDelta = pps.codingUnitQPDepth != nil
      log2QPGroupSize = max(3, log2TreeBlockSize &- Int(pps.codingUnitQPDepth ?? 0))
      cbQPOffset = Int(pps.cbQPOffset)
      crQPOffset = Int(pps.crQPOffset)
      allowsTransquantBypass = pps.allowsTransformBypass
      usesWavefronts = pps.usesWavefronts
      storesContextsAtEnd = pps.allowsDependentSlices
      if let range = pps.extensions?.range {
        log2MaximumTransformSkipSize = Int(range.log2MaximumTransformSkipSize)
        predictsAcrossComponents = range.predictsAcrossComponents && chromaType == 3
        if let offsets = range.chromaOffsets {
          hasChromaOffsets = true
          log2ChromaOffsetGroupSize = max(3, log2TreeBlockSize &- Int(offsets.depth))
          chromaOffsetCount = min(offsets.entries.count, 6)
          for index in 0..<chromaOffsetCount {
            cbOffsets[index] = offsets.entries[index].cb
            crOffsets[index] = offsets.entries[index].cr
          }
        }
      }
      if let content = pps.extensions?.screenContent {
        refersToCurrentPicture = content.refersToCurrentPicture
        usesColourTransform = content.colourTransform != nil && chromaType == 3
        if let palette = content.palette {
          palettePredictorInitialSize = palette.predictorInitializers.first?.count ?? 0
        }
      }
      setTiles(pps.tiles)
    }

    /// Column and row boundaries (6.5.1).
    private mutating func setTiles(_ tiles: H265.PictureParameterSet.Tiles?) {
      tileColumnCount = 1
      tileRowCount = 1
      columnStarts[1] = Int32(truncatingIfNeeded: widthInTreeBlocks)
      rowStarts[1] = Int32(truncatingIfNeeded: heightInTreeBlocks)
      guard let tiles else { return }
      let columns = max(1, min(Int(tiles.columnCount), 20, widthInTreeBlocks))
      let rows = max(1, min(Int(tiles.rowCount), 22, heightInTreeBlocks))
      tileColumnCount = columns
      tileRowCount = rows
      for index in 0...columns {
        let uniform = index &* widthInTreeBlocks / columns
        var start = uniform
        if let sizes = tiles.sizes, index > 0 {
          let size = index <= sizes.widths.count ? Int(sizes.widths[index &- 1]) : 1
          start = min(Int(columnStarts[index &- 1]) &+ size, widthInTreeBlocks &- (columns &- index))
        }
        columnStarts[index] = Int32(truncatingIfNeeded: index == columns ? widthInTreeBlocks : start)
      }
      for index in 0...rows {
        let uniform = index &* heightInTreeBlocks / rows
        var start = uniform
        if let sizes = tiles.sizes, index > 0 {
          let size = index <= sizes.heights.count ? Int(sizes.heights[index &- 1]) : 1
          start = min(Int(rowStarts[index &- 1]) &+ size, heightInTreeBlocks &- (rows &- index))
        }
        rowStarts[index] = Int32(truncatingIfNeeded: index == rows ? heightInTreeBlocks : start)
      }
    }

    /// Whether slices with these and with other settings can be of one picture.
    static func == (left: Self, right: Self) -> Bool {
      guard left.width == right.width, left.height == right.height, left.log2TreeBlockSize == right.log2TreeBlockSize,
        left.log2MinimumCodingBlockSize == right.log2MinimumCodingBlockSize,
        left.log2MinimumTransformSize == right.log2MinimumTransformSize,
        left.log2MaximumTransformSize == right.log2MaximumTransformSize, left.chromaType == right.chromaType,
        left.lumaBitDepth == right.lumaBitDepth, left.chromaBitDepth == right.chromaBitDepth,
        left.usesWavefronts == right.usesWavefronts, left.tileColumnCount == right.tileColumnCount,
        left.tileRowCount == right.tileRowCount
      else { return false }
      for index in 0...left.tileColumnCount where left.columnStarts[index] != right.columnStarts[index] {
        return false
      }
      for index in 0...left.tileRowCount where left.rowStarts[index] != right.rowStarts[index] { return false }
      return true
    }
  }
}
