// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// A level (A.3): limits of picture size, rate and memory.
  public struct Level: Sendable, Hashable {
    /// `level_idc`: ten times the level's number; 9, or 11 with `constraint_set3_flag`, is 1b.
    public let idc: UInt8
    /// Level 1b, below level 1.1.
    package let is1b: Bool

    /// Creates a level from `level_idc` and the profile, whose `constraint_set3_flag` turns 1.1 into 1b (A.3.1).
    public init(idc: UInt8, profile: Profile) {
      self.idc = idc
      is1b = idc == 9 || (idc == 11 && profile.marks1bByConstraint && profile.isConstrained(toSet: 3))
    }

    /// Table A-1: MaxMBPS, MaxFS, MaxDpbMbs, MaxBR, MaxCPB; nil for a number that is no level.
    private var limits: (rate: UInt64, size: UInt64, memory: Int, bitRate: UInt64, codedBuffer: UInt64)? {
      if is1b { return (1485, 99, 396, 128, 350) }
      return switch idc {
      case 10: (1485, 99, 396, 64, 175)
      case 11: (3000, 396, 900, 192, 500)
      case 12: (6000, 396, 2376, 384, 1000)
      case 13: (11_880, 396, 2376, 768, 2000)
      case 20: (11_880, 396, 2376, 2000, 2000)
      case 21: (19_800, 792, 4752, 4000, 4000)
      case 22: (20_250, 1620, 8100, 4000, 4000)
      case 30: (40_500, 1620, 8100, 10_000, 10_000)
      case 31: (108_000, 3600, 18_000, 14_000, 14_000)
      case 32: (216_000, 5120, 20_480, 20_000, 20_000)
      case 40: (245_760, 8192, 32_768, 20_000, 25_000)
      case 41: (245_760, 8192, 32_768, 50_000, 62_500)
      case 42: (522_240, 8704, 34_816, 50_000, 62_500)
      case 50: (589_824, 22_080, 110_400, 135_000, 135_000)
      case 51: (983_040, 36_864, 184_320, 240_000, 240_000)
      case 52: (2_073_600, 36_864, 184_320, 240_000, 240_000)
      case 60: (4_177_920, 139_264, 696_320, 240_000, 240_000)
      case 61: (8_355_840, 139_264, 696_320, 480_000, 480_000)
      case 62: (16_711_680, 139_264, 696_320, 800_000, 800_000)
      default: nil
      }
    }

    /// The name in GStreamer's `level` field such as "4.1" or "1b", nil for a number that is no level.
    public var name: String? {
      guard limits != nil else { return nil }
      return is1b ? "1b" : idc % 10 == 0 ? "\(idc / 10)" : "\(idc / 10).\(idc % 10)"
    }

    /// `MaxDpbMbs` (Table A-1): the decoded picture buffer in macroblocks. Unknown levels get the highest.
    public var maximumDecodedPictureBufferMacroblocks: Int { limits?.memory ?? 696_320 }

    /// `MaxMBPS` (Table A-1): macroblocks a second. Unknown levels get the highest.
    public var maximumMacroblocksPerSecond: Int { limits.map { Int($0.rate) } ?? 16_711_680 }

    /// `MaxVmvR` (Table A-1): vertical components of motion vectors are at least −`MaxVmvR` and less than `MaxVmvR` luma
    /// samples of a frame. Unknown levels get the highest.
    package var verticalVectorRange: Int {
      guard limits != nil else { return 8192 }
      if is1b { return 64 }
      return switch idc {
      case ...10: 64
      case 11...20: 128
      case 21...30: 256
      case 31...52: 512
      default: 8192
      }
    }

    /// Horizontal components of motion vectors are at least the negative value and less than the value, in luma samples
    /// (A.3.1, A.3.2). Unknown levels get the highest.
    package var horizontalVectorRange: Int { limits == nil || idc >= 60 ? 8192 : 2048 }

    /// Whether `MinLumaBiPredSize` is 8x8 (Tables ): no smaller part is predicted from two pictures. False for
    /// unknown levels.
    package var forbidsSmallBiprediction: Bool { limits != nil && idc >= 31 }

    /// The limits in a profile; nil for a number that is no level.
    package func limits(in profile: Profile) -> LevelLimits? {
      guard let limits else { return nil }
      // cpbBrVclFactor and cpbBrNalFactor (Table A-2).
      let factor: UInt64 =
        switch profile.idc {
        case 100, 118, 128: 1250
        case 110: 3000
        case 122, 244, 44: 4000
        default: 1000
        }
      return LevelLimits(
        pictureSize: limits.size, rate: limits.rate, bitRate: limits.bitRate * factor,
        codedBuffer: limits.codedBuffer * factor, nalBitRate: limits.bitRate * factor / 10 * 12,
        nalCodedBuffer: limits.codedBuffer * factor / 10 * 12)
    }
  }
}
