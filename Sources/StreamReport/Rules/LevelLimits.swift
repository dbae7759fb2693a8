// SPDX-License-Identifier: MPL-2.0
import H26x

/// The limits of a level (Annex A).
struct LevelLimits: Sendable {
  /// The most macroblocks (H.264) or luma samples (H.265) in a picture.
  var pictureSize: UInt64
  /// The most macroblocks or luma samples a second.
  var rate: UInt64
  /// The highest bit rate of the VCL HRD, in bits a second.
  var bitRate: UInt64
  /// The largest coded picture buffer of the VCL HRD, in bits.
  var codedBuffer: UInt64
  /// The highest bit rate of the NAL HRD, in bits a second.
  var nalBitRate: UInt64
  /// The largest coded picture buffer of the NAL HRD, in bits.
  var nalCodedBuffer: UInt64
}

extension LevelLimits {
  /// Table A-1: `level_idc`, MaxMBPS, MaxFS, MaxBR, MaxCPB. Level 1b is 9.
  private static let h264: [(level: UInt8, rate: UInt64, size: UInt64, bitRate: UInt64, buffer: UInt64)] = [
    (9, 1485, 99, 128, 350), (10, 1485, 99, 64, 175), (11, 3000, 396, 192, 500), (12, 6000, 396, 384, 1000),
    (13, 11_880, 396, 768, 2000), (20, 11_880, 396, 2000, 2000), (21, 19_800, 792, 4000, 4000),
    (22, 20_250, 1620, 4000, 4000), (30, 40_500, 1620, 10_000, 10_000), (31, 108_000, 3600, 14_000, 14_000),
    (32, 216_000, 5120, 20_000, 20_000), (40, 245_760, 8192, 20_000, 25_000), (41, 245_760, 8192, 50_000, 62_500),
    (42, 522_240, 8704, 50_000, 62_500), (50, 589_824, 22_080, 135_000, 135_000),
    (51, 983_040, 36_864, 240_000, 240_000), (52, 2_073_600, 36_864, 240_000, 240_000),
    (60, 4_177_920, 139_264, 240_000, 240_000), (61, 8_355_840, 139_264, 480_000, 480_000),
    (62, 16_711_680, 139_264, 800_000, 800_000),
  ]

  /// The limits of an SPS's level and profile; nil for an unknown level.
  init?(_ sps: borrowing H264.SequenceParameterSet) {
    // Level 1b may be signalled as level_idc 11 with a constraint flag; it has a smaller decoded picture buffer than
    // 1.1.
    let is1b = sps.levelIDC == 11 && sps.level.maximumDecodedPictureBufferMacroblocks < 900
    let idc: UInt8 = is1b ? 9 : sps.levelIDC
    guard let row = Self.h264.first(where: { $0.level == idc }) else { return nil }
    // cpbBrVclFactor and cpbBrNalFactor (Table A-2).
    let factor: UInt64 =
      switch sps.profile.idc {
      case 100, 118, 128: 1250
      case 110: 3000
      case 122, 244, 44: 4000
      default: 1000
      }
    (pictureSize, rate) = (row.size, row.rate)
    (bitRate, codedBuffer) = (row.bitRate * factor, row.buffer * factor)
    (nalBitRate, nalCodedBuffer) = (bitRate / 10 * 12, codedBuffer / 10 * 12)
  }

  /// Tables A.8 and A.9: `general_level_idc`, then MaxBR and MaxCPB of the Main and of the High tier.
  private static let h265: [(level: UInt8, main: UInt64, mainBuffer: UInt64, high: UInt64, highBuffer: UInt64)] = [
    (30, 128, 350, 128, 350), (60, 1500, 1500, 1500, 1500), (63, 3000, 3000, 3000, 3000),
    (90, 6000, 6000, 6000, 6000), (93, 10_000, 10_000, 10_000, 10_000), (120, 12_000, 12_000, 30_000, 30_000),
    (123, 20_000, 20_000, 50_000, 50_000), (150, 25_000, 25_000, 100_000, 100_000),
    (153, 40_000, 40_000, 160_000, 160_000), (156, 60_000, 60_000, 240_000, 240_000),
    (180, 60_000, 60_000, 240_000, 240_000), (183, 120_000, 120_000, 480_000, 480_000),
    (186, 240_000, 240_000, 800_000, 800_000),
  ]

  /// The limits of an SPS's level, tier and profile; nil for an unknown level.
  init?(_ sps: borrowing H265.SequenceParameterSet) {
    let level = sps.level
    guard let row = Self.h265.first(where: { $0.level == level.idc }) else { return nil }
    let (vclFactor, nalFactor) = Self.factors(sps)
    let rateFactor = Self.rateFactor(sps.profile)
    let (maximumRate, maximumBuffer) =
      level.isHighTier ? (row.high, row.highBuffer) : (row.main, row.mainBuffer)
    pictureSize = UInt64(level.maximumLumaPictureSize)
    rate = UInt64(clamping: level.maximumLumaSampleRate)
    (bitRate, codedBuffer) = (maximumRate * vclFactor * rateFactor, maximumBuffer * vclFactor)
    (nalBitRate, nalCodedBuffer) = (maximumRate * nalFactor * rateFactor, maximumBuffer * nalFactor)
  }

  /// CpbVclFactor and CpbNalFactor (Table A.10): by what the profile allows, not by what the pictures are. The
  /// constraint flags tell the profiles apart.
  private static func factors(_ sps: borrowing H265.SequenceParameterSet) -> (vcl: UInt64, nal: UInt64) {
    let profile = sps.profile
    var (chroma, depth) = (sps.chromaFormat, max(sps.lumaBitDepth, sps.chromaBitDepth))
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
  private static func rateFactor(_ profile: H265.Profile) -> UInt64 {
    let isLower = profile.constraints.contains(.lowerBitRate)
    return switch profile.idc {
    case 4, 6...10: isLower ? 1 : 2
    case 5, 11: !profile.isIntraOnly ? 6 : isLower ? 12 : 24
    default: 1
    }
  }
}
