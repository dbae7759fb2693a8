// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// A level and tier (A.4): limits of picture size, rate and memory.
  public struct Level: Sendable, Hashable {
    /// `general_level_idc`: 30 times the level's number.
    public let idc: UInt8
    /// `general_tier_flag`: the High tier, which allows higher bit rates.
    public let isHighTier: Bool

    /// Creates a level.
    public init(idc: UInt8, isHighTier: Bool = false) {
      self.idc = idc
      self.isHighTier = isHighTier
    }

    /// MaxBR and MaxCPB of a tier.
    private typealias Rates = (bitRate: UInt64, codedBuffer: UInt64)

    /// Tables A.8 and A.9: MaxLumaPs, MaxLumaSr, MaxBR and MaxCPB of the Main and of the High tier, but for the levels
    /// of newer editions; nil for a number that is no level.
    private var limits: (size: Int, rate: Int64, bits: (main: Rates, high: Rates)?)? {
      switch idc {
      case 30: (36_864, 552_960, ((128, 350), (128, 350)))
      case 60: (122_880, 3_686_400, ((1500, 1500), (1500, 1500)))
      case 63: (245_760, 7_372_800, ((3000, 3000), (3000, 3000)))
      case 90: (552_960, 16_588_800, ((6000, 6000), (6000, 6000)))
      case 93: (983_040, 33_177_600, ((10_000, 10_000), (10_000, 10_000)))
      case 120: (2_228_224, 66_846_720, ((12_000, 12_000), (30_000, 30_000)))
      case 123: (2_228_224, 133_693_440, ((20_000, 20_000), (50_000, 50_000)))
      case 150: (8_912_896, 267_386_880, ((25_000, 25_000), (100_000, 100_000)))
      case 153: (8_912_896, 534_773_760, ((40_000, 40_000), (160_000, 160_000)))
      case 156: (8_912_896, 1_069_547_520, ((60_000, 60_000), (240_000, 240_000)))
      case 180: (35_651_584, 1_069_547_520, ((60_000, 60_000), (240_000, 240_000)))
      case 183: (35_651_584, 2_139_095_040, ((120_000, 120_000), (480_000, 480_000)))
      case 186: (35_651_584, 4_278_190_080, ((240_000, 240_000), (800_000, 800_000)))
      case 189: (80_216_064, 4_812_963_840, nil)
      case 210: (142_606_336, 4_812_963_840, nil)
      case 213: (142_606_336, 8_556_380_160, nil)
      case 216: (142_606_336, 17_112_760_320, nil)
      default: nil
      }
    }

    /// The name in GStreamer's `level` field such as "4.1", nil for a number that is no level.
    public var name: String? {
      guard limits != nil else { return nil }
      return idc % 30 == 0 ? "\(idc / 30)" : "\(idc / 30).\(idc % 30 / 3)"
    }

    /// The name in GStreamer's `tier` field.
    public var tierName: String { isHighTier ? "high" : "main" }

    /// `MaxLumaPs` (Table A.8): luma samples in a picture. Unknown levels get the highest.
    public var maximumLumaPictureSize: Int { limits?.size ?? 142_606_336 }

    /// `MaxLumaSr` (Table A.9): luma samples a second. Unknown levels get the highest.
    public var maximumLumaSampleRate: Int64 { limits?.rate ?? 17_112_760_320 }

    /// MaxBR and MaxCPB of the tier, in units of the profile's factors; nil for an unknown level.
    var bits: (bitRate: UInt64, codedBuffer: UInt64)? { limits?.bits.map { isHighTier ? $0.high : $0.main } }

    /// `MaxDpbSize` (A.4.2): pictures that the decoded picture buffer holds, 6 to 16, at this picture size.
    ///
    /// - Parameters:
    ///   - size: luma samples in a picture, 1 or more.
    ///   - isScreenContent: for the screen content coding profiles (`general_profile_idc` 9 and 11), which hold 7 to
    ///     16, as the current picture may be a reference too.
    public func maximumDecodedPictures(lumaPictureSize size: Int, isScreenContent: Bool = false) -> Int {
      let maximum = maximumLumaPictureSize
      // maxDpbPicBuf; in the multilayer profiles it counts for each layer.
      let pictures = isScreenContent ? 7 : 6
      return switch max(1, size) {
      case ...(maximum >> 2): 16
      case ...(maximum >> 1): 2 * pictures
      case ...((3 * maximum) >> 2): 4 * pictures / 3
      default: pictures
      }
    }
  }
}
