// SPDX-License-Identifier: MPL-2.0

extension H265.SequenceParameterSet {
  /// The limits of its level, tier and profile; nil for an unknown level.
  package var levelLimits: LevelLimits? {
    guard let (bitRate, codedBuffer) = level.bits else { return nil }
    let (factors, rateFactor) = (codedBufferFactors, bitRateFactor)
    return LevelLimits(
      pictureSize: UInt64(level.maximumLumaPictureSize), rate: UInt64(clamping: level.maximumLumaSampleRate),
      bitRate: bitRate * factors.vcl * rateFactor, codedBuffer: codedBuffer * factors.vcl,
      nalBitRate: bitRate * factors.nal * rateFactor, nalCodedBuffer: codedBuffer * factors.nal)
  }

  /// CpbVclFactor and CpbNalFactor (Table A.10): by what the profile allows, not by what the pictures are. The
  /// constraint flags distinguish the profiles.
  private var codedBufferFactors: (vcl: UInt64, nal: UInt64) {
    var (chroma, depth) = (chromaFormat, max(lumaBitDepth, chromaBitDepth))
    switch profile.idc {
    case 1...3: (chroma, depth) = (.yuv420, 8)
    case 4...11:
      let constraints = profile.constraints
      // No intra profile is monochrome.
      chroma =
        constraints.contains(.monochrome) && !constraints.contains(.intra)
        ? .monochrome
        : constraints.contains(.maximum420) ? .yuv420 : constraints.contains(.maximum422) ? .yuv422 : .yuv444
      depth =
        constraints.contains(.maximum8Bit)
        ? 8 : constraints.contains(.maximum10Bit) ? 10 : constraints.contains(.maximum12Bit) ? 12 : 16
      if depth == 16, profile.idc != 4, constraints.contains(.maximum14Bit) { depth = 14 }
    default: break
    }
    return switch (chroma, depth) {
    case (.monochrome, ...8): (667, 733)
    case (.monochrome, ...10): (833, 917)
    case (.monochrome, ...12): (1000, 1100)
    case (.monochrome, _): (1333, 1467)
    case (.yuv420, ...10): (1000, 1100)
    case (.yuv420, ...12): (1500, 1650)
    case (.yuv422, ...10): (1667, 1833)
    case (.yuv422, ...12), (.yuv444, ...8): (2000, 2200)
    case (.yuv444, ...10): (2500, 2750)
    case (.yuv444, ...12): (3000, 3300)
    case (.yuv444, ...14): (3500, 3850)
    default: (4000, 4400)
    }
  }

  /// HbrFactor (A.4.2).
  private var bitRateFactor: UInt64 {
    let isLower = profile.constraints.contains(.lowerBitRate)
    return switch profile.idc {
    case 4, 6...10: isLower ? 1 : 2
    case 5, 11: !profile.isIntraOnly ? 6 : isLower ? 12 : 24
    default: 1
    }
  }
}

extension H265.Level {
  /// Into how many parts pictures may be divided (Table A.8): MaxSliceSegmentsPerPicture, MaxTileRows and MaxTileCols;
  /// nil for the levels of newer editions, and for a number that is no level.
  package var partitionLimits: (sliceSegments: Int, tileRows: Int, tileColumns: Int)? {
    switch idc {
    case 30, 60: (16, 1, 1)
    case 63: (20, 1, 1)
    case 90: (30, 2, 2)
    case 93: (40, 3, 3)
    case 120, 123: (75, 5, 5)
    case 150, 153, 156: (200, 11, 10)
    case 180, 183, 186: (600, 22, 20)
    default: nil
    }
  }
}
